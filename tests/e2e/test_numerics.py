"""The numbers that the engine computes, against transformers, which shares no code with it.

`--enforce-eager` alone gives silently wrong numbers for MLA models without YaRN on a CPU. These tests would see it
again.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from moonpad.environments.installed import InstalledEngine
from moonpad.run import keeper
from tests.e2e.conftest import CHECKPOINT, Served, command_in, in_engine, write_spec

CHATS = (
    "What is 84 * 3 / 2?",
    "Who are you?",
    "Repeat: red apple moon river",
    "What is the capital of France?",
    "Count to 12.",
)
# vLLM computes in bfloat16, the reference in float32. The trap is far outside: p falls from about 1.0 to 0.13.
MEAN_DIFFERENCE = 0.05
LARGEST_DIFFERENCE = 0.7
TIE = -0.9
"""A token that the reference gives less than p = 0.41 was not its first choice by a rounding error."""


def ask(base_url: str, path: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(
        f"{base_url}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as response:
        return json.load(response)


def greedy_tokens(base_url: str, model: str, question: str) -> list[int]:
    """The prompt's and the greedy answer's token ids."""
    answer = ask(
        base_url,
        "/chat/completions",
        {
            "model": model,
            "messages": [{"role": "user", "content": question}],
            "temperature": 0,
            "max_tokens": 96,
            "return_token_ids": True,
        },
    )
    return [*answer["prompt_token_ids"], *answer["choices"][0]["token_ids"]]


def served_logprobs(base_url: str, model: str, tokens: list[int]) -> list[float]:
    """The engine's log-probability of each token after the first."""
    answer = ask(
        base_url,
        "/completions",
        {"model": model, "prompt": tokens, "max_tokens": 1, "temperature": 0, "prompt_logprobs": 0},
    )
    rows = answer["choices"][0]["prompt_logprobs"][1:]
    return [row[str(token)]["logprob"] for row, token in zip(rows, tokens[1:], strict=True)]


def reference_of(python: Path, texts: list[list[int]], checkpoint: Path = CHECKPOINT) -> Any:
    return in_engine(
        python, Path(__file__).with_name("reference_logprobs.py"), {"checkpoint": str(checkpoint), "prompts": texts}
    )


def compare(base_url: str, model: str, python: Path, checkpoint: Path = CHECKPOINT) -> dict[str, float]:
    """Absolute differences of the log-probabilities over whole chats, prompt and answer."""
    texts = [greedy_tokens(base_url, model, question) for question in CHATS]
    differences = [
        abs(got - wanted)
        for tokens, expected in zip(texts, reference_of(python, texts, checkpoint), strict=True)
        for got, wanted in zip(served_logprobs(base_url, model, tokens), expected["logprobs"], strict=True)
    ]
    return {"positions": len(differences), "mean": sum(differences) / len(differences), "largest": max(differences)}


def test_logprobs_agree_with_transformers(served: Served, engine_python: Path) -> None:
    found = compare(served.base_url, served.model, engine_python)
    print(found)
    assert found["positions"] > 150
    assert found["mean"] < MEAN_DIFFERENCE, found
    assert found["largest"] < LARGEST_DIFFERENCE, found


def test_greedy_answers_agree_with_transformers(served: Served, engine_python: Path) -> None:
    """Each token of a greedy answer is the one that the reference finds most likely, ties of bfloat16 apart."""
    texts = [greedy_tokens(served.base_url, served.model, question) for question in CHATS]
    for question, tokens, expected in zip(CHATS, texts, reference_of(engine_python, texts), strict=True):
        begin = len(prompt_tokens(served, question))
        assert tokens[:begin] == prompt_tokens(served, question)
        assert len(tokens) > begin
        wrong = [
            position
            for position in range(begin, len(tokens))
            if expected["top"][position - 1] != tokens[position] and expected["logprobs"][position - 1] < TIE
        ]
        assert not wrong, (question, wrong)


def prompt_tokens(served: Served, question: str) -> list[int]:
    body = {"model": served.model, "messages": [{"role": "user", "content": question}]}
    answer = ask(served.base_url.removesuffix("/v1"), "/tokenize", body)
    tokens: list[int] = answer["tokens"]
    return tokens


@pytest.fixture(scope="module")
def plain_rotary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint without YaRN. With YaRN vLLM takes another rotary class, and the trap does not show."""
    folder = tmp_path_factory.mktemp("checkpoints") / "plain-rotary"
    shutil.copytree(CHECKPOINT, folder)
    config = json.loads((folder / "config.json").read_text())
    config["max_position_embeddings"] = config["rope_scaling"]["original_max_position_embeddings"]
    config["rope_scaling"] = None
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def test_eager_as_moonpad_starts_it(engine_python: Path, plain_rotary: Path, tmp_path: Path) -> None:
    """The case of the trap, with the flags that moonpad writes."""
    moonpad = command_in(tmp_path)
    spec, port = write_spec(tmp_path, "numerics", model=str(plain_rotary))
    try:
        up = moonpad("up", str(spec), timeout_s=600)
        assert up.code == 0, up.stderr
        found = compare(f"http://127.0.0.1:{port}/v1", "kimi-k2-thinking", engine_python, plain_rotary)
    finally:
        moonpad("down", str(spec))
    print(found)
    assert found["mean"] < MEAN_DIFFERENCE, found
    assert found["largest"] < LARGEST_DIFFERENCE, found


@pytest.mark.slow
def test_the_trap_is_seen(engine: InstalledEngine, plain_rotary: Path, tmp_path: Path) -> None:
    """The rendered script without moonpad's switch for the rotary op fails, so the test above can fail."""
    moonpad = command_in(tmp_path)
    spec, port = write_spec(tmp_path, "trap", model=str(plain_rotary))
    assert moonpad("render", str(spec), "--to", "shell", "--out", str(tmp_path / "out")).code == 0
    script = (tmp_path / "out" / "node-0" / "run.sh").read_text()
    trapped, removed = re.subn(r"  --compilation-config\.custom_ops .*\n", "", script)
    assert removed == 1
    env = {**moonpad.env, "MOONPAD_ENGINE": str(engine.path), "MOONPAD_CHECKPOINT": str(plain_rotary)}
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(("bash", "-c", trapped), env=env, stdout=log, stderr=log, start_new_session=True)
        try:
            await_health(f"http://127.0.0.1:{port}/health", server)
            found = compare(f"http://127.0.0.1:{port}/v1", "kimi-k2-thinking", engine.python, plain_rotary)
        finally:
            below = keeper.descendants({server.pid})
            server.terminate()
            server.wait(60)
            for pid, start in below.items():
                keeper.send(pid, start, signal.SIGKILL)
    print(found)
    assert found["mean"] > 4 * MEAN_DIFFERENCE, found


def await_health(url: str, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 300
    while time.monotonic() < until:
        assert server.poll() is None, "the server ended"
        with suppress(OSError), urllib.request.urlopen(url, timeout=2) as response:
            if response.status == 200:
                return
        time.sleep(0.5)
    raise AssertionError("not healthy after 300 s")
