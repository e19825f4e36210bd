"""What stands in the place of a file of weights, or of a repository that has some, and is neither."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.models import find_model
from moonpad.catalog.other_models import of_publisher
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.former_forms import WITHOUT_WORDS
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_REPOSITORY: Final = "--hf-repo"
_FILE: Final = "--hf-file"
_PROJECTOR: Final = re.compile(r"mmproj[^/\\]*\.gguf$", re.IGNORECASE)
_TENSORS: Final = re.compile(r"\.(?:safetensors|bin|pth|pt)$", re.IGNORECASE)
_UNFINISHED: Final = re.compile(
    r"(?:^|[/\\._:-])(?:UD[-_])?(?:I?Q[1-8]_(?:[01]|K|NL|XXS|XS|S|M)(?:_(?:XXL|XL|[SML]))?|TQ[12]_0|MXFP4(?:_MOE)?)"
    r"(?:-\d{5}-of-\d{5})?\Z",
    re.IGNORECASE,
)
"""A type at the end, where a file's name would go on with its ending."""
_FETCHED: Final = (_REPOSITORY, _FILE, "--model-url", "--docker-repo")
_ONE_FILE: Final = 50e9
"""Bytes of the largest file that the Hub takes."""
_HUB: Final = re.compile(r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/(?P<rest>.+)", re.IGNORECASE)


def weights_file(case: Case) -> Iterator[Remark]:
    """A file of another kind, a folder, or a repository behind the option of a file."""
    flag = WITHOUT_WORDS.get(case.engine.program)
    text, place = _text(case, flag) if flag else ("", None)
    if place is None:
        return
    name = shortened(text.rpartition("/")[2] or text, 60)
    if _PROJECTOR.search(text):
        message = f"{name} is the projector of a model's pictures and no model: the load ends (architecture clip)"
        remedy = "name the model's file here, and this one behind --mmproj"
    elif _TENSORS.search(text):
        message, remedy = f"{name} is no GGUF file: the load ends (invalid magic)", "name a GGUF file of the model"
    elif text.endswith("/") and not text.endswith("://"):
        message, remedy = "a folder, where a file is read: the load ends (failed to read magic)", "name the file in it"
    elif of_publisher(text) and not text.casefold().endswith(".gguf"):
        message = f"{shortened(text, 60)} is a repository, and this option reads a file"
        remedy = f"write {_REPOSITORY} with a repository that has GGUF files"
    elif _UNFINISHED.search(text) and not _is_fetched(case) and not case.commands[0].serves:
        yield _type_as_file(case, text, place)
        return
    else:
        return
    yield make_remark(Severity.WARNING, Code.INVALID_VALUE, place.written, message, remedy, at=place.index)


def _is_fetched(case: Case) -> bool:
    """Whether the option says under which name a file is kept that another option has downloaded."""
    return case.option(*_FETCHED) is not None


def _type_as_file(case: Case, text: str, place: Occurrence) -> Remark:
    """`--model Kimi-K2.5-UD-Q2_K_XL`: what the weights are called, without the file that has them."""
    known = find_model(text)
    repository = known.id if known is not None and ":" in known.id and known.id.count("/") == 1 else ""
    size = known.total_bytes if known is not None else None
    message = f"{shortened(text, 60)} is the name of a model and a type, not of a file, and the option reads a file: "
    message += "the load ends (failed to load model)"
    if size is not None and size > _ONE_FILE:
        message += f"; {size / 1e9:,.0f} GB lie in several files, of which the first is named"
    remedy = f"write the path of the .gguf file, of a set that of its first part, or {_REPOSITORY} "
    remedy += repository or "OWNER/NAME-GGUF:TYPE"
    bare = repository and "/" not in text and place.length > 1
    edits = [Edit(place.index, place.length, (_REPOSITORY, repository))] if bare else []
    remark = make_remark(
        Severity.WARNING, Code.INVALID_VALUE, place.written, message, remedy, at=place.index, edits=edits
    )
    return replace(remark, stops=True)


def weights_repository(case: Case) -> Iterator[Remark]:
    """`user/model` or `user/model:Q4_K_M`, and no address or file."""
    text, place = _text(case, _REPOSITORY) if case.engine.program in WITHOUT_WORDS else ("", None)
    if place is None:
        return
    hub = _HUB.fullmatch(text)
    parts = (hub["rest"] if hub is not None else text).rpartition(":")[0] or (hub["rest"] if hub is not None else text)
    pieces = [piece for piece in parts.split("/") if piece]
    if hub is not None or len(pieces) != 2:
        message = "invalid HF repo format: a repository is user/model or user/model:quant, without address and file"
        remedy = f"write {place.written} {'/'.join(pieces[:2])}" if len(pieces) >= 2 else "write user/model"
        if pieces and pieces[-1].casefold().endswith(".gguf"):
            remedy += f" {_FILE} {shortened(pieces[-1], 60)}"
    elif of_publisher("/".join(pieces)) and "gguf" not in text.casefold():
        message = f"{shortened(text, 60)} holds safetensors: no GGUF file is found in it"
        remedy = "name a repository of GGUF files, whose name usually ends in -GGUF"
    else:
        return
    yield make_remark(Severity.WARNING, Code.INVALID_VALUE, place.written, message, remedy, at=place.index)


def _text(case: Case, flag: str) -> tuple[str, Occurrence | None]:
    place = case.option(flag)
    if place is None or not isinstance(place.value, str):
        return "", None
    text = place.value.strip("'\"")
    return (text, place) if text and not unresolved(text) and not case.commands[0].fork else ("", None)


WEIGHTS_CHECKS: Final = (weights_file, weights_repository)
