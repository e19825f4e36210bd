"""`moonpad bench`: an endpoint's latency and throughput."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from moonpad.cli.endpoint import ANY_ENDPOINT, EndpointOptions, resolve_endpoint
from moonpad.cli.measured import kept_in, measured_path
from moonpad.cli.output import bar, clean, emit_json, next_command, note, out
from moonpad.cli.workload import ANY_WORKLOAD, WorkloadOptions, trace_length
from moonpad.values.errors import CheckFailed, Interrupted, UsageError

USERS = 4
REQUESTS = 32
OUTPUT_TOKENS = "64"

if TYPE_CHECKING:
    from moonpad.bench.result import BenchResult
    from moonpad.bench.run import OnProgress, Progress
    from moonpad.bench.slo import Slo
    from moonpad.load.arrivals import Arrivals
    from moonpad.load.lengths import Lengths
    from moonpad.load.workloads.workload import Workload


def bench(
    spec: Path | None = None,
    *,
    at: EndpointOptions = ANY_ENDPOINT,
    input_tokens: str = "128",
    output_tokens: str | None = None,
    ignore_eos: Annotated[bool, Parameter(negative=())] = False,
    temperature: float | None = None,
    asked: WorkloadOptions = ANY_WORKLOAD,
    requests: int | None = None,
    concurrency: int | None = None,
    rate: float | None = None,
    arrivals: Literal["poisson", "constant", "gamma"] = "poisson",
    burstiness: float = 1.0,
    slo: str = "",
    warmup: int = 2,
    seed: int = 0,
    workers: int = 1,
    calibrate: bool = True,
    sweep: str | None = None,
    requests_per_stream: int = 10,
    repeat: int | None = None,
    resume: str | None = None,
    out: Path | None = None,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Measure an endpoint with streamed answers. Exit 5 where no request succeeded, 6 where nothing answers.

    Parameters
    ----------
    spec
        The spec whose endpoint is meant; without it and --url, the only endpoint that is up.
    input_tokens
        Input tokens a request, chat template included; random words, as many as the server counts. 128, 64..512
        uniform, lognormal:512,0.6 (median, sigma), @FILE one of its numbers.
    output_tokens
        Output tokens a request, at most, 64; written in the same ways. Of a file, what it says.
    ignore_eos
        Go on to that number of output tokens whatever the model says (vLLM, SGLang).
    temperature
        0 makes the answers the same each time; without it, the server's default.
    requests
        Requests that are measured, 32; of a trace all.
    concurrency
        Users at a time, 4: each sends its next request when the last one is answered. With --rate, a cap on requests
        in flight, none by default; who waits for it waits in the latencies too.
    rate
        Requests a second that arrive whatever the server does, or inf for all at once.
    arrivals
        With --rate: how they are spread.
    burstiness
        With --arrivals gamma: the shape; 1 is Poisson, below it is burstier.
    slo
        Limits of a good request, ttft=500ms,tpot=50ms,e2el=20s: the good ones a second are the goodput.
    warmup
        Requests before, which are not measured.
    seed
        Of the prompts: the same seed sends the same ones.
    workers
        Client processes that share the load, where one core is not enough.
    calibrate
        Behind the run, measure the client's own error under the same load: two seconds.
    sweep
        Loads one after another: concurrency=1,2,4,8 or requests=1,16,32. What --out has of it already is not measured
        again. A table, where the load stops paying, and why.
    requests_per_stream
        With --sweep concurrency: requests for each user.
    repeat
        The same so many times, each with prompts of its own: how far the figures lie apart.
    resume
        The folder or the name of a run that was cut: only what is left of it is sent, with its own options.
    out
        A new folder for requests.jsonl (each request as it ends), server.jsonl and result.json; of a sweep the folder
        above those. Without it they are kept where moonpad runs lists them.
    json
        Print one JSON document on stdout: the keys of `vllm bench serve`, and ours under `moonpad`.
    """
    from moonpad.bench.config import BenchConfig
    from moonpad.bench.run import resume_bench, run_bench

    workload = asked.read()
    if requests is None:
        requests = trace_length(workload) if workload.kind == "trace" else REQUESTS
    open_loop = rate is not None or workload.kind == "trace"
    config = BenchConfig(
        input_tokens=_lengths("--input-tokens", input_tokens),
        output_tokens=_output_lengths(output_tokens, workload),
        workload=workload,
        api=asked.api,
        ignore_eos=ignore_eos,
        temperature=temperature,
        requests=requests,
        concurrency=USERS if concurrency is None and not open_loop else concurrency,
        arrivals=_arrivals(rate, arrivals, burstiness),
        slo=_slo(slo),
        warmup=warmup,
        seed=seed,
        workers=workers,
        measure_client=calibrate,
    )
    endpoint = resolve_endpoint(spec, at)
    if resume is not None and (out or sweep or repeat is not None):
        raise UsageError("--resume goes on in the folder that it names", remedy="leave --out, --sweep and --repeat out")
    if repeat is not None:
        if sweep:
            raise UsageError("--repeat and --sweep are two things", remedy="leave one of them out")
        from moonpad.cli.repeat import bench_repeat

        with kept_in(out) as folder:
            bench_repeat(endpoint, config, repeat, folder, at.words(spec), json=json)
        return
    if sweep is not None:
        from moonpad.cli.sweep import bench_sweep

        with kept_in(out) as folder:
            bench_sweep(endpoint, config, sweep, requests_per_stream, folder, json=json)
        return
    with kept_in(measured_path(resume) if resume is not None else out) as folder, progress_bar() as on_progress:
        if resume is not None and folder is not None:
            result = resume_bench(endpoint, folder, on_progress=on_progress)
        else:
            result = run_bench(endpoint, config, out_dir=folder, on_progress=on_progress)
    _show(result, json)
    if folder:
        note(f"written: {folder}")
    same_endpoint = at.words(spec)
    _judge(result, same_endpoint)
    more = f"--rate {2 * rate:g}" if rate else f"--concurrency {2 * (concurrency or USERS)}"
    next_command(f"moonpad bench{same_endpoint} {more} --requests {2 * requests}")


