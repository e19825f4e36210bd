"""Files of options that a script writes and its command does not name, and those that a session at a terminal shows."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

WRITES = "cat > extra.yml <<EOF\nenable_attention_dp: true\nkv_cache_config:\n  free_gpu_memory_fraction: 0.8\nEOF\n"
SERVE = "trtllm-serve nvidia/DeepSeek-R1-0528-FP4 --tp_size 8 --ep_size 8 --trust_remote_code"
FLAGS = "cat > kimi.yaml <<EOF\ntensor-parallel-size: 8\nmax-model-len: 65536\nEOF\n"
OTHERS = "cat > prom.yml <<EOF\nglobal:\n  scrape_interval: 5s\nscrape_configs: []\nEOF\n"


def told(text: str, words: str, version: str = "") -> list[str]:
    return [each.remedy for one in ask(text, "", version) for each in one.findings if words in each.message]


@pytest.mark.parametrize(
    ("text", "version", "expected"),
    [
        (f"#!/bin/bash\n{WRITES}{SERVE}\n", "", ["add --config extra.yml"]),
        (f"#!/bin/bash\n{WRITES}{SERVE}\n", "1.0.0", ["add --extra_llm_api_options extra.yml"]),
        (f"{FLAGS}vllm serve moonshotai/Kimi-K2.5 --trust-remote-code\n", "", ["add --config kimi.yaml"]),
        (f"{WRITES}{SERVE} --config extra.yml\n", "", []),
        (f"{WRITES}{SERVE} --extra_llm_api_options=extra.yml\n", "1.0.0", []),
        (f"{WRITES}{SERVE} $EXTRA\n", "", []),
        (f"{WRITES}cp extra.yml /cfg/\n{SERVE}\n", "", []),
        (f"{WRITES}{SERVE}\n# later: trtllm-bench ... --config extra.yml\n", "", []),
        (f"{OTHERS}{SERVE}\n", "", []),
        (f"{FLAGS}{SERVE}\n", "", []),
        (f"{FLAGS}vllm serve --config kimi.yaml moonshotai/Kimi-K2.5 --trust-remote-code\n", "", []),
    ],
)
def test_a_written_file_is_named(text: str, version: str, expected: list[str]) -> None:
    assert told(text, "nothing reads the file", version) == expected


SHOWN = "$ cat qwen.yaml\nenable_attention_dp: true\n{}kv_cache_config:\n  free_gpu_memory_fraction: 0.9\n$ {}\n"
ASKS = f"{SERVE} --config qwen.yaml"


@pytest.mark.parametrize("fence", ["{}", "# Qwen\n\n```console\n{}```\n", "# Qwen\n\n```bash\n{}```\n"])
def test_a_shown_file_is_read(fence: str) -> None:
    misplaced = fence.format(SHOWN.format("enable_block_reuse: false\n", ASKS))
    assert told(misplaced, "is a key of kv_cache_config") == ["write it in kv_cache_config"]
    sound = ask(fence.format(SHOWN.format("", ASKS)))
    assert [one.layout.dp for one in sound if one.layout is not None] == [8]
