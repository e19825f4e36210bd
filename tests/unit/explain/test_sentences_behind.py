"""A sentence that goes on behind a command on the same line, after a full-width mark without a blank."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one, at, refused

START = "CUDA_VISIBLE_DEVICES=0,1 vllm serve /data/Big-Model \\\n  --tensor-parallel-size 2 \\\n  "


@pytest.mark.parametrize(
    "last",
    [
        "--max-num-seqs 16，启动后报错 CUDA out of memory 2 次",
        "--max-num-seqs 16。日志如下：RuntimeError 2 errors",
        "--max-num-seqs 16；请问怎么解决？ 3",
        "--max-num-seqs 16（单机）就可以 1",
        "--max-num-seqs 16 --limit-mm-per-prompt '{\"image\": 2}'，然后报错：1 error",
    ],
)
def test_it_is_no_argument(last: str) -> None:
    judged = ask_one(START + last, on="")
    assert not refused(judged)
    assert not at(judged, "invalid-value")
    assert judged.settings is not None
    assert judged.settings.max_num_seqs == 16


def test_a_mark_in_quotes_belongs_to_the_argument() -> None:
    judged = ask_one(START + "--served-model-name '模型，一号' --max-num-seqs 16", on="")
    assert judged.settings is not None
    assert judged.settings.max_num_seqs == 16


@pytest.mark.parametrize(
    "text",
    [
        f"{START}--port 8000，\\\n  --max-num-seqs 16",  # a line that goes on
        f"#!/bin/bash\n{START}--port 8000，后台运行",
        f"{START}--port 8000，ok",
    ],
)
def test_elsewhere_the_mark_is_a_slip(text: str) -> None:
    assert at(ask_one(text, on=""), "invalid-value") == ["--port"]
