"""A machine with podman, called docker too, on which rendered files are run."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.conftest import Moonpad
from tests.e2e.conftest import CHECKPOINT
from tests.e2e.podman import FAKE, Podman, find_podman
from tests.faults.helpers import wait_until

KEY = "s3 'cret $HOME %h"


@dataclass(frozen=True)
class Site:
    """A machine with podman, called docker too, on which files are rendered and run."""

    podman: Podman
    moonpad: Moonpad
    port: int
    env: dict[str, str]

    def spec(self, engine: str) -> Path:
        path = self.moonpad.home / "tiny.toml"
        path.write_text(
            f'model = "kimi-k2-tiny"\n\n[engine]\nname = "vllm-cpu"\n{engine}\n\n'
            f'[endpoint]\nport = {self.port}\napi_key_env = "KIMI_KEY"\n'
        )
        return path

    def render(self, target: str, engine: str) -> Path:
        out = self.moonpad.home / "files"
        done = self.moonpad("render", str(self.spec(engine)), "--to", target, "--out", str(out))
        assert done.code == 0, done.stderr
        return out

    def answers(self, key: str = KEY) -> int:
        """The status of one question; 0 where nobody answers."""
        body = json.dumps({"model": "kimi-k2-tiny", "prompt": "1", "max_tokens": 2}).encode()
        head = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/v1/completions", body, head)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return 200 if json.load(answer)["choices"][0]["text"] else 0
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def await_answer(self, tell: Callable[[], str] = lambda: "no answer", limit_s: float = 300.0) -> None:
        wait_until(lambda: self.answers() == 200, tell, limit_s)


@contextmanager
def rendered_site(moonpad: Moonpad, port: int, folder: Path, switches: str = "") -> Iterator[Site]:
    """At the end no container, pod, volume or network of it may be left. `switches`: as `find_podman` takes them."""
    podman = find_podman(moonpad.env, folder, FAKE, switches)
    programs = folder / "bin"
    programs.mkdir()
    docker = programs / "docker"
    docker.write_text('#!/bin/sh\nexec podman "$@"\n')
    docker.chmod(0o755)
    env = {
        **podman.env,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "MOONPAD_CHECKPOINT": str(CHECKPOINT),
        "MOONPAD_API_KEY": KEY,
    }
    before = podman.left()
    yield Site(podman, moonpad, port, env)
    assert podman.left() == before


@contextmanager
def playable(site: Site, rendered: Path) -> Iterator[Path]:
    """The rendered documents as `podman kube play` takes them, with the claim and the secret that they name.

    Of a pod's own address and of `$(VARIABLE)` podman 4.3 knows nothing, and of a claim it makes a volume, filled
    beforehand, as its secret is, a mapping in JSON.
    """
    documents = list(yaml.safe_load_all(rendered.read_text()))
    (deployment,) = [document for document in documents if document["kind"] == "Deployment"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    given: dict[str, Any] = {}
    for variable in container["env"]:
        if "fieldRef" in variable.get("valueFrom", {}):
            del variable["valueFrom"]
            variable["value"] = "127.0.0.1"
        if (named := re.fullmatch(r"\$\((\w+)\)", variable.get("value", ""))) is not None:
            variable |= given[named[1]]  # a value, or where it comes from
            if "valueFrom" in variable:
                del variable["value"]
        given[variable["name"]] = {key: value for key, value in variable.items() if key != "name"}
    secrets = [each["valueFrom"]["secretKeyRef"] for each in given.values() if "valueFrom" in each]
    (claim,) = [
        volume["persistentVolumeClaim"]["claimName"]
        for volume in deployment["spec"]["template"]["spec"]["volumes"]
        if "persistentVolumeClaim" in volume
    ]
    assert secrets
    secret = secrets[0]
    played = site.moonpad.home / "played.yaml"
    played.write_text(yaml.safe_dump_all(documents))
    data = {secret["key"]: base64.b64encode(KEY.encode()).decode()}
    packed = subprocess.run(("tar", "-C", str(CHECKPOINT), "-c", "."), capture_output=True, check=True).stdout
    site.podman("volume", "create", claim)
    try:
        into = ("podman", "volume", "import", claim, "-")
        subprocess.run(into, input=packed, env=site.env, check=True, timeout=60)
        kept = ("podman", "secret", "create", secret["name"], "-")
        subprocess.run(kept, input=json.dumps(data).encode(), env=site.env, check=True, timeout=60, capture_output=True)
        yield played
    finally:
        site.podman.run("kube", "down", str(played))
        site.podman.run("volume", "rm", "--force", claim)
        site.podman.run("secret", "rm", secret["name"])
