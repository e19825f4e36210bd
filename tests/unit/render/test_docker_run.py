"""Whole command lines of the docker client. `docker` itself read this form of them (28.2.2, no daemon behind it)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from moonpad.plan.from_spec import engine_of, make_plan, runtime_of
from moonpad.render.docker_run import docker_ps, docker_reattach, docker_run, docker_stop
from moonpad.spec.load import parse_spec
from moonpad.values.binding import Bindings, BoundProcess
from moonpad.values.deployment import File, Image, PortSpec, Process, Resources, Role
from moonpad.values.refs import PathRef, PortRef, SecretRef
from moonpad.values.secret import Secret

DIGEST = f"sha256:{'0' * 64}"
API = PortRef("engine", "api")
BINDINGS = Bindings({"node-0": "127.0.0.1"}, {API: 8100}, {}, {"checkpoint": "/checkpoint"}, {"api_key": Secret("s3")})
SMALL = Process("engine", Role.ENGINE, "node-0", 0, Image("i@sha256:0"), ("serve", PathRef("checkpoint")))


def run(process: Process, source: str = "/models/tiny") -> BoundProcess:
    return docker_run(process, BINDINGS, client="docker", run_id="tiny-1", mounts={source: "/checkpoint"})


def of_spec(endpoint: str) -> Process:
    text = f'model = "tiny"\nengine = {{ name = "vllm-cpu", image = "vllm-cpu@{DIGEST}" }}\n[endpoint]\n{endpoint}'
    spec = parse_spec(text, name="tiny")
    (process,) = engine_of(spec).processes(make_plan(spec, 0), runtime_of(spec)).processes
    return process


def test_vllm_on_the_loopback() -> None:
    bound = run(of_spec("port = 8100"))
    assert bound.argv == (
        *("docker", "run", "--rm", "--name", "moonpad-tiny-1", "--label", "moonpad.run=tiny-1"),
        *("--publish", "127.0.0.1:8100:8100"),
        *("--mount", "type=bind,src=/models/tiny,dst=/checkpoint,readonly"),
        *("--env", "HF_HUB_OFFLINE=1", "--env", "VLLM_NO_USAGE_STATS=1", "--env", "VLLM_HOST_IP=127.0.0.1"),
        *("--env", "VLLM_CPU_KVCACHE_SPACE=1"),
        *("--shm-size", "4294967296b", "--entrypoint", "vllm", f"vllm-cpu@{DIGEST}"),
        *("serve", "/checkpoint", "--served-model-name", "tiny", "--host", "0.0.0.0", "--port", "8100"),
        *("--max-model-len", "4096", "--max-num-seqs", "64"),
        *("--enforce-eager", "--compilation-config.custom_ops", '["all","-rotary_embedding"]'),
        *("--enable-auto-tool-choice", "--tool-call-parser", "kimi_k2", "--reasoning-parser", "kimi_k2"),
    )
    assert (bound.env, bound.secret_env) == ({}, {})


def test_exposed_with_a_key() -> None:
    bound = run(of_spec('port = 8100\nexpose = true\napi_key_env = "MOONPAD_KEY"'))
    assert bound.argv[bound.argv.index("--publish") + 1] == "8100:8100"
    assert bound.argv[bound.argv.index("VLLM_API_KEY") - 1] == "--env"
    assert not any("s3" in word for word in bound.argv)
    assert {name: value.reveal() for name, value in bound.secret_env.items()} == {"VLLM_API_KEY": "s3"}


def test_smallest() -> None:
    names = ("docker", "run", "--rm", "--name", "moonpad-tiny-1", "--label", "moonpad.run=tiny-1")
    mount = ("--mount", "type=bind,src=/models/tiny,dst=/checkpoint,readonly")
    assert run(SMALL).argv == (*names, *mount, "i@sha256:0", "serve", "/checkpoint")
    python = replace(SMALL, runtime=Image("i@sha256:0", ("python3", "-m", "engine")))
    assert run(python).argv[len(names) + len(mount) :] == (
        *("--entrypoint", "python3", "i@sha256:0", "-m", "engine", "serve", "/checkpoint"),
    )


@pytest.mark.parametrize(
    ("source", "mount"),
    [
        ("/a b", "type=bind,src=/a b,dst=/checkpoint,readonly"),
        ("/a,b", 'type=bind,"src=/a,b",dst=/checkpoint,readonly'),
        ('/a"b', 'type=bind,"src=/a""b",dst=/checkpoint,readonly'),
    ],
)
def test_unpleasant_folders(source: str, mount: str) -> None:
    argv = run(SMALL, source).argv
    assert argv[argv.index("--mount") + 1] == mount


def test_stopped_by_name_found_by_label() -> None:
    stop = docker_stop("podman", "tiny-1")
    assert stop == (("podman", "stop", "-t", "2", "moonpad-tiny-1"), ("podman", "rm", "--force", "moonpad-tiny-1"))
    assert run(SMALL).after_stop == docker_stop("docker", "tiny-1")
    assert docker_ps("docker", "tiny-1") == (
        *("docker", "ps", "--filter", "label=moonpad.run=tiny-1", "--format", "{{.Names}}"),
    )


def test_another_client_for_the_same_container() -> None:
    """Asked for by the label, which no other run's container has; attached to without the terminal's input."""
    assert run(SMALL).reattach == docker_reattach("docker", "tiny-1")
    assert docker_reattach("podman", "tiny-1") == (
        docker_ps("podman", "tiny-1"),
        ("podman", "attach", "--no-stdin", "moonpad-tiny-1"),
    )


@pytest.mark.parametrize(
    "process",
    [
        replace(SMALL, files=(File("hosts", ("a",)),)),
        replace(SMALL, needs=Resources(devices=8)),
        replace(SMALL, needs=Resources(memlock=True)),
    ],
)
def test_what_a_container_does_not_get_is_refused(process: Process) -> None:
    with pytest.raises(ValueError, match="a container gets no"):
        run(process)


def test_a_port_without_a_number_is_named() -> None:
    with pytest.raises(KeyError, match="side"):
        run(replace(SMALL, ports=(PortSpec("side", 1),)))
    with pytest.raises(KeyError, match="other"):
        run(replace(SMALL, env={"KEY": SecretRef("other")}))
