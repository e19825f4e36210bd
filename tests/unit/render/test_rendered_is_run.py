"""The seam: what is rendered is what is run. bash runs the script with a fake engine that tells what it got, and that
is held against `bind()` of the same deployment. Faults 51 and 59."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moonpad.engines.base import installed_runtime
from moonpad.plan.from_spec import engine_of, runtime_of
from moonpad.render.shell import render_shell
from moonpad.spec.loader import load_spec, parse_spec
from moonpad.values.binding import Bindings, BoundProcess, bind
from moonpad.values.deployment import Deployment, File, Gang, HttpProbe, PortSpec, Process, Role
from moonpad.values.records import replace
from moonpad.values.references import Arg, HostRef, PathRef, PortRef, RankRef, SecretRef
from moonpad.values.secret import Secret
from tests.configurations import make_plan

EXAMPLE = Path(__file__).parents[3] / "examples" / "tiny.toml"
TELL = "import json, os, sys; print(json.dumps({'argv': sys.argv, 'env': dict(os.environ)}))"

API = PortRef("engine", "api")
SIDE = PortRef("engine", "side")

# The variables of the script, spelled out here once more: they are its interface.
VARIABLES: Mapping[str, Any] = {
    "MOONPAD_CHECKPOINT": PathRef("checkpoint"),
    "MOONPAD_ENGINE": PathRef("engine"),
    "MOONPAD_CACHE": PathRef("cache"),
    "MOONPAD_RUN": PathRef("run"),
    "MOONPAD_PORT_API": API,
    "MOONPAD_PORT_ENGINE_SIDE": SIDE,
    "MOONPAD_HOST_NODE_0": HostRef("node-0"),
    "MOONPAD_RANK_NODE_0": RankRef("node-0"),
    "MOONPAD_API_KEY": SecretRef("api_key"),
}


class World:
    """A folder with an unpleasant name, in which a fake `vllm` tells what it was started with."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / 'it\'s a $(touch pwned) `touch pwned` "home"'
        self.run_dir = self.home / "run\nfolder"
        self.run_dir.mkdir(parents=True)
        program = self.home / "bin" / "vllm"
        program.parent.mkdir()
        # The path of the interpreter may hold no blank in a #! line; this one is Python's own.
        program.write_text(f'#!/bin/sh\nexec \'{sys.executable}\' -I -S -c "{TELL}" "$0" "$@"\n')
        program.chmod(0o755)

    def bindings(self, text: str = "/models/a", key: str = "sk-1", port: int = 8123, rank: int = 3) -> Bindings:
        return Bindings(
            hosts={"node-0": text},
            ports={API: port, SIDE: port + 1},
            ranks={"node-0": rank},
            paths={"checkpoint": text, "engine": str(self.home), "cache": text, "run": str(self.run_dir)},
            secrets={"api_key": Secret(key)},
        )

    def run(self, deployment: Deployment, bindings: Bindings) -> dict[str, Any]:
        """Runs the script of node-0 with the bindings in its environment."""
        script = self.run_dir / "run.sh"
        script.write_text(render_shell(deployment)["node-0/run.sh"].text, encoding="utf-8", newline="")
        values = {
            "MOONPAD_CHECKPOINT": bindings.paths["checkpoint"],
            "MOONPAD_ENGINE": bindings.paths["engine"],
            "MOONPAD_CACHE": bindings.paths["cache"],
            "MOONPAD_RUN": bindings.paths["run"],
            "MOONPAD_PORT_API": str(bindings.ports[API]),
            "MOONPAD_PORT_ENGINE_SIDE": str(bindings.ports[SIDE]),
            "MOONPAD_HOST_NODE_0": bindings.hosts["node-0"],
            "MOONPAD_RANK_NODE_0": str(bindings.ranks["node-0"]),
            "MOONPAD_API_KEY": bindings.secrets["api_key"].reveal(),
        }
        assert values.keys() == VARIABLES.keys()
        done = subprocess.run(
            ("bash", str(script)),
            env={**values, "PATH": os.environ["PATH"]},
            cwd=self.run_dir,
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        started: dict[str, Any] = json.loads(done.stdout)
        started["argv"] = started["argv"][1:]  # "-c" stands first
        return started


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"))


def assert_same(started: Mapping[str, Any], bound: BoundProcess, world: World) -> None:
    assert tuple(started["argv"]) == bound.argv
    expected = {**bound.env, **{name: secret.reveal() for name, secret in bound.secret_env.items()}}
    assert {name: started["env"].get(name) for name in expected} == expected
    for path, content, mode in bound.files:
        written = world.run_dir / path
        assert written.read_bytes() == content.encode()
        assert written.stat().st_mode & 0o777 == mode
    assert not list(world.home.rglob("pwned"))
    assert not Path("pwned").exists()


def test_the_example(world: World) -> None:
    spec = load_spec(EXAMPLE).spec
    deployment = engine_of(spec).processes(make_plan(spec, 18_340_400), runtime_of(spec))
    bindings = world.bindings()
    (bound,) = bind(deployment, bindings)
    assert bound.argv[:3] == (f"{world.home}/bin/vllm", "serve", "/models/a")
    assert_same(world.run(deployment, bindings), bound, world)


def test_a_key_comes_by_environment_alone(world: World) -> None:
    text = 'model = "kimi-k2-tiny"\nengine = "vllm-cpu"\n[endpoint]\napi_key_env = "ANY"\n[layout]\ntp = 2\n'
    spec = parse_spec(text, name="keyed")
    deployment = engine_of(spec).processes(make_plan(spec, 1), runtime_of(spec))
    bindings = world.bindings(key="sk-canary $HOME")
    (bound,) = bind(deployment, bindings)
    started = world.run(deployment, bindings)
    assert started["env"]["VLLM_API_KEY"] == "sk-canary $HOME"
    assert "canary" not in str(started["argv"])
    assert "canary" not in render_shell(deployment)["node-0/run.sh"].text
    assert_same(started, bound, world)


def deployment_of(
    argv: tuple[Arg, ...], env: Mapping[str, Arg] | None = None, files: tuple[File, ...] = ()
) -> Deployment:
    process = Process(
        name="engine",
        role=Role.ENGINE,
        node="node-0",
        rank=0,
        runtime=installed_runtime("vllm"),
        argv=argv,
        env=env or {},
        files=files,
        ports=(PortSpec("api", 8000), PortSpec("side", 9000)),
        ready=HttpProbe(API),
    )
    return Deployment((Gang("gang", (process,)),), API, "kimi")


NASTY = st.sampled_from(
    [
        "$(touch pwned)", "`touch pwned`", "'; touch pwned; '", '"; touch pwned; "', "\n touch pwned\n", "\\", "\\'",
        "'", '"', "$HOME", "${MOONPAD_ENGINE}", "~", "*", "{a,b}", "!!", "#", "&& touch pwned", "a=~", "%n", "{{x}}",
        "", " ", "\t", "\r\n",
        "-e", "é\U0001f319", "\x1b[31m", "\x7f", ")", "<(touch pwned)", "$'\\n'",
    ]
)  # fmt: skip
ANY_TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=12)
TEXT = NASTY | ANY_TEXT | st.lists(NASTY, max_size=3).map("".join)
REF = st.sampled_from(
    [ref for ref in VARIABLES.values() if not isinstance(ref, SecretRef)] + [RankRef("node-0", times=8)]
)
ARG = TEXT | REF | st.lists(TEXT | REF, max_size=4).map(tuple)
SECRET_ARG = ARG | st.just(SecretRef("api_key")) | TEXT.map(lambda text: ("Bearer ", text, SecretRef("api_key")))
FILES = st.lists(SECRET_ARG, max_size=3).map(lambda content: (File("etc/engine 'x'.toml", tuple(content), 0o600),))
# Blanks at the edges and newlines are legal in a key as far as the shell is concerned.
BOUND = st.fixed_dictionaries({"text": TEXT.filter(bool), "key": TEXT.filter(bool), "rank": st.integers(0, 99)})


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    argv=st.lists(ARG, max_size=6),
    env=st.dictionaries(st.sampled_from(["VLLM_A", "B_1", "_c"]), SECRET_ARG),
    files=st.just(()) | FILES,
    bound_to=BOUND,
)
def test_any_deployment(
    argv: list[Arg], env: dict[str, Arg], files: tuple[File, ...], bound_to: dict[str, Any], world: World
) -> None:
    deployment = deployment_of(tuple(argv), env, files)
    bindings = world.bindings(**bound_to)
    (bound,) = bind(deployment, bindings)
    assert_same(world.run(deployment, bindings), bound, world)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(served_name=TEXT, extra_args=st.lists(TEXT, max_size=4))
