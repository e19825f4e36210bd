"""The format of the weights, written where the engine takes that of the computation: `--dtype int4`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from moonpad.engines.base import Reading
from moonpad.explain.results import Edit, Remark
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.finding import Code
from moonpad.values.records import replace

_FLAG: Final = "--dtype"
_SAME: Final[Mapping[str, tuple[str, ...]]] = {
    "int4": ("int4", "w4a16", "4bit", "uint4"),
    "int8": ("int8", "w8a16", "w8a8", "8bit"),
    "fp8": ("fp8", "float8", "float8_e4m3fn", "fp8_e4m3"),
    "nvfp4": ("fp4", "nvfp4"),
    "mxfp4": ("fp4", "mxfp4"),
    "w4a8": ("w4a8", "int4"),
    "w8a8": ("w8a8", "int8"),
}
"""Of a scheme of weights, what people write for it."""


def with_own_format(remarks: Iterable[Remark], reading: Reading, checkpoint: Checkpoint | None) -> Iterator[Remark]:
    """The remarks; the format that the checkpoint has anyway is left out, for its config.json says it."""
    scheme = checkpoint.quantization.scheme if checkpoint is not None else ""
    asked = {
        option.index: option
        for option in reading.parsed.occurrences
        if option.problem == "invalid-value"
        and option.flag == _FLAG
        and str(option.value).strip("'\"").casefold() in _SAME.get(scheme, ())
    }
    for remark in remarks:
        option = asked.get(remark.at) if remark.at is not None else None
        if option is None or checkpoint is None or remark.finding.code is not Code.INVALID_VALUE:
            yield remark
            continue
        remedy = f"leave it out: {checkpoint.name} is published in {scheme.upper()}, which its config.json says"
        edits = (Edit(option.index, option.length, ()),)
        yield replace(remark, finding=replace(remark.finding, remedy=remedy), edits=edits)
