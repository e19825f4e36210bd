"""Folders that are called after a checkpoint, as people write it."""

from __future__ import annotations

import pytest

from moonpad.catalog.cached_names import repository_of
from moonpad.explain.folder_names import usual_name
from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view
from tests.unit.explain.judging import ask


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("/models/kimi_k2_5", "Kimi-K2.5"),
        ("/models/kimik2.5-W4A8/", "Kimi-K2.5-W4A8"),
        ("/models/Kimi2.6", "Kimi-K2.6"),
        ("/mnt/kimi-k26-nvfp4", "Kimi-K2.6-nvfp4"),
        ("kimi_k2_thinking", "Kimi-K2-thinking"),
        ("kimi-k3", "Kimi-K3"),
        ("kimi-k2-0905", "Kimi-K2-0905"),
        ("/ckpt/modelopt-moonshotai--Kimi-K2.5-FP4", "Kimi-K2.5-NVFP4"),
        ("/ckpt/quark_moonshotai--kimi-k2.6-mxfp4", "Kimi-K2.6-mxfp4"),
        ("/ckpt/tuner--Kimi-K2.5", ""),
        ("/models/DeepSeekV3", "DeepSeek-V3"),
        ("/data/deepseekr1_awq", "DeepSeek-R1-awq"),
        ("/data/DeepSeekV3.1-Terminus", "DeepSeek-V3.1-Terminus"),
        ("/data/DeepSeek-V3", ""),
        ("/data/DeepSeekV35", ""),
        ("/data/deepseekcoder", ""),
        ("/models/kimi2", ""),
        ("/models/kimi_k2", ""),
        ("/models/kimi-vl", ""),
        ("/models/my-kimi-k2.5", ""),
    ],
)
def test_a_name(written: str, expected: str) -> None:
    assert usual_name(written) == expected


def test_the_folder_says_more_of_the_weights_than_the_name_that_clients_use() -> None:
    (judged,) = ask("vllm serve /mnt/kimi-k26-nvfp4 --served-model-name moonshotai/Kimi-K2.6 -tp 4", "4xB200")
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == "nvidia/Kimi-K2.6-NVFP4"


def test_weights_that_a_flag_calls_otherwise_are_not_the_published_ones() -> None:
    (judged,) = ask("vllm serve /models/kimi_k2_5 --quantization ascend -tp 16", "16xA3")
    assert judged.checkpoint is None or judged.checkpoint.name != "moonshotai/Kimi-K2.5"


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("/data/modelopt-moonshotai--Kimi-K2.5-FP4/003", "nvidia/Kimi-K2.5-NVFP4"),
        ("/srv/DeepSeek-V3.1/main", "deepseek-ai/DeepSeek-V3.1"),
        ("/srv/kimi_k2_6/v1", "moonshotai/Kimi-K2.6"),
    ],
)
def test_a_folder_of_a_revision_is_called_after_the_one_above(folder: str, name: str) -> None:
    (judged,) = ask(f"# Kimi K2 on our nodes\n\n```\nvllm serve {folder} --tensor-parallel-size 8\n```\n", "8xB200")
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == name


@pytest.mark.parametrize("path", ["/srv/models/1", "/srv/weights-b/main", "org/main"])
def test_a_folder_that_has_no_models_name_above_it_stays_what_it_is(path: str) -> None:
    assert repository_of(path) == path


@pytest.mark.parametrize(
    "file", ["Kimi-K2-Instruct-0905-....gguf", "Kimi-K2-Instruct-0905-xxx-00001-of-00009.gguf", "Kimi-K2.6-<type>.gguf"]
)
def test_a_file_whose_type_is_left_open_is_not_the_headings_model(file: str) -> None:
    (judged,) = ask(f"# Kimi K2 answers slowly\n\n```\nllama-server --model /srv/{file} -c 4096\n```\n")
    assert judged.checkpoint is None
    assert "in which type a file of moonshotai/Kimi-K2" in str(judged)


def test_a_file_without_a_type_is_not_the_published_checkpoint() -> None:
    (judged,) = ask("llama-server --model /srv/Kimi-K2-Thinking-00001-of-00012.gguf -c 4096\n", "8xH200")
    assert judged.checkpoint is None


def test_a_slash_at_the_end_does_not_hide_the_folder() -> None:
    script = read_script("vllm serve /srv/ckpt/tuned-of-june/ --tensor-parallel-size 2\n")
    assert "tuned-of-june (not known)" in explain_view(ask(script), script, 300).plain
