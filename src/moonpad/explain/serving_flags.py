"""What a Kimi endpoint needs to be told, and this command line does not tell it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.catalog.options import OptionSet, option_set, values_of, versions
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.base import Engine, Reading
from moonpad.engines.value_checks import unresolved
from moonpad.explain.argv_edits import occurrence
from moonpad.explain.option_sources import following
from moonpad.explain.results import Edit, Remark
from moonpad.values.finding import Code, Finding, Severity

PARSER: Final = "kimi_k2"
_OTHERS: Final = {"kimi-k3": "kimi_k3"}
"""Beginnings of names → parsers of their own."""


def thinks(model_id: str) -> bool:
    """K2-Thinking and everything from K2.5 on answer with their reasoning first (their model cards)."""
    name = model_id.rpartition("/")[2].casefold()
    return "thinking" in name or any(name.startswith(f"kimi-k2.{minor}") for minor in "56789")


def parser_of(model_id: str) -> str:
    """The engines' name for the parser of tool calls and of reasoning."""
    name = model_id.rpartition("/")[2].casefold()
    return next((parser for beginning, parser in _OTHERS.items() if name.startswith(beginning)), PARSER)


def parser_remarks(
    number: int, length: int, reading: Reading, engine: Engine, version: str, model_id: str
) -> Iterator[Remark]:
    """Tool calls and reasoning. `length` counts the words of the command, behind which new ones go."""
    parsed, serving, line = reading.parsed, reading.serving, engine.command_line
    if parsed is None or reading.node.headless or not line.tool_parser:
        return
    # The parsers are those of the engine, whichever of its programs starts it.
    registry, parser = engine.program, parser_of(model_id)
    tool = occurrence(parsed, line.tool_parser)
    if serving.tool_parser is None:
        if _has(registry, version, line.tool_parser, parser):
            auto = (line.auto_tools,) if line.auto_tools and not serving.auto_tool_choice else ()
            needed = (*auto, line.tool_parser, parser)
            yield _missing(
                line.tool_parser,
                "tool calls come back as plain text with special tokens in it",
                f"add {' '.join(needed)}",
                Severity.NOTE,
                number,
                None,
                Edit(length, 0, needed),
            )
    elif line.auto_tools and not serving.auto_tool_choice:
        yield _missing(
            line.auto_tools,
            f"{line.tool_parser} {_short(serving.tool_parser)} alone does nothing: requests with tools are refused",
            f"add {line.auto_tools}",
            Severity.WARNING,
            number,
            tool.index if tool else None,
            Edit(length, 0, (line.auto_tools,)),
        )
    yield from _unknown_parser(number, serving.tool_parser, tool, line.tool_parser, registry, version)
    place = occurrence(parsed, line.reasoning_parser)
    yield from _unknown_parser(number, serving.reasoning_parser, place, line.reasoning_parser, registry, version)
    if thinks(model_id) and serving.reasoning_parser is None:
        thinking = f"{model_id.rpartition('/')[2]} thinks aloud: without a parser its reasoning stands in the content"
        option = line.reasoning_parser
        if _has(registry, version, option, parser):
            words = (option, parser)
            edit = Edit(length, 0, words)
            yield _missing(option, thinking, f"add {' '.join(words)}", Severity.WARNING, number, None, edit)
        else:
            since = _since(registry, option, parser)
            remedy = f"take {since} or later, which has {option} {parser}" if since else ""
            yield _missing(option, thinking, remedy, Severity.WARNING, number, None, None)


def _has(program: str, version: str, option: str, parser: str) -> bool:
    """Whether Kimi's parser is in that version; where the version is not recorded, whether the next one has it."""
    options = option_set(program, version or None)
    if options is None or options.named(option) is None:
        return False
    names = _names(program, version, option)
    return not names or parser in names or (not options.exact and parser in _following(options, option))


def _names(program: str, version: str, option: str) -> tuple[str, ...]:
    return values_of(program, version or None, option.removeprefix("--").replace("-", "_"))


def _following(options: OptionSet, option: str) -> tuple[str, ...]:
    """The parsers of the first recorded version after this one, for what lies between them."""
    later = following(options.program, options.version)
    return _names(later.program, later.version, option) if later else ()


def _since(program: str, option: str, parser: str) -> str:
    return next((version for version in versions(program) if parser in _names(program, version, option)), "")


def _unknown_parser(
    number: int, given: str | None, place: Occurrence | None, flag: str, program: str, version: str
) -> Iterator[Remark]:
    if given is None or place is None or place.problem or unresolved(given):
        return
    options = option_set(program, version or None)
    names = _names(program, version, flag)
    if options is None or not names or given in names:
        return
    if not options.exact and given in _following(options, flag):
        return
    right = PARSER if PARSER in names else ""
    since = _since(program, flag, given)
    remedy = f"write {flag} {right}" if right else f"take {since} or later" if since else f"leave {flag} out"
    yield Remark(
        Finding(
            Severity.ERROR,
            Code.INVALID_VALUE,
            flag,
            f'{options.version} has no parser "{_short(given)}": some releases refuse it, others fail when it is used',
            remedy,
        ),
        number,
        place.index,
        (Edit(place.index, place.length, (flag, right)),) if right else (),
    )


def _missing(
    where: str, message: str, remedy: str, severity: Severity, number: int, at: int | None, edit: Edit | None
) -> Remark:
    finding = Finding(severity, Code.MISSING_FLAG, where, message, remedy)
    return Remark(finding, number, at, (edit,) if edit is not None else ())


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
