"""Keys of --additional-config that moved or were split: the corrected command has them where the release reads them."""

from __future__ import annotations

import json

import pytest

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
