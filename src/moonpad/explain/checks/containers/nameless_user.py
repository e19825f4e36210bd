"""A container that runs as a user whose number has no name in the image."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import image_names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import inner, own_container, text_of
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import since

_NAMES: Final = ("USER", "LOGNAME", "LNAME", "USERNAME")
"""Where Python looks before it asks for the number."""
_ID: Final = re.compile(r"\$\(id -u\)|\$\{?UID\b")
_MAKES_NAME: Final = re.compile(r"/etc/passwd|\buseradd\b|\badduser\b|nss_wrapper")
_CONTEXT: Final = "securityContext"


def nameless_user(case: Case) -> Iterator[Remark]:
    """torch looks the name up when it is imported, and the start ends with a KeyError."""
    command, (first, end) = case.commands[0], image_names.ASKS_USER_NAME_IN
    container = command.container
    image = container.image if container is not None else None
    if container is None or image is None or not image_names.ASKS_USER_NAME.fullmatch(image.text):
        return
    if not case.version or not since(case.version, first) or since(case.version, end):
        return
    found = own_container(case)
    where = "--user"
    user = (container.value("--user") or "").strip("'\"").partition(":")[0]
    if found is not None:
        where = "runAsUser"
        user = next((text for each in found[1:] if (text := text_of(inner(each, _CONTEXT, where)))), "")
    number = user.isdigit() and int(user) >= 1000 and user not in image_names.NAMED_USERS
    if not (number or _ID.match(user)) or any(name in command.env for name in _NAMES):
        return
    case.script.budget.work(len(case.script.lines), "its containers")
    if any(_MAKES_NAME.search(line[:500]) for line in case.script.lines):
        return
    if found is not None and "envFrom" in found[1]:
        return
    message = f"user {user} has no name in this image, and torch asks for one when it is imported: the start ends by "
    message += "KeyError: getpwuid(): uid not found (another cache folder does not help)"
    remedy = "set the variable USER to any name, or run as the user 2000 that the image has"
    yield make_remark(Severity.WARNING, Code.CONFLICT, where, message, remedy)
