"""The release of Transformers that a text names, or that the engine's release asks for, against the first that knows
the model's type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.transformers_types import asked_transformers, transformers_types
from moonpad.engines import foreign_names as names
from moonpad.explain.builds import other_build
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.named_models import named_model
from moonpad.explain.commands import Script
from moonpad.explain.model_images import release_before_its_model
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import order, release_of

_STATED: Final = re.compile(
    r"(?<![\w./-])transformers(?:[ ]version)?[ ]{0,30}(?:==|[:：=|]|(?=[ ]))[ ]{0,10}v?"
    r"(?P<version>\d{1,2}\.\d{1,3}(?:\.\d{1,3})?(?:\.?(?:dev|rc|post)\d{1,4})?)(?![\w.-]*\d)"
    r"(?P<least>[ ]?(?:\+|or[ ](?:later|newer|above|higher)|及?以上|以降))?",
    re.IGNORECASE,
)
"""`transformers==4.55.2`, `transformers version : 4.55.2`; no lower limit."""
_OTHERWISE: Final = re.compile(
    r"github\.com/huggingface/transformers|transformers-v\d|transformers[ ]?(?:@|[<>~!]=|[<>])"
    r"|transformers.{0,20}\bmain\b|-U[ ]transformers|--upgrade[ ]transformers|upgrad\w*[ ]transformers",
    re.IGNORECASE,
)
"""It may be another one by then."""
_LONGEST: Final = 2000


def transformers_of_text(case: Case) -> Iterator[Remark]:
    """The engine reads config.json by it, and ends where it does not know the type."""
    named = named_model(case)
    known = transformers_types().get(named.model.model_type) if named is not None else None
    if named is None or known is None or case.engine.name not in names.CHECKED:
        return
    if case.engine.name in known.not_for:
        return
    case.script.budget.work(2 * len(case.script.lines), "the text around its engine commands")
    if (stated := older_release(case.script, known.first)) is not None:
        yield too_old(*stated, named.model.model_type, f" of {named.model.title}", known.first, case.script)
    elif named.sure and not _says_another(case.script):
        yield from _asked_too_low(case, named.model.model_type, named.model.title, known.first)


def _says_another(script: Script) -> bool:
    """Whether the text names Transformers in any way: another release may have been installed."""
    return any("transformers" in line[:_LONGEST].casefold() for line in script.lines)


def _asked_too_low(case: Case, model_type: str, title: str, first: str) -> Iterator[Remark]:
    """The engine's package asks for a release that does not know the type, and nothing speaks of another one. A fork,
    or an image of somebody's own, brings what its maker has chosen."""
    version = case.version
    if not version or "dev" in version or "+" in version:
        return
    if any(command.fork or other_build(command) for command in case.commands):
        return
    asked = next(
        (
            row
            for row in asked_transformers()
            if row.engine == case.engine.name and order(row.since) <= order(version) <= order(row.last)
        ),
        None,
    )
    if asked is None or order(asked.below) > order(first):
        return
    if release_before_its_model(case.engine.name, case.commands[0], case.first.model, case.script.lines) is not None:
        return  # an image that is built for the model brings what the model needs
    message = (
        f"{case.engine.facts.title} {version} asks for {asked.asks}, which does not know the type {model_type} of "
        f"{title}, which came in {first}: as installed, the start ends with Transformers does not recognize this "
        "architecture"
    )
    remedy = f"install transformers {first} or later beside it, or take a later release"
    yield replace(make_remark(Severity.WARNING, Code.UNSUPPORTED_FORMAT, "engine", message, remedy), stops=True)


def older_release(script: Script, first: str) -> tuple[int, str] | None:
    """The line and the release that a text names, where all that it names are before the first that knows a type."""
    lines = [line[:_LONGEST] for line in script.lines]
    if any(_OTHERWISE.search(line) for line in lines):
        return None
    stated = [(number, match) for number, line in enumerate(lines, 1) for match in _STATED.finditer(line)]
    older = [order(release_of(match["version"])) < order(first) for _, match in stated]
    if not stated or not all(older) or any(match["least"] for _, match in stated):
        return None
    number, match = stated[0]
    return number, match["version"]


def too_old(number: int, version: str, model_type: str, of_model: str, first: str, script: Script) -> Remark:
    message = (
        f"Transformers {version} does not know the type {model_type}{of_model}, "
        f"which came in {first}: the start ends with Transformers does not recognize this architecture"
    )
    remedy = f"install transformers {first} or later, as far as the engine's release takes it"
    where = f"transformers {version}, {script.where(number)}"
    return make_remark(Severity.WARNING, Code.UNSUPPORTED_FORMAT, where, message, remedy)
