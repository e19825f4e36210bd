"""`moonpad explain` as a command: what stands on which stream, exit codes, the keys that scripts rely on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Moonpad

pytestmark = pytest.mark.usefixtures("explained_before")

SEEDS = Path(__file__).resolve().parents[2] / "seeds"
PARSERS = ("--enable-auto-tool-choice", "--tool-call-parser", "kimi_k2", "--reasoning-parser", "kimi_k2")
SERVE = ("vllm", "serve", "moonshotai/Kimi-K2-Thinking", "--tensor-parallel-size", "8")
GOOD = (*SERVE, *PARSERS, "--trust-remote-code")

# design: verbs and keys that scripts rely on
DEPLOYMENT = {
    "engine": str,
    "commands": list,
    "layout": dict,
    "settings": dict,
    "memory": dict,
    "fits": bool,
    "confidence": str,
    "findings": list,
    "corrected": list,
    "better": list,
}
SEVERITIES = {"error", "warning", "note"}


def test_json_is_the_only_thing_on_stdout_even_where_it_is_refused(moonpad: Moonpad) -> None:
    done = moonpad("explain", "--json", "--file", str(SEEDS / "seed0.md"))
    assert done.code == 3
    document = json.loads(done.stdout)
    assert "2 findings are errors" in done.stderr
    refused, working = document["deployments"]
    for deployment in (refused, working):
        for key, kind in DEPLOYMENT.items():
            assert isinstance(deployment[key], kind), key
        for finding in deployment["findings"]:
            assert list(finding) == ["severity", "code", "where", "message", "remedy"]
            assert finding["severity"] in SEVERITIES
        for line in deployment["corrected"]:
            assert isinstance(line["env"], dict)
            assert line["argv"][:3] == ["vllm", "serve", "moonshotai/Kimi-K2-Thinking"]
        for better in deployment["better"]:
            assert {"why", "argv", "memory"} <= set(better)
    assert (refused["fits"], working["fits"], working["confidence"]) == (False, True, "measured")
    assert refused["layout"] == {"tp": 8, "pp": 1, "dp": 1, "ep": 1, "dcp": 1}
    assert set(refused["memory"]["kv_gib"]) == {"value", "low", "high", "because"}
    assert working["settings"]["max_model_len"] == 12288


def test_the_stray_dollar_reaches_the_json_and_the_view(moonpad: Moonpad) -> None:
    document = json.loads(moonpad("explain", "--json", "--file", str(SEEDS / "seed4.md")).stdout)
    assert [problem["code"] for problem in document["problems"]] == ["stray-dollar"]
    shown = moonpad("explain", "--file", str(SEEDS / "seed4.md")).stdout
    lines = shown.splitlines()
    above = next(place for place, line in enumerate(lines) if "    error: --dist-init-addr: this $ after" in line) - 1
    start = lines[above].index("^")
    assert lines[above - 1][start:].startswith("$PREFILL_NODE0$:5757") or "^" in lines[above - 1]


def test_a_command_without_errors(moonpad: Moonpad) -> None:
    short = moonpad("explain", "--on", "8xH200", "--", *GOOD).stdout
    assert short.startswith("Fits (")
    assert len(short.splitlines()) <= 40
    done = moonpad("explain", "--verbose", "--on", "8xH200", "--", *GOOD)
    assert done.code == 0
    assert "Next: moonpad plan --model moonshotai/Kimi-K2-Thinking --on 8xH200" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    lines = done.stdout.splitlines()
    flag = next(place for place, line in enumerate(lines) if line.endswith("--trust-remote-code"))
    assert lines[flag + 1] == " " * lines[flag].index("--trust") + "^" * len("--trust-remote-code")


def test_standard_input_version_and_model(moonpad: Moonpad, tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("vllm serve /data/k2 --tensor-parallel-size 8 --disable-log-requests --max-model-len 8192\n")
    question = ("--on", "8xH200", "--model", "moonshotai/Kimi-K2-Thinking", "--engine-version", "0.32.0")
    done = moonpad("explain", "--json", *question, "--file", str(script))
    assert done.code == 3
    (deployment,) = json.loads(done.stdout)["deployments"]
    assert (deployment["engine_version"], deployment["model"]) == ("0.32.0", "moonshotai/Kimi-K2-Thinking")
    assert [f["code"] for f in deployment["findings"] if f["severity"] == "error"] == ["removed-flag"]
    assert "1 finding is an error" in done.stderr


def test_a_terminal_that_knows_ascii_only(moonpad: Moonpad) -> None:
    done = moonpad("explain", "--file", str(SEEDS / "seed0.md"), PYTHONIOENCODING="ascii")
    assert done.code == 3
    assert done.stdout.isascii()
    assert "104,960 tokens of KV cache instead of 13,120, x 8" in " ".join(done.stdout.split())


def test_wrong_command_lines(moonpad: Moonpad, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.sh"
    nothing.write_text("echo hello\n")
    large = tmp_path / "large.sh"
    large.write_bytes(b"#" * 1_000_001)
    for argv, expected in (
        ((), "either --file"),
        (("--file", str(nothing), "--", "vllm", "serve", "x"), "either --file"),
        (("--file", str(tmp_path / "missing.sh")), "cannot read"),
        (("--file", str(tmp_path)), "cannot read"),
        (("--file", str(nothing)), "it starts no engine"),
        (("--file", str(large)), "larger than 1,000,000 bytes"),
        (("--on", "8xH2000", "--", *GOOD), "H200"),
        (("--model", "nobody/nothing", "--", *GOOD), "nobody/nothing"),
        (("--engine-version", "x.y", "--", *GOOD), "is not an engine version"),
    ):
        done = moonpad("explain", *argv)
        assert (done.code, done.stdout) == (2, ""), argv
        assert expected in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["notes.md", "start.sh"])
def test_an_apostrophe_in_prose_is_no_open_quote(moonpad: Moonpad, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("The server's memory, and what it does\nwith it, is told elsewhere.\n")
    done = moonpad("explain", "--file", str(path))
    assert done.code == 2
    assert "it starts no engine" in done.stderr
    assert "never closed" not in done.stderr


def test_several_files_are_one_deployment_and_places_name_the_file(moonpad: Moonpad, tmp_path: Path) -> None:
    files = []
    for node in (0, 1):
        words = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8 --pipeline-parallel-size 2 --nnodes 2"
        file = tmp_path / f"node-{node}.sh"
        file.write_text(f"#!/bin/sh\n{words} --node-rank {node} {'--headless --no-such-flag' if node else ''}\n")
        files.append(str(file))
    shown = moonpad("explain", "--engine-version", "0.33.0", "--on", "2x8xH200", "--file", *files)
    assert shown.code == 3
    assert f"{files[1]} line 2" in shown.stdout
    (deployment,) = json.loads(moonpad("explain", "--json", "--file", files[0], "--file", files[1]).stdout)[
        "deployments"
    ]
    assert deployment["places"] == [{"file": file, "line": 2} for file in files]
    assert deployment["layout"]["pp"] == 2


@pytest.mark.parametrize(
    ("start", "devices"),
    [
        ("CUDA_VISIBLE_DEVICES=1,2,0 llama-server -m /m/a.gguf -ngl 64", "3xRTX4090"),
        ("CUDA_VISIBLE_DEVICES=0 llama-server -m /m/a.gguf -ngl 64", "1xRTX4090"),
        ("llama-server -m /m/a.gguf -ngl 64", "8xH200"),
        ("CUDA_VISIBLE_DEVICES=0,1 vllm serve /m/a", "2xH200"),
        ("CUDA_VISIBLE_DEVICES=0,1,2,3 vllm serve /m/a --tensor-parallel-size 2", "2xH200"),
        ("CUDA_VISIBLE_DEVICES=$FREE vllm serve /m/a", "8xH200"),
        ("vllm serve /m/a --tensor-parallel-size 1", "1xH200"),
        ("vllm serve moonshotai/Moonlight-16B-A3B-Instruct", "1xH200"),  # 32 GB
    ],
)
def test_the_next_step_has_the_devices_that_the_command_sees(
    moonpad: Moonpad, tmp_path: Path, start: str, devices: str
) -> None:
    script = tmp_path / "run.sh"
    script.write_text(f"{start}\n")
    assert moonpad("explain", "--file", str(script)).stderr.rstrip().endswith(f"--on {devices}")


@pytest.mark.parametrize("model", ["openai/gpt-oss-120b", "someone/a-model-of-his-own", "/models/Qwen3-32B"])
def test_no_plan_is_proposed_for_a_model_that_plan_refuses(moonpad: Moonpad, tmp_path: Path, model: str) -> None:
    script = tmp_path / "run.sh"
    script.write_text(f"vllm serve {model}\n")
    assert moonpad("explain", "--file", str(script)).stderr.rstrip() == "Next: moonpad catalog models"


@pytest.mark.parametrize(
    ("name", "end", "code"),
    [
        ("a.sh", "\\  # apart", 3),
        ("a.md", "\\  # apart", 3),
        ("a.sh", "\\ ", 3),
        ("a.md", "\\ ", 0),
        ("a.sh", "\\", 0),
    ],
)
def test_a_line_that_a_shell_ends_too_early_is_an_error(
    moonpad: Moonpad, tmp_path: Path, name: str, end: str, code: int
) -> None:
    path, fence = tmp_path / name, "```" if name.endswith(".md") else ""
    command = f"vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 {end}\n  --trust-remote-code"
    path.write_text(f"{fence}{'bash' if fence else ''}\n{command}\n{fence}\n")
    done = moonpad("explain", "--on", "8xH200", "--file", str(path))
    assert done.code == code
    assert ("1 finding is an error" in done.stderr) is (code == 3)


def test_a_log_of_hours_is_read(moonpad: Moonpad, tmp_path: Path) -> None:
    head = (
        "INFO 11-20 10:00:00 [api_server.py:1351] vLLM API server version 0.12.0\n"
        "INFO 11-20 10:00:00 [utils.py:253] non-default args: {'model': 'moonshotai/Kimi-K2-Instruct', "
        "'tensor_parallel_size': 8, 'tool_call_parser': 'hermes'}\n"
    )
    line = (
        "INFO 11-20 11:00:{second:02d} [loggers.py:127] Engine 000: Avg prompt throughput: {number}.0 tokens/s, "
        "Avg generation throughput: 9{number}.1 tokens/s, Running: 4 reqs, Waiting: 0 reqs, GPU KV cache usage: 1.2%\n"
    )
    path = tmp_path / "server.log"
    path.write_text(head + "".join(line.format(second=number % 60, number=number) for number in range(6_000)))
    assert path.stat().st_size > 1_000_000
    done = moonpad("explain", "--json", "--file", str(path))
    (deployment,) = json.loads(done.stdout)["deployments"]
    assert deployment["engine_version"] == "0.12.0"
    assert any("kimi_k2" in finding["remedy"] for finding in deployment["findings"])
