"""Containers whose own files are for reading alone, without a folder for temporary ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from yaml import Node

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.containers.compose_files import compose_files
from moonpad.explain.checks.manifests.pod_objects import fields_of, inner, items_of, own_container, text_of
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.programs import base_name
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_FOLDERS: Final = ("/tmp", "/var/tmp", "/usr/tmp", "/var", "/usr")  # noqa: S108 what Python looks for
_VARIABLES: Final = ("TMPDIR", "TEMP", "TMP")
_TEMPORARY: Final = _FOLDERS[0]


def without_temporary_folder(case: Case) -> Iterator[Remark]:
    """`readOnlyRootFilesystem: true`, `--read-only` or `read_only: true`, and no volume at /tmp."""
    command = case.commands[0]
    container = command.container
    if container is None or is_fragment(command) or case.engine.facts.gguf_only or case.open_ended:
        return
    if command.wrappers[-1] is not container or any(name in command.env for name in _VARIABLES):
        return
    for where, targets, remedy in (*_of_pod(case), *_of_service(case), *_of_options(case)):
        if any(target.partition(":")[0].rstrip("/") in _FOLDERS for target in targets):
            continue
        message = f"{case.engine.facts.title} makes sockets and files in {_TEMPORARY}, which is for reading alone: No "
        message += "usable temporary directory found"
        remark = make_remark(Severity.WARNING, Code.CONFLICT, where, message, remedy)
        yield Remark(remark.finding, command=None)
        return


_Found = tuple[str, list[str], str]


def _of_pod(case: Case) -> Iterator[_Found]:
    found = own_container(case)
    if found is None or found[0].templated:
        return
    container = found[1]
    given = inner(container, "securityContext", "readOnlyRootFilesystem")
    if text_of(given) == "true" and "workingDir" not in container:
        mounts = [text_of(fields_of(each).get("mountPath")) for each in items_of(container.get("volumeMounts"))]
        yield (
            "readOnlyRootFilesystem",
            mounts,
            f"mount an emptyDir at {_TEMPORARY}, and one at the user's home for caches",
        )


def _of_service(case: Case) -> Iterator[_Found]:
    container = case.commands[0].container
    if container is None or container.words or case.script.objects:
        return
    for first, _, services in compose_files(case.script):
        at = case.commands[0].line - first
        for fields in services.values():
            if text_of(fields.get("read_only")) != "true" or "working_dir" in fields or not _holds(fields, at):
                continue
            targets = [*map(text_of, items_of(fields.get("tmpfs"))), text_of(fields.get("tmpfs"))]
            for volume in items_of(fields.get("volumes")):
                targets += [text_of(fields_of(volume).get("target")), *text_of(volume).split(":")[1:2]]
            yield "read_only", targets, f"add tmpfs: [{_TEMPORARY}], and a volume at the user's home for caches"


def _holds(fields: Mapping[str, Node], line: int) -> bool:
    return any(node.start_mark.line <= line <= node.end_mark.line for node in fields.values())


def _of_options(case: Case) -> Iterator[_Found]:
    container = case.commands[0].container
    if container is None or not container.words or not container.has("--read-only") or container.given("--workdir"):
        return
    if base_name(container.words[0]) == "podman":
        return  # it makes /tmp writable by itself (--read-only-tmpfs)
    targets = [value.split(":")[1] for value in container.values("--volume") if ":" in value]
    for value in container.values("--mount"):
        targets += [
            part.partition("=")[2] for part in value.split(",") if part.startswith(("dst=", "target=", "destination="))
        ]
    yield "--read-only", [*targets, *container.values("--tmpfs")], f"add --tmpfs {_TEMPORARY}, and a volume for caches"
