"""Options of which no parser's refusal is said: a log shows them as read or does not list them among those refused,
another program takes them, or a list only names them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from moonpad.catalog.options import releases_with
from moonpad.engines.dynamo_names import STARTERS_OWN
from moonpad.engines.other_servers import OTHER_SERVERS
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark
from moonpad.explain.words_for_plugins import but_for_plugins
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_REFUSED: Final = frozenset({Code.UNKNOWN_FLAG, Code.REMOVED_FLAG, Code.INVALID_VALUE})

_OF_ITS_OPTIONS: Final = _REFUSED | {Code.PREFIX_FLAG}
"""What is said by the options of one server is not said of another one that the same program starts."""

_WITHOUT_NAME: Final = frozenset({Code.UNKNOWN_FLAG, Code.REMOVED_FLAG})
_KEY: Final = re.compile(r"[ \t]*(?:-[ ]+)?[\"']?([a-z][a-z0-9]*[A-Z][A-Za-z0-9]*)[\"']?[ \t]*:", re.ASCII)
"""A key in the spelling of charts, which no option has."""
_ANY_KEY: Final = re.compile(r"[ \t]*(?:-[ ]+)?[\"']?([A-Za-z][\w-]*)[\"']?[ \t]*:", re.ASCII)
_LONGEST: Final = 200
_LONGEST_LINE: Final = 1000
_VARIABLE: Final = re.compile(r"[= ]?[\"']?\$\{?([A-Za-z_]\w*)")
EMPTY: Final = " is empty here"
ASK: Final = "ask the engine's --help; "
_FLAG: Final = re.compile(r"--[a-z][\w-]*")
_SIGNS: Final = frozenset("，。；：！？、（）")
_MAY_BE_ITS_OWN: Final = frozenset({Code.UNKNOWN_FLAG, Code.PREFIX_FLAG, Code.INVALID_VALUE})
OF_STARTERS: Final = {f"<what {name} adds>": options for name, options in STARTERS_OWN.items()}
_REFUSAL: Final = re.compile(r"\berror: unrecognized arguments: (?P<words>\S.{0,800})$")
_STARTER: Final = re.compile(r"<what (?!the )\S+ adds>")


def but_accepted(remarks: Iterable[Remark], command: Command, script: Script) -> Iterator[Remark]:
    """Without those by which the engine refuses an option that its log repeats, or one whose name is not known."""
    of_other = _is_taken_over(command)
    refused = _refused_by_log(command, script)
    for remark in but_for_plugins(remarks, command, script):
        code = remark.finding.code
        if refused and code in _WITHOUT_NAME and remark.finding.where.partition("=")[0] not in refused:
            continue  # the parser lists all that it does not have
        if code is Code.UNKNOWN_FLAG and not _SIGNS.isdisjoint(remark.finding.where):
            continue  # a sentence goes on there
        if (of_other and code in _OF_ITS_OPTIONS) or (code is Code.UNKNOWN_FLAG and "${" in remark.finding.where):
            continue
        if remark.at is not None and _is_only_named(command, remark.at, script):
            continue
        if code in _MAY_BE_ITS_OWN and _is_of_starter(command, remark.finding.where, code):
            continue
        if code is Code.PREFIX_FLAG and remark.at is not None and _is_made_of_key(command, remark.at, script):
            continue
        if remark.at is not None and code in _WITHOUT_NAME and _is_key_of_chart(command, remark.at, script):
            continue
        if code is Code.UNKNOWN_FLAG and remark.at is not None and _is_own_key(remark, command, script):
            message = f"{remark.finding.message}; the program that reads this key may have it"
            remark = replace(remark, finding=replace(remark.finding, severity=Severity.WARNING, message=message))
        if remark.finding.message.endswith(EMPTY) and _is_given_to_script(command, remark.at, script):
            continue
        if code not in _REFUSED or _name(remark.finding.where) not in command.accepted:
            yield remark


def but_of_other_server(remarks: Iterable[Remark], command: Command) -> Iterator[Remark]:
    """Without errors that a table has of an option's value, where another server reads the options."""
    if not _is_taken_over(command):
        return iter(remarks)
    return (
        each
        for each in remarks
        if each.finding.severity is not Severity.ERROR or each.finding.code not in _OF_ITS_OPTIONS
    )


def _is_taken_over(command: Command) -> bool:
    others = OTHER_SERVERS.get(command.program, frozenset())
    return any(word.text.partition("=")[0] in others for word in command.argv)


