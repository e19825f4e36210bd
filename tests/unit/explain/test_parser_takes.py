"""What is printed to be typed is what the parser of the release that is judged takes."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Severity


def judged(text: str, version: str = "") -> Judged:
    (one, *_) = judge(read_script(text, markdown=False), Question(version=version or None))
    return one


VLLM = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8"
SGLANG = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp-size 8"


@pytest.mark.parametrize(
    "text",
    [
        f"{VLLM} --speculative-model eagle3",  # of a release before those that are recorded
        f"{SGLANG} --stream-outputs",
        f"{SGLANG} --kv-cache-dtype hcu_fp8",
        "python -m sglang.launch_server --tp-size 8 --served-model-name kimi",
        "docker run lmsysorg/sglang:v0.4.2 python3 -m sglang.launch_server --model-path m --tp 8 --output-file a.jsonl",
        "docker run my.mirror/lmsysorg/sglang:v0.4.2 python3 -m sglang.launch_server --model-path m --tp 8 --output a",
        f"{VLLM} --dyn-tool-call-parser kimi_k2",
        f"{VLLM} --max-num-seqs ''",
    ],
)
def test_what_would_be_refused_is_not_printed(text: str) -> None:
    one = judged(text)
    assert not one.corrected
    assert not one.better


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{VLLM} --enable-reasoning --reasoning-parser kimi_k2", "--reasoning-parser kimi_k2"),
        (f"{VLLM} --limit-mm-per-prompt image=5,video=2", '--limit-mm-per-prompt {"image": 5, "video": 2}'),
        (f"{SGLANG} --enable-flashinfer-mla", "--attention-backend flashinfer"),
        (f"{SGLANG} --enable-flashinfer-mla --attention-backend flashinfer", "8 --attention-backend flashinfer"),
        (f"{SGLANG} --dp 4 --enable-dp-attention", "--dp-size 4 --enable-dp-attention"),
        (f"{SGLANG} --kt-amx-weight-path w --kt-amx-method AMXINT4", "--kt-weight-path w --kt-method AMXINT4"),
        ("llama-server -m kimi.gguf -fa -c 8192", "-fa on -c 8192"),
        (f"{VLLM} --port 8000 ，and then it stops", "--port 8000"),
        (f"{VLLM} --node-rank <N>", "--node-rank <N>"),
    ],
)
def test_what_has_a_name_of_today_is_mended(text: str, words: str) -> None:
    (line,) = judged(text).corrected
    assert words in " ".join(line.argv)


def test_a_number_with_a_place_to_fill_in_is_no_command_to_type() -> None:
    assert not judged(f"{VLLM} --port 800X").corrected


def test_a_worker_that_another_program_starts_keeps_that_programs_options() -> None:
    text = "python -m dynamo.vllm --model moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --dyn-tool-call-parser kimi_k2"
    assert judged(text).corrected


def test_what_older_releases_had_is_no_error_where_none_is_named() -> None:
    text = f"{VLLM} --enable-reasoning --reasoning-parser kimi_k2"
    assert not [finding for finding in judged(text).findings if finding.severity is Severity.ERROR]
    assert [finding for finding in judged(text, "0.20.0").findings if finding.severity is Severity.ERROR]


def test_a_better_command_starts_the_same_layout() -> None:
    text = f"# on 2x8xH800\n{SGLANG.replace('8', '16')} --dp 4 --enable-dp-attention --enable-deepep-moe --nnodes 2"
    one = judged(text, "0.5.23")
    for better in one.better:
        assert "--dp-size" not in " ".join(better.lines[0].argv)
