"""A Deployment as bash scripts that run containers, `node-0/run.sh`: docker's client attached, in the foreground."""

from __future__ import annotations

from collections.abc import Mapping

from moonpad.render.containers import beside, contain, model_mounts
from moonpad.render.docker_run import docker_words
from moonpad.render.images import image_note
from moonpad.render.rendered import Rendered
from moonpad.render.shell import Script, scripts
from moonpad.values.deployment import Deployment, Image, Process
from moonpad.values.references import holds_secret


def render_docker(deployment: Deployment) -> Mapping[str, Rendered]:
    """One script a node: path → text and mode.

    Raises:
        UsageError: a node has several processes.
        ValueError: a process runs in no container image.
    """
    return scripts(deployment, _script)


def _script(deployment: Deployment, process: Process) -> Script:
    contained = contain(process)
    gang = deployment.gangs[0].name
    shared = process.runtime.beside if isinstance(process.runtime, Image) else ""
    words = docker_words(
        process,
        contained,
        model_mounts(process),
        client="docker",
        name=f"moonpad-{gang}-{process.name}",
        label=f"moonpad.name={gang}",
        beside=beside(deployment, process),
        network_of=f"moonpad-{gang}-{shared}" if shared else "",
    )
    secrets = {name: arg for name, arg in contained.env.items() if holds_secret(arg)}
    first = (f"Its network is that of {shared}, which must run already.",) if shared else ()
    return Script(deployment, process, tuple(words), secrets, notes=(*first, *image_note(process)))
