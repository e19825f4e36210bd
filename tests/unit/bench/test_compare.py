"""Two runs: the published comparison by its own table, a known difference, halves of one run, and files of others."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest

from moonpad.bench.compare import P99_REQUESTS, Comparison, compare
from moonpad.bench.run_files import RunFiles
from moonpad.bench.saved_results import SavedRequest, SavedRun, read_run, throughput_slices
from moonpad.cli.command_line import run
from moonpad.report.compare_table import compare_notes
from moonpad.values.errors import UsageError
from moonpad.values.records import replace
from tests.unit.bench.records import record

TP8, DCP8 = "published:thinking-8xh200-tp8", "published:thinking-8xh200-tp8-dcp8"


def saved_run(name: str, *, slower: float = 1.0, requests: int = 400, seed: int = 0, tokens: int = 20) -> SavedRun:
    """Requests of known latencies, ten at a time; `slower` stretches all that takes time."""
    dice = Random(f"{name} {seed}")
    rows = []
    clocks = [0.0] * 10
    for index in range(requests):
        slot = index % 10
        ttft_s = slower * dice.lognormvariate(-1.5, 0.3)
        gaps = [slower * dice.lognormvariate(-3.5, 0.2) for _ in range(tokens - 1)]
        times = [clocks[slot] + ttft_s]
        for gap in gaps:
            times.append(times[-1] + gap)
        e2el_s = times[-1] - clocks[slot]
        rows.append(SavedRequest(index, tokens, ttft_s, (e2el_s - ttft_s) / (tokens - 1), e2el_s, tuple(times)))
        clocks[slot] = times[-1]
    return run_of(name, rows, max(clocks))


def run_of(name: str, rows: list[SavedRequest], duration_s: float) -> SavedRun:
    def ms(values: list[float], at: float) -> float:
        return sorted(values)[min(len(values) - 1, int(at * len(values)))] * 1000

    ttfts, e2els = [request.ttft_s for request in rows], [request.e2el_s for request in rows]
    tpots = [request.tpot_s for request in rows if request.tpot_s is not None]
    tokens = sum(request.output_tokens for request in rows)
    document: dict[str, Any] = {
        "duration": duration_s,
        "completed": len(rows),
        "total_output_tokens": tokens,
        "request_throughput": len(rows) / duration_s,
        "output_throughput": tokens / duration_s,
    }
    for key, values in (("ttft", ttfts), ("tpot", tpots), ("e2el", e2els)):
        document |= {f"mean_{key}_ms": 1000 * sum(values) / len(values)}
        document |= {f"median_{key}_ms": ms(values, 0.5), f"p99_{key}_ms": ms(values, 0.99)}
    return SavedRun(name, document, tuple(rows))


def verdicts(actual: Comparison) -> dict[str, str]:
    return {row.name: row.verdict for row in actual.rows}


def test_the_published_gain_analysis() -> None:
    """Seed 3's own table, and the part of its +43.1 % that is longer answers: 390 and 442 tokens."""
    actual = compare(read_run(TP8), read_run(DCP8))
    gains = {row.name: round(100 * row.gain, 1) for row in actual.rows}
    assert (gains["request_throughput"], gains["output_throughput"]) == (25.6, 43.1)
    assert (gains["mean_ttft_ms"], gains["median_ttft_ms"]) == (16.0, 0.1)
    assert set(verdicts(actual).values()) == {"unknown"}
    assert not actual.same_length
    assert [round(request or 0) for request in actual.tokens] == [390, 442]


def test_a_difference_of_a_tenth_is_found() -> None:
    actual = compare(saved_run("a"), saved_run("b", slower=1.1))
    output = verdicts(actual)
    assert {output[f"{name}_ms"] for name in ("mean_ttft", "mean_tpot", "mean_e2el", "median_e2el")} == {"worse"}
    assert output["output_throughput"] == "worse"
    assert compare(saved_run("b", slower=1.1), saved_run("a")).row("mean_tpot_ms") is not None
    assert verdicts(compare(saved_run("b", slower=1.1), saved_run("a")))["mean_tpot_ms"] == "better"


@pytest.mark.parametrize(("halves", "most"), [(10, 3), pytest.param(100, 10, marks=pytest.mark.slow)])
def test_halves_of_one_run_are_not_told_apart_oftener_than_promised(halves: int, most: int) -> None:
    """Of 100 random halves five alarms are what 95 % allows, and ten what 100 tries of it may bring by chance."""
    whole = saved_run("whole", requests=300)
    alarms = 0
    for trial in range(halves):
        rows = list(whole.requests)
        Random(f"halves {trial}").shuffle(rows)
        duration_s = float(whole.document["duration"])
        request, other = run_of("a", rows[:150], duration_s), run_of("b", rows[150:], duration_s)
        alarms += any(row.ratio.differs for row in compare(request, other, seed=trial).rows)
    print(f"{alarms} of {halves} halves")
    assert alarms <= most


def test_the_same_requests_are_compared_pair_by_pair() -> None:
    first = replace(saved_run("a"), same_as=(0, 90, 20))
    second = replace(saved_run("a", slower=1.005), same_as=(0, 90, 20))
    assert compare(first, second).paired == 400
    assert verdicts(compare(first, second))["mean_e2el_ms"] == "worse"
    assert verdicts(compare(replace(first, same_as=None), second))["mean_e2el_ms"] == "no difference shown"
    assert compare(first, replace(second, same_as=(1, 90, 20))).paired == 0


