"""A chat template of another family than the model's: `--chat-template qwen_chatml.jinja` for Kimi-K2."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_FLAGS: Final = (names.TEMPLATE_FILE, names.TEMPLATE)
_FAMILIES: Final = {
    family: re.compile(pattern, re.IGNORECASE)
    for family, pattern in {
        "Kimi": r"kimi|moonlight",
        "Qwen": r"qwen|qwq",
        "DeepSeek": r"deepseek",
        "GLM": r"(?<![a-z])(?:chat)?glm(?![a-z])",
        "gpt-oss": r"gpt[-_]?oss|harmony",
        "MiniMax": r"minimax",
        "Llama": r"llama(?![-_. ]?cpp)",
        "Mistral": r"mistral|mixtral|devstral",
        "Gemma": r"gemma",
    }.items()
}
_CHATML: Final = re.compile(r"(?<![a-z])chatml(?![a-z])", re.IGNORECASE)
_OF_OTHERS: Final = re.compile(r"distill|kimi-(?:dev|audio)|hermes|merge|finetun|lora", re.IGNORECASE)
"""Models made from those of another family, whose template they may have."""
_NO_CHATML: Final = frozenset({"Kimi", "DeepSeek", "GLM", "gpt-oss", "MiniMax"})


def foreign_template(case: Case) -> Iterator[Remark]:
    """Each family marks its turns with tokens of its own."""
    place = case.option(*_FLAGS)
    text = place.value.strip("'\"") if place is not None and isinstance(place.value, str) else ""
    model = (case.checkpoint.name if case.checkpoint else case.model_named or "").rstrip("/").rpartition("/")[2]
    if place is None or (case.engine.facts.gguf_only and place.written == names.TEMPLATE):
        return  # local_checks.py
    if not text or unresolved(text) or "{" in text or not model or _OF_OTHERS.search(model):
        return
    file = text.replace("\\", "/").rpartition("/")[2]
    own, of_file = _families(model), _families(file)
    generic = bool(_CHATML.search(file)) and len(own) == 1 and own <= _NO_CHATML
    if len(own) != 1 or own & of_file or not (len(of_file) == 1 or (generic and not of_file)):
        return
    (family,) = own
    whose = f"that of {next(iter(of_file))}" if of_file else "ChatML"
    message = (
        f"{shortened(file, 60)}, by its name, is {whose}, and {family} marks its turns with other tokens: answers "
    )
    message += "do not end, or say nothing"
    remedy = f"leave {place.written} out: the checkpoint brings its own"
    yield make_remark(Severity.WARNING, Code.CONFLICT, place.written, message, remedy, at=place.index)


def _families(name: str) -> set[str]:
    return {family for family, pattern in _FAMILIES.items() if pattern.search(name)}