def test_any_plan(served_name: str, extra_args: list[str], world: World) -> None:
    """The spec refuses some of these texts; the renderer does not rely on it."""
    spec = load_spec(EXAMPLE).spec
    plan = make_plan(spec, 1)
    plan = replace(plan, serving=replace(plan.serving, served_name=served_name), extra_args=tuple(extra_args))
    deployment = engine_of(spec).processes(plan, runtime_of(spec))
    bindings = world.bindings()
    (bound,) = bind(deployment, bindings)
    assert bound.argv[-len(extra_args) :] == tuple(extra_args) or not extra_args
    assert_same(world.run(deployment, bindings), bound, world)


def test_defaults_are_those_of_the_deployment(world: World) -> None:
    """Nothing but the checkpoint and the engine needs to be said."""
    deployment = deployment_of((API, SIDE, HostRef("node-0"), RankRef("node-0", 8), PathRef("run")))
    script = world.run_dir / "defaults.sh"
    script.write_text(render_shell(deployment)["node-0/run.sh"].text)
    env = {"PATH": os.environ["PATH"], "MOONPAD_ENGINE": str(world.home)}
    done = subprocess.run(
        ("bash", str(script)), env=env, cwd=world.run_dir, capture_output=True, check=True, timeout=60
    )
    assert json.loads(done.stdout)["argv"][2:] == ["8000", "9000", "127.0.0.1", "0", str(world.run_dir)]


@pytest.mark.parametrize("missing", ["MOONPAD_ENGINE", "MOONPAD_CHECKPOINT"])
def test_a_missing_variable_is_named(missing: str, world: World) -> None:
    deployment = deployment_of((PathRef("checkpoint"),))
    script = world.run_dir / "missing.sh"
    script.write_text(render_shell(deployment)["node-0/run.sh"].text)
    env = {"PATH": os.environ["PATH"], "MOONPAD_ENGINE": str(world.home), "MOONPAD_CHECKPOINT": "/a"}
    del env[missing]
    done = subprocess.run(("bash", str(script)), env=env, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode != 0
    assert f"{missing}: the folder of the" in done.stderr
    assert done.stdout == ""
