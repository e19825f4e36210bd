"""What a remedy says exactly is made in the corrected command, which is judged again without the finding."""

from __future__ import annotations

import pytest

from moonpad.explain.remedy_steps import Step, steps_of
from moonpad.explain.results import Judged
from moonpad.report.shell_line import typed_lines
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask, ask_one

K25 = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code --reasoning-parser kimi_k2"


def typed(judged: Judged) -> str:
    """The corrected commands as a person types them."""
    lines = (" ".join(typed_lines(line)) for line in judged.corrected)
    return " ".join(" ".join(lines).replace("\\ ", "").split())


def told(judged: Judged) -> set[str]:
    return {finding.message for finding in judged.findings if finding.severity is not Severity.NOTE}


@pytest.mark.parametrize(
    ("remedy", "steps"),
    [
        ("leave --enable-eplb out, or take a later release", [Step("leave", "--enable-eplb")]),
        ("leave it out: the default is enough", [Step("leave")]),
        ("write --block-size 16", [Step("write", "--block-size", "16")]),
        ("write 2048 or less", [Step("write", "", "2048", "most")]),
        ("add --disable-cuda-graph, or write --pp-size 1", [Step("write", "--disable-cuda-graph")]),
        (
            "set VLLM_ROCM_USE_AITER_MOE=0 and add --enable-expert-parallel",
            [Step("variable", "VLLM_ROCM_USE_AITER_MOE", "0"), Step("write", "--enable-expert-parallel")],
        ),
        ('write "enabled": true beside it, or leave use_cached_graph out', [Step("key", "enabled", "true")]),
        ("leave the draft out", [Step("leave", "the draft")]),
    ],
)
def test_an_exact_remedy_is_read(remedy: str, steps: list[Step]) -> None:
    assert [*steps_of(remedy, any_alternative=False)] == steps


@pytest.mark.parametrize(
    "remedy",
    [
        "leave one of the two out",
        "leave the draft or --enable-hierarchical-cache out",
        "add --deepep-mode normal, or low_latency on a decode server",
        "write --attention-backend fa3 on Hopper, else triton",
        "set VLLM_MLA_DISABLE=1, which takes plain attention where the release has one",
        "write --kv-cache-dtype fp8 or auto",
        "take a build with the change 404, and add --enforce-eager",
        "leave --load-format out where answers count",
    ],
)
def test_what_a_person_has_to_choose_is_not_made(remedy: str) -> None:
    assert not steps_of(remedy, any_alternative=True)


def test_a_later_alternative_is_asked_for() -> None:
    remedy = "take 0.22.0 or later, or leave --enable-eplb out"
    assert not steps_of(remedy, any_alternative=False)
    assert steps_of(remedy, any_alternative=True) == (Step("leave", "--enable-eplb"),)


def test_what_holds_on_a_device_holds_there() -> None:
    remedy = "set VLLM_ROCM_USE_AITER=1 on gfx950, whose kernels do without it"
    assert not steps_of(remedy, any_alternative=True)
    assert steps_of(remedy, any_alternative=True, devices=frozenset({"gfx950"}))


CASES = [
    (
        "# SGLang 0.5.14\nsglang serve --model-path moonshotai/Kimi-Linear-48B-A3B-Instruct --trust-remote-code "
        "--tp-size 4 --mamba-radix-cache-strategy extra_buffer",
        "extra_buffer",
        "",
    ),
    (f"# vLLM 0.20.0\n{K25} --decode-context-parallel-size 8 --kv-cache-dtype fp8", "", "--kv-cache-dtype auto"),
    (
        "# vLLM 0.17.0, 8x MI355X\nVLLM_ROCM_USE_AITER=1 vllm serve amd/Kimi-K2.5-MXFP4 -tp 8 --trust-remote-code",
        "",
        "VLLM_ROCM_USE_AITER_MLA=0",
    ),
    (f"# vLLM 0.19.1\n{K25.replace('K2.5', 'K2-Thinking')} --mm-encoder-tp-mode data", "--mm-encoder", ""),
    (
        "# sglang 0.5.12\nsglang serve --model-path moonshotai/Kimi-K2.6 --tp-size 8 --trust-remote-code "
        "--hicache-ratio 2 --reasoning-parser kimi_k2 --tool-call-parser kimi_k2",
        "",
        "--enable-hierarchical-cache",
    ),
    # A variable, an option with what is for it alone, a key of JSON, a value, a switch of another option.
    ("4x MI355X; MEC firmware version: 170\n\n```\n" + K25.replace("8", "4") + "\n```", "", "HSA_NO_SCRATCH_RECLAIM=1"),
    (
        f'# vLLM 0.19.1\n{K25} --load-format tensorizer --model-loader-extra-config \'{{"tensorizer_uri": "s3://b/m"}}\'',
        "tensorizer",
        "",
    ),
    (
        "# vLLM 0.12.0\nexport VLLM_ATTENTION_BACKEND=FLASH_ATTN\n" + K25.replace("K2.5", "K2-Thinking"),
        "FLASH_ATTN",
        "",
    ),
    (
        "# sglang 0.5.10\nsglang serve --model-path moonshotai/Kimi-K2.5 --tp-size 8 --trust-remote-code "
        "--reasoning-parser kimi --tool-call-parser kimi_k2",
        "parser kimi ",
        "--reasoning-parser kimi_k2",
    ),
    (
        "# sglang 0.5.9\nsglang serve --model-path moonshotai/Kimi-K2-Instruct --tp-size 8 --trust-remote-code "
        "--moe-a2a-backend deepep --deepep-mode low_latency --disaggregation-mode prefill",
        "low_latency",
        "--deepep-mode normal",
    ),
]


