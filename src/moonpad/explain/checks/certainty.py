"""Errors that hold for one release alone are warnings where no release is named: what is judged is the newest."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from moonpad.catalog.former_options import former_option
from moonpad.catalog.options import (
    always_takes_a_value,
    newest,
    option_set,
    releases_accepting,
    releases_with,
    spans_of,
    versions,
)
from moonpad.engines.argv_reader import Occurrence, Parsed
from moonpad.engines.foreign_names import WHOLE_HISTORY
from moonpad.engines.former_forms import TRUTHS_TAKEN, as_object, former_switch
from moonpad.engines.option_grammar import Grammar
from moonpad.explain.commands import Command
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.foreign_options import of_another_engine
from moonpad.explain.manifests.option_sources import Rulebook
from moonpad.explain.programs import program_named
from moonpad.explain.releases_taking import releases_taking
from moonpad.explain.results import Edit, Remark
from moonpad.explain.spelling import is_another_number, one_apart
from moonpad.explain.target_detection import UNNAMED, Version
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.records import replace
from moonpad.values.versions import since

_OF_A_RELEASE: Final = frozenset({Code.UNKNOWN_FLAG, Code.REMOVED_FLAG, Code.INVALID_VALUE, Code.PREFIX_FLAG})
_OF_THE_PARSER: Final = (" does not take ", " needs a value", " takes no value")
"""What is said of a value by the options of a release alone."""
OF_NO_LIST: Final = "no recorded release takes it, a plugin or another build may"
"""Said of a name from a list: the parser of the release that is judged ends at it (taken_options.py)."""
_MODELS: Final = frozenset({"--model", "--model-path"})
_ALIKE: Final = 0.8
_MEANT: Final = re.compile(r"did you mean (--?[\w.-]{1,80})\?")
_OF_ITS_BUILD: Final = "take the build that has them, or leave them out"
_FAMILY: Final = 3
_SHORT: Final = 4
_THREE_DASHES: Final = "---"
"""Characters of `-cd`, with its dash."""
_WHOLE_LISTS: Final = frozenset({"--dtype", "--log-level", "--log_level", "--uvicorn-log-level"})
"""Options of torch's types and of the levels of a log, to which neither builds nor plugins add."""
_TYPES: Final = frozenset({"--kv-cache-dtype", "--kv_cache_dtype"})
_OF_TORCH: Final = frozenset({"fp16", "half", "bf16"})
"""Other spellings of types that the release has; none is a format of its own."""
_OF_A_DAY: Final = re.compile(r"\b(?:build|image) (?:is )?of \d")
"""How it is said that the release is that of a day, on which a build of the main branch, or of one's own, was made."""
_SWITCH_NAME: Final = re.compile(r"--?(?:enable|disable|no|use|skip|allow|trust|log)[-_]")
_SWITCH: Final = re.compile(r"^--(?:(?:enable|disable|no|use)-)?")


def as_certain(
    remarks: Iterable[Remark], command: Command, parsed: Parsed, book: Rulebook, version: Version, first: str = ""
) -> Iterator[Remark]:
    """The remarks with errors that may be none as warnings: an option of another release where none is named, and all
    of a list of flags whose program is not there, which a wrapper may read. `first`: the first release that serves the
    model; what only earlier ones take is taken by none of those that are meant."""
    options: dict[int | None, Occurrence] = {option.index: option for option in reversed(parsed.occurrences)}
    slips: dict[str, bool] = {}
    own = _of_an_own_build(parsed)
    for remark in remarks:
        finding = remark.finding
        option = options.get(remark.at)
        if finding.code is Code.RENAMED_FLAG and (earlier := _lack_the_new_name(finding, book, version)):
            message = f"{finding.message.removesuffix('.')}; {earlier} alone: --engine-version says which is meant"
            yield replace(remark, finding=replace(finding, severity=Severity.NOTE, message=message), edits=())
        elif finding.severity is not Severity.ERROR or finding.code not in _OF_A_RELEASE or option is None:
            yield remark
        elif (
            is_fragment(command)
            and (finding.code is not Code.INVALID_VALUE or any(word in finding.message for word in _OF_THE_PARSER))
            and not (
                _is_refused_anyhow(option, finding, version, parsed, book)
                and not _doubt(option, finding.code, book, slips, version, first)
            )
        ):
            of_form = option.problem == "unexpected-value"  # true and false, which older releases may read
            doubt = _doubt(option, finding.code, book, slips, version, first) if of_form else ""
            message = f"{finding.message}; {doubt}" if doubt else finding.message
            yield replace(remark, finding=replace(finding, severity=Severity.WARNING, message=message))
        elif finding.code is Code.INVALID_VALUE and not any(word in finding.message for word in _OF_THE_PARSER):
            yield remark  # a row of the catalogue says so
        elif _took_the_form_of(option, book, version):
            continue
        elif doubt := own.get(option.written) or _doubt(option, finding.code, book, slips, version, first):
            remedy = _OF_ITS_BUILD if option.written in own else _only_alike(finding.remedy, option, book)
            message = f"{finding.message.removesuffix('.')}; {doubt}"
            finding = replace(finding, severity=Severity.WARNING, message=message, remedy=remedy)
            gone = finding.code is Code.UNKNOWN_FLAG and releases_with(book.program, option.written)
            edits = remark.edits or ((Edit(option.index, option.length, ()),) if gone else ())
            yield replace(remark, finding=finding, edits=edits)
        else:
            yield remark


