"""How many files a set of GGUF files has by its name, against the weights that it is called after."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.models import find_model
from moonpad.catalog.other_models import other_model
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_PART: Final = re.compile(
    r"(?P<name>[^/]{3,120}?)[-.]UD[-_]I?Q(?P<bits>[2-8])_[\w-]*?-\d{5}-of-(?P<parts>\d{5})\.gguf", re.IGNORECASE
)
_NUMBERS: Final = re.compile(r"-(?P<part>\d{1,8})-of-(?P<parts>\d{1,8})\.gguf$", re.IGNORECASE)
"""SPLIT_PATH_FORMAT: https://github.com/ggml-org/llama.cpp/blob/master/src/llama.cpp"""
_DIGITS: Final = 5
_LONGEST: Final = 300
_LARGEST: Final = 50e9
"""Of one file of the publisher whose types are called `UD-`."""
_SPARE: Final = 0.8
_OF_FOUR_BITS: Final = "int4"
_BYTES: Final = {_OF_FOUR_BITS: 0.6, "fp8": 1.05, "bf16": 2.0}
"""Of a weight in the publisher's own files, scales and what is wider included."""


def digits_of_part(case: Case) -> Iterator[Remark]:
    """`-00001-of-0008.gguf`: llama.cpp makes and reads both numbers with five digits."""
    place = case.option("--model")
    if not case.engine.facts.gguf_only or place is None or not isinstance(place.value, str):
        return
    path = place.value.strip("'\"")
    match = _NUMBERS.search(path[-_LONGEST:])
    if match is None or unresolved(path) or all(len(number) == _DIGITS for number in match.groups()):
        return
    if any(int(number) >= 10**_DIGITS for number in match.groups()) or int(match["part"]) > int(match["parts"]):
        return
    right = f"-{int(match['part']):05d}-of-{int(match['parts']):05d}.gguf"
    meant = path[: len(path) - len(match.group())] + right
    message = f"{match.group()[1:]} is not the name of a part: {case.engine.facts.title} numbers the parts of a split "
    message += "with five digits on both sides, so the file is not found, or ends the load by: invalid split file name"
    words = [word.text for word in case.commands[0].argv[place.index : place.index + place.length]]
    edits = [Edit(place.index, place.length, tuple(word.replace(path, meant) for word in words))]
    remedy = f"write {right[1:]}"
    yield make_remark(Severity.WARNING, Code.INVALID_VALUE, place.written, message, remedy, at=place.index, edits=edits)


def parts_of_set(case: Case) -> Iterator[Remark]:
    """Too few for files as large as the Hub takes them."""
    place = case.option("--model")
    if not case.engine.facts.gguf_only or place is None or not isinstance(place.value, str):
        return
    path = place.value.strip("'\"")
    part = _PART.fullmatch(path.rpartition("/")[2])
    if part is None or unresolved(path):
        return
    size = _size(part["name"], int(part["bits"]))
    parts = int(part["parts"])
    if not parts or size * _SPARE <= parts * _LARGEST:
        return
    message = (
        f"{shortened(path.rpartition('/')[2], 80)}: weights of {part['bits']} bits are about {size / 1e9:,.0f} GB, and "
    )
    message += (
        f"the publisher of UD files splits at 50 GB: {parts} parts do not hold them, so there is hardly such a file"
    )
    remedy = f"look up its name: a set of this size has {int(-(-size // _LARGEST))} parts or more"
    remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, place.written, message, remedy, at=place.index)
    yield replace(remark, stops=True)


def _size(name: str, bits: int) -> float:
    """Bytes of the set at the least, 0 where its number of weights is not known. Experts that were published in four
    bits are not stored in more: `UD-Q8_K_XL` of Kimi-K2.6 has 595 GB
    (https://unsloth.ai/docs/models/tutorials/kimi-k2.6)."""
    model = find_model(name)
    if model is None or not model.total_bytes or model.quantization is None:
        known = other_model(name)
        return known.billions * 1e9 * bits / 8 if known is not None else 0
    scheme = model.quantization.scheme
    whole = model.total_bytes / _BYTES[scheme] * bits / 8 if scheme in _BYTES else 0
    return min(whole, model.total_bytes) if scheme == _OF_FOUR_BITS else whole
