"""SGLang on this machine's processor, by the same commands as vLLM."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpad.environments.installed import InstalledEngine, find
from tests.e2e.conftest import Served, command_in, write_spec
from tests.e2e.test_layouts import answers, try_two_hosts

pytestmark = pytest.mark.slow

LAYOUTS = {"sglang": "", "sglang-tp2": "[layout]\ntp = 2\n"}


@pytest.fixture
def sglang() -> InstalledEngine:
    installed = find("sglang-cpu")
    if installed is None:
        pytest.skip("no engine here: moonpad engine install sglang-cpu")
    return installed


# What SGLang itself answers for, whatever the model is able to do.
PROVED = frozenset(
    (
        *("health", "models", "metrics", "chat", "completions", "streaming", "buffering", "history", "count", "limit"),
        *("end_tokens", "choices", "logprobs", "reasoning", "reasoning_cut", "reasoning_history", "tool_call"),
        *("tool_stream", "tool_choice_none", "tool_choice_required", "tool_choice_named", "tool_cut", "tool_ids"),
        *("empty_content", "regex", "bad_requests", "context_limit", "cancellation"),
    )
)


UNTOLD = frozenset(("wrong_model", "own_calls", "own_several", "tool_parallel"))
"""What SGLang does in its own way: any name is a model, tools are rendered otherwise than by the template, and
`parallel_tool_calls` is not obeyed."""


@pytest.mark.timeout(4800)
@pytest.mark.parametrize("name", LAYOUTS)
def test_it_serves_what_vllm_serves(served: Served, sglang: InstalledEngine, tmp_path: Path, name: str) -> None:
    moonpad = command_in(tmp_path)
    spec, _ = write_spec(tmp_path, name, LAYOUTS[name], engine="sglang-cpu")
    up = moonpad("up", str(spec), "--json", timeout_s=400.0)
    assert up.code == 0, up.stderr
    try:
        (there,) = moonpad("status", "--json").json["endpoints"]
        assert there["kv_tokens"]["measured"] == there["kv_tokens"]["planned"]["value"]
        # It writes some nine tokens a second on two cores, and one answer has up to 1,024 of them.
        verified = moonpad("verify", str(spec), "--json", "--timeout", "10m", timeout_s=3600.0)
        assert verified.code == 0, verified.stdout
        states = {probe["id"]: probe["status"] for probe in verified.json["probes"]}
        assert {name for name, state in states.items() if state == "fail"} == set()
        assert {name for name in PROVED if states[name] != "pass"} == set(), verified.stdout
        skipped = {probe["id"]: probe["because"] for probe in verified.json["probes"] if probe["status"] == "skip"}
        others = {name: why for name, why in skipped.items() if "kimi-k2-tiny is too small to judge" not in why}
        assert set(others) <= {"auth", "seed", "concurrency", *UNTOLD}, others
        assert answers(up.json["base_url"], served.model) == answers(served.base_url, served.model)
    finally:
        down = moonpad("down", str(spec))
    assert down.code == 0, down.stderr


@pytest.mark.timeout(1800)
def test_two_hosts(served: Served, sglang: InstalledEngine, tmp_path: Path) -> None:
    only = (
        "chat",
        "streaming",
        "reasoning",
        "tool_call",
        "tool_stream",
        "tool_choice_required",
        "regex",
        "concurrency",
    )
    try_two_hosts(tmp_path, sglang, LAYOUTS["sglang-tp2"], served.model, "--only", *only)
