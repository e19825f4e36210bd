"""A tokenizer or a configuration of another model than the one that is served."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_TOKENIZERS: Final = ("--tokenizer", "--tokenizer-path")
_CONFIGURATIONS: Final = ("--hf-config-path",)
_FAMILIES: Final = re.compile(
    r"(?P<llama>llama|vicuna|nemotron|minitron|hermes)|(?P<qwen>qwen|qwq|kimi[-_]?dev)|(?P<deepseek>deepseek)"
    r"|(?P<kimi>kimi[-_]?(?:k\d|vl|linear)|moonlight)|(?P<glm>glm)|(?P<gemma>gemma)|(?P<phi>(?<![a-z])phi[-_]?\d)"
    r"|(?P<mistral>mi[sx]tral|devstral|magistral|codestral|pixtral|voxtral|nemo(?!tron))|(?P<oss>gpt[-_]?oss)"
    r"|(?P<minimax>minimax)",
    re.IGNORECASE,
)
_QUANTIZED: Final = re.compile(r"awq|gptq|autoround|int[48]|fp8|nvfp4|mxfp4|w\d+a\d+|bnb|4bit|8bit", re.IGNORECASE)
_REPOSITORY: Final = re.compile(r"[\w.-]+/[\w.-]+")


def other_tokenizer(case: Case) -> Iterator[Remark]:
    """By the families that both names have. A model that is made of two families may have the tokens of either."""
    place, model = case.option(*_TOKENIZERS), _name(case.first.model)
    if place is None or not isinstance(place.value, str):
        return
    theirs, ours = _families(_name(place.value)), _families(model)
    if not theirs or not ours or theirs & ours:
        return
    message = (
        f"{shortened(_name(place.value), 60)} has the tokens of another family than {shortened(model, 60)}: the model "
        "reads other words than were sent, and its answers are nonsense"
    )
    remedy = f"leave {place.written.partition('=')[0]} out: the checkpoint brings its own"
    where = place.written.partition("=")[0]
    yield make_remark(Severity.WARNING, Code.CONFLICT, where, message, remedy, at=place.index)


def other_configuration(case: Case) -> Iterator[Remark]:
    """The configuration of the weights before they were quantised has nothing of how they were."""
    place, model = case.option(*_CONFIGURATIONS), _name(case.first.model)
    if place is None or not isinstance(place.value, str) or not _REPOSITORY.fullmatch(place.value):
        return
    if not _QUANTIZED.search(model) or _QUANTIZED.search(place.value):
        return
    message = (
        f"config.json of {shortened(place.value, 60)} does not say how {shortened(model, 60)} is quantised: the "
        "weights are read as if they were whole, which takes the memory of whole ones, or ends the start"
    )
    where = place.written.partition("=")[0]
    remedy = f"leave {where} out, so that the checkpoint's own is read"
    yield make_remark(Severity.WARNING, Code.CONFLICT, where, message, remedy, at=place.index)


def _name(text: str | None) -> str:
    return (text or "").strip("'\"").rstrip("/").rpartition("/")[2]


def _families(name: str) -> set[str]:
    return {match.lastgroup or "" for match in _FAMILIES.finditer(name)}


OTHER_TOKENIZERS: Final = (other_tokenizer, other_configuration)
