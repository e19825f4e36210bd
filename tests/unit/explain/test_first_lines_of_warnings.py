"""The first line names the warning that ends the start, and an error that is shown is held against the layout."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_files
from moonpad.report.explain_verdict import suspected, verdict
from moonpad.report.explain_view import explain_view
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

ASCEND = "quay.io/ascend/vllm-ascend:{}-a3\n\nvllm serve /weights/Kimi-{}-w4a8 --quantization ascend -tp {} {}\n"
TRANSFER = (
    '--kv-transfer-config \'{{"kv_connector": "MooncakeConnectorV1", "kv_role": "kv_consumer", "engine_id": "2", '
    '"kv_connector_extra_config": {{"prefill": {{"dp_size": 1, "tp_size": {}}}, "decode": {{"dp_size": 4, "tp_size": '
    "{}}}}}}}'"
)
DFLASH = '--speculative-config \'{"method": "dflash", "model": "z-lab/Kimi-K2.5-DFlash", "num_speculative_tokens": 5}\''
TRACE = (
    '\nERROR 02-11 10:00:01 [core.py:40]   File "/opt/vllm/worker.py", line 77, in build\n    self.experts = make()\n'
)


def view(text: str, name: str = "input.txt") -> str:
    script = read_files([(name, text)])
    return " ".join(explain_view(ask(script), script, 110).plain.split())


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        (ASCEND.format("v0.16.0rc1", "K2.5", 16, "--trust-remote-code"), "Known fault (engine): support of K2.5"),
        (
            ASCEND.format("v0.22.1rc1", "K2.7-Code", 4, f"-dp 4 {DFLASH} {TRANSFER.format(16, 4)}"),
            "Known fault (--kv-transfer-config): with a draft by DFlash and different",
        ),
        (
            "sglang 0.5.5\n\npython -m sglang.launch_server --model moonshotai/Kimi-K2-Thinking --tp-size 8 --ep-size 8"
            " --trust-remote-code\n",
            "Known fault (--ep-size): the INT4 experts",
        ),
        (
            "8x A100\n\nsglang serve --model-path MiniMaxAI/MiniMax-M2 --tp-size 8 --ep-size 8\n",
            "Known fault (engine): FP8 experts go through Triton",
        ),
        (
            "lmsysorg/sglang:v0.5.0rc1\n\npython -m sglang.launch_server --model-path zai-org/GLM-4.5V-FP8 --tp 4\n",
            "Will likely fail: SGLang 0.5.0rc1 asks for",
        ),
        (
            "# first\npython -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp-size 16 --nnodes 2"
            " --dist-init-addr 10.1.0.1:6000 --node-rank 0\n# second\npython -m sglang.launch_server --model-path"
            " deepseek-ai/DeepSeek-V3 --tp-size 16 --nnodes 2 --dist-init-addr 10.1.0.2:6000 --node-rank 1\n",
            "Will likely fail: --dist-init-addr: this node waits at 10.1.0.2:6000",
        ),
        (
            "2x 910B machines\n\nvllm-ascend\nvllm serve /w/deepseek-ai/DeepSeek-V3-0324 -tp 16\n",
            "Will likely fail: DeepSeek-V3-0324 is published in FP8",
        ),
    ],
)
def test_a_warning_that_ends_the_start_is_told_first(text: str, begins: str) -> None:
    assert view(text).startswith(begins)


def test_equal_sizes_of_both_sides_are_not_the_fault() -> None:
    text = ASCEND.format("v0.22.1rc1", "K2.7-Code", 4, f"-dp 4 {DFLASH} {TRANSFER.format(4, 4)}")
    assert view(text).startswith("No error")


def test_an_error_without_a_cause_is_held_against_the_layout() -> None:
    serve = "vllm serve Qwen/Qwen3-30B-A3B-FP8 -tp 4\n"
    assert view(serve + TRACE).startswith("The text shows a traceback, perhaps by --tensor-parallel-size: an expert of")
    assert view(serve).startswith("No error")
    plain = view(f"vllm serve Qwen/Qwen3-30B-A3B-FP8 -tp 2\n{TRACE}")
    assert plain.startswith("The text shows a traceback. The command: No error")
    unknown = "vllm 0.9.1\n\nvllm serve Qwen/Qwen3-235B-A22B-GPTQ-Int4 -tp 8\n\nRuntimeError: tile_q is odd here\n"
    judged = ask(read_files([("input.txt", unknown)]))[0]
    assert "ranks that is 192 each" in suspected(judged)
    assert ", perhaps by --tensor-parallel-size: an expert of" in verdict(judged)[0]


@pytest.mark.parametrize(
    ("text", "told", "untold"),
    [
        (
            "vllm serve Qwen/Qwen3-30B-A3B -tp 4 --quantization fp8_per_block\n",
            "(releases before 0.25.0 end at the first run)",
            "0.29.0",
        ),
        (
            "8x L40S\n\nvllm serve Qwen/Qwen3.8-Flash-Next-FP8 --tensor-parallel-size 8\n",
            "has 640 columns, and over 8 ranks that is 80 each",
            "releases before 0.29.0",
        ),
        (
            "8x L40S\n\nvllm serve Qwen/Qwen3.8-Flash-Next-FP8 --tensor-parallel-size 8\n",
            "keep the experts whole: --enable-expert-parallel",
            "write --tensor-parallel-size 1",
        ),
        (
            "vllm-ascend\n\nvllm serve /m/some-model -tp 8 --quantization ascend --disable-log-requests\n",
            "0.10.0 to 0.16.0 and 0.33.0 have it",
            "0.10.0 to 0.33.0",
        ),
        (
            "vllm serve deepseek-ai/DeepSeek-V3 -tp 32\n\n"
            "ValueError: Weight input_size_per_partition = 576 is not divisible by weight quantization"
            " block_k = 128.\n",
            "pipeline stages or replicas: expert parallelism leaves dense layers as they are",
            "keep the experts whole: --enable-expert-parallel",
        ),
        (
            "vllm serve Qwen/Qwen3.8-Flash-Next-FP8 -tp 8\n\nMoE down weight input_size (80) not divisible by FP8"
            " block_k=128\n",
            "a rank's part of an expert has 80 rows or columns",
            "No error whose",
        ),
        (
            "sglang serve --model-path moonshotai/Kimi-Linear-48B-A3B-Instruct --tp-size 2\n\n"
            "AttributeError: 'ModelConfig' object has no attribute 'scaling'\n",
            "for Kimi-Linear 0.5.10 or later (sgl-project/sglang#21752)",
            "December",
        ),
        (
            "B200, sgl-deep-gemm==0.1.4\n\nsglang serve --model-path zai-org/GLM-5.2-FP8 --tp-size 8\n",
            "install sgl-deep-gemm 0.1.3",
            "0.5.15 of nothing",
        ),
        (
            "sglang serve --model-path zai-org/GLM-5.2-FP8 --tp-size 8\n\nAssertion failed: deep_gemm/include/"
            "deep_gemm/impls/smxx_layout.cuh:131, condition: (values[j] & 0x807fffffu) == 0\n",
            "sgl-deep-gemm from 0.1.4 on asserts that scales are powers of two",
            "No error whose",
        ),
    ],
)
def test_widths_spans_and_causes(text: str, told: str, untold: str) -> None:
    shown = view(text)
    assert told in shown
    assert untold not in shown


def test_options_over_lines_of_a_log_are_headings() -> None:
    log = "\n--tp-size 8 --ep-size 8:\nRuntimeError: sizes do not match\n--tp-size 8 --ep-size 1:\nValueError: no\n"
    serve = "python -m sglang.launch_server --model /m/MiniMax-M2 \\\n  --tp-size 8\n"
    assert "backslash" not in view(serve + log)
    assert "backslash" in view(serve.replace(" \\", ""))


PREFILL = ASCEND.format("releases-v0.26.0rc", "K2.6", 8, TRANSFER.format(8, 8).replace("consumer", "producer"))


def test_a_prefill_server_of_a_branch_needs_no_parsers() -> None:
    judged = ask(read_files([("input.txt", PREFILL)]))[0]
    assert judged.version == "0.26.0rc1"
    assert verdict(judged)[0].startswith("Known fault (--kv-transfer-config): prefill nodes of K2.6")
    assert not any(finding.where == "--reasoning-parser" for finding in judged.findings)
    assert not any("parser" in finding.where for finding in judged.findings if finding.severity is Severity.WARNING)
    assert "Corrected" not in view(PREFILL)
    decode = ask(read_files([("input.txt", PREFILL.replace("producer", "consumer"))]))[0]
    assert any(finding.where == "--reasoning-parser" for finding in decode.findings)


def test_a_report_that_ends_no_start_does_not_mend_what_the_log_says() -> None:
    text = (
        "vLLM 0.19.0, 8x A100\n\nvllm serve MiniMaxAI/MiniMax-M2 -tp 2 -pp 4 --enable-expert-parallel\n\n"
        'ValueError("type fp8e4nv not supported in this architecture")\n'
    )
    judged = ask(read_files([("input.txt", text)]))[0]
    assert any(
        "asynchronous scheduling" in each.message for each in judged.findings if each.severity is Severity.WARNING
    )
    assert not judged.corrected


def test_all_nodes_wait_at_the_first_ones_place_in_what_is_corrected() -> None:
    serve = "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp-size 16 --nnodes 2 --nccl-init"
    text = f"# a\n{serve} one:9000 --node-rank 0\n# b\n{serve} two:9000 --node-rank 1\n"
    corrected = ask(read_files([("input.txt", text)]))[0].corrected
    assert len(corrected) == 2
    for line in corrected:
        assert line.argv[line.argv.index("--nccl-init-addr") + 1] == "one:9000"
