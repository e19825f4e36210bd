"""`moonpad bench`: an endpoint's latency and throughput."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moonpad.cli.endpoint import ANY_ENDPOINT, EndpointOptions, resolve_endpoint
from moonpad.cli.output import bar, clean, emit_json, next_command, note, out
from moonpad.values.errors import CheckFailed, Interrupted

if TYPE_CHECKING:
    from moonpad.bench.result import BenchResult
    from moonpad.bench.run import OnProgress, Progress


def bench(
    spec: Path | None = None,
    *,
    at: EndpointOptions = ANY_ENDPOINT,
    input_tokens: int = 128,
    output_tokens: int = 64,
    ignore_eos: Annotated[bool, Parameter(negative=())] = False,
    temperature: float | None = None,
    requests: int = 32,
    concurrency: int = 4,
    warmup: int = 2,
    seed: int = 0,
    out: Path | None = None,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Measure an endpoint with streamed chats. Exit 5 where no request succeeded, 6 where nothing answers.

    Parameters
    ----------
    spec
        The spec whose endpoint is meant; without it and --url, the only endpoint that is up.
    input_tokens
        Input tokens a request, chat template included; random words, as many as the server counts.
    output_tokens
        Output tokens a request, at most.
    ignore_eos
        Go on to that number of output tokens whatever the model says (vLLM, SGLang).
    temperature
        0 makes the answers the same each time; without it, the server's default.
    requests
        Requests that are measured.
    concurrency
        Users at a time: each sends its next request when the last one is answered.
    warmup
        Requests before, which are not measured.
    seed
        Of the prompts: the same seed sends the same ones.
    out
        A new folder for requests.jsonl (each request as it ends) and result.json.
    json
        Print one JSON document on stdout: the keys of `vllm bench serve`, and ours under `moonpad`.
    """
    from moonpad.bench.config import BenchConfig
    from moonpad.bench.run import run_bench

    config = BenchConfig(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        ignore_eos=ignore_eos,
        temperature=temperature,
        requests=requests,
        concurrency=concurrency,
        warmup=warmup,
        seed=seed,
    )
    endpoint = resolve_endpoint(spec, at)
    with _progress() as on_progress:
        result = run_bench(endpoint, config, out_dir=out, on_progress=on_progress)
    _show(result, json)
    if out:
        note(f"written: {out}")
    same_endpoint = at.words(spec)
    _judge(result, same_endpoint)
    next_command(f"moonpad bench{same_endpoint} --concurrency {2 * concurrency} --requests {2 * requests}")


@contextmanager
def _progress() -> Iterator[OnProgress]:
    with bar("calibrate", 1) as show:

        def on_progress(progress: Progress) -> None:
            failed = f", {progress.failed} failed" if progress.failed else ""
            show(progress.done, progress.phase + failed, progress.total)

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
