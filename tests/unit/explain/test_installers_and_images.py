"""Installers, clones, compose files and images: what ends before an engine is started."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask, found

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code"
COMMIT = "3f1e5a9c0b7d24681357acbdef0123456789abcd"


def script(line: str) -> str:
    return f"#!/bin/bash\n{line}\n{SERVE}\n"


@pytest.mark.parametrize(
    ("line", "option", "remedy"),
    [
        ("pip install vllm --torch-backend=auto", "--torch-backend", "uv pip install"),
        ("python3 -m pip install -U vllm --index-strategy unsafe-best-match", "--index-strategy", "uv pip install"),
        ("pip wheel --nodeps . -w /wheels", "--nodeps", "--no-deps"),
        ("cd /src && pip3 install --no_deps .", "--no_deps", "--no-deps"),
        ("sudo pip install -y vllm", "-y", "leave it out"),
        ("uv pip install transformers --force-upgrade", "--force-upgrade", "--upgrade"),
        ("uv pip install --system \\\n    --root-user-action ignore vllm", "--root-user-action", "option of pip"),
        ("uv sync --system -r requirements.txt", "--system", "uv pip install"),
        ("uv add --no-deps vllm", "--no-deps", "uv pip install"),
        ("bash -c '/opt/uv/bin/uv pip install vllm --nodeps && true'", "--nodeps", "--no-deps"),
    ],
)
def test_an_option_that_the_installer_has_not(line: str, option: str, remedy: str) -> None:
    (finding,) = found(script(line), "and ends there")
    assert finding.severity is Severity.WARNING
    assert finding.where == option
    assert remedy in finding.remedy
    assert "line 2" in finding.message


@pytest.mark.parametrize(
    "line",
    [
        "pip install vllm --pre --extra-index-url https://wheels.vllm.ai/nightly",
        "uv pip install vllm --torch-backend=auto --system",
        '"$UV" pip install vllm --torch-backend=auto',
        "$UV --quiet pip install vllm --torch-backend=auto",
        "uv --quiet pip install vllm --torch-backend=auto",
        "pip install --no-cache vllm",
        "pip install vllm && apt-get install -y git",
        "pip install vllm; uv sync --frozen",
        "# pip install vllm --torch-backend=auto",
        "uv sync --extra gpu",
        "echo 'no pip install -y needed'",
        "my-pip install --nodeps vllm",
        "pip uninstall -y vllm",
    ],
)
def test_the_installer_takes_it(line: str) -> None:
    assert found(script(line), "and ends there") == []


@pytest.mark.parametrize(
    "steps",
    [
        f"git clone --depth 1 https://github.com/a/b.git && cd b && git checkout -q {COMMIT}",
        f"git clone --depth=1 https://github.com/a/b.git\ncd b\ngit reset --hard {COMMIT[:12]}",
        f"PIN={COMMIT}\ngit clone --depth 1 https://github.com/a/b.git b\ncd b && git checkout $PIN",
        f"PIN=${{PIN:-{COMMIT}}}\ngit clone --depth 1 https://github.com/a/b.git b\ngit -C b checkout ${{PIN}}",
    ],
)
def test_a_commit_of_a_shallow_clone(steps: str) -> None:
    (finding,) = found(script(steps), "as long as it is one of them")
    assert finding.where == "--depth"


@pytest.mark.parametrize(
    "steps",
    [
        f"git clone https://github.com/a/b.git && cd b && git checkout {COMMIT}",
        f"git clone --depth 1 https://github.com/a/b.git && cd b && git fetch origin {COMMIT} && git checkout {COMMIT}",
        "git clone --depth 1 --branch v1.2.0 https://github.com/a/b.git && cd b && git checkout v1.2.0",
        "PIN=main\ngit clone --depth 1 https://github.com/a/b.git && cd b && git checkout $PIN",
        "git clone --depth 1 https://github.com/a/b.git && cd b && git checkout $PIN",
    ],
)
def test_the_clone_has_it(steps: str) -> None:
    assert found(script(steps), "as long as it is one of them") == []


COMPOSE = """services:
  engine:
    image: vllm/vllm-openai:v0.11.0
    command: --model moonshotai/Kimi-K2-Thinking -tp 8
{}exporter:
{}  image: prom/node-exporter:latest
networks:
  inner: {{}}
"""


def test_a_service_beside_services() -> None:
    (finding,) = found(COMPOSE.format("", ""), "stands beside services")
    assert finding.where == "exporter"
    assert "line 6" in finding.message


def test_services_among_services() -> None:
    assert found(COMPOSE.format("  ", "  "), "stands beside services") == []
    extension = COMPOSE.format("", "").replace("exporter:", "x-exporter:")
    assert found(extension, "stands beside services") == []


def test_of_containers_alone() -> None:
    text = "services:\n  api:\n    build: .\n    environment: [ENGINE=vllm]\nexporter:\n  image: prom/node-exporter\n"
    assert [each.where for each in found(text, "stands beside")] == ["exporter"]


def test_a_shell_in_a_shell() -> None:
    text = """services:
  engine:
    image: vllm/vllm-openai:v0.11.0
    entrypoint: [/bin/bash]
    command: [bash, -c, "exec vllm serve moonshotai/Kimi-K2-Thinking"]
"""
    (finding,) = found(text, "as the file of a script")
    assert "the entrypoint already" in finding.remedy
    assert found(text.replace("[/bin/bash]", "[/usr/bin/env]"), "as the file of a script") == []


def alone(text: str) -> Judged:
    (judged,) = ask(text)
    return judged


def test_a_text_that_starts_nothing() -> None:
    judged = alone("FROM vllm/vllm-openai:v0.11.0\nCOPY requirements.txt .\nRUN uv sync --system -r requirements.txt\n")
    assert (judged.engine, judged.kind) == ("vllm", "report")
    assert [finding.where for finding in judged.findings] == ["--system"]


def test_a_text_about_nothing_of_ours() -> None:
    assert ask("FROM debian:12\nRUN pip wheel --nodeps .\n") == ()
    assert ask("FROM vllm/vllm-openai:v0.11.0\nRUN pip install pandas\n") == ()


POD = """apiVersion: v1
kind: Pod
metadata:
  name: engine
spec:
  containers:
  - name: engine
    image: {image}
    imagePullPolicy: {policy}
    command: ["vllm", "serve", "someone/model-8b"]
"""


def pod(image: str, policy: str = "IfNotPresent") -> str:
    return POD.format(image=image, policy=policy)


def test_the_model_as_image() -> None:
    (finding,) = found(pod("someone/model-8b:latest"), "no registry has an image")
    assert finding.severity is Severity.WARNING
    assert found(pod("someone/engine-8b:latest"), "no registry has an image") == []


def test_a_published_name_without_its_owner() -> None:
    (finding,) = found(pod("vllm-openai:v0.11.0"), "without an owner")
    assert "vllm/vllm-openai" in finding.remedy


@pytest.mark.parametrize(
    "text",
    [
        pod("vllm-openai:v0.11.0", "Never"),
        pod("vllm/vllm-openai:v0.11.0"),
        pod("registry.local:5000/vllm-openai:v0.11.0"),
        pod("vllm-openai:mine"),
        pod("my-engine:v0.11.0"),
        "# docker build -t vllm-openai:v0.11.0 .\n" + pod("vllm-openai:v0.11.0"),
    ],
)
def test_an_image_that_may_be_there(text: str) -> None:
    assert found(text, "without an owner") == []
