"""Words in front of a subcommand, words that are none, and an entry point of two words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.surrounding_names import BY_SUBCOMMANDS
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_BEGIN: Final = (
    r"^[ \t$]*(?:(?:sudo|nohup|exec)[ \t]+)?(?:[A-Z][A-Z0-9_]{0,60}=[^\s\"']{0,80}[ \t]+)*"
    rf"(?P<program>{'|'.join(BY_SUBCOMMANDS)})[ \t]+"
)
_BEFORE: Final = re.compile(
    _BEGIN + r"(?P<options>(?:--(?!version|help)[a-z][\w-]*(?:[= ][\w./:-]+)?[ \t]+){1,6})"
    r"(?P<sub>serve|bench|chat|complete)[ \t]+\S"
)
_NONE: Final = re.compile(
    _BEGIN + r"(?P<word>start|run|server|launch|launch_server|server-start|benchmark|deploy|api_server|openai)"
    r"(?=[ \t]+(?:serve[ \t]|--?[a-z]|[\w.-]+/[\w.-]+))"
)
_MEANT: Final = {"benchmark": "bench"}
_ENTRYPOINT: Final = "--entrypoint"
_ENTRY: Final = re.compile(r"--entrypoint[= ](?P<quote>[\"'])(?P<words>[\w./-]+[ ]+[\w./ -]+)(?P=quote)")
_COMMENT: Final = re.compile(r"\s*(?:#|//)")


def subcommand_slips(case: Case) -> Iterator[Remark]:
    """`vllm --port 8000 serve NAME`, `vllm run NAME`, `docker run --entrypoint "vllm serve"`."""
    script = case.script
    if not is_first(case.commands, script):
        return
    before = ""
    for number, text in numbered(script, 1, len(script.lines)):
        continued, before = before.rstrip().endswith("\\"), text
        if _COMMENT.match(text):
            continue
        where, found = script.where(number), None
        if entry := _ENTRY.search(text):
            first, _, rest = entry["words"].partition(" ")
            message = f"{where}: an entry point is one program, and none is called {shortened(entry['words'])!r}"
            remedy = f"write {_ENTRYPOINT} {first}, and {rest.strip()} behind the image"
            found = make_remark(Severity.WARNING, Code.INVALID_VALUE, _ENTRYPOINT, message, remedy)
        elif continued:
            continue
        elif match := _BEFORE.search(text):
            option = match["options"].split()[0].partition("=")[0]
            message = f"{where}: {option} stands in front of {match['sub']}, and {match['program']} itself has no such "
            remedy = f"write it behind {match['program']} {match['sub']}"
            found = make_remark(Severity.WARNING, Code.UNKNOWN_FLAG, option, f"{message}option: it ends", remedy)
        elif match := _NONE.search(text):
            right = _MEANT.get(match["word"], BY_SUBCOMMANDS[match["program"]].split()[-1])
            message = f"{where}: {match['program']} has no subcommand {match['word']}, and ends (invalid choice)"
            remedy = f"write {match['program']} {right}"
            found = make_remark(Severity.WARNING, Code.MISSING_FLAG, match["program"], message, remedy)
        if found is not None:
            yield Remark(found.finding, command=None)
            return