def _is_refused_anyhow(option: Occurrence, finding: Finding, version: Version, parsed: Parsed, book: Rulebook) -> bool:
    """Of a server's options without a program, the model among them: a value of the engine's own list, which the
    release that is named refuses whatever hands it on."""
    named = bool(version.text) and not version.because.startswith(UNNAMED)
    is_of_list = finding.code is Code.INVALID_VALUE and _OF_THE_PARSER[0] in finding.message
    is_of_list = is_of_list and bool(_choices(option, book))
    return named and is_of_list and any(each.flag in _MODELS for each in parsed.occurrences)


def _lack_the_new_name(finding: Finding, book: Rulebook, version: Version) -> str:
    """Of an option under its former name, where the release is only the last that the command may be for: that earlier
    ones take it, and not the new name."""
    if finding.severity is not Severity.WARNING or not version.text or not version.because.startswith(UNNAMED):
        return ""
    change = next((each for each in book.now if each.flag == finding.where and each.to), None)
    new = releases_with(book.program, change.to[0]) if change is not None else ()
    earlier = [each for each in releases_with(book.program, finding.where) if each not in new]
    earlier = [each for each in earlier if not since(each, version.text)]
    return f"{spans_of(book.program, earlier)} {'has' if len(earlier) == 1 else 'have'} it" if new and earlier else ""


def _only_alike(remedy: str, option: Occurrence, book: Rulebook) -> str:
    """The remedy, without a name that is hardly like that of an option which another build may have, or that releases
    have had beside it."""
    meant = _MEANT.fullmatch(remedy)
    if meant is None:
        return remedy
    beside = {*releases_with(book.program, option.written)} & {*releases_with(book.program, meant[1])}
    alike = difflib.SequenceMatcher(None, option.written[:80], meant[1]).ratio() >= _ALIKE
    alike = alike and not _is_of_known_words(option, book)
    return remedy if alike and not beside else "leave it out"


def _of_an_own_build(parsed: Parsed) -> dict[str, str]:
    """Options that no release has and that share two words with at least two others of the command are those of
    somebody's own build: `--tiered-moe-backend`, `--tiered-moe-numa-strict`, `--enable-tiered-moe`. Why, for each."""
    unknown = {each.written for each in parsed.occurrences if each.problem == "unknown" and not each.matches}
    families: dict[str, list[str]] = {}
    for written in sorted(unknown):
        words = _SWITCH.sub("", written).split("-")
        families.setdefault("-".join(words[:2]), []).append(written)
    return {
        written: f"it is one of {len(members)} options of the name {family}: a build with options of its own has them"
        for family, members in families.items()
        if len(members) >= _FAMILY and "-" in family
        for written in members
    }


