"""Weights that were cloned without Git LFS: the list of the folder shows it."""

from __future__ import annotations

from tests.unit.explain.judging import ask

SERVE = "vllm serve /data/moonlight --trust-remote-code\n"
ERROR = "safetensors_rust.SafetensorError: Error while deserializing header: header too large\n"
LIST = "-rw-r--r-- 1 u u {:>12} Nov  3 11:02 model-00001-of-00027.safetensors\n"


def told(size: int) -> str:
    return str(
        [finding.message for each in ask(LIST.format(size) + SERVE + ERROR, "", "") for finding in each.findings]
    )


def test_files_of_some_bytes_are_pointers() -> None:
    assert "pointers of Git LFS" in told(135)
    assert "pointers of Git LFS" not in told(4_998_000_135)
