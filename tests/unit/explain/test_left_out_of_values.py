"""A command of which somebody left out a part with `[...]` gets no Corrected."""

import pytest

from tests.unit.explain.judging import ask_one

SERVE = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --tool-call-parser kimi_k2 --kv-transfer-config"


@pytest.mark.parametrize("value", ["""'{"kv_connector": "NixlConnector", [...]'""", """'{"kv_connector": […]}'"""])
def test_nothing_is_printed_over_it(value: str) -> None:
    assert not ask_one(f"{SERVE} {value}\n").corrected


def test_a_whole_value_is_kept() -> None:
    assert ask_one(f"""{SERVE} '{{"kv_connector": "NixlConnector", "kv_role": "kv_both"}}'\n""").corrected
