"""Two pools of the real vLLM on this machine's processor, started by the files of `moonpad render`: NIXL carries
the KV cache of one into the other, and vLLM's router sends each request to both.

    export MOONPAD_POOL_PACKAGES=$(python3.11 scripts/pool_packages.py FOLDER)
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from moonpad.environments.installed import InstalledEngine
from tests.conftest import ROOT
from tests.e2e.conftest import CHECKPOINT, Served, command_in
from tests.faults.helpers import wait_until
from tests.ports import free_port

pytestmark = pytest.mark.slow

SPEC = ROOT / "examples" / "pools" / "tiny.toml"
KV_BYTES_PER_TOKEN = 4 * 576 * 2  # four layers of latent attention, 512 + 64 values, BF16
BLOCK_TOKENS = 16
QUESTIONS = (
    "Who are you?",
    "What is 17 times 3?",
    "List three colours.",
    "Write one sentence about the sea.",
    "What is the capital of France?",
    " ".join(f"Item {item} costs {item * 7} coins and weighs {item * 3} grams." for item in range(40)),
)
TOKENS = 48


@pytest.fixture(scope="module")
def packages() -> Path:
    folder = Path(os.environ.get("MOONPAD_POOL_PACKAGES", "/nonexistent"))
    if not (folder / "nixl" / "nixl_cu12").is_dir() or not (folder / "router" / "bin" / "vllm-router").exists():
        pytest.skip("no NIXL and no router here: scripts/pool_packages.py FOLDER, and MOONPAD_POOL_PACKAGES=FOLDER")
    return folder


@dataclass(frozen=True)
class Pools:
    """The router and, behind it, the two servers, by their base URLs."""

    router: str
    prefill: str
    decode: str


@pytest.fixture(scope="module")
def pools(engine: InstalledEngine, packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pools]:
    """Started as the files say; afterwards nothing of them listens."""
    home = tmp_path_factory.mktemp("pools")
    done = command_in(home)("render", str(SPEC), "--to", "shell", "--out", str(home / "files"))
    assert done.code == 0, done.stderr
    ports = {name: free_port() for name in ("API", "PREFILL_API", "DECODE_API")}
    channels = {name: free_port() for name in ("PREFILL_SIDE_CHANNEL", "DECODE_SIDE_CHANNEL")}
    env = {
        **os.environ,
        **{f"MOONPAD_PORT_{name}": str(port) for name, port in (ports | channels).items()},
        "MOONPAD_HOST_PREFILL_0": "127.0.0.1",
        "MOONPAD_HOST_DECODE_0": "127.0.0.1",
        "MOONPAD_ENGINE": str(engine.path),
        "MOONPAD_CHECKPOINT": str(CHECKPOINT),
        "MOONPAD_ROUTER": str(packages / "router"),
        # Two engines share the processors of one machine.
        "OMP_NUM_THREADS": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    }
    bases = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
    started: list[subprocess.Popen[bytes]] = []
    try:
        for script in ("prefill-0/run.sh", "decode-0/run.sh"):
            started.append(start(home, script, {**env, "PYTHONPATH": str(packages / "nixl")}))
        for server, name in zip(started, ("PREFILL_API", "DECODE_API"), strict=True):
            until_healthy(bases[name], server, home)
        started.append(start(home, "prefill-0/router.sh", env))
        until_healthy(bases["API"], started[-1], home)
        yield Pools(bases["API"], bases["PREFILL_API"], bases["DECODE_API"])
    finally:
        for process in reversed(started):
            stop(process)
    assert [name for name, base in bases.items() if is_healthy(base)] == []


def start(home: Path, script: str, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    with (home / f"{script.replace('/', '-')}.log").open("wb") as log:
        return subprocess.Popen(
            ("bash", script), cwd=home / "files", env=env, stdout=log, stderr=log, start_new_session=True
        )


def stop(process: subprocess.Popen[bytes]) -> None:
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, name)
            process.wait(40)
            return
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            return


def is_healthy(base: str) -> bool:
    try:
        with urllib.request.urlopen(f"{base}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def until_healthy(base: str, process: subprocess.Popen[bytes], home: Path) -> None:
    def logs() -> str:
        return "\n".join(path.read_text(errors="replace")[-1500:] for path in home.glob("*.log"))

    def ready() -> bool:
        assert process.poll() is None, logs()
        return is_healthy(base)

    wait_until(ready, logs, 300)


def chat(base: str, model: str, question: str) -> tuple[list[str], int]:
    """The tokens of a greedy answer, and how many the prompt has."""
    body = {
        "model": model,
        "messages": [{"role": "user", "content": question}],
        "max_tokens": TOKENS,
        "temperature": 0,
        "logprobs": True,
    }
    request = urllib.request.Request(
        f"{base}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        document: dict[str, Any] = json.load(answer)
    tokens = [each["token"] for each in document["choices"][0]["logprobs"]["content"]]
    return tokens, int(document["usage"]["prompt_tokens"])


def prompt_tokens(base: str) -> dict[str, float]:
    """Where the KV cache of all prompts so far came from."""
    found = re.findall(r'^vllm:prompt_tokens_by_source_total\{.*source="(\w+)".*\} (\S+)$', metrics(base), re.MULTILINE)
    return {source: float(count) for source, count in found}


def transferred(base: str) -> float:
    found = re.search(r"^vllm:nixl_bytes_transferred_sum\{.*\} (\S+)$", metrics(base), re.MULTILINE)
    return float(found[1]) if found else 0.0


def metrics(base: str) -> str:
    with urllib.request.urlopen(f"{base}/metrics", timeout=30) as answer:
        return str(answer.read().decode())


def test_the_answers_are_those_of_one_engine_and_decode_computes_no_prompt(pools: Pools, served: Served) -> None:
    before = {base: prompt_tokens(base) for base in (pools.prefill, pools.decode)}
    bytes_before = transferred(pools.decode)
    differ, lengths = [], []
    for question in QUESTIONS:
        alone, _ = chat(served.base_url.removesuffix("/v1"), served.model, question)
        split, length = chat(pools.router, "kimi-k2-tiny", question)
        lengths.append(length)
        if alone != split:
            differ.append((question[:40], "".join(alone)[:80], "".join(split)[:80]))
    assert differ == []
    time.sleep(1)  # the counts of a request follow its answer

    def since(base: str, source: str) -> float:
        return prompt_tokens(base).get(source, 0.0) - before[base].get(source, 0.0)

    assert since(pools.prefill, "local_compute") + since(pools.prefill, "local_cache_hit") == sum(lengths)
    assert since(pools.decode, "external_kv_transfer") + since(pools.decode, "local_cache_hit") == sum(lengths)
    assert since(pools.decode, "local_compute") == 0
    moved = transferred(pools.decode) - bytes_before
    blocks = sum(-(-length // BLOCK_TOKENS) for length in lengths)
    assert 0 < moved <= blocks * BLOCK_TOKENS * KV_BYTES_PER_TOKEN
    print(f"{len(lengths)} of {len(lengths)} answers equal; {sum(lengths)} tokens of prompts, {moved:,.0f} bytes moved")


ROUTERS = {
    "sglang": "from sglang_router.launch_router import parse_router_args as parse",
    "vllm": "from vllm_router.launch_router import parse_router_args as parse",
}


@pytest.mark.parametrize("name", ["instruct-16x8xh200-sglang-4p12d", "instruct-4x8xh200-vllm-2p2d"])
def test_the_router_reads_its_command_line(name: str, packages: Path, tmp_path: Path) -> None:
    """The rendered script hands its words to the router's own parser instead of the router."""
    files = tmp_path / "files"
    spec = ROOT / "examples" / "pools" / f"{name}.toml"
    assert command_in(tmp_path)("render", str(spec), "--to", "shell", "--out", str(files)).code == 0
    engine = "sglang" if "sglang" in name else "vllm"
    stand_in = tmp_path / "router" / "bin" / f"{engine}-router"
    stand_in.parent.mkdir(parents=True)
    code = (
        f"import sys\n{ROUTERS[engine]}\nwords = [word for word in sys.argv[1:] if word != 'launch']\n"
        "found = parse(words)\nprint(found.prefill_urls, found.decode_urls, found.host, found.port)"
    )
    stand_in.write_text(f"#!{packages / 'router' / 'bin' / 'python'}\n{code}\n")
    stand_in.chmod(0o755)
    done = subprocess.run(
        ("bash", str(files / "prefill-0" / "router.sh")),
        env={
            "PATH": os.environ["PATH"],
            "MOONPAD_ROUTER": str(tmp_path / "router"),
            "MOONPAD_HOST_PREFILL_0": "10.0.0.1",
            "MOONPAD_HOST_DECODE_0": "10.0.0.5",
        },
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    port = "8998" if engine == "sglang" else "None"
    expected = f"[('http://10.0.0.1:8001', {port})] ['http://10.0.0.5:8002'] 127.0.0.1 8000"
    assert done.stdout.splitlines()[-1] == expected
