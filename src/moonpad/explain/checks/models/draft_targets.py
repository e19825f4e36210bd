"""Drafts that are made for another model than the one that is served, or that are no drafts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.catalog.drafts import find_draft
from moonpad.engines import draft_names as drafts
from moonpad.engines import foreign_names as names
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.base import Reading
from moonpad.engines.value_checks import as_json, unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.gguf_sizes import vocabulary_of
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_CONFIG: Final = "--speculative-config"
_FAMILIES: Final[Mapping[str, re.Pattern[str]]] = {
    title: re.compile(pattern, re.IGNORECASE)
    for title, pattern in {
        "Kimi-K2": r"kimi[-_. ]?k2",
        "Kimi-K3": r"kimi[-_. ]?k3",
        "Kimi-Linear": r"kimi[-_. ]?linear",
        "DeepSeek-V3": r"deepseek[-_. ]?(?:v3|r1)(?![0-9])",
        "DeepSeek-V4": r"deepseek[-_. ]?v4",
        "DeepSeek-V2": r"deepseek[-_. ]?v2",
        "GLM-4": r"glm[-_. ]?4(?![0-9])",
        "GLM-5": r"glm[-_. ]?5(?![0-9])",
        "Qwen": r"qwen|(?<![a-z])qwq",
        "Llama": r"llama(?![-_. ]?(?:cpp|factory))",
        "gpt-oss": r"gpt[-_. ]?oss",
        "MiniMax": r"minimax",
        "Mistral": r"mistral|mixtral|devstral|magistral",
        "Gemma": r"gemma",
    }.items()
}
"""Families whose drafts fit none of another, and how their names are written."""
_KINDS: Final = frozenset({"eagle", "eagle3", "dflash", "dspark", "mtp"})
_WHOLE: Final = "draft_model"
"""The method whose draft is a model of its own."""
_OTHER_WORDS: Final = "use_heterogeneous_vocab"
_ALONE: Final = "eagle3"
"""The method that no checkpoint brings a layer for."""
_LONGEST: Final = 200


def draft_of_other_model(case: Case) -> Iterator[Remark]:
    """`EAGLE3-LLaMA3.1-Instruct-8B` for Kimi-K2.5, and the served model itself as a draft by EAGLE-3."""
    found = _asked(case.first)
    if found is None or found[1] not in _KINDS:
        return
    place, method, draft = found
    target, its = case.model_named.rstrip("/"), draft.rstrip("/")
    where = place.flag or place.written
    if method == _ALONE and its.casefold() == target.casefold() and "/" in its:
        message = f"{shortened(its, 60)} is the model that is served: a draft by {method} is a checkpoint of its own, "
        message += "and without one the start ends as its weights are looked for"
        yield make_remark(
            Severity.WARNING, Code.CONFLICT, where, message, "name a draft that is made for it", at=place.index
        )
        return
    of_target, of_draft = _family(target), _family(its)
    if not of_target or not of_draft or of_target == of_draft:
        return
    message = (
        f"{shortened(_last(its), 50)} is, by its name, of {of_draft}, and the model is {of_target}: a draft reads "
    )
    message += "the hidden states of the model that it is made for, so the start ends where their sizes differ, and "
    message += "hardly a guess is right where they do not"
    remedy = f"name a draft that is made for {shortened(_last(target), 40)}, or leave drafts out"
    yield make_remark(Severity.WARNING, Code.CONFLICT, where, message, remedy, at=place.index)


def vocabulary_of_draft(case: Case) -> Iterator[Remark]:
    """A model of its own as draft, whose vocabulary has another size: the two are compared as the engine starts."""
    place, config = case.option(_CONFIG), _object(case.first)
    if place is None or str(config.get("method", "")) != _WHOLE or config.get(_OTHER_WORDS):
        return
    draft = config.get("model")
    if not isinstance(draft, str) or unresolved(draft):
        return
    sizes = vocabulary_of(case.model_named), vocabulary_of(draft)
    of_target, of_draft = _family(case.model_named), _family(draft)
    by_size = 0 not in sizes and sizes[0] != sizes[1]
    if not by_size and not (0 in sizes and of_target and of_draft and of_target != of_draft):
        return
    message = f"{shortened(_last(draft), 50)} has {sizes[1]:,} tokens and the model {sizes[0]:,}" if by_size else ""
    message = (
        message or f"{shortened(_last(draft), 50)} is of {of_draft} and the model of {of_target}, whose tokens differ"
    )
    message += ": the start ends (Target and draft model should have the same vocabulary size)"
    remedy = "take a small model of the same family as draft"
    yield make_remark(Severity.WARNING, Code.CONFLICT, _CONFIG, message, remedy, at=place.index)


def draft_not_counted(case: Case) -> Iterator[Remark]:
    """A draft of its own whose sizes are not known, beside a memory that is judged."""
    found = _asked(case.first)
    if case.subject is None or found is None or case.first.settings.draft_tokens:
        return
    place, kind, draft = found
    own = {case.first.model.rstrip("/"), case.model_named.rstrip("/")}
    if kind == "mtp" or draft.rstrip("/") in own or drafts.KINDS["mtp"].search(_last(draft)):
        return
    name = shortened(_last(draft), 50)
    if find_draft(draft) is None:
        message = f"the sizes of the draft {name} are not known: what its weights and its KV cache take is not counted"
    else:
        message = f"what the draft {name} takes, weights and KV cache, is not counted with these options"
    remedy = "leave a few GiB of each device for it, or read the engine's own figures at the start"
    yield make_remark(Severity.NOTE, Code.TIGHT, place.flag or place.written, message, remedy, at=place.index)


def draft_named(reading: Reading) -> tuple[Occurrence, str] | None:
    """The option that names a draft, and what it names."""
    place = reading.parsed.occurrence(names.DRAFT_PATH)
    if place is not None and isinstance(place.value, str):
        return place, place.value.strip("'\"")
    found = _asked(reading)
    return (found[0], found[2]) if found is not None else None


def _asked(reading: Reading) -> tuple[Occurrence, str, str] | None:
    """The option, the method in small letters, and the draft."""
    place = reading.parsed.occurrence(names.ALGORITHM)
    path = reading.parsed.occurrence(names.DRAFT_PATH)
    if place is not None and path is not None and isinstance(place.value, str) and isinstance(path.value, str):
        method, draft, at = place.value.strip("'\""), path.value.strip("'\""), path
    else:
        config, given = _object(reading), reading.parsed.occurrence(_CONFIG)
        model = config.get("model")
        if given is None or not isinstance(model, str):
            return None
        kinds = [kind for kind, pattern in drafts.KINDS.items() if pattern.search(_last(model))]
        method, draft, at = str(config.get("method") or (kinds[0] if kinds else "")), model, given
    if not draft or unresolved(draft) or len(draft) > _LONGEST:
        return None
    plain = method.casefold().replace("-", "").replace("_", "")
    kind = drafts.METHODS.get(plain, "")
    return at, kind, draft


def _object(reading: Reading) -> Mapping[str, object]:
    value: object = reading.parsed.values.get("speculative_config")
    if isinstance(value, str):
        value = as_json(value.strip("'"))
    return value if isinstance(value, Mapping) else {}


def _family(name: str) -> str:
    """By the last part of its name; "" where that names none, or several."""
    found = [title for title, pattern in _FAMILIES.items() if pattern.search(_last(name))]
    return found[0] if len(found) == 1 else ""


def _last(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2][-_LONGEST:]
