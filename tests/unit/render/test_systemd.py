"""Units of systemd, read back by the rules of its manual pages. A real systemd runs them in
tests/e2e/test_rendered_files.py.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.render.systemd import render_systemd
from moonpad.values.deployment import Deployment, Executable, File, Gang, PortSpec, Process, Role
from moonpad.values.errors import UsageError
from moonpad.values.records import replace
from moonpad.values.references import HostRef, PathRef, PortRef, RankRef, SecretRef
from tests.unit.render.deployments import contained

PROGRAM = Executable((("", PathRef("engine"), "/bin/vllm"),))


def deployment_of(*processes: Process) -> Deployment:
    return Deployment((Gang("kimi", processes),), PortRef(processes[0].name, "api"), "kimi")


def process(name: str = "engine", node: str = "node-0", **changes: object) -> Process:
    plain = Process(name, Role.ENGINE, node, 0, PROGRAM, ("serve",), ports=(PortSpec("api", 8000),))
    return replace(plain, **changes)  # type: ignore[arg-type]


def unit(deployment: Deployment, path: str = "node-0/moonpad-kimi.service") -> str:
    return render_systemd(deployment)[path].text


def settings(text: str, name: str) -> list[str]:
    joined = text.replace("\\\n", " ")
    return [line.partition("=")[2] for line in joined.split("\n") if line.startswith(f"{name}=")]


def words(line: str, variables: dict[str, str], *, command: bool = True) -> list[str]:
    """systemd.syntax and systemd.service: words, then escapes, then `%%`, and in a command `$$` and `${NAME}`."""
    result = []
    for quoted, bare in re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', line):
        text = re.sub(
            r"\\(x[0-9a-f]{2}|.)", lambda m: chr(int(m[1][1:], 16)) if len(m[1]) == 3 else m[1], quoted or bare
        )
        assert not re.search(r"(?<!%)(?:%%)*%(?!%)", text), f"a specifier in {text!r}"
        text = text.replace("%%", "%")
        if command:
            text = re.sub(r"\$\$|\$\{(\w+)\}", lambda m: variables[m[1]] if m[1] else "$", text)
        result.append(text)
    return result


TEXT = st.text(st.sampled_from("'\"\\$%{};# \t\n=~*") | st.characters(exclude_characters="\0", codec="utf-8"))


@given(argv=st.lists(TEXT, max_size=4), value=TEXT)
def test_words_arrive_as_they_are(argv: list[str], value: str) -> None:
    """Fault 51, for this dialect."""
    text = unit(deployment_of(process(argv=tuple(argv), env={"A": value})))
    (line,) = settings(text, "ExecStart")
    assert words(line, {"MOONPAD_ENGINE": "/opt/e"}) == ["/usr/bin/env", "/opt/e/bin/vllm", *argv]
    given_env = [words(line, {}, command=False) for line in settings(text, "Environment")]
    assert [f"A={value}"] in given_env


def test_references_are_variables_with_their_defaults() -> None:
    argv = ("--port", PortRef("engine", "api"), "--rank", RankRef("node-1", 8), ("tcp://", HostRef("node-0"), ":1"))
    head, other = process(), process("engine-1", "node-1", rank=1, argv=argv, env={"IP": HostRef("node-1")})
    text = unit(deployment_of(head, other), "node-1/moonpad-kimi.service")
    values = {"MOONPAD_PORT_API": "8000", "MOONPAD_HOST_NODE_0": "10.0.0.1", "MOONPAD_HOST_NODE_1": "10.0.0.2"}
    (line,) = settings(text, "ExecStart")
    got = words(line, {**values, "MOONPAD_ENGINE": "/e"})
    assert got == ["/usr/bin/env", "IP=10.0.0.2", "/e/bin/vllm", "--port", "8000", "--rank", "8", "tcp://10.0.0.1:1"]
    assert "MOONPAD_PORT_API=8000" in settings(text, "Environment")
    (check,) = settings(text, "ExecStartPre")
    assert all(name in check for name in ("MOONPAD_ENGINE:?", "MOONPAD_HOST_NODE_0:?", "MOONPAD_HOST_NODE_1:?"))
    assert settings(text, "Restart") == ["no"], "ranks fail as one"


def test_a_secret_is_asked_for_in_the_file_of_variables_alone() -> None:
    env = {"VLLM_API_KEY": SecretRef("api_key"), "PLAIN": "x"}
    files = render_systemd(deployment_of(process(env=env)))
    assert files["node-0/moonpad-kimi.env"].mode == 0o600
    assert "\nVLLM_API_KEY=\n" in files["node-0/moonpad-kimi.env"].text
    (line,) = settings(files["node-0/moonpad-kimi.service"].text, "ExecStart")
    assert "API_KEY" not in line


def test_a_secret_within_other_text_is_refused() -> None:
    with pytest.raises(UsageError, match="made of a secret"):
        render_systemd(deployment_of(process(env={"A": ("Bearer ", SecretRef("api_key"))})))


def test_files_are_written_into_the_folder_of_the_service() -> None:
    file = File("a.yaml", ("key: ", SecretRef("api_key"), "\n100 % of $HOME"), 0o600)
    text = unit(deployment_of(process(files=(file,), argv=("--config", (PathRef("run"), "/a.yaml")))))
    assert settings(text, "RuntimeDirectory") == ["moonpad-kimi"]
    (command,) = settings(text, "ExecStartPre")
    shell = words(command, {})
    assert shell[:2] == ["/bin/sh", "-c"]
    assert "'key: '\"${MOONPAD_API_KEY}\"'\n100 % of $HOME'" in shell[2]
    assert "chmod 600" in shell[2]


def test_a_container_is_removed_before_and_stopped_after() -> None:
    text = unit(contained("keyed"), "node-0/moonpad-keyed.service")
    assert "-/usr/bin/env docker rm --force moonpad-keyed-engine" in settings(text, "ExecStartPre")
    assert settings(text, "ExecStop")[0].startswith("/usr/bin/env docker stop -t ")
    (line,) = settings(text, "ExecStart")
    assert "--env VLLM_API_KEY " in line
    assert "KillSignal" not in text, "docker's client passes TERM on"


def test_it_has_started_once_a_token_was_written() -> None:
    text = unit(contained("keyed"), "node-0/moonpad-keyed.service")
    (line,) = settings(text, "ExecStartPost")
    assert "/v1/completions" in line
    assert 'MOONPAD_API_KEY=\\"$${VLLM_API_KEY:-}\\"' in line
