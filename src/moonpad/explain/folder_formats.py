"""Formats of weights that the name of a folder tells: `Kimi-K2.5-MXFP4`, `Kimi-K3-w1`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from moonpad.catalog.model_row import Model

FORMATS: Final = re.compile(
    r"(?<![a-z0-9])(nvfp4|mxfp4|fp4|fp8|w[1-8](?:a(?:16|8|4))?|[1-8](?:\.\d{1,2})?[-_]?bits?|\d\.\d{1,2}bpw|exl[23]|hqq"
    r"|int[2-8]|awq|gptq|bf16|gguf|u?d?-?i?q[1-8]_\w+|ascend|reap[\w.]{0,8}|pruned|qsrt)"
    r"(?:c8)?(?![a-z0-9])"  # with keys and values of 8 bits
)
_BITS: Final = re.compile(r"[-_]?bits?$")
_SAME: Final[Mapping[str, tuple[str, ...]]] = {
    "fp4": ("nvfp4", "mxfp4"),
    "w4a16": ("int4",),
    "w4": ("int4",),
    "4bit": ("int4", "mxfp4", "nvfp4"),
    "8bit": ("fp8", "int8"),
    "ascend": ("w8a8", "w4a8"),
}


def other_format(written: str, model: Model) -> str:
    """The format that a folder's name or `--quantization ascend` gives its weights, where the model's is another; ""
    where it says none."""
    scheme = model.quantization.scheme if model.quantization else ""
    for form in FORMATS.findall(written.casefold()):
        plain = _BITS.sub("bit", form)
        if scheme and form != scheme and scheme not in _SAME.get(plain, ()):
            return str(form).upper()
    return ""