def _refused_by_log(command: Command, script: Script) -> frozenset[str]:
    """The words that the command's parser lists as those which it does not have; none where no such line of the text
    is about this command."""
    own = {word.text for word in command.words}
    script.budget.once("refusals of parsers", len(script.lines) // 2, "the text around its engine commands")
    lists = (match["words"].split() for line in script.lines if (match := _REFUSAL.search(line[:_LONGEST_LINE])))
    of_it = (words for words in lists if own.issuperset(words))
    return frozenset(word.partition("=")[0] for words in of_it for word in words)


def but_added(remarks: Sequence[Remark], script: Script) -> list[Remark]:
    """Without those which say that an option lacks, where the script adds it to a variable under a condition:
    `[[ -n $PARSER ]] && ARGS+=(--tool-call-parser "$PARSER")`."""
    lacking = {each.finding.where for each in remarks if each.finding.code is Code.MISSING_FLAG and not script.markdown}
    added: set[str] = set()
    for flag in (where for where in lacking if _FLAG.fullmatch(where)):
        script.budget.work(len(script.lines), "what its conditions add")
        pattern = re.compile(rf"^[^#]*\w\+?=(?:\([^#]*|[\"'][^\"'#]*)(?<![\w-]){re.escape(flag)}(?![\w-])")
        added |= {flag} if is_in_lines(pattern, script.lines, _LONGEST_LINE) else set()
    return [each for each in remarks if each.finding.code is not Code.MISSING_FLAG or each.finding.where not in added]


def _is_only_named(command: Command, at: int, script: Script) -> bool:
    """Whether backquotes are closed right behind the option: a sentence or a list speaks of it."""
    if not is_fragment(command) or at >= len(command.argv):
        return False
    word = command.argv[at]
    line = script.lines[word.end_line - 1] if 0 < word.end_line <= len(script.lines) else ""
    return line[word.end_column : word.end_column + 1] == "`" and "=" not in word.text


def _is_given_to_script(command: Command, at: int | None, script: Script) -> bool:
    """Whether the variable that is empty here is what the script's own arguments set: `--tp) TP="$2"`."""
    word = command.argv[at] if at is not None and at < len(command.argv) else None
    text = (
        script.lines[word.line - 1][:_LONGEST_LINE] if word is not None and 0 < word.line <= len(script.lines) else ""
    )
    named = _VARIABLE.search(text, text.find(word.text) + len(word.text)) if word is not None and text else None
    if named is None:
        return False
    script.budget.work(len(script.lines), "what its arguments set")
    given = re.compile(rf"(?<![\w$]){named[1]}=[\"']?\$\{{?(?:[1-9@*]|OPTARG)|\bread\b[^|;]*(?<![\w$]){named[1]}\b")
    return is_in_lines(given, script.lines, _LONGEST_LINE)


def _is_of_starter(command: Command, flag: str, code: Code) -> bool:
    """Whether another program was given the options, which may have this one for itself; not where a release of the
    engine has had it. Nor need a value be one of the engine's where the engine was only guessed."""
    last = command.argv[-1].text if command.argv else ""
    if flag.partition("=")[0] in OF_STARTERS.get(last, frozenset()):
        return True
    if code is not Code.INVALID_VALUE and releases_with(command.program, flag.partition("=")[0]):
        return False
    if code is Code.INVALID_VALUE and not is_fragment(command):
        return False
    return any(word.unresolved == ("@",) and _STARTER.fullmatch(word.text) for word in command.argv[-1:])


def _is_made_of_key(command: Command, at: int, script: Script) -> bool:
    """Whether it was made from a key, `mem_fraction: 0.8`, of a file that another tool reads."""
    word = command.argv[at] if at < len(command.argv) else None
    if word is None or not 0 < word.line <= len(script.lines):
        return False
    if releases_with(command.program, word.text.partition("=")[0]):
        return False
    key = _ANY_KEY.match(script.lines[word.line - 1][:_LONGEST])
    return key is not None and key[1].replace("_", "-") == word.text.partition("=")[0].lstrip("-").replace("_", "-")


def _is_own_key(remark: Remark, command: Command, script: Script) -> bool:
    """Whether an unknown option was made from a key of a file, and is not an option's name with a letter wrong: the
    options that a program passes on stand among keys of its own."""
    if remark.finding.severity is not Severity.ERROR or remark.finding.remedy.startswith("did you mean"):
        return False
    return remark.at is not None and _is_made_of_key(command, remark.at, script)


def _is_key_of_chart(command: Command, at: int, script: Script) -> bool:
    """Whether `disableLogRequests: true` stands for the option: what a template makes of it, perhaps a variable or an
    option by another name, is not in the text."""
    flag = command.argv[at].text if at < len(command.argv) else ""
    line = command.argv[at].line if flag.startswith("--") else 0
    text = script.lines[line - 1][:_LONGEST] if 0 < line <= len(script.lines) else ""
    key = _KEY.match(text)
    return key is not None and re.sub(r"(?=[A-Z])", "-", key[1]).lower() == flag.removeprefix("--")


def _name(flag: str) -> str:
    """As the log has it."""
    return flag.lstrip("-").partition("=")[0].replace("-", "_")
