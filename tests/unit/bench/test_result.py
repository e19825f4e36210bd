"""What scripts and people read: vLLM's keys, its block, and the files of a run."""

from pathlib import Path

import orjson
import pytest

from moonpad.bench.config import BenchConfig
from moonpad.bench.metrics import metrics_of
from moonpad.bench.result import BenchResult, as_json
from moonpad.bench.run_files import RunFiles
from moonpad.bench.run_header import RunPlan
from moonpad.load.client_error import ClientError
from moonpad.load.failure import FailureKind, RequestFailure
from moonpad.load.prompt_calibration import PromptCalibration
from moonpad.load.record import RequestRecord
from moonpad.report.bench_block import bench_block, bench_notes
from moonpad.values.errors import CheckFailed, UsageError
from moonpad.values.records import replace
from tests.unit.bench.records import record

# What `vllm bench serve --save-result --percentile-metrics ttft,tpot,itl,e2el` of vLLM 0.32.0 wrote here.
VLLM_KEYS = frozenset(
    """
    date endpoint_type backend label model_id tokenizer_id num_prompts request_rate burstiness max_concurrency duration
    completed failed total_input_tokens total_output_tokens request_throughput request_goodput output_throughput
    total_token_throughput latencies queue_times max_output_tokens_per_s max_concurrent_requests rtfx
    mean_ttft_ms median_ttft_ms std_ttft_ms p99_ttft_ms mean_tpot_ms median_tpot_ms std_tpot_ms p99_tpot_ms
    mean_itl_ms median_itl_ms std_itl_ms p99_itl_ms mean_e2el_ms median_e2el_ms std_e2el_ms p99_e2el_ms
    """.split()  # noqa: SIM905 - a list to read
)
# What it printed, with other figures; each line ends in the spaces of its columns.
BLOCK = """\
============ Serving Benchmark Result ============
Successful requests:                     2         
Failed requests:                         1         
Maximum request concurrency:             4         
Benchmark duration (s):                  2.00      
Total input tokens:                      22        
Total generated tokens:                  6         
Request throughput (req/s):              1.00      
Output token throughput (tok/s):         3.00      
Peak output token throughput (tok/s):    4.00      
Peak concurrent requests:                2.00      
Total token throughput (tok/s):          14.00     
---------------Time to First Token----------------
Mean TTFT (ms):                          1000.00   
Median TTFT (ms):                        1000.00   
P99 TTFT (ms):                           1000.00   
-----Time per Output Token (excl. 1st token)------
Mean TPOT (ms):                          500.00    
Median TPOT (ms):                        500.00    
P99 TPOT (ms):                           500.00    
---------------Inter-token Latency----------------
Mean ITL (ms):                           500.00    
Median ITL (ms):                         500.00    
P99 ITL (ms):                            500.00    
----------------End-to-end Latency----------------
Mean E2EL (ms):                          2000.00   
Median E2EL (ms):                        2000.00   
P99 E2EL (ms):                           2000.00   
=================================================="""  # noqa: W291


CUT = RequestFailure(FailureKind.STREAM_CUT, "the connection closed")


def notes_of(result: BenchResult) -> list[str]:
    return bench_notes(result, as_json(result))


def result(*records: RequestRecord, client_cpu: float = 0.12, partial: bool = False) -> BenchResult:
    return BenchResult(
        plan=RunPlan(
            BenchConfig(requests=3), "kimi-k2", PromptCalibration(100, 128, "/tokenize"), "http://127.0.0.1:8000/v1"
        ),
        began="2026-11-20T19:00:00+00:00",
        records=records,
        metrics=metrics_of(records, 2.0),
        client_cpu=client_cpu,
        partial=partial,
    )


GOOD = result(record(0), record(1), record(2, tokens_at_s=(), failure=CUT))


def test_the_keys_of_vllm_and_ours() -> None:
    document = as_json(GOOD)
    assert set(document) >= VLLM_KEYS
    assert set(document) - VLLM_KEYS <= {"moonpad"} | {
        f"p{p}_{name}_ms" for p in (50, 90, 95) for name in ("ttft", "tpot", "itl", "e2el")
    }
    assert orjson.loads(orjson.dumps(document)) == document


def test_milliseconds_seconds_and_counts() -> None:
    document = as_json(GOOD)
    assert (document["mean_ttft_ms"], document["p99_itl_ms"], document["duration"]) == (1000.0, 500.0, 2.0)
    assert (document["completed"], document["failed"], document["num_prompts"]) == (2, 1, 3)
    assert document["latencies"] == [2.0, 2.0, None]
    assert document["moonpad"]["failures"] == {"stream-cut": 1}
    assert document["moonpad"]["input_tokens"]["requested"] == 128
    assert document["moonpad"]["input_tokens"]["mean"] == 11.0


def test_a_run_without_success_reports_null_and_not_zero() -> None:
    document = as_json(result(record(tokens_at_s=(), failure=CUT)))
    assert (document["mean_ttft_ms"], document["p99_e2el_ms"], document["moonpad"]["output_tokens"]["mean"]) == (
        None,
    ) * 3


def test_the_block() -> None:
    assert bench_block(GOOD, as_json(GOOD)) == BLOCK


def test_what_cannot_be_had_is_not_reported() -> None:
    measured = result(record(tokens_at_s=(0.5,)))
    block = bench_block(measured, as_json(measured))
    assert "Mean TPOT (ms):                          not reported" in block
    assert "0.00" not in block.split("excl. 1st token")[1].split("End-to-end")[0]


