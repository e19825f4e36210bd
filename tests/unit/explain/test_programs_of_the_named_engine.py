"""Options of a program that is not known, in a text that names an engine: they are of that engine, or of none."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

LAUNCH = "python launch_online_dp.py --dp-size 4 --tp-size 4 --dp-size-local 4 --dp-rank-start 0 --dp-address 10.0.0.2"
UNKNOWN = "python start_it.py --dp-size 4 --tp-size 4 --mem-fraction-static 0.8"


def engines(text: str) -> list[str]:
    return [each.engine for each in ask(text) if each.layout is not None]


@pytest.mark.parametrize("named", ["vllm 0.20.2", "vllm-ascend from main", ""])
@pytest.mark.parametrize("more", ["", " --dp-rpc-port 10621 --vllm-start-port 6000"])
def test_the_launcher_of_the_plugin_is_no_sglang(named: str, more: str) -> None:
    assert engines(f"{named}\n{LAUNCH}{more}\n") == []


@pytest.mark.parametrize(
    ("named", "engine"),
    [("sglang 0.5.10", ["sglang"]), ("", ["sglang"]), ("vllm 0.20.2", []), ("llama.cpp", ["sglang"])],
)
def test_options_of_one_engine_are_not_of_the_one_that_is_named(named: str, engine: list[str]) -> None:
    assert engines(f"{named}\n{UNKNOWN}\n") == engine


def test_options_of_the_named_engine_are_its_own() -> None:
    text = "vllm 0.20.2\npython start_it.py --model moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --max-model-len 9\n"
    assert engines(text) == ["vllm"]