def test_throughput_in_slices() -> None:
    rows = [SavedRequest(0, 4, 0.5, 1.0, 4.0, (0.5, 1.5, 2.5, 3.5)), SavedRequest(1, 8, 1.0, None, 1.0, (1.0,))]
    assert throughput_slices(SavedRun("x", {"duration": 4.0}, tuple(rows)), 4) == [1.0, 9.0, 1.0, 1.0]
    assert throughput_slices(SavedRun("x", {}, tuple(rows))) == []
    rows.append(SavedRequest(2, 2, 0.25, 1.0, 1.25, (3.25, 4.25)))  # begins at 3 s: what comes later drains
    assert throughput_slices(SavedRun("x", {"duration": 4.5}, tuple(rows)), 3) == [1.0, 9.0, 1.0]


# --- what is read ----------------------------------------------------------------------------------------------------


def test_a_folder_of_ours_with_a_torn_line(tmp_path: Path) -> None:
    files = RunFiles(tmp_path / "run")
    files.append(record(0, output_tokens=5))
    files.append(record(1, tokens_at_s=()))
    files.finish({"output_throughput": 3.0, "moonpad": {"seed": 4, "input_tokens": {"words": 90}, "output_tokens": {}}})
    files.close()
    with (tmp_path / "run" / "requests.jsonl").open("ab") as lines:
        lines.write(b'{"index": 2, "tok')
    actual = read_run(str(tmp_path / "run"))
    assert [(row.index, row.ttft_s, row.e2el_s, row.tpot_s) for row in actual.requests] == [(0, 1.0, 2.0, 0.25)]
    assert actual.same_as[:2] == (4, 90)


def test_a_file_of_vllm(tmp_path: Path) -> None:
    """The keys of `--save-result --save-detailed`; what failed, and what has no token, is left out."""
    document = {
        "output_throughput": 5.0,
        "duration": 2.0,
        "ttfts": [0.5, 0.25, 0.0],
        "itls": [[0.25, 0.25], [], []],
        "output_lens": [3, 1, 0],
        "input_lens": [10, 11, 12],
        "start_times": [100.0, 101.0, 101.5],
        "errors": ["", "", "refused"],
    }
    file = tmp_path / "vllm.json"
    file.write_bytes(orjson.dumps(document))
    assert read_run(str(file)).requests == (
        SavedRequest(0, 3, 0.5, 0.25, 1.0, (0.5, 0.75, 1.0)),
        SavedRequest(1, 1, 0.25, None, 0.25, (1.25,)),
    )
    assert read_run(str(file)).same_as is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"output_throughput"', "\x00"])
def test_what_is_no_result(tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    for named in (str(file), str(tmp_path / "nothing"), "published:nothing"):
        with pytest.raises(UsageError):
            read_run(named)


def test_of_a_p99_of_few_requests_it_is_said_how_many_it_takes() -> None:
    few, many = (
        compare(saved_run("a"), saved_run("b")),
        compare(saved_run("a", requests=600), saved_run("b", requests=600)),
    )
    assert verdicts(few)["p99_ttft_ms"] == "unknown"
    assert f"a P99 needs at least {P99_REQUESTS} requests for a confidence interval" in compare_notes(few)
    assert verdicts(many)["p99_ttft_ms"] != "unknown"
    for actual in (many, compare(read_run(TP8), read_run(DCP8))):
        assert not any("P99" in note for note in compare_notes(actual))


def test_a_run_that_was_cut_is_told_how_it_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    files = RunFiles(folder)
    files.append(record(0, output_tokens=5))
    with pytest.raises(UsageError, match="was killed before it wrote a result") as refused:
        read_run(str(folder))
    assert refused.value.remedy == f"moonpad bench --resume {folder}"
    files.finish({"output_throughput": 3.0, "moonpad": {"partial": True}})
    files.close()
    assert run(["compare", str(folder), TP8, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["partial"] == [str(folder)]
    assert run(["compare", str(folder), TP8]) == 0
    assert f"is partial; complete it with moonpad bench --resume {folder}" in " ".join(capsys.readouterr().err.split())


# --- the command -----------------------------------------------------------------------------------------------------


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", TP8, DCP8]) == 0
    captured = capsys.readouterr()
    assert "+43.1%" in captured.out
    assert "of the output throughput's +43.1%, requests a second are +26.2% and longer answers +13.3%" in captured.err
    assert run(["compare", TP8, DCP8, "--json", "--max-ratio", "mean_ttft_ms=0.9", "p99_ttft_ms=0.5"]) == 5
    document = json.loads(capsys.readouterr().out)
    assert document["broken"] == ["p99_ttft_ms is 0.658 × A's; the limit is at most 0.5"]
    assert run(["compare", TP8, DCP8, "--min-ratio", "output_throughput=0.95"]) == 5
    assert "cannot be compared" in capsys.readouterr().err
    assert run(["compare", TP8, TP8, "--min-ratio", "output_throughput=0.95"]) == 0
    for wrong in ("output_throughput", "=1", "output_throughput=x", "nothing=1"):
        assert run(["compare", TP8, TP8, "--min-ratio", wrong]) == 2
