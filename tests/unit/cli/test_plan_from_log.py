"""`moonpad plan --from-log`: what was started, planned beside measured, and the next plan says what the log did."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from moonpad.catalog.calibrations import _calibration
from moonpad.catalog.toml_rows import Row
from moonpad.cli import command_line as command
from moonpad.cli import output
from moonpad.store.calibrations import calibrations_path, own_calibrations
from moonpad.values.plan import Layout
from tests import start_logs as logs

ON = ("--on", "8xH200")
SAME = (
    "--model", logs.K2, *ON, "--engine", "vllm", "--engine-version", "0.25.1", "--context", "65536",
    "--set", "tp=8", "max_num_seqs=128", "max_num_batched_tokens=8192", "gpu_memory_utilization=0.9",
)  # fmt: skip
"""What the log of `logs.vllm()` was started with, as words for `plan`."""


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    output.out.cache_clear()
    output.err.cache_clear()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "engine.log"
    path.write_text(logs.vllm())
    return path


def run(capsys: pytest.CaptureFixture[str], *argv: str | Path, code: int = 0) -> tuple[str, str]:
    assert command.run(["plan", *map(str, argv)]) == code
    captured = capsys.readouterr()
    return captured.out, captured.err


def document(capsys: pytest.CaptureFixture[str], *argv: str | Path) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(run(capsys, *argv, "--json")[0])
    return answer


def figures(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in answer["figures"]}


def kv(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[float, float, str]:
    best = document(capsys, *argv)["plans"][0]
    return round(best["memory"]["kv_gib"]["value"], 2), best["memory"]["kv_tokens"]["value"], best["confidence"]


def test_the_next_plan_says_what_the_log_said(capsys: pytest.CaptureFixture[str], log: Path) -> None:
    before = kv(capsys, *SAME)
    assert before[2] != "measured"
    assert before[1] != 611_136
    answer = document(capsys, "--from-log", log, *ON)
    assert answer["kept"]
    assert kv(capsys, *SAME) == (40.0, 611_136, "measured")
    assert answer["next"]["kv_tokens"]["value"] == 611_136


def test_planned_beside_measured(capsys: pytest.CaptureFixture[str], log: Path) -> None:
    answer = document(capsys, "--from-log", log, *ON)
    started = answer["log"]
    assert (started["model"], started["cluster"], started["engine_version"]) == (logs.K2, "8xH200", "0.25.1")
    assert started["layout"] == {"tp": 8, "pp": 1, "dp": 1, "ep": 1, "dcp": 1}
    assert started["settings"]["max_num_seqs"] == 128
    rows = figures(answer)
    assert rows["weights_gib"]["measured"] == 71.16
    assert rows["weights_gib"]["within"] is None
    cache = rows["kv_gib"]
    assert cache["difference"] == pytest.approx(40.0 - cache["planned"]["value"])
    assert cache["within"] == (cache["planned"]["low"] <= 40.0 <= cache["planned"]["high"])
    # 0.9 of what torch sees of an H200, by shared/facts, less what the log says of the rest.
    assert rows["overhead_gib"]["measured"] == pytest.approx(0.9 * 139.81 - 71.16 - 40.0, abs=0.01)
    assert rows["graphs_estimated_gib"]["planned"] is None
    text, following = run(capsys, "--from-log", log, *ON)
    assert "KV cache, tokens" in text
    assert "611,136" in text
    assert "moonpad plan --model moonshotai/Kimi-K2-Thinking --on 8xH200" in following


def test_a_log_that_is_read_twice_is_one_start(capsys: pytest.CaptureFixture[str], log: Path, tmp_path: Path) -> None:
    first = document(capsys, "--from-log", log, *ON)
    wrapped = tmp_path / "wrapped.log"
    wrapped.write_text(logs.in_docker_json(logs.coloured(logs.vllm()), cut=200))
    second = document(capsys, "--from-log", wrapped, *ON)
    assert second["id"] == first["id"]
    assert second["figures"] == first["figures"], "it is not planned with what it said itself"
    assert len(own_calibrations()) == 1
    assert "Kept already" in run(capsys, "--from-log", log, *ON)[0]


def test_shown_and_not_kept(capsys: pytest.CaptureFixture[str], log: Path) -> None:
    assert not document(capsys, "--from-log", log, *ON, "--no-keep")["kept"]
    assert not calibrations_path().exists()


def test_a_state_that_cannot_be_written(
    capsys: pytest.CaptureFixture[str], log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comparison is shown all the same."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    answer = document(capsys, "--from-log", log, *ON)
    assert not answer["kept"]
    assert "cannot be written" in answer["because"]
    assert figures(answer)["kv_gib"]["measured"] == 40.0


def test_no_key_is_repeated(capsys: pytest.CaptureFixture[str], log: Path) -> None:
    shown = [*run(capsys, "--from-log", log, *ON), *run(capsys, "--from-log", log, *ON, "--json")]
    shown += [*run(capsys, "--from-log", log, *ON, "--row"), calibrations_path().read_text()]
    assert "not-to-be-seen-1234" not in "".join(shown)


def test_a_row_of_the_catalogue(capsys: pytest.CaptureFixture[str], log: Path) -> None:
    """The catalogue's own reader makes of it the start that is kept here."""
    row = run(capsys, "--from-log", log, *ON, "--row")[0]
    assert own_calibrations() == ()
    ((key, table),) = tomllib.loads(row)["runs"].items()
    read = _calibration(key, Row("row", table))
    run(capsys, "--from-log", log, *ON)
    (own,) = own_calibrations()
    assert (read.id, read.layout, read.settings, read.kv_tokens) == (own.id, own.layout, own.settings, own.kv_tokens)
    assert read.kv_bytes == pytest.approx(own.kv_bytes, abs=2**16)
    assert str(log) not in row