def test_notes_say_what_the_block_leaves_out() -> None:
    notes = "\n".join(notes_of(GOOD))
    assert "input 128 and 11.0, output 64 and 3.0" in notes
    assert "2 answers came without usage: their output tokens" in notes
    assert "1 × stream-cut; first error: the connection closed" in notes
    assert "CPU 12% of one core" in notes
    assert "client-bound" not in notes
    assert "partial" not in notes


def test_client_bound_and_partial_are_said() -> None:
    measured = result(record(0), client_cpu=0.71, partial=True)
    notes = "\n".join(notes_of(measured))
    assert "partial: 1 of 3 requests ended" in notes
    assert "client-bound" not in notes
    first, second, *_ = bench_block(measured, as_json(measured)).splitlines()
    assert first.startswith("client-bound: the latencies may be the client's own (it used 71% of a core)")
    assert "Serving Benchmark Result" in second


@pytest.mark.parametrize(
    ("slip_s", "cpu", "bound"), [(0.009, 0.7, False), (0.011, 0.1, True), (0.001, 0.71, True), (0.011, 0.9, True)]
)
def test_client_bound_by_slip_or_by_processor(slip_s: float, cpu: float, bound: bool) -> None:
    late = replace(record(0), started_s=0.5 + slip_s, queued_s=0.4, connect_s=0.1)
    assert bool(result(late, client_cpu=cpu).client_bound_by) is bound


@pytest.mark.parametrize(("lag_s", "bound"), [(0.009, False), (0.011, True)])
def test_client_bound_by_a_loop_that_is_late(lag_s: float, bound: bool) -> None:
    measured = replace(GOOD, client_lag_s=lag_s)
    assert bool(measured.client_bound_by) is bound
    assert as_json(measured)["moonpad"]["client"]["p99_lag_ms"] == lag_s * 1000
    assert ("client-bound" in bench_block(measured, as_json(measured))) is bound


@pytest.mark.parametrize(
    ("ttft_error_s", "itl_ratio", "bound"),
    [(0.009, 1.0, False), (0.090, 1.0, True), (0.0, 1.2, False), (0.0, 1.3, True)],
)
def test_client_bound_by_its_error_against_a_known_server(ttft_error_s: float, itl_ratio: float, bound: bool) -> None:
    measured = replace(GOOD, client_error=ClientError(16, 0.04, ttft_error_s, 0.05, itl_ratio, 0.2))
    assert bool(measured.client_bound_by) is bound


def test_a_client_that_is_late_where_answers_take_long_is_not_bound() -> None:
    slow = result(record(0, tokens_at_s=(2.0, 2.1)))
    assert not replace(slow, client_error=ClientError(16, 0.04, 0.030, 0.05, 1.0, 0.2)).client_bound_by


def test_the_clients_own_error_is_said() -> None:
    measured = replace(GOOD, client_error=ClientError(16, 0.04, 0.0012, 0.0034, 1.01, 0.2))
    assert (
        "with 16 streams: TTFT +1.20 ms, at P99 +3.40 ms; P99 of ITL 1.010 of the true value" in notes_of(measured)[-1]
    )
    assert as_json(measured)["moonpad"]["client"]["error"]["ttft_error_mean_ms"] == 1.2
    assert "its own error was not measured" in notes_of(GOOD)[-1]
    assert as_json(GOOD)["moonpad"]["client"]["error"] is None


@pytest.mark.parametrize("name", ["input_tokens", "output_tokens", "requests", "concurrency", "warmup"])
def test_a_config_that_cannot_be_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="--" + name.replace("_", "-")):
        BenchConfig(**{name: -1})  # type: ignore[arg-type]


def test_a_line_a_request_and_the_result_by_rename(tmp_path: Path) -> None:
    files = RunFiles(tmp_path / "run")
    files.append(record(0))
    files.append(record(2, tokens_at_s=(), failure=CUT))
    lines = [orjson.loads(line) for line in (tmp_path / "run" / "requests.jsonl").read_bytes().splitlines()]
    assert [line["index"] for line in lines] == [0, 2]
    assert lines[0]["token_times_s"] == [1.0, 1.5, 2.0]
    assert lines[1]["failure"] == {"kind": "stream-cut", "text": "the connection closed", "status": 0}
    files.finish(as_json(GOOD))
    files.close()
    assert orjson.loads((tmp_path / "run" / "result.json").read_bytes()) == as_json(GOOD)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["requests.jsonl", "result.json"]


def test_a_folder_that_holds_a_run_is_not_written_again(tmp_path: Path) -> None:
    RunFiles(tmp_path).close()
    with pytest.raises(UsageError, match="already holds a run"):
        RunFiles(tmp_path)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written"):
        RunFiles(tmp_path / "file" / "run")


def test_a_full_disk_ends_the_run_and_names_what_is_kept(tmp_path: Path) -> None:
    """Fault 24 in small: /dev/full takes no byte."""
    files = RunFiles(tmp_path / "run")
    files.close()
    files._lines = Path("/dev/full").open("wb", buffering=0)  # type: ignore[assignment] # noqa: SIM115
    with pytest.raises(CheckFailed, match="No space left on device; 0 requests are saved"):
        files.append(record(0))
    files.close()
