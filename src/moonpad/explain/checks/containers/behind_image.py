"""Options of the container that stand behind the image, where the engine gets them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_VALUES: Final = {
    "-e": re.compile(r"[A-Za-z_]\w*(?:=.*)?"),
    "--env": re.compile(r"[A-Za-z_]\w*(?:=.*)?"),
    "-v": re.compile(r"[^\s:]*[/$~.][^\s:]*:/\S*"),
    "--volume": re.compile(r"\S+:/\S*"),
    "-p": re.compile(r"(?:[\d.]+:)?\d{2,5}:\d{2,5}"),
    "--publish": re.compile(r"\S+"),
    "--gpus": re.compile(r"\S+"),
    "--shm-size": re.compile(r"\S+"),
    "--ipc": re.compile(r"host"),
    "--network": re.compile(r"host"),
    "--net": re.compile(r"host"),
    "--runtime": re.compile(r"nvidia"),
}
"""With what must follow it, for each that no engine has with such a value."""
_ALONE: Final = ("--ipc=host", "--network=host", "--net=host", "--privileged", "--runtime=nvidia", "--rm")


def behind_image(case: Case) -> Iterator[Remark]:
    """`docker run IMAGE --model K2 -e HF_TOKEN=…`."""
    for number, command in enumerate(case.commands):
        container = command.container
        if container is None or container.kind != "docker run" or case.script.objects or container.image is None:
            continue
        words = [word.text for word in command.argv]
        for at, text in enumerate(words):
            value = words[at + 1] if at + 1 < len(words) else ""
            known = _VALUES.get(text)
            name, equals, rest = text.partition("=")
            joined = bool(equals) and name in _VALUES and name.startswith("--") and _VALUES[name].fullmatch(rest)
            if text not in _ALONE and not joined and not (known is not None and known.fullmatch(value)):
                continue
            length = 2 if known is not None and not joined else 1
            message = (
                f"{shortened(' '.join(words[at : at + length]), 60)} stands behind the image: the engine gets it, and "
            )
            message += "not the container"
            remedy = "write it before the name of the image"
            edit = Edit(at, length, ())
            remark = make_remark(Severity.WARNING, Code.CONFLICT, name, message, remedy, at=at, edits=[edit])
            yield Remark(remark.finding, at=at, command=number, edits=remark.edits)
            return
