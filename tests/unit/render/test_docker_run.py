"""Whole command lines of the docker client. `docker` itself read this form of them (28.2.2, no daemon behind it)."""

from __future__ import annotations

import pytest

from moonpad.plan.from_spec import engine_of, runtime_of
from moonpad.render.docker_run import docker_ps, docker_reattach, docker_run, docker_stop
from moonpad.spec.loader import parse_spec
from moonpad.values.binding import Bindings, BoundProcess
from moonpad.values.deployment import File, Image, Mount, PortSpec, Process, Resources, Role
from moonpad.values.platform import Platform
from moonpad.values.records import replace
from moonpad.values.references import PathRef, PortRef, SecretRef
from moonpad.values.secret import Secret
from tests.configurations import make_plan

DIGEST = f"sha256:{'0' * 64}"
API = PortRef("engine", "api")
BINDINGS = Bindings({"node-0": "127.0.0.1"}, {API: 8100}, secrets={"api_key": Secret("s3")})
SMALL = Process("engine", Role.ENGINE, "node-0", 0, Image("i@sha256:0"), ("serve", PathRef("checkpoint")))


def run(process: Process, source: str = "/models/tiny") -> BoundProcess:
    checkpoint = (Mount(source, "/checkpoint"), "/checkpoint")
    return docker_run(process, BINDINGS, client="docker", run_id="tiny-1", checkpoint=checkpoint)


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


def test_of_a_snapshot_the_repository_is_mounted() -> None:
    checkpoint = (Mount("/hub/models--a--b", "/checkpoint"), "/checkpoint/snapshots/abc")
    bound = docker_run(SMALL, BINDINGS, client="docker", run_id="tiny-1", checkpoint=checkpoint)
    assert "type=bind,src=/hub/models--a--b,dst=/checkpoint,readonly" in bound.argv
    assert bound.argv[-2:] == ("serve", "/checkpoint/snapshots/abc")


@pytest.mark.parametrize(
    ("needs", "words"),
    [
        (Resources(devices=8, platform=Platform.CUDA), ("--gpus", "8")),
        (
            Resources(devices=8, platform=Platform.ROCM),
            (
                *("--device", "/dev/kfd", "--device", "/dev/dri", "--group-add", "video"),
                *("--cap-add", "SYS_PTRACE", "--security-opt", "seccomp=unconfined"),
            ),
        ),
        (Resources(rdma=True), ("--device", "/dev/infiniband", "--cap-add", "IPC_LOCK", "--ulimit", "memlock=-1")),
        (Resources(memlock=True), ("--ulimit", "memlock=-1")),
    ],
)
def test_devices_and_rights(needs: Resources, words: tuple[str, ...]) -> None:
    argv = run(replace(SMALL, needs=needs)).argv
    assert argv[argv.index("--mount") + 2 : argv.index("i@sha256:0")] == words
    assert "--privileged" not in argv


def test_an_atlas() -> None:
    """The devices of docs.vllm.ai/projects/ascend/en/latest/installation.html, and its driver, read only."""
    argv = run(replace(SMALL, needs=Resources(devices=2, platform=Platform.ASCEND))).argv
    devices = [argv[at + 1] for at, word in enumerate(argv) if word == "--device"]
    assert devices == [
        *("/dev/davinci0", "/dev/davinci1", "/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc"),
    ]
    driver = "/usr/local/Ascend/driver/lib64"
    assert f"type=bind,src={driver},dst={driver},readonly" in argv


def test_a_file_is_written_inside_by_the_shell() -> None:
    """Its content comes through the environment; where it holds the key, only its name stands in the arguments."""
    file = File("it's a.yaml", ("key: ", SecretRef("api_key")), 0o600)
    bound = run(replace(SMALL, runtime=Image("i@sha256:0", ("python",)), files=(file,)))
    assert list(bound.secret_env) == ["MOONPAD_FILE_0"]
    assert bound.secret_env["MOONPAD_FILE_0"].reveal() == "key: s3"
    assert bound.argv[bound.argv.index("MOONPAD_FILE_0") - 1] == "--env"
    assert not any("s3" in word for word in bound.argv)
    entry = bound.argv[bound.argv.index("--entrypoint") + 1 :]
    assert entry[:3] == ("sh", "i@sha256:0", "-c")
    assert entry[4:] == ("sh", "python", "serve", "/checkpoint")


def test_of_an_image_whose_program_is_not_known_no_file_can_be_written() -> None:
    with pytest.raises(ValueError, match="before its program"):
        run(replace(SMALL, files=(File("a", ("b",)),)))


def test_a_port_without_a_number_is_named() -> None:
    with pytest.raises(KeyError, match="side"):
        run(replace(SMALL, ports=(PortSpec("side", 1),)))
    with pytest.raises(KeyError, match="other"):
        run(replace(SMALL, env={"KEY": SecretRef("other")}))
