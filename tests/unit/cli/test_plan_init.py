"""`moonpad init`: what it writes loads, and gives the same plan back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from moonpad.cli import command_line as command
from moonpad.cli import output
from moonpad.engines import ENGINES
from moonpad.plan.from_spec import runtime_of
from moonpad.spec.loader import load_spec, parse_spec
from moonpad.spec.writer import quoted
from moonpad.values.plan import Layout
from tests.configurations import make_plan

TINY = Path(__file__).parents[3] / "src" / "moonpad" / "catalog" / "kimi-k2-tiny"


@pytest.fixture(autouse=True)
def _fresh_consoles() -> None:
    output.out.cache_clear()
    output.err.cache_clear()


def best_plan(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, Any]:
    assert command.run(["plan", *argv, "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    plan: dict[str, Any] = document["plans"][0]
    return plan


@pytest.mark.parametrize(
    "argv",
    [
        ("--model", "k2-thinking", "--on", "8xH200"),
        ("--model", "k2-thinking", "--on", "8xH200", "--set", "draft=kimi-k2.6-eagle3-mla"),
        ("--model", "k2-thinking", "--on", "8xH200", "--set", "draft_tokens=2"),
        ("--model", "k2-thinking", "--on", "8xH200", "--set", "max_loras=2", "--set", "max_lora_rank=8"),
        ("--model", "k2-thinking", "--on", "8xH200", "--set", "cpu_offload_gb=2.5", "--set", "kv_offloading_size=9"),
        ("--model", "k2.5", "--on", "8xH200", "--set", "mm_encoder_tp_mode=data"),
        ("--model", "k2-thinking", "--on", "8xH200", "--goal", "throughput"),
        ("--model", "k2-thinking", "--on", "8xH100", "--goal", "context"),
        ("--model", "k2-thinking", "--on", "8xH100", "--engine", "vllm", "--engine-version", "0.11"),
        ("--model", "k2-thinking", "--on", "8xH200", "--engine", "vllm", "--engine-version", "v0.20.0rc1"),
        ("--model", "k2-thinking", "--on", "8xH200", "--engine", "vllm", "--engine-version", "nightly"),
        ("--model", "k2-thinking", "--on", "8xH200", "--engine", "vllm", "--set", "gpu_memory_utilization=1"),
        ("--model", "k2-thinking", "--on", "GB200-NVL72", "--engine", "vllm"),
        ("--model", "k2-thinking", "--on", "4xRTX4090-48G"),
        ("--model", "k2-thinking", "--on", "16xA3"),
        ("--model", "k2-thinking", "--on", "8xMI300X"),
        ("--model", "k2-instruct", "--on", "2x8xH200", "--set", "dp=16", "ep=16"),
        ("--model", "k2-instruct", "--on", "2x8xH200", "--engine", "sglang"),
        ("--model", "k2-instruct", "--on", "2x8xH200", "--engine", "tensorrt-llm"),
        ("--model", "kimi-k2-tiny", "--on", "cpu"),
        ("--model", "kimi-k2-tiny", "--on", "cpu", "--set", "enforce_eager=false"),
        ("--model", "kimi-k2-tiny", "--on", "cpu", "--set", "tp=2"),  # both ranks on the one processor
        ("--model", "kimi-k2-tiny", "--on", "cpu", "--set", "pp=2"),  # which answers 500 when eager
    ],
)
def test_the_spec_gives_the_plan_back(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, argv: tuple[str, ...]
) -> None:
    wanted = best_plan(capsys, *argv)
    path = tmp_path / "moonpad.toml"
    assert command.run(["init", *argv, "-o", str(path)]) == 0
    loaded = load_spec(path)
    plan = make_plan(loaded.spec, 0, "int4" if "thinking" in argv[1] else "fp8" if "instruct" in argv[1] else "bf16")
    assert plan.engine == wanted["engine"]
    assert plan.engine_version == wanted["engine_version"]
    assert plan.layout == Layout(**wanted["layout"])
    for name, value in wanted["settings"].items():
        assert getattr(plan.settings, name) == (None if (name, value) == ("kv_cache_dtype", "auto") else value), name
    deployment = ENGINES[plan.engine].processes(plan, runtime_of(loaded.spec))
    assert len(deployment.processes) == len(wanted["processes"])
    # And the planner says of it what it said before.
    capsys.readouterr()
    again = best_plan(capsys, str(path))
    assert {name: again[name] for name in ("layout", "settings", "memory", "confidence")} == {
        name: wanted[name] for name in ("layout", "settings", "memory", "confidence")
    }
    assert [without_drain(command["argv"]) for command in again["processes"]] == [
        command["argv"] for command in wanted["processes"]
    ]


def without_drain(argv: list[str]) -> list[str]:
    """A spec has requests drained at a stop; for what a person types, nothing is said of it."""
    place = argv.index("--shutdown-timeout") if "--shutdown-timeout" in argv else len(argv)
    return [*argv[:place], *argv[place + 2 :]]


def test_it_says_why(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    assert command.run(["init", "--model", "k2-thinking", "--on", "8xH200", "-o", str(path)]) == 0
    text = path.read_text()
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert any("70.95 of" in line for line in comments)
    assert "trust_remote_code = true" in text
    assert "weights" in capsys.readouterr().err


def test_no_file_is_overwritten_unasked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text("mine")
    argv = ["init", "--model", "kimi-k2-tiny", "--on", "cpu", "-o", str(path)]
    assert command.run(argv) == 2
    assert path.read_text() == "mine"
    assert "--force" in capsys.readouterr().err
    assert command.run([*argv, "--force"]) == 0
    assert load_spec(path).spec.model == "kimi-k2-tiny"


def test_what_does_not_fit_is_not_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    request = ["--model", "k2-instruct", "--on", "8xH100", "--engine", "vllm", "--set", "tp=8"]
    assert command.run(["init", *request, "-o", str(path)]) == 3
    assert not path.exists()
    assert "120.95 GiB" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_to(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "x.toml"
    assert command.run(["init", "--model", "kimi-k2-tiny", "--on", "cpu", "-o", str(path)]) in (2, 3)
    assert "Traceback" not in capsys.readouterr().err


def test_a_local_folder_is_written_whole(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(TINY.parent)
    path = tmp_path / "x.toml"
    assert command.run(["init", "--model", "./kimi-k2-tiny", "--on", "cpu", "-o", str(path)]) == 0
    assert load_spec(path).spec.model == str(TINY)


@pytest.mark.parametrize("text", ['a"b', "a\\b", "a'b", "ümlaut", "a#b", "a\\u0041", "{x}"])
def test_any_text_comes_back(text: str) -> None:
    assert parse_spec(f'model = {quoted(text)}\nengine = "vllm-cpu"\n', name="x").model == text


@pytest.mark.parametrize("text", ["a\nb", "a\x00", "a\x7f", "\ud800"])
def test_what_no_spec_may_hold(text: str) -> None:
    with pytest.raises(ValueError, match="control character"):
        quoted(text)


def test_the_draft_in_the_folder_of_a_spec_is_counted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """8 KV heads of 128 on each of 8 ranks: 4,096 bytes a token beside the 70,272 of the model."""
    (tmp_path / "mine").mkdir()
    sizes = {
        "hidden_size": 7168,
        "intermediate_size": 18432,
        "num_attention_heads": 64,
        "num_key_value_heads": 64,
        "head_dim": 128,
        "num_hidden_layers": 1,
        "vocab_size": 163840,
        "draft_vocab_size": 32000,
        "max_position_embeddings": 262144,
    }
    (tmp_path / "mine" / "config.json").write_text(json.dumps(sizes))
    spec = tmp_path / "moonpad.toml"
    spec.write_text(
        'model = "moonshotai/Kimi-K2-Thinking"\nengine = "vllm"\n[hardware]\ncluster = "8xH200"\n'
        '[layout]\ntp = 8\n[settings]\ndraft = "mine"\n'
    )

    def memory(*words: str) -> dict[str, Any]:
        assert command.run(["plan", str(spec), "--json", *words]) == 0
        counted: dict[str, Any] = json.loads(capsys.readouterr().out)["plans"][0]["memory"]
        return counted

    assert memory()["kv_bytes_per_token"] == 70_272 + 4096
    assert memory("--set", "draft=kimi-k2.6-eagle3-mla")["kv_bytes_per_token"] == 70_272 + 1152
    assert memory("--set", "draft_tokens=0")["kv_bytes_per_token"] == 70_272
    (tmp_path / "mine" / "config.json").write_text("{}")
    assert "assumed" in memory()["overhead_gib"]["because"]
