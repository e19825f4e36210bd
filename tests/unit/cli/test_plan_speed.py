"""`moonpad plan --workload`: the JSON that scripts rely on, how a published row is asked, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from moonpad.cli import command_line as command
from moonpad.cli import output

ROW = ("--model", "moonshotai/Kimi-K2.5", "--on", "8xH200", "--engine", "vllm", "--engine-version", "0.16.0")
LOAD = ("--workload", "6554..8192:820..1024", "--concurrency", "16")


@pytest.fixture(autouse=True)
def _fresh_consoles() -> None:
    output.out.cache_clear()
    output.err.cache_clear()


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = command.run(["plan", *argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def as_json(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> dict[str, Any]:
    exit_code, out, err = run(capsys, *argv, "--json")
    assert exit_code == code, err
    loaded: dict[str, Any] = json.loads(out)
    return loaded


def test_a_published_row_in_one_call(capsys: pytest.CaptureFixture[str]) -> None:
    document = as_json(capsys, *ROW, "--layout", "TP8", *LOAD)
    (plan,) = document["plans"]
    assert plan["layout"] == {"tp": 8, "pp": 1, "dp": 1, "ep": 1, "dcp": 1}
    assert plan["engine_version"] == "0.16.0"
    predicted = plan["predicted"]
    for name in ("ttft_s", "tpot_s", "e2el_s", "output_tokens_per_s", "total_tokens_per_s", "requests_per_s"):
        assert 0 < predicted[name]["low"] <= predicted[name]["value"] <= predicted[name]["high"], name
    assert predicted["standing"]
    assert predicted["because"]
    assert predicted["method"] == "simulation"
    assert predicted["load"]["concurrency"] == 16
    assert predicted["load"]["input_tokens"] == {"mean": 7373.0, "least": 6554.0, "most": 8192.0}
    assert sum(part["share"] for part in predicted["why"]) == pytest.approx(1, abs=0.01)
    assert plan["performance"] == predicted
    # InferenceX measured 21.92 ms a token and 846.51 ms to the first, as means.
    assert predicted["tpot_mean_s"]["low"] < 0.02192 < predicted["tpot_mean_s"]["high"]


def test_what_was_fixed_and_nothing_else_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    document = as_json(capsys, *ROW, "--set", "tp=8", *LOAD[:2], "--concurrency", "64")
    layouts = [plan["layout"]["dcp"] for plan in document["plans"]]
    assert layouts[0] == 1
    assert len(layouts) > 1
    assert document["verdict"]["plan"] == 0


def test_other_settings_have_their_speed(capsys: pytest.CaptureFixture[str]) -> None:
    (plan,) = as_json(capsys, *ROW, "--layout", "TP8", *LOAD)["plans"]
    by_sequences = {row["max_num_seqs"]: row["predicted"] for row in plan["trade"]}
    assert by_sequences[1024]["tpot_s"]["value"] == pytest.approx(plan["predicted"]["tpot_s"]["value"])
    # Sixteen users of whom one is served at a time: its answer comes sooner, and the others wait.
    assert by_sequences[1]["tpot_s"]["value"] < by_sequences[1024]["tpot_s"]["value"]
    assert by_sequences[1]["ttft_s"]["value"] > 10 * by_sequences[1024]["ttft_s"]["value"]


def test_without_a_workload_nothing_is_predicted(capsys: pytest.CaptureFixture[str]) -> None:
    document = as_json(capsys, *ROW, "--layout", "TP8")
    assert document["plans"][0]["performance"] is None
    assert not {"predicted", "front"} & (document.keys() | document["plans"][0].keys())


def test_growing_loads_the_front_and_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    argv = (*ROW[:6], "--workload", "rag", "--slo", "ttft=2s,tpot=40ms", "--goal", "cost", "--price", "2.5")
    document = as_json(capsys, *argv)
    front = document["front"]
    users, devices = ([point[f"output_tokens_per_s_per_{of}"] for point in front] for of in ("user", "device"))
    assert users == sorted(users, reverse=True)
    assert devices == sorted(devices)
    assert all(point["tpot_s"] <= 0.04 and point["ttft_s"] <= 2 for point in front)
    first = document["plans"][0]["predicted"]
    assert first["keeps_slo"]
    assert document["verdict"]["plan"] == 0
    dollars = 8 * 2.5 / 3600 / first["output_tokens_per_s"]["value"] * 1e6
    assert first["usd_per_million_output_tokens"]["value"] == pytest.approx(dollars)
    assert document["workload"]["slo"] == {"ttft_s": 2.0, "tpot_s": 0.04}


def test_the_table_has_speed_beside_memory(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *ROW, "--layout", "TP8", *LOAD)
    assert code == 0
    head = next(line for line in out.splitlines() if "confidence" in line)
    assert all(word in head for word in ("KV tokens", "TTFT s", "TPOT ms", "tok/s user", "tok/s device"))
    assert "experts" in out
    assert "80 %" in out
    assert "Next: moonpad init" in err
    assert "--layout TP8" in err


def test_two_pools_in_one_call(capsys: pytest.CaptureFixture[str]) -> None:
    argv = ("--model", "nvidia/Kimi-K2.5-NVFP4", "--on", "GB200-NVL72", "--engine", "vllm", *LOAD)
    document = as_json(capsys, *argv, "--prefill", "1x TP4 EP4", "--decode", "4xTP4,EP4")
    assert document["devices"] == 20
    assert document["pools"]["decode"]["servers"] == 4
    assert document["predicted"]["ttft_s"]["value"] > 0


def test_a_refused_layout_is_predicted_as_if_it_were_served(capsys: pytest.CaptureFixture[str]) -> None:
    argv = ("--model", "deepseek-ai/DeepSeek-R1", "--on", "8x8xB200", "--engine", "sglang", "--layout", "TP64 EP8")
    document = as_json(capsys, *argv, *LOAD, code=3)
    (refused,) = document["refused"]
    assert refused["predicted"]["tpot_s"]["value"] > 0
    assert any("refuses" in note for note in refused["predicted"]["notes"])


def test_a_request_beyond_the_context_is_not_predicted(capsys: pytest.CaptureFixture[str]) -> None:
    argv = (*ROW, "--layout", "TP8", "--context", "4096", *LOAD)
    predicted = as_json(capsys, *argv)["plans"][0]["predicted"]
    assert predicted == {"because": "a request of 9,216 tokens is longer than its context of 4,096"}


def test_workloads_of_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    rows = [{"timestamp": 500 * n, "input_length": 1024, "output_length": 64, "hash_ids": [0, n]} for n in range(1, 9)]
    trace.write_text("\n".join(map(json.dumps, rows)))
    load = as_json(capsys, *ROW, "--layout", "TP8", "--workload", str(trace))["plans"][0]["predicted"]["load"]
    assert load["rate_per_s"] == pytest.approx(2.0)
    # Block 0 is new once, then seen seven times, of sixteen blocks.
    assert load["shared_prefix"] == pytest.approx(7 / 16)
    bursty = [{**row, "timestamp": 0 if n < 7 else 3500} for n, row in enumerate(rows)]
    trace.write_text("\n".join(map(json.dumps, bursty)))
    argv = (*ROW, "--layout", "TP8", "--workload", str(trace))
    bursts, evenly, apart = (
        as_json(capsys, *argv, *more)["plans"][0]["predicted"]["ttft_p95_s"]["value"]
        for more in ((), ("--rate", "2"), ("--rate", "0.001"))
    )
    assert bursts == evenly > apart * 0.999  # its own rate; a rate keeps the bursts
    saved = tmp_path / "result.json"
    saved.write_text(json.dumps({"input_lens": [100, 300], "output_lens": [10, 30]}))
    argv = (*ROW, "--layout", "TP8", "--workload", str(saved), "--concurrency", "2")
    load = as_json(capsys, *argv)["plans"][0]["predicted"]["load"]
    assert (load["input_tokens"]["least"], load["output_tokens"]["most"]) == (100, 30)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("--workload", "chatt"), 'did you mean "chat"'),
        (("--workload", "8192"), "there is no workload"),
        (("--workload", "8192:x"), "not a length"),
        (("--rate", "2"), "--rate needs a load"),
        (("--goal", "cost"), "--goal cost needs a load"),
        (("--goal", "cost", "--workload", "chat"), "--price"),
        (("--workload", "chat", "--slo", "tpot=0s"), "above 0"),
        (("--workload", "chat", "--slo", "speed=1s"), "no limit named"),
        (("--workload", "chat", "--prefix", "1"), "--prefix"),
        (("--workload", "chat", "--rate", "nan"), "--rate"),
        (("--workload", "chat", "--price", "-1"), "--price"),
        (("--layout", "TP8 TP4"), "not a layout"),
        (("--layout", "TP8", "--set", "dcp=8"), "both say the layout"),
        (("--prefill", "1x TP4", "--workload", "chat"), "go together"),
    ],
)
def test_what_is_refused_in_words(capsys: pytest.CaptureFixture[str], argv: tuple[str, ...], words: str) -> None:
    code, _, err = run(capsys, *ROW, *argv)
    assert code == 2
    assert words in err
    assert "Traceback" not in err
