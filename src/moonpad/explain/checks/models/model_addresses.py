"""Models that are named by a web address, or by a folder of the host that the container has under another name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.memory.shared_memory import shell_around
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_PAGE: Final = re.compile(
    r"https?://(?:www\.)?(?:huggingface\.co|hf\.co|hf-mirror\.com)/(?P<name>[\w.-]+/[\w.-]+?)(?:/tree/\w+)?/?"
)
_PATH: Final = re.compile(r"/[\w.@+/-]+")


def page_as_model(case: Case) -> Iterator[Remark]:
    """`vllm serve https://huggingface.co/OWNER/NAME`: the hub is asked for a repository of that whole name."""
    match = _PAGE.fullmatch(case.first.model)
    if match is None or case.base not in (names.EXPERTS_BY_VARIABLE, names.EXPERTS_BY_OPTION):
        return
    message = f"{shortened(case.first.model)} is the page of a model and no name of one: Repo id must be in the form"
    remark = make_remark(
        Severity.WARNING, Code.MODEL_NAME, "model", f"{message} namespace/name", f"write {match['name']}"
    )
    yield remark


def path_of_host(case: Case) -> Iterator[Remark]:
    """`-v /data/weights:/weights`, and a model at /data/weights/NAME: the container has it at /weights/NAME."""
    command, model = case.commands[0], case.first.model
    if not _PATH.fullmatch(model) or is_fragment(command) or command.custom or command.more:
        return
    container = command.container
    if container is None and (shell := shell_around(case)) is not None:
        container = shell.container
    if container is None or container.kind != "docker run" or container.image is None:
        return
    mounts = [value.split(":") for value in container.values("--volume")]
    if any("$" in "".join(mount[:2]) or "`" in mount[0] for mount in mounts) or container.given("--mount"):
        return
    if any(len(mount) > 1 and _covers(mount[1], model) for mount in mounts) or container.given("--volumes-from"):
        return
    meant = next((mount for mount in mounts if len(mount) > 1 and _covers(mount[0], model)), None)
    if meant is None or meant[0].rstrip("/") == "":
        return
    inside = f"{meant[1].rstrip('/')}{model.removeprefix(meant[0].rstrip('/'))}"
    message = f"{shortened(model, 60)} is a path of the host: the container has {shortened(meant[0], 40)} at "
    message += f"{shortened(meant[1], 40)}, and finds no model"
    yield make_remark(Severity.WARNING, Code.CONFLICT, "model", message, f"write {shortened(inside, 80)}")


def _covers(folder: str, path: str) -> bool:
    return folder.startswith("/") and f"{path.rstrip('/')}/".startswith(f"{folder.rstrip('/')}/")
