"""Copies behind a router as files: what they promise, and that `explain` reads them back as engines and a router."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from moonpad.plan.from_spec import runtime_of
from moonpad.render.compose import render_compose
from moonpad.render.kubernetes import render_kubernetes
from moonpad.render.shell import render_shell
from moonpad.render.targets import deployment_of, render_for
from moonpad.spec.loader import parse_spec
from moonpad.spec.schema import Spec
from moonpad.values.deployment import Deployment, Image
from moonpad.values.errors import UsageError
from tests.configurations import make_plan
from tests.unit.render.deployments import DIGEST

SPEC = """\
name = "k2"
model = "m/K2"
engine = "vllm"
[hardware]
cluster = "{cluster}"
[layout]
tp = 8
[endpoint]
port = 8000
expose = {expose}
api_key_env = "KIMI_KEY"
[router]
name = "vllm-router"
replicas = {replicas}
image = "r/router@DIGEST"
""".replace("DIGEST", DIGEST)
IMAGE = Image(f"vllm/vllm-openai@{DIGEST}", ("vllm",))


def spec_of(*, cluster: str = "2x8xH200", replicas: int = 2, expose: bool = False) -> Spec:
    return parse_spec(SPEC.format(cluster=cluster, replicas=replicas, expose=str(expose).lower()), name="k2")


def in_containers(spec: Spec, *, one_machine: bool = False) -> Deployment:
    return deployment_of(spec, make_plan(spec, 0), IMAGE, one_machine=one_machine)


def objects(spec: Spec) -> list[dict[str, Any]]:
    (file,) = render_kubernetes(in_containers(spec)).values()
    return list(yaml.safe_load_all(file.text))


@pytest.mark.parametrize("expose", [False, True])
def test_objects_of_kubernetes(expose: bool) -> None:
    """A Deployment and a Service for each copy, and one of each for the router, which names the services."""
    made = objects(spec_of(expose=expose))
    for document in made:
        kubernetes_validate.validate(document, "1.30.0", strict=True)
    kinds = [(document["kind"], document["metadata"]["name"]) for document in made]
    assert kinds == [
        ("Deployment", "k2-replica-0"),
        ("Service", "k2-replica-0-api"),
        ("Deployment", "k2-replica-1"),
        ("Service", "k2-replica-1-api"),
        ("Deployment", "k2"),
        ("Service", "k2-api"),
        ("NetworkPolicy", "k2"),
    ]
    engines, router = (made[0], made[2]), made[4]["spec"]["template"]["spec"]
    words = router["containers"][0]["args"]
    at = words.index("--worker-urls")
    assert words[at + 1 : at + 3] == ["http://k2-replica-0-api:8002", "http://k2-replica-1-api:8003"]
    assert router["volumes"] == []
    assert router["containers"][0]["livenessProbe"]["tcpSocket"], "a restart of the router helps no copy"
    for engine in engines:
        spec = engine["spec"]["template"]["spec"]
        assert spec["volumes"][0]["persistentVolumeClaim"]["claimName"] == "k2-checkpoint"
        names = [variable["name"] for variable in spec["containers"][0]["env"]]
        assert "CUDA_VISIBLE_DEVICES" not in names, "the device plugin gives each pod its own"
        secrets = [variable for variable in spec["containers"][0]["env"] if "valueFrom" in variable]
        assert {"name": "k2-api-key", "key": "api_key"} in [each["valueFrom"].get("secretKeyRef") for each in secrets]
    pods = [document["spec"]["template"]["metadata"]["labels"] for document in (*engines, made[4])]
    policy = made[6]["spec"]
    (group,) = policy["podSelector"]["matchLabels"].items()
    assert all(group in labels.items() for labels in pods)
    assert len(policy["ingress"]) == (2 if expose else 1)
    assert len(router["containers"]) == (2 if expose else 1)


def test_selectors_are_apart() -> None:
    """No service sends to the pods of another one."""
    made = objects(spec_of())
    labels = [
        document["spec"]["template"]["metadata"]["labels"] for document in made if document["kind"] == "Deployment"
    ]
    for service in (document for document in made if document["kind"] == "Service"):
        selector = service["spec"]["selector"].items()
        assert sum(selector <= each.items() for each in labels) == 1


def test_one_compose_file() -> None:
    spec = spec_of(cluster="8xH200", replicas=1)
    (path, file), *rest = render_compose(in_containers(spec, one_machine=True)).items()
    assert (path, rest) == ("compose.yaml", [])
    document = yaml.safe_load(file.text)
    assert document["name"] == "moonpad-k2"
    services = document["services"]
    assert list(services) == ["replica-0", "router"]
    assert services["router"]["depends_on"] == {"replica-0": {"condition": "service_healthy"}}
    assert "http://replica-0:${MOONPAD_PORT_REPLICA_0_API:-8002}" in services["router"]["command"]
    assert all(port.startswith("127.0.0.1:") for service in services.values() for port in service["ports"])
    assert "MOONPAD_API_KEY" in services["router"]["environment"]


def test_scripts(tmp_path: Path) -> None:
    """One script for each copy and one for the router, whose copies are on the loopback."""
    spec = spec_of(cluster="8xH200", replicas=1)
    made = deployment_of(spec, make_plan(spec, 0), runtime_of(spec))
    files = render_shell(made)
    assert set(files) == {"replica-0/run.sh", "router/router.sh"}
    program = tmp_path / "bin" / "vllm-router"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    script = tmp_path / "router.sh"
    script.write_text(files["router/router.sh"].text)
    done = subprocess.run(
        ["bash", str(script)],
        env={"MOONPAD_ROUTER": str(tmp_path), "PATH": "/bin:/usr/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "http://127.0.0.1:8002" in done.stdout.splitlines()


@pytest.mark.parametrize("target", ["docker", "systemd", "slurm"])
def test_targets_that_are_not_there(target: str) -> None:
    spec = spec_of(cluster="8xH200", replicas=1)
    with pytest.raises(UsageError, match=f"behind a router are not written for {target} yet"):
        render_for(target, spec, make_plan(spec, 0))


def test_copies_on_several_machines() -> None:
    spec = spec_of()
    with pytest.raises(UsageError, match="several machines"):
        render_for("shell", spec, make_plan(spec, 0))


def test_containers_that_would_share_devices() -> None:
    spec = parse_spec(SPEC.format(cluster="8xH200", replicas=2, expose="false").replace("tp = 8", "tp = 4"), name="k2")
    with pytest.raises(UsageError, match="share the devices of one machine"):
        in_containers(spec, one_machine=True)
