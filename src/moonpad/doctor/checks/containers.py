"""A program that runs images, and its way to give them devices."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from moonpad.doctor.checks.wording import error, unknown, warning
from moonpad.doctor.need import Need
from moonpad.doctor.survey import Survey
from moonpad.facts.probe import Unknown
from moonpad.values.finding import Code, Finding
from moonpad.values.platform import Platform


def runtime(survey: Survey, need: Need) -> Iterator[Finding]:
    """Where the spec names an image."""
    if not need.image:
        return
    docker, podman = survey.output("docker"), survey.output("podman")
    info = _info(docker)
    if isinstance(info, Unknown) and isinstance(podman, Unknown):
        if survey.has_tool("docker"):
            message = f"docker does not answer: {info.reason}"
            remedy = "sudo systemctl start docker, and add this user to the group docker"
            yield error(Code.CONTAINER_RUNTIME, "docker", message, remedy)
        else:
            message = "the spec names an image, and neither docker nor podman is here"
            yield error(Code.TOOL_MISSING, "docker", message, "install one of them, or name a python in [engine]")
        return
    if need.platform is Platform.CUDA:
        yield from _gpu_hook(survey, info)


def _gpu_hook(survey: Survey, info: Mapping[str, Any] | Unknown) -> Iterator[Finding]:
    """NVIDIA's runtime of docker, or descriptions for CDI."""
    described = any(
        "nvidia" in text for pattern in ("/etc/cdi/*", "/var/run/cdi/*") for _, text in survey.texts(pattern)
    )
    runtimes = () if isinstance(info, Unknown) else info.get("Runtimes") or ()
    if described or "nvidia" in runtimes:
        return
    if isinstance(info, Unknown):
        yield unknown("podman", "whether containers are given devices", "no description for CDI is in /etc/cdi")
        return
    message = "docker has no runtime `nvidia`, and there is no description for CDI: containers see no device"
    remedy = "install nvidia-container-toolkit; sudo nvidia-ctk runtime configure; restart docker"
    yield warning(Code.CONTAINER_RUNTIME, "docker", message, remedy)


def _info(text: str | Unknown) -> Mapping[str, Any] | Unknown:
    """Of `docker info`; what the daemon does not tell stands in `ServerErrors`."""
    if isinstance(text, Unknown):
        return text
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return Unknown(f"it prints {text[:60]!r}")
    if not isinstance(document, dict):
        return Unknown("it prints no object")
    errors = document.get("ServerErrors")
    return Unknown(str(errors[0])[:200]) if errors else document
