"""Keys of --additional-config that moved or were split: the corrected command has them where the release reads them."""

from __future__ import annotations

import json

import pytest

from moonpad.values.finding import Severity

from .judging import ask

NPU = "vllm serve /m/GLM-5.2-w8a8 --quantization ascend --tensor-parallel-size 8"


@pytest.mark.parametrize("release", ["", "0.30.0rc2"])
@pytest.mark.parametrize(
    ("written", "expected"),
    [
        # ascend_config.py of 0.30.0rc2: AscendConfig refuses keys that it does not have
        ({"fuse_muls_add": True}, {"ascend_compilation_config": {"fuse_muls_add": True}}),
        (
            {"fuse_muls_add": True, "ascend_compilation_config": {"enable_static_kernel": False}},
            {"ascend_compilation_config": {"enable_static_kernel": False, "fuse_muls_add": True}},
        ),
        # vllm-project/vllm-ascend#12351
        ({"enable_sparse_c8": True}, {"enable_sparse_sfa_c8": True, "enable_sparse_li_c8": True}),
        (
            {"enable_sparse_c8": True, "fuse_muls_add": True},
            {
                "enable_sparse_sfa_c8": True,
                "enable_sparse_li_c8": True,
                "ascend_compilation_config": {"fuse_muls_add": True},
            },
        ),
        # of releases to 0.11.0, with nothing in their place
        ({"torchair_graph_config": {"enabled": True}, "fuse_muls_add": True},
         {"ascend_compilation_config": {"fuse_muls_add": True}}),
    ],
)  # fmt: skip
def test_they_are_written_where_they_are_read(
    release: str, written: dict[str, object], expected: dict[str, object]
) -> None:
    head = f"# vllm-ascend {release}\n" if release else "# vllm-ascend\n"
    (judged,) = ask(f"{head}{NPU} --additional-config '{json.dumps(written)}'\n", "8xA3")
    assert judged.corrected
    argv = judged.corrected[0].argv
    assert json.loads(argv[argv.index("--additional-config") + 1]) == expected


def test_a_key_that_the_release_reads_stays() -> None:
    (judged,) = ask(f"""# vllm-ascend 0.22.1rc1\n{NPU} --additional-config '{{"enable_sparse_c8": true}}'\n""", "8xA3")
    assert not any("enable_sparse_sfa_c8" in finding.remedy for finding in judged.findings)
    assert all("enable_sparse_sfa_c8" not in word for line in judged.corrected for word in line.argv)


def test_a_table_is_left_to_a_person_and_nothing_that_ends_is_corrected() -> None:
    text = f"""# vllm-ascend\n{NPU} --additional-config '{{"npugraph_ex_config": {{"enable": true}}}}'\n"""
    (judged,) = ask(text, "8xA3")
    assert not judged.corrected or all("npugraph_ex_config" not in word for word in judged.corrected[0].argv)


@pytest.mark.parametrize(("copies", "size", "kept"), [(4, 16, False), (16, 16, True), (8, 4, True), (6, 4, False)])
def test_a_size_that_has_to_divide_the_copies_is_left_out_where_it_does_not(copies: int, size: int, kept: bool) -> None:
    # ascend_config.py: "finegrained tp sizes must divide by data_parallel_size"
    written = json.dumps({"lmhead_tensor_parallel_size": size, "enable_cpu_binding": True})
    head = "vllm serve /m/Kimi-K2-W8A8 --quantization ascend --enable-expert-parallel --tensor-parallel-size 1"
    text = f"# vllm-ascend 0.30.0rc2\n{head} --data-parallel-size {copies} --additional-config '{written}'\n"
    (judged,) = ask(text)
    (finding,) = [each for each in judged.findings if "lmhead_tensor_parallel_size" in each.message]
    assert ("finegrained_tp_config" in finding.remedy) is kept
    assert finding.remedy.startswith("write" if kept else "leave it out")


@pytest.mark.parametrize(("value", "severity"), [(True, Severity.NOTE), (False, Severity.WARNING)])
def test_a_moved_key_that_is_true_by_itself_changes_nothing(value: bool, severity: Severity) -> None:
    written = json.dumps({"fuse_norm_quant": value})
    (judged,) = ask(f"# vllm-ascend 0.19.1rc1\n{NPU} --additional-config '{written}'\n", "8xA3")
    (finding,) = [each for each in judged.findings if "fuse_norm_quant" in each.message]
    assert finding.severity is severity
