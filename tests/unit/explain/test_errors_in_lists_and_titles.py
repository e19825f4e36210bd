"""Errors that a report shows in an item of a list, in its title alone, or above a log that is cut: they came. Those in
a list of a guide did not."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

BLOBS = "FileNotFoundError: [Errno 2] No such file or directory:\n'.../blobs/modeling_tides.py'"
REPORT = (
    "# Loading a model fails\n\nvllm 0.22\n\n### Reproduction\n\n1. Pull a model\n2. Serve it with vllm\n{}\n\n"
    "### More\n\nNone"
)
CUT = """```
(RayWorkerWrapper pid=356) ERROR 08-05 22:52:01 [worker_base.py:619] Traceback (most recent call last):
(RayWorkerWrapper pid=356) ERROR 08-05 22:52:01 [worker_base.py:619]   File "/vllm/worker/base.py", line 611, in run
(RayWorkerWrapper pid=356) ERROR 08-05 22:52:01 [worker_base.py:619]     return run_method(self, method, args, kwargs)
```
"""


def told(text: str) -> str:
    """What is said of it; nothing is a deployment."""
    judged = ask(text)
    assert all(each.layout is None for each in judged)
    return " | ".join(f"{finding.where}: {finding.message}" for each in judged for finding in each.findings)


@pytest.mark.parametrize("marker", ["3. ", "3) ", "- ", "* ", "  - ", "3. **"])
@pytest.mark.parametrize("tick", ["`", "``"])
def test_an_error_alone_in_an_item_came(marker: str, tick: str) -> None:
    bold = "**" if marker.endswith("**") else ""
    assert "modeling_tides.py, which is sought beside the cached blob" in told(
        REPORT.format(f"{marker}{tick}{BLOBS}{tick}{bold}")
    )


@pytest.mark.parametrize(
    "item",
    [
        f"- `{BLOBS}`: download it to a folder",
        f"- `{BLOBS}` means that the cache is not whole",
        f"- `{BLOBS}`\n  Download it to a folder.",
        f"- If you see `{BLOBS}`, download it",
    ],
)
def test_an_item_that_says_what_to_do_is_no_report(item: str) -> None:
    assert told(REPORT.format(item)) == ""


def test_a_chapter_on_errors_is_no_report() -> None:
    guide = REPORT.format(f"3. `{BLOBS}`").replace("### Reproduction", "### Troubleshooting")
    assert told(guide) == ""


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ("AssertionError: Sinks are only supported in FlashAttention 3", "attention sinks in FlashAttention 3 alone"),
        ("ValueError: tides are only supported with moons of type 3", "tides are only supported with moons of type 3"),
    ],
)
@pytest.mark.parametrize("log", [CUT, ""])
def test_an_error_above_a_log_that_is_cut_is_told(error: str, cause: str, log: str) -> None:
    assert cause in told(f"The same with vllm\n\nAnd i get this error\n\n`{error}`\n\n{log}")


def test_the_end_of_a_log_comes_before_what_a_sentence_quotes() -> None:
    end = "(RayWorkerWrapper pid=356) ERROR 08-05 22:52:01 [worker_base.py:619] ValueError: waves must be even\n```"
    log = CUT.removesuffix("```\n") + end
    said = told(f"Here vllm fails with `ValueError: tides are not supported`\n\n{log}\n")
    assert "waves must be even" in said
    assert "tides" not in said


@pytest.mark.parametrize(
    ("title", "cause"),
    [
        (
            "[Bug]: GLM-5 Load weight error: Following weights were not initialized from checkpoint: "
            "{'model.layers.78.shared_head.head.weight', 'model.embed_tokens.weight'}",
            "head of its own, and the checkpoint has none",
        ),
        ("[Bug]: Qwen3-Coder-480B-FP8 on 8*H20, deepgemm warmup OOM", "DeepGEMM's kernels are tried out"),
        (
            "[Bug]: gpt-oss-20b on two 4090: AssertionError: Sinks are only supported in FlashAttention 3",
            "attention sinks in FlashAttention 3 alone",
        ),
        (
            "[Bug]: Kimi K2.5 RuntimeError: aclnnAddRmsNormBias or aclnnAddRmsNormBiasGetWorkspaceSize not in "
            "libopapi.so, or libopapi.sonot found.",
            "one of the plugin's own operators",
        ),
    ],
)
def test_an_error_in_the_title_alone_is_told(title: str, cause: str) -> None:
    engine = "vllm-ascend" if "aclnn" in title else "vllm"
    assert cause in told(f"# {title}\n\n{engine} from main\n\nSee the title.\n")


def test_a_title_that_asks_how_an_error_is_avoided_reports_none() -> None:
    assert told("# [Usage]: How to avoid a deepgemm warmup OOM\n\nI use vllm from main.\n") == ""


def test_an_operator_of_cann_is_still_one_that_an_old_cann_lacks() -> None:
    text = (
        "vllm-ascend fails with\n\nRuntimeError: aclnnMoeDistributeDispatchV4 or aclnnMoeDistributeDispatchV4Get"
        "WorkspaceSize not in libopapi.so, or libopapi.sonot found.\n"
    )
    assert "CANN has no operator aclnnMoeDistributeDispatchV4" in told(text)


def test_frames_of_the_warmup_are_its_cause_where_the_memory_is_full() -> None:
    front = "(Worker_TP2_EP2 pid=405) ERROR 11-25 08:05:06 [multiproc_executor.py:815] "
    frame = f"{front}    _deepgemm_grouped_fp8_gemm_nt_contiguous_warmup(\n"
    full = f"{front}torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 GiB.\n"
    other = f"{front}RuntimeError: CUDA error: invalid device function\n"
    assert "DeepGEMM's kernels are tried out" in told(f"vllm fails\n\n```\n{frame}{full}```\n")
    assert "DeepGEMM's kernels are tried out" not in told(f"vllm fails\n\n```\n{frame}{other}```\n")


def test_sinks_that_are_not_known_are_of_the_old_engine_and_no_mix_of_packages() -> None:
    log = (
        "ERROR 08-07 08:09:51 [engine.py:467] TypeError: FlashAttentionImpl.__init__() got an unexpected keyword "
        "argument 'sinks'"
    )
    said = told(f"gpt-oss-120b with vllm fails in AsyncLLMEngine\n\n```\n{log}\n```\n")
    assert "V0 engine" in said
    assert "packages of different releases" not in said
