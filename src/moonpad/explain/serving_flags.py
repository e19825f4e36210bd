"""What a Kimi endpoint needs to be told, and this command line does not tell it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from moonpad.catalog.options import option_set, values_of, versions
from moonpad.engines.base import Engine, Reading
from moonpad.engines.value_checks import unresolved
from moonpad.explain.option_sources import following
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.plan.parsers import PARSER, parser_name
from moonpad.values.finding import Code, Severity


def thinks(model_id: str) -> bool:
    """K2-Thinking, everything from K2.5 on and K3 answer with their reasoning first (their model cards)."""
    name = model_id.rpartition("/")[2].casefold()
    return "thinking" in name or name.startswith(("kimi-k3", *(f"kimi-k2.{minor}" for minor in "56789")))


def parser_remarks(
    length: int, reading: Reading, engine: Engine, version: str, model_id: str, *, ours: bool = True
) -> Iterator[Remark]:
    """Tool calls and reasoning. `length` counts the words of the command, behind which new ones go.

    `ours`: the model is of the family, whose parsers are named."""
    serving, line = reading.serving, engine.command_line
    if reading.node.headless or not line.tool_parser:
        return
    # The parsers are those of the engine, whichever of its programs starts it.
    parser, takes = parser_name(model_id), partial(_takes, engine.program, version)
    missing = partial(make_remark, Severity.WARNING, Code.MISSING_FLAG)
    auto = (line.auto_tools,) if line.auto_tools and not serving.auto_tool_choice else ()
    if serving.tool_parser is None and ours and takes(line.tool_parser, parser):
        needed = (*auto, line.tool_parser, parser)
        message = "tool calls come back as plain text with special tokens in it"
        edit, remedy = Edit(length, 0, needed), f"add {' '.join(needed)}"
        yield make_remark(Severity.NOTE, Code.MISSING_FLAG, line.tool_parser, message, remedy, edits=[edit])
    elif serving.tool_parser is not None and auto:
        given = f"{line.tool_parser} {shortened(serving.tool_parser)}"
        message = f"{given} alone does nothing: requests with tools are refused"
        tool = reading.parsed.occurrence(line.tool_parser)
        at = tool.index if tool else None
        yield missing(line.auto_tools, message, f"add {line.auto_tools}", at=at, edits=[Edit(length, 0, auto)])
    for flag, parser_given in (
        (line.tool_parser, serving.tool_parser),
        (line.reasoning_parser, serving.reasoning_parser),
    ):
        for remark in _unknown_parser(reading, flag, parser_given, engine.program, version, ours=ours):
            # A build of its own may have parsers that the release of the same number lacks.
            finding = remark.finding
            sure = line.build is None
            yield remark if sure else replace(remark, finding=replace(finding, severity=Severity.WARNING), edits=())
    if ours and thinks(model_id) and serving.reasoning_parser is None:
        option, name = line.reasoning_parser, model_id.rpartition("/")[2]
        message = f"{name} thinks aloud: without a parser, its reasoning is part of the content"
        if takes(option, parser):
            yield missing(option, message, f"add {option} {parser}", edits=[Edit(length, 0, (option, parser))])
        else:
            since = _since(engine.program, option, parser)
            yield missing(option, message, f"take {since} or later, which has {option} {parser}" if since else "")


def _takes(program: str, version: str, option: str, parser: str) -> bool:
    """Whether the option takes that parser; where the version is not recorded, whether that of the next one does."""
    options = option_set(program, version or None)
    if options is None or options.named(option) is None:
        return False
    names = _names(program, version, option)
    later = None if options.exact else following(program, options.version)
    return not names or parser in names or (later is not None and parser in _names(program, later.version, option))


def _names(program: str, version: str, option: str) -> tuple[str, ...]:
    return values_of(program, version or None, option.removeprefix("--").replace("-", "_"))


def _since(program: str, option: str, parser: str) -> str:
    return next((version for version in versions(program) if parser in _names(program, version, option)), "")


def _unknown_parser(
    reading: Reading, flag: str, given: str | None, program: str, version: str, *, ours: bool
) -> Iterator[Remark]:
    place, options = reading.parsed.occurrence(flag), option_set(program, version or None)
    if given is None or place is None or place.problem or unresolved(given) or options is None:
        return
    names = _names(program, version, flag)
    if not names or _takes(program, version, flag, given):
        return
    right = PARSER if ours and PARSER in names else ""
    since = _since(program, flag, given)
    remedy = f"write {flag} {right}" if right else f"take {since} or later" if since else f"leave {flag} out"
    message = f'{options.version} has no parser "{shortened(given)}": some releases refuse it, others fail on using it'
    edits = [Edit(place.index, place.length, (flag, right))] if right else []
    yield make_remark(Severity.ERROR, Code.INVALID_VALUE, flag, message, remedy, at=place.index, edits=edits)
