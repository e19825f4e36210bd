"""What a Kimi endpoint needs to be told, and this command line does not tell it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Final

from moonpad.catalog.options import option_set, values_of, versions
from moonpad.engines.base import Engine, Reading
from moonpad.engines.host_expert_names import OLD_PROGRAMS
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.models.other_families import is_other
from moonpad.explain.checks.models.parser_families import family_of, own_parser
from moonpad.explain.checks.models.textless import writes_no_text
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.grouping import role_of
from moonpad.explain.manifests.option_sources import following
from moonpad.explain.removed_programs import has_a_successor
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.explain.spelling import is_another_number
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import order, since

_MEASURES: Final = re.compile(
    r"^[ \t-]*(?:lm[-_]eval\w*|(?:\w+[-_])?bench(?:mark)?s?|accuracy|acc)[ \t]*:[ \t]*(?:#.*)?$"
)
"""A key of a file for a tool that starts a server, and measures it."""

_missing = partial(make_remark, Severity.WARNING, Code.MISSING_FLAG)


_NIGHTLY: Final = re.compile(r"[:/_-]nightly\b|\bnightly (?:build|image|wheel)|--pre\b")
_UNREFUSED: Final = re.compile(r"openai|mistral")
"""Parsers of models whose requests with tools are answered without the switch too: gpt-oss writes harmony, and the
tokenizer of Mistral knows calls (vllm-project/vllm, entrypoints/openai: the condition before "auto" is refused)."""
_LONGEST: Final = 2000
_LIKE: Final = 0.8
_REFUSED_SOMEWHERE: Final = ": some releases refuse it, others fail on using it"
_SEPARATORS: Final = re.compile(r"[-_.]")
_FEWEST_LETTERS: Final = 5
_EXAMPLES: Final = frozenset({"example", "my_parser", "custom"})
"""Parsers that guides write to show how one is added."""
_ADDED: Final = re.compile(r"^[^#]*=[ \t]*[(\"'][^#]*--(?:tool|reasoning)[-_]parser[-_]plugin\b")
"""An assignment that adds a file of parsers: in a branch, it is not part of the command that is judged."""


def thinks(model_id: str) -> bool:
    """K2-Thinking, everything from K2.5 on and K3 answer with their reasoning first (their model cards)."""
    name = model_id.rpartition("/")[2].casefold()
    return "thinking" in name or name.startswith(("kimi-k3", *(f"kimi-k2.{minor}" for minor in "56789")))


def parser_remarks(
    command: Command, reading: Reading, engine: Engine, version: str, checkpoint: Checkpoint | None, script: Script
) -> Iterator[Remark]:
    """Tool calls and reasoning. What lacks is said of the family alone, where the model is surely one of it."""
    serving, line, length = reading.serving, engine.command_line, len(command.argv)
    if reading.node.headless or not line.tool_parser:
        return
    auto = (line.auto_tools,) if line.auto_tools and not serving.auto_tool_choice else ()
    if serving.tool_parser is not None and auto and not command.guessed:  # whoever starts it may add that
        given = f"{line.tool_parser} {shortened(serving.tool_parser)}"
        answered = _UNREFUSED.fullmatch(serving.tool_parser.strip("'\"")) is not None
        what = "calls may stay in the text of answers" if answered else "requests with tools are refused"
        message = f"{given} alone does nothing: {what}"
        tool = reading.parsed.occurrence(line.tool_parser)
        at = tool.index if tool else None
        yield _missing(line.auto_tools, message, f"add {line.auto_tools}", at=at, edits=[Edit(length, 0, auto)])
    called = (reading.model, reading.served_name or "")
    name = checkpoint.name if checkpoint else next((each for each in called if of_family(each)), "")
    for flag, parser_given in (
        (line.tool_parser, serving.tool_parser),
        (line.reasoning_parser, serving.reasoning_parser),
    ):
        remarks = tuple(_unknown_parser(reading, flag, parser_given, engine.program, version, name))
        if flag == line.tool_parser and line.auto_tools and not serving.auto_tool_choice:
            remarks = tuple(_unread(remark, line.auto_tools) for remark in remarks)
        for remark in () if remarks and _adds_plugin(script) else remarks:
            # A build of its own may have parsers that the release of the same number lacks, and so has a build that
            # serves a model which the release does not know.
            model_type = checkpoint.architecture.model_type if checkpoint else parser_given or ""
            first = engine.facts.first_versions.get(model_type, "")
            # What no recorded release has, a nightly may that the text speaks of.
            recorded = bool(version or _since(engine.program, flag, parser_given or "")) or not _runs_nightly(script)
            sure = line.build is None and recorded and (not version or not first or since(version, first))
            yield remark if sure else _doubted(remark, parser_given or "")
    later = (reading.node.node_rank or 0) > 0  # which answers no client
    without_parsers = command.program in OLD_PROGRAMS and not has_a_successor(command, version)
    by_others = (
        command.made
        or without_parsers
        or is_other(checkpoint)
        or _is_measured(command, script)
        or _is_a_table(command, script)
    )
    if name and not later and not by_others and not writes_no_text(reading, name):
        yield from _lacking(command, reading, engine, version, name)


def _is_a_table(command: Command, script: Script) -> bool:
    """Whether its options are rows of a table, which names a few of them."""
    row = script.lines[command.line - 1] if 0 < command.line <= len(script.lines) else ""
    return command.guessed and row.lstrip().startswith("|")


def _is_measured(command: Command, script: Script) -> bool:
    """Whether a file of YAML has its options for a measurement or a test, which asks for answers as they come."""
    if not is_fragment(command) or script.markdown:
        return False
    script.budget.once("measurements", len(script.lines), "the text around its engine commands")
    return is_in_lines(_MEASURES, script.lines_about(command.line), _LONGEST)


def _runs_nightly(script: Script) -> bool:
    script.budget.once("nightlies", len(script.lines), "the text around its engine commands")
    return is_in_lines(_NIGHTLY, script.lines, _LONGEST)


def _adds_plugin(script: Script) -> bool:
    script.budget.once("plugins", len(script.lines), "the text around its engine commands")
    return is_in_lines(_ADDED, script.lines, _LONGEST)


def of_family(name: str) -> bool:
    """Whether a name is surely that of a model whose calls and thoughts these parsers read."""
    family = family_of(name)
    return family is not None and any(parser.startswith("kimi") for parser in family.tools)


def _lacking(command: Command, reading: Reading, engine: Engine, version: str, name: str) -> Iterator[Remark]:
    """Of a fork no release is known."""
    serving, line, length, fork = reading.serving, engine.command_line, len(command.argv), command.fork
    # The parsers are those of the engine, whichever of its programs starts it.
    parser, takes = own_parser(name), partial(_takes, engine.program, version)
    auto = (line.auto_tools,) if line.auto_tools and not serving.auto_tool_choice else ()
    only_prefills = role_of(command) == "prefill"
    if serving.tool_parser is None and takes(line.tool_parser, parser) and not (only_prefills and not line.auto_tools):
        needed = (*auto, line.tool_parser, parser)
        message = _without_tool_parser(only_prefills, asks_first=bool(line.auto_tools))
        edit, remedy = Edit(length, 0, needed), f"add {' '.join(needed)}"
        yield make_remark(Severity.NOTE, Code.MISSING_FLAG, line.tool_parser, message, remedy, edits=[edit])
    if thinks(name) and serving.reasoning_parser is None and not only_prefills:
        option, short = line.reasoning_parser, name.rpartition("/")[2]
        message = f"{short} thinks aloud: without a parser, its reasoning is part of the content"
        if takes(option, parser):
            yield _missing(option, message, f"add {option} {parser}", edits=[Edit(length, 0, (option, parser))])
        else:
            first = _since(engine.program, option, parser)
            which = f"take a release of {fork} that has" if fork else f"take {first} or later, which has"
            yield _missing(option, message, f"{which} {option} {parser}" if first else "")


def _without_tool_parser(only_prefills: bool, *, asks_first: bool) -> str:
    """An engine with a switch for tools looks at it before it answers (vLLM 0.32.0, renderers/online_renderer.py:
    HTTP 400). The example proxies of vLLM and vLLM-Ascend send a request to both servers of a pair as it is."""
    if not asks_first:
        return "tool calls come back as plain text with special tokens in it"
    told = "requests with tools are refused"
    return f"{told}: a proxy sends each of them to prefill first, tools included" if only_prefills else told


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


def _having(program: str, option: str, parser: str) -> tuple[str, ...]:
    """The recorded releases that have the parser."""
    return tuple(version for version in versions(program) if parser in _names(program, version, option))


def _since(program: str, option: str, parser: str) -> str:
    return next(iter(_having(program, option, parser)), "")


def _unknown_parser(
    reading: Reading, flag: str, given: str | None, program: str, version: str, name: str
) -> Iterator[Remark]:
    place, options = reading.parsed.occurrence(flag), option_set(program, version or None)
    if given is None or place is None or place.problem or unresolved(given) or options is None:
        return
    names = _names(program, version, flag)
    if not names or _takes(program, version, flag, given) or _has_plugin(reading) or given in _EXAMPLES:
        return
    called = name or next((each for each in (reading.model, reading.served_name or "") if family_of(each)), "")
    parser = own_parser(called) if called else ""
    right = parser if parser in names else _called_otherwise(given, names)
    having = _having(program, flag, given)
    message = f'{options.version} has no parser "{shortened(given)}"{_REFUSED_SOMEWHERE}'
    edits = [Edit(place.index, place.length, (flag, right))] if right else []
    severity = Severity.ERROR
    if not version and having:
        severity, edits = Severity.WARNING, edits if right == parser else []
        have = f"{having[0]} to {having[-1]} have" if len(having) > 1 else f"{having[0]} has"
        message = f"{message}; {have} it: --engine-version says which is meant"
    came = bool(having) and order(having[-1]) > order(options.version)
    release = f"take {having[0]} or later" if came else f"take {having[-1]}" if having else ""
    remedy = f"write {flag} {right}" if right else release or f"leave {flag} out"
    newer = is_another_number(given, names) or not (right or get_close_matches(given, names, 1, _LIKE))
    if not version and not having and newer:
        severity, message = Severity.WARNING, f"{message}; a build with a newer model may have it"
    remark = make_remark(severity, Code.INVALID_VALUE, flag, message, remedy, at=place.index, edits=edits)
    yield replace(remark, ends_start=not version and severity is Severity.WARNING and bool(edits))


def _doubted(remark: Remark, given: str) -> Remark:
    """Of a build that may have more parsers. The model's own takes the place of a name that is a longer or a shorter
    form of it, `glm47_tools`: that is hardly a parser of the build."""
    names = [edit.words[-1] for edit in remark.edits]
    alike = any(_is_a_form(given, own) for own in names) and len(names) == 1
    finding = replace(remark.finding, severity=Severity.WARNING)
    return replace(remark, finding=finding, edits=remark.edits if alike else (), ends_start=alike)


def _is_a_form(given: str, own: str) -> bool:
    one, other = sorted((_SEPARATORS.sub("", name.casefold()) for name in (given, own)), key=len)
    return len(one) >= _FEWEST_LETTERS and other.startswith(one)


def _unread(remark: Remark, switch: str) -> Remark:
    """Without the switch nothing reads the name of the parser (vLLM 0.11.0: entrypoints/openai/api_server.py; 0.32.0:
    launchers/launcher.py): the start goes on."""
    if remark.finding.severity is not Severity.ERROR:
        return replace(remark, ends_start=False)
    message = remark.finding.message.replace(_REFUSED_SOMEWHERE, f": with {switch} the start ends at it")
    return replace(remark, finding=replace(remark.finding, severity=Severity.WARNING, message=message))


def _called_otherwise(given: str, names: Sequence[str]) -> str:
    """`openai_gptoss` for `gpt_oss`, as another engine calls it: the only name that ends with the same letters."""
    plain = _SEPARATORS.sub("", given.casefold())
    alike = [each for each in names if _SEPARATORS.sub("", each.casefold()).endswith(plain)]
    return alike[0] if len(alike) == 1 and len(plain) >= _FEWEST_LETTERS else ""


def _has_plugin(reading: Reading) -> bool:
    """Whether a file of the person's own brings more parsers."""
    return any("-parser-plugin" in place.written.replace("_", "-") for place in reading.parsed.occurrences)
