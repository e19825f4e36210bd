"""The release that a command gives away by its options: those of one time, or, in a log whose workers had begun, those
that were taken."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Set
from typing import Final

from moonpad.catalog.options import changes, newest, option_set, programs, releases_accepting, values_of, versions
from moonpad.catalog.options.config_keys import key_history, key_releases
from moonpad.catalog.options.sets import base_version
from moonpad.catalog.release_days import builds_seen, release_days, seen_around
from moonpad.engines import ENGINES
from moonpad.engines.argv_reader import parse
from moonpad.engines.option_grammar import Grammar
from moonpad.engines.text_signs import (
    FAILED_PAST_ARGUMENTS,
    FORMER_ENGINE,
    FRAMES_PAST_ARGUMENTS,
    PAST_ARGUMENTS,
    QUOTED_PAST_ARGUMENTS,
)
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.documents.option_keys import key_paths
from moonpad.explain.documents.spoken_bounds import last_below
from moonpad.explain.documents.written_days import written_day
from moonpad.values.versions import order, since

_BEYOND_ITS_OPTIONS: Final = re.compile(
    r"(?:worker_base|multiproc_executor|ray_distributed_executor|ray_utils|model_runner\w*|default_loader|core|loader"
    r"|scheduler|model_runner_v1|tp_worker|parallel_state|kv_cache_utils|fp8|async_llm)\.py(?::\d{1,5}\]|\", line \d)"
    r"|\((?:EngineCore|Worker|VllmWorker|RayWorker|NPURayWorker)\w*[ ]"
    r"|\bCapture cuda graph failed"
    r"|\[\d{4}-\d\d-\d\d[ ][\d:]{8}(?:[ ](?:DP|TP|PP|EP)\d+){1,4}\]"
    r"|^(?:main: (?:n_parallel is set|loading model|server is listening)|srv {1,6}\w)"
    r"|^(?:llama_model_loader|load_tensors): "
    rf"|{FRAMES_PAST_ARGUMENTS}"
    r"|^Injecting \S+ as |^loading (?:blk\.\d+|token_embd)\.\S+ (?:to|with) "
)
"""Lines of processes that begin once the command line was read, and of what is called with it."""
_WORKS: Final = re.compile(
    r"(?<!if )(?<!whether )(?<!until )(?<!once )\b(?:this|it|the following) works (?:here|for me|fine|well)\b",
    re.IGNORECASE,
)
"""What a person says of a command that he has run."""
_REFUSED: Final = re.compile(
    r"unrecognized arguments?|invalid choice|No such option|unexpected keyword argument|expected (?:one|at least)"
    r"|error: invalid argument:|Extra inputs are not permitted|validation errors? for"
)
_LONGEST: Final = 2000
_SEVERAL: Final = 2
"""So many options that are gone are of one time, where one may be a mistake."""
_OF_MODULES: Final = frozenset({"--model"})
"""Options that a module of the engine keeps when its program has them no more."""


def started_release(engine: str, command: Command, script: Script) -> tuple[str, str, str]:
    """The first and the newest release that have all options of the command, and one that later ones do not have; empty
    texts where the newest has them, or neither a log shows nor the author says that they were taken."""
    program = ENGINES[engine].program
    names, having, absent = _options_of(program, command)
    keys = _keys_of(program, command)
    having = {**having, **keys}
    gone = next(iter((*absent, *_absent(program, keys))), "")
    removed = _removed(program, names - {*having})
    if not (gone or removed):
        return "", "", ""
    named = removed[0] if removed else gone
    if not is_past_its_options(command, script) and not _is_read(named, command, script):
        return "", "", ""
    if removed:
        option, bound = removed
        last = _last_before(engine, bound)
        return last, last, option
    releases = _all_having(program, having, engine, command, script)
    return (releases[0], releases[-1], gone) if releases else ("", "", "")


def _got_past(command: Command, script: Script) -> bool:
    """Whether a log below the command shows that its command line was read."""
    below = script.lines[command.line :]
    if is_in_lines(_BEYOND_ITS_OPTIONS, below, _LONGEST) or is_in_lines(PAST_ARGUMENTS, below, _LONGEST):
        return True
    errors = [
        (script.lines[each.number - 1][:_LONGEST], each.column)
        for each in script.error_lines
        if each.number > command.line
    ]
    return any(FAILED_PAST_ARGUMENTS.match(*each) or QUOTED_PAST_ARGUMENTS.search(*each) for each in errors)


def is_past_its_options(command: Command, script: Script) -> bool:
    """Whether a log behind the command is of a process that begins once its options were read, or the author says that
    it works."""
    script.budget.once("what a log shows", 2 * len(script.lines), "the text around its engine commands")
    shown = _got_past(command, script) or is_in_lines(_WORKS, script.lines, _LONGEST)
    return shown and not is_in_lines(_REFUSED, script.lines, _LONGEST)


def _is_read(option: str, command: Command, script: Script) -> bool:
    """Whether an error below speaks of the option together with another one: the engine read both."""
    both = re.compile(rf"Error: .*(?<![\w-]){re.escape(option)}(?![\w-]).* (?:together|at the same time|both|with --)")
    return is_in_lines(both, script.lines[command.line :], _LONGEST) and not is_in_lines(
        _REFUSED, script.lines, _LONGEST
    )


def release_of_trace(engine: str, script: Script) -> tuple[str, str]:
    """The last release of which a trace may be, and what it names that later ones do not have; two empty texts where
    it names nothing of the kind."""
    script.budget.once("traces of former releases", len(script.lines), "the text around its engine commands")
    for of, traced, without in FORMER_ENGINE:
        shown = (match.group() for line in script.lines if (match := traced.search(line[:_LONGEST])))
        if engine == of and (sign := next(shown, "")):
            return last_below(without, list(release_days()[engine].releases)), sign
    return "", ""


def last_with_all(engine: str, command: Command, script: Script) -> tuple[str, str, tuple[str, ...]]:
    """The first and the newest release that have all options of the command, and keys and values of these, that any
    has, where later ones have dropped several of them, and those; ("", "", ()) where one alone is gone, which may be a
    mistake, or where a log shows a refusal."""
    program = ENGINES[engine].program
    names, having, gone = _options_of(program, command)
    keys = _keys_of(program, command)
    having, gone = {**having, **keys}, (*gone, *_absent(program, keys))
    values = _values_of(program, command) if gone else {}
    gone = (*gone, *_absent(program, values))
    if len(gone) < _SEVERAL or _removed(program, names) is not None:
        return "", "", ()
    script.budget.once("refusals of a log", len(script.lines), "the text around its engine commands")
    if is_in_lines(_REFUSED, script.lines, _LONGEST):
        return "", "", ()
    releases = _all_having(program, {**having, **values}, engine, command, script)
    releases = releases or _all_having(program, having, engine, command, script)
    return (releases[0], releases[-1], gone) if releases else ("", "", ())


def releases_taking_all(engine: str, command: Command, script: Script) -> list[str]:
    """The releases that have each option of the command, and each key of these, that any has, and were out on the day
    of the text; oldest first."""
    program = ENGINES[engine].program
    _, having, _ = _options_of(program, command)
    return _all_having(program, {**having, **_keys_of(program, command)}, engine, command, script)


def _options_of(program: str, command: Command) -> tuple[Set[str], Mapping[str, Collection[str]], tuple[str, ...]]:
    """The options of a command, the releases that have each of those that any has, and those that the newest lacks."""
    names = {word.text.partition("=")[0] for word in command.argv if word.text.startswith("--")} - _OF_MODULES
    having = {name: releases for name in sorted(names) if (releases := releases_accepting(program, name))}
    return names, having, _absent(program, having)


def _absent(program: str, having: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    last = counted_release(program, newest(program)) if versions(program) else ""
    return tuple(name for name, releases in having.items() if last not in releases)


def _keys_of(program: str, command: Command) -> Mapping[str, Collection[str]]:
    """The keys of its options, `--attention-config.use_cudnn_prefill`, with the releases that have each."""
    files = programs().get(program)
    base = (files.built_on if files is not None else "") or program
    options, recorded = option_set(base), key_releases(base)
    if options is None or not recorded:
        return {}
    having: dict[str, Collection[str]] = {}
    for option in parse([word.text for word in command.argv], Grammar(options)).occurrences:
        for path in key_paths(option):
            runs = key_history(base, ".".join((option.flag or "", *path[:-1])), path[-1])
            spans = [(recorded.index(first), recorded.index(last)) for first, last in runs]
            if spans:
                with_key = {each for first, last in spans for each in recorded[first : last + 1]}
                having[".".join((option.flag or "", *path))] = with_key
    return having


def _values_of(program: str, command: Command) -> Mapping[str, Collection[str]]:
    """The values of options that take one of a list, `--swap-policy lru`, with the releases that take each."""
    options = option_set(program)
    if options is None:
        return {}
    recorded = versions(program)
    having: dict[str, Collection[str]] = {}
    for option in parse([word.text for word in command.argv], Grammar(options)).occurrences:
        dest = (option.flag or "").removeprefix("--").replace("-", "_")
        if not dest or not isinstance(option.value, str) or not values_of(program, None, dest):
            continue
        listed = {each: values_of(program, each, dest) for each in recorded}
        # A list that is not known refuses nothing, and a name that no list has is a slip or a plugin's.
        taking = [each for each, names in listed.items() if not names or option.value in names]
        if any(option.value in names for names in listed.values()):
            having[f"{option.flag} {option.value}"] = [counted_release(program, each) for each in taking]
    return having


def _all_having(
    program: str, having: Mapping[str, Collection[str]], engine: str, command: Command, script: Script
) -> list[str]:
    """The releases that have all of them and were out on the day of the text, the first of them where none was out;
    oldest first."""
    taking = [
        each for each in versions(program) if all(counted_release(program, each) in some for some in having.values())
    ]
    day = written_day(script.lines, command.line)
    return [each for each in taking if _is_out(engine, each, day)] or taking[:1] if day else taking


def _is_out(engine: str, release: str, day: str) -> bool:
    days = release_days().get(engine)
    if days is not None:
        return days.releases.get(release, day) <= day
    return engine not in builds_seen() or since(seen_around(engine, day)[0] or "b0", release)


def day_out_by(engine: str, release: str, command: Command, script: Script) -> str:
    """The day of the text, where the release was out by then."""
    day = written_day(script.lines, command.line)
    known = engine in release_days() or engine in builds_seen()
    return day if day and known and _is_out(engine, release, day) else ""


def build_of_its_time(engine: str, release: str, command: Command, script: Script) -> tuple[str, str]:
    """Of an engine that counts builds, where the release came after the day of the text: a build that was there on it,
    and a sentence about that; two empty texts for others."""
    day = written_day(script.lines, command.line)
    if engine not in builds_seen() or not day or _is_out(engine, release, day):
        return "", ""
    before, behind = seen_around(engine, day)
    return before, f"none is named: the text is of {day}, when {before} was out and {behind} was not"


def _removed(program: str, names: Set[str]) -> tuple[str, str] | None:
    """An option that was gone before the first recorded release, and the release with which it went."""
    for change in changes(program):
        if change.kind == "removed" and change.flag in names and change.since and not (change.value or change.until):
            return change.flag, change.since
    return None


def _last_before(engine: str, bound: str) -> str:
    days = release_days().get(engine)
    out = [release for release in days.releases if order(release) < order(bound)] if days is not None else []
    return max(out, key=order, default="")


def counted_release(program: str, release: str) -> str:
    """The release by whose number its options are recorded: of a plugin, that of its base."""
    return base_version(program, release) if programs()[program].built_on else release
