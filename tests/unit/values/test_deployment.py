"""What a Deployment refuses to hold, and how `bind()` resolves it."""

from __future__ import annotations

from typing import Any

import pytest

from moonpad.values.binding import Bindings, bind, resolve
from moonpad.values.deployment import (
    Deployment,
    Executable,
    File,
    Gang,
    Image,
    PortSpec,
    Process,
    Role,
)
from moonpad.values.records import replace
from moonpad.values.references import Arg, HostRef, PathRef, PortRef, RankRef, Ref, SecretRef, parts
from moonpad.values.secret import Secret

API = PortRef("engine", "api")
KEY = SecretRef("api_key")


def process(name: str = "engine", **changes: Any) -> Process:
    plain = Process(name, Role.ENGINE, "node-0", 0, Executable(("vllm",)), (), ports=(PortSpec("api", 8000),))
    return replace(plain, **changes)


def deployment_of(*processes: Process) -> Deployment:
    return Deployment((Gang("gang", processes),), API, "kimi")


@pytest.mark.parametrize("arg", [KEY, ("Bearer ", KEY)])
def test_no_secret_in_arguments(arg: Arg) -> None:
    with pytest.raises(ValueError, match="a secret stands in its arguments"):
        process(argv=("serve", arg))
    with pytest.raises(ValueError, match="a secret stands in its arguments"):
        process(runtime=Executable((arg,)))


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o660, 0o700])
def test_no_secret_in_a_file_that_others_read(mode: int) -> None:
    with pytest.raises(ValueError, match="which is not 0600"):
        process(files=(File("a.toml", (("key = ", KEY),), mode),))


def test_secrets_where_they_belong() -> None:
    assert process(env={"KEY": KEY}, files=(File("a.toml", (KEY,), 0o600),)).env["KEY"] == KEY


@pytest.mark.parametrize("name", ["", "Decode", "-a", "a-", "a b", "a\n", "a/b", "a" * 64, "é"])
def test_names_that_are_no_label(name: str) -> None:
    with pytest.raises(ValueError, match="needs a name like decode-3"):
        process(name)


def test_nothing_changes_afterwards() -> None:
    env = {"A": "1"}
    built = process(env=env)
    env["A"] = "2"
    assert built.env == {"A": "1"}
    with pytest.raises(TypeError):
        built.env["A"] = "3"  # type: ignore[index]
    with pytest.raises(AttributeError):
        built.rank = 1  # type: ignore[misc]


def test_processes_are_found_by_name() -> None:
    deployment = deployment_of(process(), process("other"))
    assert deployment.process("other").name == "other"
    assert deployment.port_spec(API) == PortSpec("api", 8000)
    with pytest.raises(KeyError, match="no process is named 'third'"):
        deployment.process("third")
    with pytest.raises(KeyError, match="no port named 'side'"):
        deployment.port_spec(PortRef("engine", "side"))


def test_deployments_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="not unique"):
        deployment_of(process(), process())
    with pytest.raises(KeyError, match="no process is named 'engine'"):
        deployment_of(process("other"))
    with pytest.raises(KeyError, match="no port named 'api'"):
        deployment_of(process(ports=()))


BINDINGS = Bindings(
    hosts={"node-0": "10.0.0.1"},
    ports={API: 8123},
    ranks={"node-0": 3},
    paths={"checkpoint": "/models/a b"},
    secrets={"api_key": Secret("sk-canary")},
)


@pytest.mark.parametrize(
    ("ref", "text"),
    [
        (HostRef("node-0"), "10.0.0.1"),
        (API, "8123"),
        (RankRef("node-0"), "3"),
        (RankRef("node-0", times=8), "24"),
        (PathRef("checkpoint"), "/models/a b"),
        (KEY, "sk-canary"),
    ],
)
def test_each_reference_resolves(ref: Ref, text: str) -> None:
    assert resolve(ref, BINDINGS) == text


@pytest.mark.parametrize("ref", [HostRef("b"), PortRef("engine", "b"), RankRef("b"), PathRef("b"), SecretRef("b")])
def test_a_reference_without_a_binding_is_named(ref: Ref) -> None:
    with pytest.raises(KeyError, match=f"nothing is bound to {type(ref).__name__}"):
        bind(deployment_of(process(env={"A": ref})), BINDINGS)


def test_bind() -> None:
    built = process(
        runtime=Executable(((PathRef("checkpoint"), "/bin/vllm"),)),
        argv=("serve", ("http://", HostRef("node-0"), ":", API)),
        env={"PLAIN": "1", "KEY": ("Bearer ", KEY)},
        files=(File("etc/a", ("key=", KEY, "\n"), 0o600),),
    )
    (bound,) = bind(deployment_of(built), BINDINGS)
    assert bound.argv == ("/models/a b/bin/vllm", "serve", "http://10.0.0.1:8123")
    assert bound.env == {"PLAIN": "1"}
    assert bound.secret_env == {"KEY": Secret("Bearer sk-canary")}
    assert bound.files == (("etc/a", "key=sk-canary\n", 0o600),)
    # A file's content is the one place of a bound process that holds a secret as text; files are written at once.
    assert "canary" not in repr(replace(bound, files=()))


def test_an_image_is_bound_by_its_client() -> None:
    with pytest.raises(ValueError, match="runs in a container image"):
        bind(deployment_of(process(runtime=Image("a@sha256:0"))), BINDINGS)


def test_parts() -> None:
    assert parts("a") == ("a",)
    assert parts(API) == (API,)
    assert parts(("a", API)) == ("a", API)


@pytest.mark.parametrize("path", ["../a", "/etc/a", "a/../../b"])
def test_a_file_outside_the_run_folder(path: str) -> None:
    with pytest.raises(ValueError, match="outside the run folder"):
        File(path, ())
