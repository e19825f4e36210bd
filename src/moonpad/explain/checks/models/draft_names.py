"""A method of speculation where its draft, a model, is to be named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.engines.draft_names import is_draft
from moonpad.engines.value_checks import as_json
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_DRAFT: Final = frozenset({"--speculative-model", "--speculative-draft-model-path", "--speculative-draft-model"})
_CONFIG: Final = "--speculative-config"
_FILES: Final = frozenset({"--model-draft", "-md", "--spec-draft-model"})
"""Options that take the draft as a file."""
_ADDRESS: Final = re.compile(r"https?://\S+", re.IGNORECASE)
_METHOD: Final = re.compile(r"eagle[23]?|mtp|nextn|medusa|dflash|dspark|mlp_speculator", re.IGNORECASE)


def draft_is_method(case: Case) -> Iterator[Remark]:
    """`--speculative-model eagle3`: the engine looks for a folder or a repository of that name."""
    for option in case.first.parsed.occurrences:
        flag, value = option.written.replace("_", "-"), option.value
        if flag == _CONFIG and isinstance(value, str) and isinstance(config := as_json(value), dict):
            value = config.get("model")
        elif flag not in _DRAFT:
            continue
        if isinstance(value, str) and _METHOD.fullmatch(value):
            message = f"{shortened(value)} is a method, and here the draft is named: no model is called so"
            remedy = "name the folder or the repository of the draft"
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, option.written, message, remedy, at=option.index)


def draft_at_address(case: Case) -> Iterator[Remark]:
    """`--model-draft http://draft:8001`: the server loads the draft itself, and no other server drafts for it."""
    for option in case.first.parsed.occurrences:
        value = option.value
        if option.written in _FILES and isinstance(value, str) and _ADDRESS.fullmatch(value):
            message = f"{shortened(value)} is an address, not a file: the server loads the draft itself"
            remedy = "name the GGUF file of the draft, or its repository by --hf-repo-draft"
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, option.written, message, remedy, at=option.index)


def draft_as_model(case: Case) -> Iterator[Remark]:
    """`--model-path models/kimi-k2.5-eagle3`: a draft that is served alone."""
    written = case.model_named.rstrip("/")
    named = case.option(names.DRAFT_PATH, _CONFIG, *_DRAFT, *_FILES)
    if case.checkpoint is not None or named is not None or case.serves_already or not is_draft(written):
        return
    name = shortened(written.rpartition("/")[2], 50)
    message = f"{name} is a draft, by its name: it guesses tokens for a model that verifies them, and reads the hidden "
    message += "states of that; it cannot be served alone"
    remedy = "serve the model that it is made for, and name the draft beside it (--speculative-...)"
    argv = case.commands[0].argv
    at = next((at for at, word in enumerate(argv) if case.first.model and case.first.model in word.text), None)
    yield make_remark(Severity.WARNING, Code.CONFLICT, name, message, remedy, at=at)