def _doubt(option: Occurrence, code: Code, book: Rulebook, slips: dict[str, bool], version: Version, first: str) -> str:
    """Why it may be right in the release that is run; "" where it cannot. `slips`: which words have been found to be
    slips, for ranks repeat each other's."""
    ask = "--engine-version says which is meant"
    named = bool(version.text) and not version.because.startswith(UNNAMED)
    program = program_named(book.program)
    if not named and program is not None and program.kind == "router":
        return f"builds after {versions(book.program)[-1]} may take it"
    if option.problem == "missing-value" and _never_was_a_switch(option, book):
        return ""  # each parser ends here
    if option.problem in ("missing-value", "unexpected-value") and book.program not in WHOLE_HISTORY and not named:
        return f"releases that are not recorded may read it otherwise: {ask}"
    older = bool(version.text) and not since(version.text, versions(book.program)[0])
    truths = TRUTHS_TAKEN.get((book.program, option.flag or "")) if _is_truth(option) else None
    if option.problem == "unexpected-value" and truths is not None:
        refused = named and since(version.text, truths[1])
        return "" if refused else f"{book.label.partition(' ')[0]} up to {truths[0]} takes true and false there: {ask}"
    if option.problem == "unexpected-value" and (older or not named) and _is_truth(option):
        # https://github.com/vllm-project/vllm/issues/14263 runs with `--enable-chunked-prefill=True`
        return f"releases before {versions(book.program)[0]} may take true and false behind a switch: {ask}"
    if code is Code.INVALID_VALUE:
        if not named and not _is_recorded(first, book) and _had_another_form(option, book):
            return f"releases before {versions(book.program)[0]} may take it: {ask}"
        taking = releases_taking(option, book)
        serving = _not_before(first, taking)
        if serving and not named:
            return f"{serving[0]} to {serving[-1]} take it: {ask}"
        if not named and is_another_number(str(option.value), _choices(option, book)):
            return f"no recorded release takes it, a build with a newer model may: {ask}"
        if taking or not _is_plugged_in(option, book):
            return ""
        return OF_NO_LIST
    if named and _OF_A_DAY.search(version.because) and code is Code.UNKNOWN_FLAG:
        return "" if releases_with(book.program, option.written) or _is_slip(option, book) else "this build may"
    if named:
        return ""
    if code is Code.PREFIX_FLAG and (before := _took_the_beginning(option, book)):
        return f"{before} takes it: {ask}"
    written = option.written.replace("_", "-") if book.options.underscores else option.written
    accepting = releases_accepting(book.program, option.written) or releases_accepting(book.program, written)
    releases = _not_before(first, accepting)
    if accepting and not releases:
        return ""
    if releases and set(versions(book.program)).isdisjoint(releases):  # those of the engine that it builds upon
        return f"no release up to {newest(book.program)} has it, one that builds upon {releases[0]} may: {ask}"
    if releases and releases[-1] != newest(book.program):
        return f"{spans_of(book.program, releases)} {'has' if len(releases) == 1 else 'have'} it: {ask}"
    gone = next((change for change in book.now if change.flag == option.written and change.since), None)
    if _is_recorded(first, book) and former_option(book.program, option.written, _given(option)) is not None:
        return ""
    if code is Code.REMOVED_FLAG and gone is not None and not releases:
        return f"releases before {gone.since} have it: {ask}"
    if code is not Code.UNKNOWN_FLAG and not (code is Code.PREFIX_FLAG and _was_unknown(option, book)):
        return ""
    if (foreign := of_another_engine(option.written, book)) is not None and foreign.own:
        return ""
    if option.written.startswith(_THREE_DASHES):
        return ""  # no build has an option of that form
    if option.written not in slips:
        slips[option.written] = _is_slip(option, book)
    if not slips[option.written]:
        if book.program in WHOLE_HISTORY:
            first = versions(book.program)[0]
            return f"no release from {first} on has it, an older one or somebody's own build may: {ask}"
        return f"releases that are not recorded may have it: {ask}"
    return ""


def _never_was_a_switch(option: Occurrence, book: Rulebook) -> bool:
    """Not of a program that counts its builds, of which few are recorded, nor by a name that switches have."""
    counted = versions(book.program)[0].startswith("b")
    if counted or _SWITCH_NAME.match(option.written) or former_switch(book.program, (option.flag or option.written,)):
        return False
    return always_takes_a_value(book.program, option.flag or option.written)


