"""Images that no registry has: the name of the model in their place, and a published name without its owner."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import image_names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_IMAGE: Final = re.compile(
    r"[ \t]*(?:-[ \t]+)?[\"']?(?:base_)?image[\"']?:[ \t]+[\"']?(?P<image>[^\s\"'#,]+)[\"']?,?[ \t]*(?:#.*)?$"
)
_MODEL: Final = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_RELEASE: Final = re.compile(r"(?P<name>[a-z0-9_-]+):v?\d+\.\d+[\w.-]*", re.ASCII)
_MADE_HERE: Final = re.compile(
    r"\b(?:docker|podman|nerdctl|buildah|kaniko)\b.*\b(?:build|tag|load|import|bud)\b|^[ \t]*build:"
    r"|\bimagePullPolicy:[ \t]*[\"']?Never|\bpull_policy:[ \t]*(?:never|build)|--pull[= ]never"
    r"|\b(?:kind|minikube|k3d)\b.*\b(?:load|import)\b|\bctr\b.*\bimport\b"
)


def model_as_image(case: Case) -> Iterator[Remark]:
    """`image: google/gemma-3-27b-it`, where that is the model which the server loads."""
    model, script = case.first.model or "", case.script
    if not is_first(case.commands, script) or not _MODEL.fullmatch(model):
        return
    for number, text in numbered(script, 1, len(script.lines)):
        match = _IMAGE.match(text) if "image" in text else None
        if match is None or match["image"].partition(":")[0].casefold() != model.casefold():
            continue
        message = f"{script.where(number)}: {shortened(model, 60)} is the model, and no registry has an image of that "
        message += "name: the container is not started"
        yield _said(match["image"], message, "name the image that brings the engine")
        return


def image_without_owner(case: Case) -> Iterator[Remark]:
    """`image: vllm-openai:v0.11.0`: without an owner it is looked for among the official images of Docker Hub."""
    script = case.script
    if script.markdown or not is_first(case.commands, script):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    for number, text in lines:
        match = _IMAGE.match(text) if "image" in text else None
        release = _RELEASE.fullmatch(match["image"]) if match is not None else None
        if release is None or not (published := image_names.OWNED_NAMES.get(release["name"])):
            continue
        if any(_MADE_HERE.search(line) for _, line in lines):
            return
        name = release["name"]
        message = (
            f"{script.where(number)}: {name} without an owner is looked for as docker.io/library/{name}, which is "
        )
        message += "not there (pull access denied): it is found only where the node has it already"
        yield _said(name, message, f"write {published}, or the registry that you push it to")
        return


def _said(where: str, message: str, remedy: str) -> Remark:
    remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, shortened(where, 60), message, remedy)
    return Remark(remark.finding, command=None)
