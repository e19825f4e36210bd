"""Installations: options that the line above does not reach, steps beside the clone, two folders of weights."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code"


def found(text: str, words: str) -> list[Finding]:
    return [each for one in ask(text) for each in one.findings if words in f"{each.where} {each.message}"]


def guide(block: str, language: str = "bash") -> str:
    return f"Install:\n\n```{language}\n{block}\n```\n\nServe:\n\n```bash\n{SERVE}\n```\n"


@pytest.mark.parametrize(
    "block",
    [
        "pip install vllm --pre\n    --extra-index-url https://wheels.vllm.ai/nightly",
        "uv pip install -U vllm\n  --torch-backend=auto \\\n  --pre",
        "sudo apt-get install -y git\n  --no-install-recommends",
        "python -m pip install 'vllm[audio]'\n    -U",
        "hf download moonshotai/Kimi-K2-Thinking\n  --local-dir /models/k2",
    ],
)
def test_the_options_are_lost(block: str) -> None:
    (finding,) = found(guide(block), "is run as a command of its own")
    assert finding.severity is Severity.WARNING
    assert finding.where.startswith(block.split()[0])


def test_in_a_script() -> None:
    text = f"#!/bin/bash\npip install vllm\n  --pre\n{SERVE}\n"
    assert len(found(text, "is run as a command of its own")) == 1


@pytest.mark.parametrize(
    "text",
    [
        guide("pip install vllm \\\n    --pre"),
        guide("pip install vllm\n    -e .", language="yaml"),
        guide("pip install vllm\necho done"),
        guide("pip install vllm\n- and then start it"),
        guide("pip install vllm  # or\n    --pre"),
        guide("pip install vllm &&\n    --pre"),
        f"steps:\n  - run: >\n      pip install vllm\n        --pre\n  - run: {SERVE}\n",
    ],
)
def test_the_line_goes_on_or_ends_there(text: str) -> None:
    assert found(text, "is run as a command of its own") == []


CLONE = "git clone https://github.com/someone/engine.git"


@pytest.mark.parametrize(
    "block",
    [
        f"{CLONE}\ngit submodule update --init --recursive\ncd kernels && ./install.sh",
        f"{CLONE}\n\n# the release\ngit checkout v1.2\npip install -e .",
        "git clone --depth 1 https://github.com/someone/engine\ngit submodule update",
    ],
)
def test_a_step_beside_the_clone(block: str) -> None:
    (finding,) = found(guide(block), "beside the clone")
    assert finding.remedy == "write cd engine in front of it"
    assert ("cd kernels && ./install.sh" in finding.message) is ("kernels" in block)


@pytest.mark.parametrize(
    "block",
    [
        f"{CLONE}\ncd engine\ngit submodule update --init",
        f"{CLONE} && cd engine\ngit submodule update --init",
        f"{CLONE} .\ngit submodule update --init",
        f"{CLONE} src\npushd src\ngit checkout v1",
        f"{CLONE}\n```\n\nIn the folder:\n\n```bash\ngit submodule update",
        f"{CLONE}\ngit -C engine submodule update",
    ],
)
def test_the_step_is_in_it(block: str) -> None:
    assert found(guide(block), "beside the clone") == []


PROGRAM = """import os, subprocess
CACHE = "/cache"

def download():
    from huggingface_hub import snapshot_download
    snapshot_download("moonshotai/Kimi-K2-Thinking", {folder})

def serve():
    env = {{**os.environ, {home}}}
    subprocess.Popen(["vllm", "serve", "{model}", "--tensor-parallel-size", "8", "--trust-remote-code"], env=env)
"""
MODEL = "moonshotai/Kimi-K2-Thinking"


@pytest.mark.parametrize(
    ("folder", "home"),
    [
        ("cache_dir=CACHE", '"HF_HOME": CACHE'),
        ('cache_dir="/cache"', '"HF_HOME": CACHE'),
        ("cache_dir=CACHE", '"HF_HOME": "/cache/"'),
    ],
)
def test_the_server_looks_elsewhere(folder: str, home: str) -> None:
    (finding,) = found(PROGRAM.format(folder=folder, home=home, model=MODEL), "downloads the weights again")
    assert finding.severity is Severity.WARNING
    assert finding.where == "HF_HOME"


def test_in_a_shell() -> None:
    text = f"hf download {MODEL} --cache-dir /data/hf\nexport HF_HOME=/data/hf\n{SERVE}\n"
    assert len(found(text, "downloads the weights again")) == 1


@pytest.mark.parametrize(
    ("folder", "home", "model"),
    [
        ('cache_dir="/cache/hub"', '"HF_HOME": CACHE', MODEL),
        ("cache_dir=CACHE", '"HF_HUB_CACHE": CACHE', MODEL),
        ("cache_dir=CACHE", '"HF_HOME": CACHE, "HF_HUB_CACHE": CACHE', MODEL),
        ("local_dir=CACHE", '"HF_HOME": CACHE', MODEL),
        ("cache_dir=CACHE", '"HF_HOME": CACHE', "/cache/k2"),
        ('cache_dir="/other"', '"HF_HOME": CACHE', MODEL),
    ],
)
def test_the_server_looks_there_or_it_is_not_known(folder: str, home: str, model: str) -> None:
    assert found(PROGRAM.format(folder=folder, home=home, model=model), "downloads the weights again") == []


@pytest.mark.parametrize(
    "download",
    [
        f"hf download {MODEL} --local-dir /data/weights",
        f"mkdir -p /data/weights\nhuggingface-cli download {MODEL} \\\n    --local-dir=/data/weights/",
    ],
)
def test_the_folder_is_not_served(download: str) -> None:
    (finding,) = found(f"{download}\n{SERVE}\n", "downloads them again")
    assert finding.severity is Severity.WARNING
    assert "serve /data/weights," in finding.remedy


@pytest.mark.parametrize(
    "text",
    [
        f"hf download {MODEL}\n{SERVE}\n",
        f"hf download {MODEL} --local-dir /data/weights\n{SERVE.replace(MODEL, '/data/weights')}\n",
        f"hf download {MODEL} --local-dir /data/weights\nln -s /data/weights cache\n{SERVE}\n",
        f"hf download {MODEL} --local-dir {MODEL}\n{SERVE}\n",
        f"hf download {MODEL} --local-dir $FOLDER\n{SERVE}\n",
        f"hf download someone/draft --local-dir /data/draft\n{SERVE}\n",
    ],
)
def test_the_folder_is_served_or_something_else(text: str) -> None:
    assert found(text, "downloads them again") == []