def _is_recorded(first: str, book: Rulebook) -> bool:
    """Whether all releases that serve the model are among those recorded."""
    return bool(first) and since(first, versions(book.program)[0])


def _not_before(first: str, releases: Sequence[str]) -> list[str]:
    return [each for each in releases if not first or since(each, first)]


def _given(option: Occurrence) -> tuple[str, ...]:
    values = option.value if isinstance(option.value, tuple) else (option.value,)
    return tuple(value for value in values if isinstance(value, str))


def _is_truth(option: Occurrence) -> bool:
    return str(option.value).casefold() in ("true", "false")


def _choices(option: Occurrence, book: Rulebook) -> tuple[str, ...]:
    known = book.options.named(option.flag) if option.flag else None
    return known.choices if known is not None else ()


def _had_another_form(option: Occurrence, book: Rulebook) -> bool:
    """`--limit-mm-per-prompt image=5`, from before the value was JSON."""
    known = book.options.named(option.flag) if option.flag else None
    value = option.value if isinstance(option.value, str) else ""
    return known is not None and known.kind == "json" and "=" in value and value[:1] not in "{["


def _took_the_form_of(option: Occurrence, book: Rulebook, version: Version) -> bool:
    """Whether the release is older than those recorded, whose values this option had: vLLM read `image=5` through
    0.9.2, and JSON alone from 0.10.0 on (vllm/engine/arg_utils.py of both)."""
    if not version.text or since(version.text, versions(book.program)[0]):
        return False
    if option.problem == "unexpected-value" and _is_truth(option):
        truths = TRUTHS_TAKEN.get((book.program, option.flag or ""))
        return truths is not None and since(truths[0], version.text)
    return _had_another_form(option, book) and isinstance(option.value, str) and bool(as_object(option.value))


def _is_plugged_in(option: Occurrence, book: Rulebook) -> bool:
    """Whether the value is a name of a list to which builds and plugins add, and no slip of one of them."""
    known = book.options.named(option.flag) if option.flag else None
    if known is None or len(known.choices) < 5 or not isinstance(option.value, str):
        return False
    if option.flag in _WHOLE_LISTS or (option.flag in _TYPES and option.value in _OF_TORCH):
        return False
    return not difflib.get_close_matches(option.value[:80], known.choices, n=1, cutoff=_ALIKE)


def _is_slip(option: Occurrence, book: Rulebook) -> bool:
    near = len(option.written)
    if not option.written.startswith("--") and near <= _SHORT:
        return False  # others differ by a letter whatever it is
    if _is_of_known_words(option, book):
        return False
    names = [name for known in book.options.options for name in known.names if abs(len(name) - near) < 3]
    return bool(difflib.get_close_matches(option.written[:80], names, n=1, cutoff=_ALIKE))


def _is_of_known_words(option: Occurrence, book: Rulebook) -> bool:
    """Of a program that counts its builds, of which few are recorded: whether each word of the name is one of its
    options', and no letter is wrong: llama-server had --verbose-prompt beside --verbose and --reverse-prompt until
    March 2026 (https://github.com/ggml-org/llama.cpp/pull/21059)."""
    if not versions(book.program)[0].startswith("b") or not option.written.startswith("--"):
        return False
    names = [name for known in book.options.options for name in known.names]
    words = {word for name in names for word in name.strip("-").split("-")}
    if any(one_apart(option.written, name) or option.written.startswith(f"{name}-") for name in names):
        return False
    return words.issuperset(option.written.strip("-").split("-"))


def _took_the_beginning(option: Occurrence, book: Rulebook) -> str:
    """The first recorded release, where what is the beginning of several options now was that of one."""
    return versions(book.program)[0] if _in_the_first(option, book) == "prefix" else ""


def _was_unknown(option: Occurrence, book: Rulebook) -> bool:
    """What the first recorded release has no more may have been an option of its own before: vLLM's `--device`, which
    later options begin with by chance."""
    return _in_the_first(option, book) == "unknown"


def _in_the_first(option: Occurrence, book: Rulebook) -> str:
    """What the first recorded release makes of the word."""
    options = option_set(book.program, versions(book.program)[0])
    match = Grammar(options).find(option.written) if options is not None else None
    return (match.problem or "") if match is not None else ""
