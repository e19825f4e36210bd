"""`moonpad bench`: an endpoint's latency and throughput."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from moonpad.bench.config import BenchConfig
from moonpad.cli.bench_options import (
    WorkloadOptions,
    read_arrivals,
    read_lengths,
    read_output_lengths,
    read_slo,
)
from moonpad.cli.endpoint import EndpointOptions, resolve_endpoint
from moonpad.cli.run_argument import measured_path, output_folder
from moonpad.load.deadlines import RequestDeadlines
from moonpad.load.workloads.recorded import read_chats, read_trace
from moonpad.values.errors import UsageError

USERS = 4
REQUESTS = 32


def bench(
    spec: Path | None = None,
    *,
    at: EndpointOptions = EndpointOptions(),
    input_tokens: str = "128",
    output_tokens: str | None = None,
    ignore_eos: bool = False,
    temperature: float | None = None,
    workload: WorkloadOptions = WorkloadOptions(),
    requests: int | None = None,
    concurrency: int | None = None,
    rate: float | None = None,
    arrivals: Literal["poisson", "constant", "gamma"] = "poisson",
    burstiness: float = 1.0,
    slo: str = "",
    warmup: int = 2,
    seed: int = 0,
    workers: int = 1,
    calibrate: Annotated[bool, Parameter(negative="--no-calibrate")] = True,
    sweep: str | None = None,
    requests_per_stream: int = 10,
    repeat: int | None = None,
    resume: str | None = None,
    out: Path | None = None,
    json: bool = False,
) -> None:
    """Measure an endpoint with streamed answers. Exit 5 if no request succeeded, 6 if nothing answers.

    Parameters
    ----------
    spec
        The spec whose endpoint to measure; without it and --url, the only endpoint that is up.
    input_tokens
        Input tokens per request, chat template included, as the server counts them: 128, 64..512 (uniform),
        lognormal:512,0.6 (median, sigma), or @FILE (one of its numbers).
    output_tokens
        Most output tokens per request, 64, written in the same ways; a dataset file has its own.
    ignore_eos
        Generate exactly that number of output tokens (vLLM, SGLang).
    temperature
        0 makes answers repeatable; default: the server's own.
    requests
        Requests to measure, 32; of a trace all.
    concurrency
        Concurrent users, 4: each sends its next request when the last one is answered. With --rate, the most requests
        in flight (default: no limit); waiting for a slot counts in the latencies.
    rate
        Requests per second, sent whatever the server does; inf: all at once.
    arrivals
        With --rate: the distribution of the gaps.
    burstiness
        With --arrivals gamma: the shape; 1 is Poisson, lower is burstier.
    slo
        Limits of a good request, ttft=500ms,tpot=50ms,e2el=20s; goodput is good requests per second.
    warmup
        Unmeasured requests before.
    seed
        Of the prompts: the same seed sends the same prompts.
    workers
        Client processes that share the load, if one core is not enough.
    calibrate
        After the run, measure the client's own error under the same load (two seconds).
    sweep
        Several loads in turn: concurrency=1,2,4,8 or requests=1,16,32. Loads already in --out are not measured again.
        Prints a table, the load past which more does not pay, and why.
    requests_per_stream
        With --sweep concurrency: requests per user.
    repeat
        Measure so many times, each with its own prompts, and show how much the figures vary.
    resume
        The folder or name of an interrupted run: the rest of it is sent, with its own options.
    out
        A new folder for requests.jsonl (each request as it ends), server.jsonl and result.json; for a sweep, of such
        folders. Default: a folder that moonpad runs lists.
    json
        Print one JSON document on stdout: the keys of `vllm bench serve`, and ours under `moonpad`.
    """
    if resume is not None and (out or sweep or repeat is not None):
        raise UsageError("--resume continues in the run's own folder", remedy="leave out --out, --sweep and --repeat")
    if repeat is not None and sweep:
        raise UsageError("--repeat and --sweep cannot be combined", remedy="leave one of them out")
    work = workload.read()
    if requests is None:
        requests = len(read_trace(Path(work.file), work.digest)) if work.kind == "trace" else REQUESTS
    if work.kind == "sharegpt":
        read_chats(Path(work.file), work.digest, work.turns)  # a wrong file is refused before anything is asked
    open_loop = rate is not None or work.kind == "trace"
    config = BenchConfig(
        input_tokens=read_lengths("--input-tokens", input_tokens),
        output_tokens=read_output_lengths(output_tokens, work),
        workload=work,
        api=workload.api,
        ignore_eos=ignore_eos,
        temperature=temperature,
        requests=requests,
        concurrency=USERS if concurrency is None and not open_loop else concurrency,
        arrivals=read_arrivals(rate, arrivals, burstiness),
        slo=read_slo(slo),
        warmup=warmup,
        seed=seed,
        workers=workers,
        measure_client=calibrate,
        deadlines=RequestDeadlines().within(at.timeout_s),
    )
    endpoint, folder = resolve_endpoint(spec, at), measured_path(resume) if resume is not None else out
    from moonpad.cli.bench_run import Bench

    measurement = Bench(endpoint, at.words(spec), json)
    if spec is not None and at.url is None:
        from moonpad.cli.bench_predicted import predictor_of

        measurement.predicted = predictor_of(spec)
    with output_folder(folder) as place:
        if repeat is not None:
            measurement.repeat(config, repeat, place)
        elif sweep is not None:
            measurement.sweep(config, sweep, requests_per_stream, place)
        else:
            measurement.single(config, place, resume=resume is not None)
