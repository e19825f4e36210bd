"""The files of options that the seeds' scripts write, and what is mended in such a file."""

from __future__ import annotations

from moonpad.explain.results import Judged
from tests.unit.explain.judging import ask, refused, seed, summary


def deployments(on: str, version: str = "") -> list[Judged]:
    return [judged for judged in ask(seed("seed4.md"), on, version) if judged.layout is not None]


def test_the_file_that_the_tensorrt_script_writes() -> None:
    judged = deployments("2x8xH200")[7]
    assert judged.version == "1.0.0rc2"
    assert judged.fits is True
    assert not refused(judged)
    key = "extra-llm-api-config.yml: cuda_graph_config.padding_enabled"
    (newer,) = [judged for judged in deployments("2x8xH200", "1.2") if judged.engine == "tensorrt-llm"]
    assert ("error", "renamed-flag", key) in summary(newer)
    assert ("warning", "renamed-flag", "--extra_llm_api_options") in summary(newer)
    (file,) = newer.corrected_files
    assert "enable_padding: true" in file.text
    assert "padding_enabled" not in file.text


def test_a_key_that_was_renamed_is_mended_in_the_file() -> None:
    """What belongs into the YAML is corrected there, and the command that reads it is whole."""
    head = "cat >/c/x.yml <<EOF\ncuda_graph_config:\n  padding_enabled: true\nprint_iter_log: true\nEOF\n"
    command = "trtllm-serve /models/Kimi-K2-Instruct --tp_size 16 --config /c/x.yml --port 8000\n"
    (judged,) = ask(head + command, "2x8xH200", "1.2.0")
    (file,) = judged.corrected_files
    assert file.path == "/c/x.yml"
    assert file.text == "cuda_graph_config:\n  enable_padding: true\nprint_iter_log: true\n"
    assert judged.corrected[0].argv[-4:] == ("--config", "/c/x.yml", "--port", "8000")
    (again,) = ask(head.replace("padding_enabled", "enable_padding") + command, "2x8xH200", "1.2.0")
    assert not again.corrected_files
    assert not refused(again)


def test_a_key_at_the_top_of_a_file_that_belongs_into_a_table() -> None:
    head = "cat >/c/x.yml <<EOF\nkv_cache_dtype: fp8\nkv_cache_config:\n  dtype: fp8\nEOF\n"
    command = "trtllm-serve /models/Kimi-K2-Instruct --tp_size 16 --config /c/x.yml --port 8000\n"
    (judged,) = ask(head + command, "2x8xH200", "1.2.0")
    assert ("error", "renamed-flag", "x.yml: kv_cache_dtype") in summary(judged)
    (again,) = ask(head.replace("kv_cache_dtype: fp8\n", "") + command, "2x8xH200", "1.2.0")
    assert not refused(again)
