"""What every container gets: the files that its own shell writes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moonpad.render.containers import INSIDE, contain
from moonpad.values.deployment import Executable, File, Image, Process, Role
from moonpad.values.records import replace
from moonpad.values.references import HostRef, PathRef, SecretRef

TELL = "import json,os,sys; print(json.dumps([sys.argv[1:], {n: v for n, v in os.environ.items() if 'FILE' in n}]))"
PROCESS = Process("engine", Role.ENGINE, "node-0", 0, Image("i", (sys.executable, "-c", TELL)), ("serve",))


def test_paths_are_those_inside() -> None:
    process = replace(
        PROCESS, argv=(PathRef("checkpoint"), (PathRef("run"), "/a"), HostRef("node-0")), env={"A": PathRef("run")}
    )
    inside = contain(process)
    assert inside.argv == (INSIDE["checkpoint"], f"{INSIDE['run']}/a", HostRef("node-0"))
    assert inside.env == {"A": INSIDE["run"]}
    assert inside.entrypoint == PROCESS.runtime.entrypoint  # type: ignore[union-attr]


def test_only_what_runs_in_an_image() -> None:
    with pytest.raises(ValueError, match="no container image"):
        contain(replace(PROCESS, runtime=Executable(("vllm",))))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=40),
    st.sampled_from(["plain.yaml", "it's a $(touch pwned).yaml", "sub folder/x", "-n"]),
)
def test_the_shell_writes_what_stands_in_the_file(tmp_path: Path, content: str, name: str) -> None:
    """The real shell, with the real words: the file has the content and no more rights than its owner's, the program
    gets its own arguments, and no variable of ours."""
    inside = contain(
        replace(PROCESS, files=(File(name, (content,)), File("second", ("b\n",)))),
        {**INSIDE, "run": str(tmp_path / "a b")},
    )
    words = [str(word) for word in (*inside.entrypoint, *inside.argv)]
    env = {name: str(value) for name, value in inside.env.items()}
    done = subprocess.run(words, env=env | {"PATH": "/usr/bin:/bin"}, capture_output=True, check=True, cwd=tmp_path)
    assert json.loads(done.stdout) == [["serve"], {}]
    written = tmp_path / "a b" / name
    assert written.read_bytes() == content.encode()
    assert written.stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "pwned").exists()
    written.unlink()


def test_a_secret_stays_a_reference() -> None:
    inside = contain(replace(PROCESS, files=(File("a", ("key: ", SecretRef("api_key"), "\n"), 0o600),)))
    assert inside.env == {"MOONPAD_FILE_0": ("key: ", SecretRef("api_key"), "\n")}
