"""What is mounted into a container, against the folder that its engine reads the weights from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.engines import surrounding_names as around
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import (
    Fields,
    PodObject,
    fields_of,
    inner,
    is_cut,
    items_of,
    own_container,
    text_of,
)
from moonpad.explain.checks.models.repository_names import REPOSITORY
from moonpad.explain.commands import Wrapper
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_KINDS: Final = frozenset({"Deployment", "StatefulSet", "DaemonSet", "Pod", "Job", "LeaderWorkerSet"})
_WHOLE: Final = frozenset({"Deployment", "StatefulSet", "DaemonSet"})
"""Kinds whose `spec.selector` tells an object from a patch of one."""
_PATH: Final = re.compile(r"/[\w.@+/-]+")
_FROM: Final = re.compile(r"\s*FROM\s", re.IGNORECASE)
_DISKS: Final = ("mnt", "data", "raid", "nvme")
"""Folders below which machines have their disks."""
_SHORTEST: Final = 5
"""Letters of a name that more than one folder has: `model`."""
_WEIGHTS: Final = re.compile(r"(?=.*\d)[A-Za-z][\w.]{1,30}(?:-[\w.]{1,30}){1,8}", re.ASCII)
"""The name of a model with its number: `bge-m3`, `Kimi-K2.5`."""
_UNKNOWN: Final = ("--volumes-from", "--workdir", "--user")
_FOR_MODELS: Final = re.compile(
    r"hugging|(?<![a-z])hf(?![a-z])|models?(?![a-z])|weights|^/data/?$|(?:^|/)cache/?$", re.IGNORECASE
)
_IS_CACHE: Final = re.compile(r"huggingface|\.cache")
"""The cache of another user, whose name the image may have."""
_HUB: Final = ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")
_HOME: Final = "HF_HOME"
_OTHERS: Final = re.compile(r"TRANSFORMERS_CACHE|MODELSCOPE|XDG_CACHE_HOME|^HOME$|LLAMA_CACHE|LLAMA_ARG")
_DOWNLOADS: Final = "--download-dir"
_OFFLINE: Final = "HF_HUB_OFFLINE"
_TRUE: Final = ("1", "on", "yes", "true")
"""As huggingface_hub reads its switches: constants.py, ENV_VARS_TRUE_VALUES."""
HOME: Final = "/".join(("", "root"))
"""Of the user of the published images."""
_CACHE: Final = f"{HOME}/.cache/huggingface"


def model_not_mounted(case: Case) -> Iterator[Remark]:
    """`--model /models/k2` in an image that has no weights, with nothing mounted at /models, or nothing at all."""
    model, targets = case.first.model, _targets(case)
    if targets is None or not _PATH.fullmatch(model) or unresolved(model):
        return
    if any(_covers(target, model) or _covers(model, target) for target in targets):
        return
    meant = [each for each in targets if _is_meant(each) or any(alike(each, model) for alike in _ALIKE)]
    cut = any(low <= case.commands[0].line <= high for low, high in case.script.objects)
    if not meant and (targets or cut):
        return  # a text that is cut to what it shows, or a folder that holds more
    there = (
        f"the volumes are at {', '.join(shortened(each, 40) for each in meant[:3])}" if meant else "nothing is mounted"
    )
    message = (
        f"{shortened(model, 60)}: the image has no weights, and {there}: the engine takes a path that it does not "
    )
    message += "find for the name of a repository, and ends"
    remedy = "mount the folder of the weights there, or write the path inside of the container"
    yield make_remark(Severity.WARNING, Code.CONFLICT, "model", message, remedy)


def cache_not_mounted(case: Case) -> Iterator[Remark]:
    """`-v ./data:/data` for a model by its name, which is downloaded into another folder of the container."""
    targets, command = _targets(case), case.commands[0]
    if not targets or not REPOSITORY.fullmatch(case.first.model) or case.engine.facts.gguf_only:
        return
    if any(_OTHERS.search(name) for name in command.env) or case.open_ended or _has_file_of_variables(case):
        return
    cache = _cache(case)
    if not cache or any(_covers(target, cache) or _covers(cache, target) for target in targets):
        return
    meant = [each for each in targets if _is_meant(each) and not _IS_CACHE.search(each)]
    meant += [each for each in targets if cache == _CACHE and re.fullmatch(rf"{HOME}/\.?huggingface/?", each)]
    if not meant:
        return
    message = (
        f"{shortened(case.first.model, 50)} is downloaded to {cache}, where no volume is: {shortened(meant[0], 40)} "
    )
    message += "is not read, and each new container downloads it again"
    remedy = f"mount the volume at {cache}" if cache == _CACHE else f"let {_HOME} name the volume's folder"
    yield make_remark(Severity.WARNING, Code.SUBOPTIMAL, meant[0], message, remedy)


def _has_file_of_variables(case: Case) -> bool:
    """Whether a file says more of the environment, which may hold the place of the cache."""
    container = case.commands[0].container
    return container is not None and container.has("--env-file")


def offline_without_weights(case: Case) -> Iterator[Remark]:
    """`HF_HUB_OFFLINE=1` for a model by its name, in an image without weights whose cache no volume holds."""
    targets, command = _targets(case), case.commands[0]
    if targets is None or case.variable(_OFFLINE).casefold() not in _TRUE or case.open_ended:
        return
    if not REPOSITORY.fullmatch(case.first.model) or any(_OTHERS.search(name) for name in command.env):
        return
    if _has_file_of_variables(case):
        return
    cache = _cache(case)
    if not cache or any(_covers(target, cache) or _covers(cache, target) for target in targets):
        return
    message = f"nothing is downloaded, the image has no weights, and no volume is at {shortened(cache, 60)}: "
    message += f"{shortened(case.first.model, 50)} is not found"
    remedy = f"mount the host's cache at {shortened(cache, 60)}, or leave {_OFFLINE} out"
    yield make_remark(Severity.WARNING, Code.CONFLICT, _OFFLINE, message, remedy)


def download_into_read_only(case: Case) -> Iterator[Remark]:
    """`--download-dir /models` below a volume that is mounted read-only: the engine locks a file there, even where the
    weights have come."""
    place, folder = case.option(_DOWNLOADS), case.text(_DOWNLOADS)
    if place is None or _targets(case) is None or not REPOSITORY.fullmatch(case.first.model):
        return
    covering = [(target, fixed) for target, fixed in _read_only(case) if _covers(target, folder)]
    if not covering or not max(covering, key=lambda each: len(each[0]))[1]:
        return
    message = f"{shortened(folder, 50)} is mounted read-only, and the engine writes there, a lock at the least: "
    message += "Read-only file system"
    remedy = "mount it without ro, or name the folder of the weights in place of the repository"
    yield make_remark(Severity.WARNING, Code.CONFLICT, place.written, message, remedy, at=place.index)


def _read_only(case: Case) -> Iterator[tuple[str, bool]]:
    """Where volumes are mounted, and whether for reading alone."""
    found = own_container(case)
    if found is not None:
        for mount in map(fields_of, items_of(found[1].get("volumeMounts"))):
            yield text_of(mount.get("mountPath")), text_of(mount.get("readOnly")) == "true"
        return
    container = case.commands[0].container
    for value in container.values("--volume") if container is not None else ():
        parts = value.split(":")
        if len(parts) > 1:
            yield parts[1], len(parts) > 2 and "ro" in parts[2].split(",")


def undeclared_volume(case: Case) -> Iterator[Remark]:
    """A volumeMount of a name that the pod does not have."""
    found = own_container(case)
    if found is None:
        return
    holder, container, pod = found
    if holder.templated or not _is_whole(holder) or is_cut(case.script, holder):
        return
    known = {text_of(fields_of(each).get("name")) for each in items_of(pod.get("volumes"))}
    claims = items_of(inner(holder.fields, "spec", "volumeClaimTemplates"))
    known |= {text_of(inner(fields_of(each), "metadata", "name")) for each in claims}
    for mount in map(fields_of, items_of(container.get("volumeMounts"))):
        name = text_of(mount.get("name"))
        if name and name not in known:
            line = case.script.where(holder.offset + mount["name"].start_mark.line)
            message = f"{line}: the pod has no volume {shortened(name, 40)}: Kubernetes refuses the object"
            remedy = "name it under volumes of the pod"
            remark = make_remark(Severity.WARNING, Code.CONFLICT, "volumeMounts", message, remedy)
            yield replace(remark, command=None)
            return


def _is_whole(holder: PodObject) -> bool:
    if holder.kind in _WHOLE:
        return bool(fields_of(inner(holder.fields, "spec", "selector")))
    return holder.kind in ("Pod", "Job")


def _targets(case: Case) -> Sequence[str] | None:
    """Where volumes are mounted into the container of a published image; None where that is not known."""
    command = case.commands[0]
    container = command.container
    if container is None or container.kind != "docker run" or container.image is None or is_fragment(command):
        return None
    if command.custom or command.more or command.wrappers[-1] is not container or command.files:
        return None
    if _is_built(case, container.image.line):
        return None
    if not around.WITHOUT_WEIGHTS.fullmatch(container.image.text) or any(container.given(flag) for flag in _UNKNOWN):
        return None
    if any(low <= command.line <= high for low, high in case.script.objects):
        found = own_container(case)
        if found is None:
            return None
        holder, *container_and_pod = found
        if holder.templated or holder.kind not in _KINDS:
            return None
        if holder.kind in _WHOLE and not _is_whole(holder):
            return None  # a patch: the mounts may stand in what it is for
        return _of_pod(*container_and_pod)
    return _of_options(container)


def _is_built(case: Case, line: int) -> bool:
    """Whether it is the image that a Dockerfile begins with: what is copied into it, or mounted later, is not known."""
    return 0 < line <= len(case.script.lines) and _FROM.match(case.script.lines[line - 1]) is not None


def _of_pod(container: Fields, pod: Fields) -> Sequence[str] | None:
    if "securityContext" in pod or "envFrom" in container or "volumeDevices" in container:
        return None
    mounts = [text_of(fields_of(each).get("mountPath")) for each in items_of(container.get("volumeMounts"))]
    return None if any(not mount.startswith("/") for mount in mounts) else mounts


def _of_options(container: Wrapper) -> Sequence[str] | None:
    targets: list[str] = []
    for value in container.values("--volume"):
        parts = value.split(":")
        target = next((part for part in reversed(parts) if part.startswith("/")), "")
        if not target or (len(parts) < 2 and not value.startswith("/")) or "$" in target:
            return None
        targets.append(target)
    for value in container.values("--mount"):
        parts_of = dict(part.partition("=")[::2] for part in value.split(","))
        target = next((parts_of[key] for key in ("target", "destination", "dst") if key in parts_of), "")
        if not target.startswith("/") or "$" in target:
            return None
        targets.append(target)
    return targets


def _is_meant(target: str) -> bool:
    """Whether weights are meant to be there."""
    return _FOR_MODELS.search(target) is not None and around.NOT_FOR_MODELS.search(target) is None


def _are_neighbours(target: str, model: str) -> bool:
    """Two disks of one machine: `/mnt/raid0` is mounted, and the model lies in `/mnt/nvme`."""
    parts = target.strip("/").split("/"), model.strip("/").split("/")
    return len(parts[0]) == 2 and len(parts[1]) > 2 and parts[0][0] == parts[1][0] and parts[0][0] in _DISKS


def _are_namesakes(target: str, model: str) -> bool:
    """The folder of the same weights in another place: `/data/Kimi-K2.5` is mounted, `/models/Kimi-K2.5` is read."""
    names = [each.rstrip("/").rpartition("/")[2].casefold() for each in (target, model)]
    return names[0] == names[1] and len(names[0]) > _SHORTEST


def _are_siblings(target: str, model: str) -> bool:
    """Two folders of weights beside each other: `/data/bge-reranker-v2-m3` is mounted, `/data/bge-m3` is read."""
    (above, name), (beside, read) = (each.rstrip("/").rsplit("/", 1) for each in (target, model))
    return bool(above) and above == beside and all(_WEIGHTS.fullmatch(each) for each in (name, read))


_ALIKE: Final = (_are_neighbours, _are_namesakes, _are_siblings)


def _covers(folder: str, path: str) -> bool:
    return f"{path.rstrip('/')}/".startswith(f"{folder.rstrip('/')}/")


def _cache(case: Case) -> str:
    """Where the weights go; "" where that is not known."""
    if case.option(_DOWNLOADS) is not None:
        text = case.text(_DOWNLOADS)
        return text if text.startswith("/") and "$" not in text else ""
    for name in (*_HUB, _HOME):
        if name in case.commands[0].env:
            value = case.variable(name)
            return value.rstrip("/") if value.startswith("/") and "$" not in value else ""
    return _CACHE
