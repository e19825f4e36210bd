"""The real vLLM without a parser, as it is started by whoever forgets the flags: what `verify` says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpad.environments.installed import InstalledEngine
from tests.e2e.by_hand import PARSERS, started_without
from tests.e2e.conftest import command_in


@pytest.mark.slow
def test_the_models_text_is_right_although_the_server_parses_nothing(engine: InstalledEngine, tmp_path: Path) -> None:
    moonpad = command_in(tmp_path)
    with started_without(PARSERS, moonpad, engine, tmp_path) as url:
        verification = moonpad(
            "verify", "--url", url, "--only", "chat", "reasoning", "tool_call", "raw_calls", "--json"
        )
    probes = {probe["id"]: probe for probe in verification.json["probes"]}
    assert verification.code == 5
    assert probes["raw_calls"]["status"] == "pass"
    assert "functions.get_weather:0" in probes["raw_calls"]["because"]
    assert probes["tool_call"]["status"] == "fail"
    assert "--enable-auto-tool-choice --tool-call-parser kimi_k2" in probes["tool_call"]["mend"]["vllm"]
    assert list(probes["tool_call"]["mend"]) == ["vllm", "gateway"]
    assert probes["tool_call"]["exchanges"][-1]["status"] == 400
    assert probes["reasoning"]["status"] == "fail", probes["reasoning"]
