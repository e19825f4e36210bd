"""Variables that a shell exports above `docker run`, and that no option hands on to the container."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.foreign_names import OWN_VARIABLES
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.memory.shared_memory import by_hand
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import numbered, span_of
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_READ: Final = (*OWN_VARIABLES, "NCCL_", "GLOO_", "UCX_", "LMCACHE_")
_READ_WHOLE: Final = frozenset({"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "PYTORCH_CUDA_ALLOC_CONF"})
"""What the engine, its libraries or its connectors read in their own process."""
_EXPORT: Final = re.compile(r"[ \t]*(?:[$#][ \t]+)?export[ \t]+(?P<pairs>[A-Z][A-Z0-9_]*=.*)$")
_PREFIX: Final = re.compile(
    r"[ \t]*(?:[$#][ \t]+)?(?P<pairs>(?:[A-Z][A-Z0-9_]*=\S*[ \t]+)+)(?:sudo[ \t]+(?:-\S+[ \t]+)*)?(?:docker|podman)\b"
)
_NAME: Final = re.compile(r"(?:^|[ \t])(?P<name>[A-Z][A-Z0-9_]*)=")
_FENCE: Final = re.compile(r"[ \t>]*(?:`{3,}|~{3,})")
_WHOLE_SHELL: Final = ("--env-file", "--env-host")
_SHOWN: Final = 3
_LONGEST: Final = 2000


def variables_outside(case: Case) -> Iterator[Remark]:
    """Docker and podman start a container with the image's variables and those of -e alone."""
    command, script = case.commands[0], case.script
    container = command.container
    if container is None or container.kind != "docker run" or not by_hand(case, command):
        return
    if any(container.given(name) for name in _WHOLE_SHELL):
        return
    first, last = span_of(case.commands, script)
    start = min(word.line for word in container.words)
    lines = [(number, text[:_LONGEST]) for number, text in numbered(script, first, last)]
    outside: dict[str, int] = {}
    for number, text in lines:
        if number > start:
            break
        if _FENCE.match(text):
            outside = {}
        if "<<" in text:  # the lines of a file that a shell writes may be run inside
            return
        match = _PREFIX.match(text) if number == start else _EXPORT.match(text)
        names = (each["name"] for each in _NAME.finditer(match["pairs"])) if match is not None else ()
        read = (name for name in names if name.startswith(_READ) or name in _READ_WHOLE)
        outside |= {name: number for name in read if name not in command.env}
    whole = "\n".join(line[:_LONGEST] for line in script.lines)
    script.budget.work(len(whole) // 8 * len(outside), "its containers")
    lost = {name: at for name, at in outside.items() if len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", whole)) == 1}
    if not lost:
        return
    shown = ", ".join(list(lost)[:_SHOWN]) + (f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else "")
    name = next(iter(lost))
    message = f"{script.where(lost[name])}: {shown} {'stays' if len(lost) == 1 else 'stay'} outside of the container: "
    message += "docker run hands none of the shell's variables on"
    remedy = f"add {' '.join(f'-e {each}' for each in list(lost)[:_SHOWN])} in front of the image"
    yield replace(make_remark(Severity.WARNING, Code.DEAD_ENV, name, message, remedy), command=None)
