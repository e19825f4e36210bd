"""`command: ["sh", "-c", "vllm", "serve"]`: a shell runs the word behind -c alone, and the others are its arguments.

So are options that a list has behind the text of the command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.engines.foreign_names import STARTERS
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Severity

_LONGEST: Final = 1000
_NEXT: Final = r"(?:[\"']?[ \t]*,[ \t]*[\"']?|[\"']?[ \t]*\n[ \t]*-[ \t]+[\"']?)"
_BEGINS: Final = re.compile(r"-l?e?c[\"',]|-l?e?c$")
_LOSES: Final = re.compile(
    rf"(?:/bin/|/usr/bin/)?(?:ba|z|da)?sh{_NEXT}-l?e?c{_NEXT}(?P<word>(?:{STARTERS})){_NEXT}(?P<next>(?!--[\"'\s,])[\w./-]+)"
)
_SHELL: Final = re.compile(
    r"""[ \t]*(?:-[ \t]+)?(?:command|entrypoint):[ \t]*\[[^\]]*\b(?:ba|z|da)?sh["']?"""
    r"""[ \t]*,[ \t]*["']?-l?e?c["']?[ \t]*\]"""
)
_ARGS: Final = re.compile(r"(?P<indent>[ \t]*)args:[ \t]*(?:#.*)?$")
_ITEM: Final = re.compile(r"""(?P<indent>[ \t]*)-[ \t]+(?P<quote>["']?)(?P<text>[^\s"'|>].*)""")
_TEMPLATE: Final = re.compile(r"[ \t]*\{\{-?[ ]*(?P<action>\w+)?")
_ONE: Final = re.compile(r"--[A-Za-z]|\{\{-?[ ]*(?:\.|\$\w+)[ ]*(?:\|[ ]*(?:quote|toString|squote)[ ]*)*-?\}\}")
_MOST: Final = 12


def words_behind_one(case: Case) -> Iterator[Remark]:
    """In a list of a manifest or of a Dockerfile."""
    script = case.script
    if not is_first(case.commands, script) or not any(_BEGINS.search(line) for line in script.lines):
        return
    script.budget.work(len(script.lines), "its lists")
    text = "\n".join(script.lines)
    match = _LOSES.search(text)
    if match is None:
        return
    line = text.count("\n", 0, match.start("word")) + 1
    word, lost = match["word"], match["next"]
    message = f'{script.where(line)}: sh -c runs "{word}" alone: "{lost}" and all behind it are arguments of the shell'
    remedy = f"write the list without sh and -c, or one text: sh -c '{word} {lost} …'"
    remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "-c", message, remedy)
    yield Remark(remark.finding, command=None)


def options_behind_text(case: Case) -> Iterator[Remark]:
    """`command: ["sh", "-c"]` and a list of args, whose first item is the command and whose next ones are options."""
    script = case.script
    if not is_first(case.commands, script):
        return
    script.budget.work(len(script.lines) // 2, "its lists")
    for number, line in enumerate(script.lines[:-2]):
        if "args" not in line or not (args := _ARGS.match(line[:_LONGEST])):
            continue
        if not any(_SHELL.match(above[:_LONGEST]) for above in script.lines[max(0, number - 2) : number]):
            continue
        if (lost := _lost(script.lines[number + 1 : number + 1 + _MOST], len(args["indent"]))) is None:
            continue
        at, text = lost
        message = (
            f"{script.where(number + 2 + at)}: sh -c runs the first item of args alone: {shortened(text, 60)} is an "
        )
        message += "argument of the shell, and reaches no program"
        remedy = "write one text: the command with all its options, or leave sh -c out and write each word as an item"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "args", message, remedy)
        yield Remark(remark.finding, command=None)
        return


def _lost(lines: Sequence[str], indent: int) -> tuple[int, str] | None:
    """The second item of a list whose first one is a command in one line, where it is an option."""
    items: list[tuple[int, re.Match[str]]] = []
    for at, line in enumerate(lines):
        template, item = _TEMPLATE.match(line[:_LONGEST]), _ITEM.match(line[:_LONGEST])
        if template is not None and template["action"] in ("range", "if", "with", "end", "else"):
            continue
        if item is None or len(item["indent"]) < indent:
            return None
        items.append((at, item))
        if len(items) > 1:
            break
    if len(items) < 2 or len(items[0][1]["indent"]) != len(items[1][1]["indent"]):
        return None
    first, (at, second) = items[0][1]["text"].rstrip("\"' "), items[1]
    if not re.match(rf"(?:exec[ ]+)?(?:{STARTERS})[ ]+\S", first) or re.search(r"[\"'$]@|\$[@*1]", first):
        return None
    text = second["text"].rstrip().rstrip("\"'") if second["quote"] else second["text"].rstrip()
    return (at, text) if _ONE.match(second["text"]) else None