def test_the_log_says_on_which_devices(capsys: pytest.CaptureFixture[str], log: Path) -> None:
    error = run(capsys, "--from-log", log, code=2)[1]
    assert "--on 8xH200" in error
    log.write_text(logs.vllm(more=("Using configuration from /x/E=385,N=128,device_name=NVIDIA_H200.json for it.",)))
    assert document(capsys, "--from-log", log)["log"]["cluster"] == "8xH200"
    assert document(capsys, "--from-log", log, "--on", "8xH100")["log"]["cluster"] == "8xH100"


def test_sglang_does_not_say_its_version(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log = tmp_path / "sglang.log"
    log.write_text(logs.sglang())
    assert "--engine-version" in document(capsys, "--from-log", log, *ON)["because"]
    answer = document(capsys, "--from-log", log, *ON, "--engine-version", "0.5.10")
    assert answer["kept"]
    assert figures(answer)["kv_gib"]["measured"] == 52.36
    assert answer["next"]["kv_tokens"]["value"] == 800_000
    (own,) = own_calibrations()
    assert own.settings.attention_backend is None, "the log has what was chosen, and not what was asked for"
    same = ("--model", logs.K2, *ON, "--engine", "sglang", "--engine-version", "0.5.10", "--set", "tp=8")
    same += ("max_num_batched_tokens=8192", "gpu_memory_utilization=0.85")
    assert kv(capsys, *same)[1:] == (800_000, "measured")


@pytest.mark.parametrize(
    ("text", "on", "engine"),
    [
        (logs.sglang(), ON[1], "sglang"),
        (logs.sglang(more="kt_weight_path='/w', kt_num_gpu_experts=30, "), ON[1], "ktransformers"),
        (logs.sglang().replace("device='cuda'", "device='cpu'"), "cpu", "sglang-cpu"),
        (logs.vllm().replace("device_config=cuda", "device_config=npu"), "16xA3", "vllm-ascend"),
        (logs.vllm(), ON[1], "vllm"),
    ],
)
def test_the_build_of_an_engine(capsys: pytest.CaptureFixture[str], log: Path, text: str, on: str, engine: str) -> None:
    log.write_text(text)
    assert document(capsys, "--from-log", log, "--on", on, "--no-keep")["log"]["engine"] == engine


def test_the_first_rank_alone_speaks_and_the_least_counts(capsys: pytest.CaptureFixture[str], log: Path) -> None:
    """608,000 tokens are 39.79 GiB: another rank had so much less than the first."""
    log.write_text(logs.vllm(kv_tokens=608_000))
    answer = document(capsys, "--from-log", log, *ON)
    assert figures(answer)["kv_gib"]["measured"] == 40.0
    assert answer["next"]["kv_gib"]["value"] == pytest.approx(608_000 * logs.KV_TOKEN_BYTES / 2**30, abs=0.005)
    assert kv(capsys, *SAME)[1:] == (608_000, "measured")


def test_a_start_that_failed_is_one_to_learn_from(capsys: pytest.CaptureFixture[str], log: Path) -> None:
    same = tuple("gpu_memory_utilization=0.6" if word.startswith("gpu_mem") else word for word in SAME)
    same += ("dcp=1", "ep=1", "enforce_eager=false")
    error = "(EngineCore pid=446) ERROR [core.py:866] ValueError: No available memory for the cache blocks.\n"
    text = logs.vllm(kv_gib=(-3.32,), kv_tokens=0, ready=False) + error
    log.write_text(text.replace("'gpu_memory_utilization': 0.9", "'gpu_memory_utilization': 0.6"))
    answer = document(capsys, "--from-log", log, *ON)
    assert "nothing is left for the KV cache" in answer["log"]["failure"]["message"]
    assert figures(answer)["kv_gib"]["measured"] == -3.32
    refused = json.loads(run(capsys, *same, "--json", code=3)[0])["refused"][0]
    assert refused["memory"]["kv_gib"]["value"] == -3.32


@pytest.mark.parametrize(
    ("arguments", "why"),
    [("'num_gpu_blocks_override': 100, ", "num_gpu_blocks_override"),
     ("'enable_sleep_mode': True, ", "enable_sleep_mode"),
     ("'speculative_config': {'method': 'mtp', 'num_speculative_tokens': 1}, ", "speculative_config")],
)  # fmt: skip
def test_what_no_plan_has_is_not_kept(capsys: pytest.CaptureFixture[str], log: Path, arguments: str, why: str) -> None:
    log.write_text(logs.vllm(arguments=f"'tensor_parallel_size': 8, {arguments}"))
    answer = document(capsys, "--from-log", log, *ON)
    assert not answer["kept"]
    assert why in answer["because"]
    assert figures(answer)["kv_gib"]["measured"] == 40.0
    assert why in run(capsys, "--from-log", log, *ON, "--row", code=3)[1]


def test_adapters_and_what_is_in_ram_are_settings_of_the_start(capsys: pytest.CaptureFixture[str], log: Path) -> None:
    more = "'enable_lora': True, 'max_loras': 2, 'cpu_offload_gb': 4.0, "
    before = kv(capsys, *SAME)
    log.write_text(logs.vllm(arguments=f"'tensor_parallel_size': 8, {more}"))
    settings = document(capsys, "--from-log", log, *ON)["log"]["settings"]
    assert (settings["max_loras"], settings["cpu_offload_gib"]) == (2, 4.0)
    assert kv(capsys, *SAME) == before  # of a plan without them it says nothing


@pytest.mark.parametrize(
    ("text", "on", "why"),
    [
        (logs.vllm(), "8xH100", "not what a device of 79.18 GiB can hold"),
        (logs.vllm(kv_gib=(99999.0,), kv_tokens=0), ON[1], "not what a device of 139.81 GiB can hold"),
        (logs.vllm(kv_gib=(-99999.0,), kv_tokens=0), ON[1], "not what a device of 139.81 GiB can hold"),
        (logs.VLLM_V0.replace("139.81GiB", "95.00GiB"), ON[1], "95.00 GiB, and one of these has 139.81"),
    ],
)
def test_figures_of_other_devices_are_not_kept(
    capsys: pytest.CaptureFixture[str], log: Path, text: str, on: str, why: str
) -> None:
    """A log of one machine, and --on names another: nothing of it gets into later plans."""
    log.write_text(text)
    answer = document(capsys, "--from-log", log, "--on", on)
    assert not answer["kept"]
    assert why in answer["because"]
    assert own_calibrations() == ()


def test_a_draft_stands_for_no_plan_without_one(capsys: pytest.CaptureFixture[str], log: Path) -> None:
    draft = "'speculative_config': {'method': 'eagle3', 'model': 'x/y', 'num_speculative_tokens': 3}, "
    before = kv(capsys, *SAME)
    log.write_text(logs.vllm(arguments=f"'tensor_parallel_size': 8, 'max_num_seqs': 128, {draft}"))
    assert document(capsys, "--from-log", log, *ON)["log"]["settings"]["draft_tokens"] == 3
    assert kv(capsys, *SAME) == before


def test_words_complete_a_log_that_begins_too_late(capsys: pytest.CaptureFixture[str], log: Path) -> None:
    log.write_text("INFO Available KV cache memory: 40.00 GiB\nINFO GPU KV cache size: 611,136 tokens\n")
    assert "arguments" in run(capsys, "--from-log", log, "--model", logs.K2, *ON, code=2)[1]
    words = ("--model", logs.K2, *ON, "--engine-version", "0.25.1", "--set", "tp=8", "max_num_seqs=128")
    assert not document(capsys, "--from-log", log, *words)["kept"]
    assert document(capsys, "--from-log", log, *words, "gpu_memory_utilization=0.9")["kept"]
    assert kv(capsys, *SAME) == (40.0, 611_136, "measured")
    assert own_calibrations()[0].layout == Layout(tp=8)


def test_the_run_of_a_processor(capsys: pytest.CaptureFixture[str]) -> None:
    run_log = next(Path("tests/golden/runs/schema-2-ready/runs").glob("*/engine.log"))
    answer = document(capsys, "--from-log", run_log, "--set", "tp=1")
    assert (answer["log"]["engine"], answer["log"]["cluster"]) == ("vllm-cpu", "cpu")
    assert figures(answer)["kv_gib"]["measured"] == 1.0
    assert not answer["kept"]


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "holds no start"), (b"\x00\xff" * 999, "holds no start"), (b"\x1f\x8b\x08", "compressed"),
     (b"INFO " * 4_000_000, "larger than 16,000,000 bytes")],
    ids=["empty", "binary", "compressed", "large"],
)  # fmt: skip
def test_what_is_not_a_start(capsys: pytest.CaptureFixture[str], log: Path, content: bytes, message: str) -> None:
    log.write_bytes(content)
    assert message in run(capsys, "--from-log", log, *ON, code=2)[1]


