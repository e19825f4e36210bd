"""Places that the user of a container, or a person without root, may not enter or bind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.surrounding_names import WITHOUT_WEIGHTS
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.containers.mounted_places import HOME
from moonpad.explain.checks.manifests.pod_objects import fields_of, inner, items_of, own_container, text_of
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_CACHES: Final = ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME")
_OTHER_HOMES: Final = ("HOME", "XDG_CACHE_HOME")
_ROOTS: Final = ("", "0", "root")
_OPENS: Final = re.compile(r"\bch(?:mod|own)\b|fixPermissions")
_ROOTLESS: Final = re.compile(
    r"\brootless\b|\bnon-root user\b|\bnormal user\b|\bwithout (?:root|sudo)\b|\bunprivileged user\b", re.IGNORECASE
)
_LETS: Final = re.compile(r"ip_unprivileged_port_start|CAP_NET_BIND|setcap|net_bind_service", re.IGNORECASE)
_RUNNERS: Final = ("podman", "docker", "nerdctl")
_PUBLISHED: Final = re.compile(r"(?:[\d.]*:)?(?P<port>\d{1,4}):\d{1,5}(?:/tcp)?")
_FIRST_FREE: Final = 1024


def home_of_root(case: Case) -> Iterator[Remark]:
    """`runAsUser: 1000` and a cache below /root: the folder above it is closed to all others."""
    command = case.commands[0]
    container = command.container
    if container is None or container.image is None or not WITHOUT_WEIGHTS.fullmatch(container.image.text):
        return
    found = own_container(case)
    where, user = "--user", (container.value("--user") or "").strip("'\"").partition(":")[0]
    mounts = [value.split(":")[1] for value in container.values("--volume") if value.count(":")]
    if found is not None:
        holder, fields, pod = found
        if holder.templated or "initContainers" in pod:
            return
        where = "runAsUser"
        user = next((text for each in (fields, pod) if (text := text_of(inner(each, "securityContext", where)))), "")
        mounts = [text_of(fields_of(each).get("mountPath")) for each in items_of(fields.get("volumeMounts"))]
    if user in _ROOTS or not user.isdigit() or any(name in command.env for name in _OTHER_HOMES):
        return
    caches = [case.variable(name) for name in _CACHES if name in command.env]
    place = next((each for each in (caches or mounts) if f"{each}/".startswith(f"{HOME}/")), "")
    if not place or is_in_lines(_OPENS, case.script.lines, 1000):
        return
    message = f"user {user} may not enter {HOME} (mode 700) in this image, and {shortened(place, 50)} lies below it: "
    message += "Permission denied"
    remedy = "mount the volume at a folder of its own, as /cache, and let HF_HOME name that"
    yield make_remark(Severity.WARNING, Code.CONFLICT, where, message, remedy)


def port_without_root(case: Case) -> Iterator[Remark]:
    """`podman run -p 80:8000` by a user that is not root: ports below 1024 are kept from it."""
    container = case.commands[0].container
    if container is None or not container.words or container.words[0].text not in _RUNNERS:
        return
    matches = [match for value in container.values("--publish") if (match := _PUBLISHED.fullmatch(value)) is not None]
    port = next((match["port"] for match in matches if int(match["port"]) < _FIRST_FREE), "")
    lines = case.script.lines
    if not port or port == "0" or is_in_lines(_LETS, lines, 1000) or not is_in_lines(_ROOTLESS, lines, 1000):
        return
    if any(wrapper.kind == "sudo" for wrapper in case.commands[0].wrappers):
        return
    message = f"the text is about a user without root, who may not bind port {port}: the kernel keeps those below "
    message += f"{_FIRST_FREE} for root, and the container is not started (cannot expose privileged port)"
    given = next(each for each in container.given("--publish") if f"{port}:" in (each.value or ""))
    remedy = f"publish it at a port from {_FIRST_FREE} on, or lower net.ipv4.ip_unprivileged_port_start"
    word = given.words[-1] if given.words else None
    yield replace(make_remark(Severity.WARNING, Code.CONFLICT, f"-p {port}", message, remedy, word=word), command=0)