@pytest.mark.parametrize(("text", "gone", "there"), CASES)
def test_the_corrected_command_is_judged_without_the_finding(text: str, gone: str, there: str) -> None:
    on = "8xMI355X" if "8x MI355X" in text else "4xMI355X" if "MI355X" in text else "8xH200"
    (judged,) = ask(text, on)
    line = typed(judged)
    assert line
    assert not gone or gone not in line
    assert there in line
    made = {remark.finding.message for remark in judged.remarks if remark.changes}
    (again,) = ask(line, on, version="" if "newest" in judged.version_because else judged.version)
    assert made
    assert not made & told(again)


def test_a_later_alternative_is_left_where_another_edit_is_enough() -> None:
    """The note beside it names the parser, so that the switch stays."""
    line = typed(ask_one(f"{K25} --enable-auto-tool-choice", version="0.19.1"))
    assert "--enable-auto-tool-choice" in line
    assert "--tool-call-parser kimi_k2" in line


def test_nothing_is_added_for_an_option_that_goes() -> None:
    """Balancing of experts wants expert parallelism, and this model has none before 0.22.0."""
    line = typed(ask_one(f"{K25} --enable-eplb", version="0.19.1"))
    assert line
    assert "--enable-eplb" not in line
    assert "--enable-expert-parallel" not in line


def test_all_nodes_get_the_edit() -> None:
    head = f"{K25.replace('8', '16')} --nnodes 2 --master-addr 10.0.0.1 --enable-eplb --enable-expert-parallel"
    (judged,) = ask(f"# vllm 0.19.1\n{head} --node-rank 0\n{head} --node-rank 1 --headless", "2x8xH200")
    assert len(judged.corrected) == 2
    assert not any("--enable-eplb" in line.argv for line in judged.corrected)


def test_the_log_s_remedy_is_made() -> None:
    text = f"vLLM on tpu7x\n\n```\n{K25} --gpu-memory-utilization 0.98\n```\n\n"
    text += "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: CompileTimeHbmOom: Used 94.8G of 94.7G hbm."
    (judged,) = ask(text)
    assert "--gpu-memory-utilization 0.95" in typed(judged)


def test_nothing_is_corrected_or_better_that_keeps_what_is_complained_of() -> None:
    text = "Two nodes of 8x H200, vLLM 0.18.0.\n\n```\nvllm serve moonshotai/Kimi-K2.5 --trust-remote-code -tp 8 -pp 2 "
    text += "--distributed-executor-backend ray\n```\n\nThe second stage ends in\n\n```\nKeyError: "
    text += "'language_model.model.layers.31.self_attn.attn'\n```\n"
    (judged,) = ask(text, "2x8xH200")
    assert not judged.corrected
    assert not judged.better


def test_the_options_of_a_container_are_mended() -> None:
    docker = "docker run -p 127.0.0.1:8000:8000 {image} --model moonshotai/Kimi-K2.5 --tensor-parallel-size 8 "
    docker += "--trust-remote-code --reasoning-parser kimi_k2 --tool-call-parser kimi_k2 --enable-auto-tool-choice"
    bare = typed(ask_one(docker.format(image="vllm/vllm-openai:v0.19.1")))
    assert "--gpus all" in bare
    assert "--ipc=host" in bare
    assert bare.index("--gpus") < bare.index("vllm/vllm-openai")
    tagged = typed(ask_one(docker.format(image="--gpus all --ipc=host vllm/vllm-openai:0.19.1")))
    assert "vllm/vllm-openai:v0.19.1" in tagged


def test_a_program_that_the_image_starts_is_taken_out() -> None:
    text = f"docker run --gpus all --ipc=host -p 127.0.0.1:8000:8000 vllm/vllm-openai:v0.19.1 {K25}"
    assert "v0.19.1 moonshotai/Kimi-K2.5" in typed(ask_one(text))


def test_a_published_port_of_a_container_is_listened_to() -> None:
    text = "docker run --gpus all --ipc=host -p 127.0.0.1:30000:30000 lmsysorg/sglang:v0.5.12 sglang serve "
    text += "--model-path moonshotai/Kimi-K2.5 --tp-size 8 --trust-remote-code --port 30000"
    assert "--host 0.0.0.0" in typed(ask_one(text))


def test_a_variable_is_set_in_the_container() -> None:
    text = "4x MI355X; MEC firmware version: 170\n\n```\ndocker run --device /dev/kfd --device /dev/dri --ipc=host "
    text += (
        "vllm/vllm-openai-rocm:v0.20.0 --model amd/Kimi-K2.5-MXFP4 --tensor-parallel-size 4 --trust-remote-code\n```"
    )
    (judged,) = ask(text)
    line = typed(judged)
    assert "-e HSA_NO_SCRATCH_RECLAIM=1 vllm/vllm-openai-rocm" in line


def test_the_publisher_s_int4_files_get_their_method() -> None:
    text = (
        "python -m sglang.launch_server --model /d/Kimi-K2.5 --kt-amx-weight-path /d/Kimi-K2.5 --kt-amx-method AMXINT4 "
    )
    text += (
        "--kt-cpuinfer 64 --kt-threadpool-count 2 --kt-num-gpu-experts 100 --tensor-parallel-size 8 --trust-remote-code"
    )
    (judged,) = ask(text)
    assert "--kt-weight-path /d/Kimi-K2.5" in typed(judged)
    assert "--kt-method RAWINT4" in typed(judged)