def test_another_model(capsys: pytest.CaptureFixture[str], log: Path) -> None:
    log.write_text(logs.vllm(model="some/\x1b[31mOther-7B"))
    error = run(capsys, "--from-log", log, *ON, code=2)[1]
    assert "--model" in error
    assert "\x1b[31m" not in error


@pytest.mark.parametrize(
    "text",
    [
        logs.vllm(version="0.25.1\x1b[31m"),
        logs.vllm(
            arguments="'tensor_parallel_size': 8, 'kv_cache_dtype': '\x1b[31mfp8', 'attention_backend': 'X\u202eY', "
        ),
        logs.vllm(more=("device_name=NVIDIA_\x1b[2J_H200.json",)),
        logs.vllm(ready=False, kv_gib=()) + "ValueError: not-to-be-seen-1234 \x1b]0;title\x07\u202e\n",
    ],
    ids=["version", "settings", "device", "failure"],
)
def test_nothing_of_a_log_moves_the_cursor(capsys: pytest.CaptureFixture[str], log: Path, text: str) -> None:
    log.write_text(text)
    for words in (ON, (*ON, "--json"), (*ON, "--row")):
        command.run(["plan", "--from-log", str(log), *words])
        captured = capsys.readouterr()
        assert not {"\x1b", "\x07", "\u202e"} & set(captured.out + captured.err)
        assert "not-to-be-seen-1234" not in captured.out + captured.err


@pytest.mark.parametrize(
    "words", [("--row",), ("--no-keep",), ("--from-log", "F", "--all"), ("--from-log", "F", "s.toml")]
)
def test_words_that_do_not_go_together(capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    assert "--from-log" in run(capsys, *words, code=2)[1]
