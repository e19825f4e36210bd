"""What a log or a script's own words settle: a figure that the engine gives, and a switch that only some ranks get."""

from __future__ import annotations

import pytest

from moonpad.report.shell_line import typed_lines
from tests.unit.explain.judging import ask_one

FAILED = (
    "ValueError: To serve at least one request with the models's max seq len (262144), (17.16 GiB KV cache is needed, "
    "which is larger than the available KV cache memory (9.80 GiB). Based on the available memory, the estimated "
    "maximum model length is 149696. Try increasing `gpu_memory_utilization` or decreasing `max_model_len`."
)
SERVE = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code"


@pytest.mark.parametrize("given", ["", " --max-model-len 262144", " --max-model-len=262144"])
def test_the_length_that_the_engine_logged_is_in_what_is_corrected(given: str) -> None:
    judged = ask_one(f"```bash\n{SERVE}{given}\n```\nvLLM 0.11.2:\n```\n{FAILED}\n```\n")
    (corrected,) = judged.corrected
    words = [part for word in corrected.argv for part in word.split("=")]
    assert words.count("--max-model-len") == 1
    assert words[words.index("--max-model-len") + 1] == "149696"


SCRIPT = f'{SERVE} --pipeline-parallel-size 2 --nnodes 2 --node-rank "$RANK" --master-addr 10.0.0.1 '


@pytest.mark.parametrize("condition", ['[ "$RANK" != 0 ]', '[[ "$RANK" != 0 ]]', 'test "$RANK" != 0'])
def test_a_switch_of_the_other_nodes_leaves_the_layout_known(condition: str) -> None:
    judged = ask_one(f"{SCRIPT}$( {condition} && echo --headless )\n", on="2x8xH200", version="0.20.0")
    assert not judged.unknown & {"tp", "pp", "dp"}
    assert judged.layout is not None
    assert (judged.layout.tp, judged.layout.pp) == (8, 2)
    assert any(line.strip(" \\").endswith("&& echo --headless )") for line in typed_lines(judged.corrected[0]))


def test_what_else_is_filled_in_stays_unknown() -> None:
    judged = ask_one(f'{SCRIPT}$( [ "$BIG" = 1 ] && echo --enable-expert-parallel )\n', on="2x8xH200", version="0.20.0")
    assert judged.unknown


def test_a_file_of_options_of_a_worker_that_is_not_there_leaves_the_layout_open() -> None:
    text = "python3 -m dynamo.trtllm --model-path nvidia/Kimi-K2-Thinking-NVFP4 --extra-engine-args /cfg/prefill.yaml"
    judged = ask_one(text, on="8xB200")
    assert judged.unknown
    assert not [finding for finding in judged.findings if finding.where == "--tp_size"]
