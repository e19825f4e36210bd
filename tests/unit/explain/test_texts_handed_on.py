"""A command in a variable that a script hands to a service is read as it stands there, with what the script sets."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SCRIPT = """#!/usr/bin/env bash
IMAGE_NAME="lmsysorg/sglang:v0.5.9-rocm700-mi30x"
GPU_TYPE="AMD Instinct MI300X"
GPU_COUNT="${{GPU_COUNT:-4}}"
TP_SIZE="${{TP_SIZE:-${{GPU_COUNT}}}}"
CONTEXT_LENGTH="${{CONTEXT_LENGTH:-128000}}"
MEM_FRACTION_STATIC="${{MEM_FRACTION_STATIC:-0.8}}"
KV_CACHE_DTYPE="${{KV_CACHE_DTYPE:-fp8_e4m3}}"
MODEL_PATH="${{MODEL_PATH:-moonshotai/Kimi-K2.6}}"

start_cmd="$(
  cat <<EOF
{before}sglang serve \\
  --model-path ${{MODEL_PATH}} \\
  --tp-size ${{TP_SIZE}} \\
  --trust-remote-code \\
  --reasoning-parser kimi_k2 \\
  --tool-call-parser kimi_k2 \\
  --port 30000 \\
  --context-length ${{CONTEXT_LENGTH}}
EOF
)"
payload="$(jq -n --arg s "$start_cmd" '{{cmd: [$s]}}')"
curl --data "$payload" https://example.com/pods
"""


@pytest.mark.parametrize("before", ["", "mkdir -p /w && \\\n", "mkdir -p /w && \\\n${prelude}\\\n", "${prelude} "])
def test_command_is_found_behind_what_comes_first(before: str) -> None:
    (judged,) = [each for each in ask(SCRIPT.format(before=before)) if each.layout is not None]
    assert judged.layout is not None
    assert (judged.layout.tp, judged.version) == (4, "0.5.9")
    (line,) = judged.commands
    assert line.argv[:2] == ("sglang", "serve")
    assert line.argv[line.argv.index("--port") + 1] == "30000"
    assert not any("parser" in each.where and "add" in each.remedy for each in judged.findings)
    assert judged.settings is not None
    assert judged.settings.max_model_len == 128000


def test_variables_alone_are_still_a_preset() -> None:
    alone = SCRIPT.format(before="").partition("start_cmd")[0] + "sglang_start_from_presets\n"
    assert [each.layout.tp for each in ask(alone) if each.layout is not None] == [4]