def _arrivals(rate: float | None, kind: Literal["poisson", "constant", "gamma"], burstiness: float) -> Arrivals | None:
    from moonpad.load.arrivals import Arrivals

    if rate is None:
        if kind != "poisson" or burstiness != 1.0:
            raise UsageError("--arrivals and --burstiness are of an open loop", remedy="--rate 4, requests a second")
        return None
    return Arrivals(rate, kind, burstiness)


def _lengths(flag: str, text: str) -> int | Lengths:
    from moonpad.load.lengths import parse_lengths

    lines: list[str] = []
    if text.startswith("@"):
        try:
            lines = Path(text[1:]).read_text().splitlines()
        except (OSError, ValueError) as error:
            raise UsageError(f"{flag} {text}: the file cannot be read: {error}", remedy="one number a line") from error
    lengths = parse_lengths(text, lines)
    return lengths if lengths.fixed is None else lengths.fixed


def _output_lengths(text: str | None, workload: Workload) -> int | Lengths | None:
    if text is None and workload.file:
        return None
    return _lengths("--output-tokens", OUTPUT_TOKENS if text is None else text)


def _slo(text: str) -> Slo:
    from moonpad.bench.slo import Slo
    from moonpad.spec.durations import parse_duration

    limits = {}
    for part in text.split(",") if text else ():
        name, _, value = part.partition("=")
        if name.strip() not in ("ttft", "tpot", "e2el"):
            raise UsageError(f"--slo has no {name.strip()!r}", remedy="--slo ttft=500ms,tpot=50ms,e2el=20s")
        try:
            limits[f"{name.strip()}_s"] = parse_duration(value.strip())
        except ValueError as error:
            raise UsageError(f"--slo {part}: {error}", remedy="--slo ttft=500ms,tpot=50ms,e2el=20s") from error
    return Slo(**limits)


@contextmanager
def progress_bar() -> Iterator[OnProgress]:
    from moonpad.bench.live import Live

    live: Live | None = None
    shown = ""
    with bar("calibrate", 1) as show:

        def on_progress(progress: Progress) -> None:
            nonlocal live, shown
            text = f"{progress.phase}, {progress.failed} failed" if progress.failed else progress.phase
            if progress.record is not None:
                live = live or Live(monotonic)
                live.take(progress.record)
                text = f"{text}: {live.said(progress.running)}"
            if text != shown or progress.done == progress.total:  # of a thousand that end at once, a few are shown
                shown = text
                show(progress.done, text, progress.total)

        yield on_progress


def _show(result: BenchResult, json: bool) -> None:
    from moonpad.bench.result import as_json
    from moonpad.report.bench_block import bench_block, bench_notes

    if json:
        emit_json(as_json(result))
    else:
        out().print(bench_block(result))
    for line in bench_notes(result):
        note(line)


def _judge(result: BenchResult, same_endpoint: str) -> None:
    done, planned = len(result.records), result.config.requests
    if result.partial:
        raise Interrupted(f"interrupted after {done} of {planned} requests; the figures are of these")
    if not result.metrics.completed:
        kinds = ", ".join(f"{count} × {kind}" for kind, count in result.metrics.failures.items())
        raise CheckFailed(
            f"none of {planned} requests succeeded: {clean(kinds)}", remedy=f"moonpad verify{same_endpoint}"
        )
