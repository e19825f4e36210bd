"""Packages of the system that a container installs when it starts, as a user who may not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import Fields, fields_of, inner, items_of, own_container, text_of
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_CONTEXT: Final = "securityContext"
_USER: Final = "runAsUser"
_NON_ROOT: Final = "runAsNonRoot"
_INSTALLS: Final = re.compile(
    r"(?:^|[;&|({]|\b(?:then|do|else)[ ])[ \t]*(?:DEBIAN_FRONTEND=\S+[ ]+)?"
    r"(?P<step>(?:apt-get|apt|apk|yum|dnf|microdnf)[ ]+(?:-\S+[ ]+){0,4}(?:install|update|add|upgrade)\b"
    r"[^;&|\n]{0,200})"
    r"(?![^\n]*\|\|)",
    re.MULTILINE,
)
"""At the beginning of a command, not behind `sudo`, and without another thing to do where it fails."""
_STOPS: Final = re.compile(r"^[ \t]*set[ ]+(?:-[a-z]*e|-[a-z]*o[ ]+errexit)", re.MULTILINE)
_STOPPING_SHELL: Final = re.compile(r"-[a-z]*e[a-z]*")
_UNDER_CONDITION: Final = re.compile(r"^[ \t]*(?:if|case|while|for|exit|return)\b|&&|\|\||[ \t]\w+\(\)", re.MULTILINE)
"""What may keep the script from coming to a line below."""
_ASKS_WHO: Final = re.compile(r"\bid -u\b|\$\{?(?:EUID|UID)\b|\bwhoami\b|fakeroot|proot")
_LARGEST: Final = 20_000
_MOST: Final = 8
_FIGURE: Final = 60


def packages_without_root(case: Case) -> Iterator[Remark]:
    """`runAsNonRoot: true` above `apt-get install`, in the container of the engine or in one that it waits for."""
    placed = own_container(case)
    if placed is None:
        return
    manifest, own, pod = placed
    if manifest.templated or _CONTEXT not in {**own, **pod}:
        return
    steps = [
        (severity, message)
        for container in (*map(fields_of, items_of(pod.get("initContainers"))[:_MOST]), own)
        for severity, message in _refused(case, container, pod)
    ]
    if not steps:
        return
    severity, message = next((each for each in steps if each[0] is Severity.ERROR), steps[0])
    remedy = "install it when the image is built, and take the step out"
    yield Remark(make_remark(severity, Code.CONFLICT, _CONTEXT, message, remedy).finding, command=None)


def _refused(case: Case, container: Fields, pod: Fields) -> Iterator[tuple[Severity, str]]:
    """The first such step of a container's script."""
    why = _no_root(container, pod)
    words = [text_of(each) for key in ("command", "args") for each in items_of(container.get(key))] if why else []
    for script in (each[:_LARGEST].replace("\\\n", "  ") for each in words if " " in each):
        case.script.budget.work(len(script) // 40, "its containers")
        installs = _INSTALLS.search(script)
        if installs is None or _ASKS_WHO.search(script):
            continue
        above = script[: installs.start("step")]
        stops = _STOPS.search(above) is not None or any(map(_STOPPING_SHELL.fullmatch, words))
        sure = stops and _UNDER_CONDITION.search(above) is None
        name, step = text_of(container.get("name")) or "a container", shortened(installs["step"].strip(), _FIGURE)
        message = (
            f"the script of {shortened(name, _FIGURE)} has {step}, and under {why} it is not root: Permission denied"
        )
        message += ", and the script ends there" if stops else ""
        message += (
            f" (and without {_USER}, an image of root is not started at all)" if why.startswith(_NON_ROOT) else ""
        )
        yield (Severity.ERROR if sure else Severity.WARNING), message
        return


def _no_root(container: Fields, pod: Fields) -> str:
    """The setting that keeps it from being root, "" where none does: of the container, else of the pod."""
    user, non_root = (
        next((text for each in (container, pod) if (text := text_of(inner(each, _CONTEXT, key)))), "")
        for key in (_USER, _NON_ROOT)
    )
    if user.isdigit() and int(user):
        return f"{_USER}: {user}"
    return f"{_NON_ROOT}: true" if non_root == "true" and not user else ""
