"""Volumes that weights are downloaded to, against the bytes of the weights."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from yaml import Node

from moonpad.catalog.other_models import least_bytes, other_model
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.containers.mounted_places import HOME
from moonpad.explain.checks.manifests.pod_objects import (
    BYTES,
    Fields,
    PodObject,
    fields_of,
    inner,
    items_of,
    own_container,
    pod_objects,
    text_of,
)
from moonpad.explain.checks.models.other_families import in_full
from moonpad.explain.checks.models.repository_names import REPOSITORY
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.units import GIB

_SIZE: Final = re.compile(r"(?P<number>\d{1,7}(?:\.\d{1,3})?)(?P<unit>[MGT]i?)")
_ARTIFACTS: Final = re.compile(r"(?P<indent>[ \t]*)modelArtifacts:[ \t]*(?:#.*)?$")
_KEY: Final = re.compile(r"[ \t]+(?P<key>uri|size):[ \t]*[\"']?(?P<value>[^\s\"'#]{1,200})")
_OF_HUB: Final = "hf://"
_NO_QUOTA: Final = re.compile(
    r"nfs|efs|fsx|lustre|local|host|ceph-?fs|filestore|gpfs|weka|vast|manual|shared", re.IGNORECASE
)
"""Classes of storage that may hold more than a claim asks for."""
_CACHES: Final = ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME")
_ELSEWHERE: Final = re.compile(r"TRANSFORMERS_CACHE|MODELSCOPE|XDG_CACHE_HOME|^HOME$")
_DOWNLOADS: Final = "--download-dir"
_DISK: Final = re.compile(
    r"[ \t]*(?P<key>disk_size|disk|pvcStorage)[ \t]*:[ \t]*[\"']?(?P<number>\d{1,6})[ ]?"
    r"(?P<unit>[GT](?:i|B|iB)?)?[\"']?[ \t]*(?:#.*)?$"
)
"""Of SkyPilot, whose numbers are GiB, of dstack, whose `200GB..` is the least, and of vLLM's production stack."""
_OTHER_PLACE: Final = re.compile(
    r"^[ \t]*(?:-[ ])?(?:(?:file_mounts|volumes|mounts|storage_mounts)[ \t]*:|(?:infra|cloud)[ \t]*:[ \t]*[\"']?k)"
)
"""Other disks, and SkyPilot over Kubernetes, where the size is not asked for."""
_CLASS: Final = re.compile(r"[ \t]*storageClass(?:Name)?[ \t]*:[ \t]*[\"']?(?P<name>[\w.-]+)")
_WRITTEN: Final = {"disk_size": "", "disk": "GB"}
"""Keys whose sizes are not written as Kubernetes does → the unit that their number lacks."""
_EPHEMERAL: Final = "ephemeral-storage"
_LONGEST: Final = 300
_DEEP: Final = 12
"""Lines of the description of the weights in a chart's values."""


def storage_of_weights(case: Case) -> Iterator[Remark]:
    """10 GiB for weights of 64 GB, by the repository's name."""
    needed, title = _needed(case, case.first.model)
    streamed = case.option("--load-format") is not None or case.engine.facts.gguf_only
    if not needed or streamed or case.script.markdown:
        return
    for where, size, line in (*_of_chart(case), *_of_pod(case), *_of_job(case)):
        held = _bytes(size)
        if held and held < needed:
            message = f"{case.script.where(line)}: {size} for the download, and the weights of {title} are at least "
            message += f"{needed / GIB:,.0f} GiB: the pod is evicted, or the disk is full, before they are there"
            remedy = f"write {where}: {needed * 1.25 / GIB:.0f}{_WRITTEN.get(where, 'Gi')} or more"
            remark = make_remark(Severity.WARNING, Code.DOES_NOT_FIT, where, message, remedy)
            yield Remark(remark.finding, command=None)
            return


def _needed(case: Case, written: str) -> tuple[float, str]:
    """Bytes of the weights at the least, 0 where they are not known, and whose they are."""
    if not REPOSITORY.fullmatch(written):
        return 0, ""
    checkpoint = case.checkpoint
    if checkpoint is not None:
        return (checkpoint.total_bytes, checkpoint.name) if in_full(checkpoint.name, written) else (0, "")
    known = other_model(written)
    return (least_bytes(known, written), known.title) if known is not None else (0, "")


def _bytes(size: str) -> float:
    match = _SIZE.fullmatch(size)
    return float(match["number"]) * BYTES[match["unit"]] if match is not None else 0


