"""Patterns of tensors of which the first that matches decides."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

START = "llama-server -m /w/Kimi-K2-Instruct-UD-Q2_K_XL-00001-of-00008.gguf -c 16384 -ngl 99 {}\n"


def told(options: str) -> bool:
    return any("is never asked" in each.message for one in ask(START.format(options)) for each in one.findings)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (r'-ot "exps=CPU,blk\.[34]\.ffn_.*_exps=CUDA0"', True),
        (r'-ot exps=CPU -ot "blk\.3\.ffn_up_exps=CUDA0"', True),
        (r'-ot "blk\.[34]\.ffn_.*_exps=CUDA0,exps=CPU"', False),
        (r'-ot "blk\.[34]\.ffn_.*_exps=CUDA0" -ot "blk\.[45]\.ffn_.*_exps=CUDA1,exps=CPU"', False),
        (r'-ot "exps=CPU,blk\.3\.attn_.*=CUDA0"', False),
        (r'-ot "exps=CPU,ffn_.*_exps=CPU"', False),
        (r'-ot "exps=$PLACE,blk\.3\.ffn_up_exps=CUDA0"', False),
        ("-ot exps=CPU", False),
    ],
)
def test_a_pattern_behind_a_general_one(options: str, *, expected: bool) -> None:
    assert told(options) == expected


def test_experts_on_several_cards_by_name_are_not_counted_by_layers() -> None:
    by_name = r"-ot 'blk\.[34]\.ffn_.*_exps=CUDA0,blk\.[56]\.ffn_.*_exps=CUDA1,exps=CPU'"
    (judged,) = ask(START.format(by_name), "2xRTX3090")
    assert judged.fits is None
