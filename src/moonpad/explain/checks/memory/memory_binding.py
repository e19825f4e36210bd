"""Binding memory to a processor's node inside of a container, which its default rights do not allow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command, Wrapper, WrapperOption
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_BINDS: Final = ("-m", "--membind", "-i", "--interleave", "-w", "--weighted-interleave", "-p", "--preferred")
_RIGHTS: Final = frozenset({"SYS_NICE", "ALL", "SYS_ADMIN"})
_SHELLS: Final = frozenset({"bash", "sh", "zsh"})
_CONTAINERS: Final = ("docker run", "docker exec")


def binding_in_container(case: Case) -> Iterator[Remark]:
    """`numactl -m 1 …` in a container that is started without the right to it: Docker's default profile keeps
    set_mempolicy for those with CAP_SYS_NICE."""
    wrappers = case.commands[0].wrappers
    at = next((at for at, wrapper in enumerate(wrappers) if wrapper.kind == "numactl"), None)
    bound = _binding(wrappers[at]) if at is not None else None
    if at is None or bound is None or case.script.objects or case.commands[0].more:
        return
    around = next((wrapper for wrapper in reversed(wrappers[:at]) if wrapper.kind in _CONTAINERS), None)
    if any(wrapper.kind in _CONTAINERS for wrapper in wrappers[at:]):
        return
    container = around or _shell(case)
    if container is None or not _by_docker(container) or _allowed(container):
        return
    message = "binds memory inside of a container that has no right to it: set_mempolicy: Operation not permitted"
    remedy = "give the container the capability SYS_NICE, or leave the binding of memory out"
    where = f"numactl {bound.name}"
    remark = make_remark(Severity.WARNING, Code.CONFLICT, where, message, remedy)
    yield replace(remark, word=bound.words[0]) if bound.words else remark


def _binding(wrapper: Wrapper) -> WrapperOption | None:
    return next((option for option in wrapper.options if option.name in _BINDS), None)


def _shell(case: Case) -> Wrapper | None:
    """The container of the last shell that was opened above, as guides do it."""
    case.script.budget.work(len(case.script.commands), "its containers")
    above = (command for command in reversed(case.script.commands) if command.line < case.commands[0].line)
    return next((command.container for command in above if _opens_shell(command)), None)


def _opens_shell(command: Command) -> bool:
    words = command.words
    of_container = command.container is not None and command.program in ("docker", "other")
    return of_container and bool(words) and words[-1].text.rpartition("/")[2] in _SHELLS


def _by_docker(container: Wrapper) -> bool:
    return (
        bool(container.words) and container.words[0].text.rpartition("/")[2] == "docker" and container.image is not None
    )


def _allowed(container: Wrapper) -> bool:
    added = {value.upper().removeprefix("CAP_") for value in container.values("--cap-add")}
    profiles = {value.replace(" ", "").replace(":", "=") for value in container.values("--security-opt")}
    return container.has("--privileged") or bool(added & _RIGHTS) or any(p.startswith("seccomp=") for p in profiles)