def _of_chart(case: Case) -> Iterator[tuple[str, str, int]]:
    """`modelArtifacts` with the address of the same model: the chart makes a volume of this size for it."""
    script = case.script
    lines = list(numbered(script, 1, len(script.lines)))
    for at, (_, text) in enumerate(lines):
        if (match := _ARTIFACTS.match(text)) is None:
            continue
        found: dict[str, tuple[str, int]] = {}
        for number, below in lines[at + 1 : at + _DEEP]:
            if below.strip() and len(below) - len(below.lstrip()) <= len(match["indent"]):
                break
            if (key := _KEY.match(below)) is not None:
                found.setdefault(key["key"], (key["value"], number))
        if found.get("uri", ("", 0))[0] == f"{_OF_HUB}{case.first.model}" and "size" in found:
            yield "size", *found["size"]


def _of_job(case: Case) -> Iterator[tuple[str, str, int]]:
    """The disk that a job asks for, or a chart its volume, where nothing else holds the downloads."""
    first, last = next(
        ((low, high) for low, high in case.script.objects if low <= case.commands[0].line <= high), (0, 0)
    )
    lines = [line[:_LONGEST] for line in case.script.lines[first - 1 : last]] if first else []
    case.script.budget.work(len(lines), "its YAML")
    found = [(first + at, match) for at, line in enumerate(lines) if (match := _DISK.match(line)) is not None]
    classes = [match["name"] for line in lines if (match := _CLASS.match(line)) is not None]
    if any(map(_NO_QUOTA.search, classes)):
        return
    if len(found) == 1 and not any(_OTHER_PLACE.search(line) for line in lines) and _folder(case).startswith(HOME):
        line, match = found[0]
        yield match["key"], f"{match['number']}{(match['unit'] or 'Gi').removesuffix('B')}", line


def _of_pod(case: Case) -> Iterator[tuple[str, str, int]]:
    """The volume that covers the folder of downloads, as far as it has a size of its own."""
    found, folder = own_container(case), _folder(case)
    if found is None or found[0].templated or not folder:
        return
    holder, container, pod = found
    mounts = {
        text_of(fields_of(each).get("mountPath")).rstrip("/"): each for each in items_of(container.get("volumeMounts"))
    }
    covering = [path for path in mounts if path and f"{folder}/".startswith(f"{path}/")]
    if not covering:
        yield from _of_own_disk(holder, container)
        return
    name = text_of(fields_of(mounts[max(covering, key=len)]).get("name"))
    volume: Fields = next(
        (fields_of(each) for each in items_of(pod.get("volumes")) if text_of(fields_of(each).get("name")) == name), {}
    )
    limit = inner(volume, "emptyDir", "sizeLimit")
    if limit is not None:
        yield "sizeLimit", text_of(limit), holder.offset + limit.start_mark.line
        return
    if "emptyDir" in volume and text_of(inner(volume, "emptyDir", "medium")) != "Memory":
        yield from _of_own_disk(holder, container)
        return
    claimed = text_of(inner(volume, "persistentVolumeClaim", "claimName"))
    for each in pod_objects(case.script) if claimed else ():
        if each.kind != "PersistentVolumeClaim" or each.templated:
            continue
        if text_of(inner(each.fields, "metadata", "name")) == claimed and (asked := _asked(each.fields)) is not None:
            yield "storage", text_of(asked), each.offset + asked.start_mark.line
            return


def _of_own_disk(holder: PodObject, container: Fields) -> Iterator[tuple[str, str, int]]:
    """What the container may write to the node's disk, where the downloads go without a volume, or with an emptyDir."""
    limit = inner(container, "resources", "limits", _EPHEMERAL)
    if limit is not None:
        yield _EPHEMERAL, text_of(limit), holder.offset + limit.start_mark.line


def _asked(claim: Fields) -> Node | None:
    """What a claim asks for, where its class gives no more."""
    of_class = text_of(inner(claim, "spec", "storageClassName"))
    if _NO_QUOTA.search(of_class) or inner(claim, "spec", "volumeName") is not None:
        return None
    modes = {text_of(each) for each in items_of(inner(claim, "spec", "accessModes"))}
    return inner(claim, "spec", "resources", "requests", "storage") if "ReadWriteOnce" in modes else None


def _folder(case: Case) -> str:
    """Where the weights are downloaded to; "" where that is not known."""
    if case.option(_DOWNLOADS) is not None:
        folder = case.text(_DOWNLOADS)
    elif any(_ELSEWHERE.search(name) for name in case.commands[0].env):
        folder = ""
    else:
        folder = next((case.variable(name) for name in _CACHES if name in case.commands[0].env), "")
        folder = folder or f"{HOME}/.cache/huggingface"
    return folder.rstrip("/") if folder.startswith("/") and "$" not in folder else ""
