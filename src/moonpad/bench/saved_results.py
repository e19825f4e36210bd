"""Runs that were measured before, as they are compared: ours, those of `vllm bench serve`, and published blocks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

import orjson

from moonpad.bench.lenient_json import number_at, value_at
from moonpad.bench.run_files import REQUESTS_FILE, RESULT_FILE
from moonpad.bench.saved_records import SavedRecords
from moonpad.catalog.published import published_by_id
from moonpad.load.record import RequestRecord
from moonpad.spec.json_input import read_json_file
from moonpad.values.errors import UsageError
from moonpad.values.visible_text import shell_word

PUBLISHED: Final = "published:"
MAKE_ONE: Final = "moonpad bench --out FOLDER makes one"


@dataclass(frozen=True, slots=True)
class SavedRequest:
    """A request that succeeded. Seconds; `token_times_s` count from the run's start, empty if not saved."""

    index: int
    output_tokens: int
    ttft_s: float
    tpot_s: float | None
    e2el_s: float
    token_times_s: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class SavedRun:
    """`document` has the keys of `vllm bench serve`; `requests` is empty where only the figures were saved.

    same_as: what two runs must share for their requests to be the same, by index; None if unknown.
    """

    name: str
    document: Mapping[str, Any]
    requests: tuple[SavedRequest, ...] = ()
    same_as: tuple[object, ...] | None = None

    def figure(self, name: str) -> float | None:
        """A figure of the document; None if missing or not a number."""
        return number_at(self.document, name)

    @property
    def partial(self) -> bool:
        """It was interrupted: the figures are of the requests that had ended."""
        return value_at(self.document, "moonpad", "partial") is True

    @property
    def tokens_an_answer(self) -> float | None:
        tokens, completed = self.figure("total_output_tokens"), self.figure("completed")
        return tokens / completed if tokens is not None and completed else None


def read_run(named: str) -> SavedRun:
    """A run's folder, a file of results, or `published:ID` of the catalogue.

    Raises:
        UsageError: it is missing, or not a run.
    """
    if named.startswith(PUBLISHED):
        return _published(named.removeprefix(PUBLISHED))
    path = Path(named)
    folder = path if path.is_dir() else None
    file = folder / RESULT_FILE if folder else path
    if folder and not file.exists() and (folder / REQUESTS_FILE).exists():
        raise UsageError(
            f"{folder} was killed before it wrote a result", remedy=f"moonpad bench --resume {shell_word(folder)}"
        )
    document = read_document(file)
    if folder and (folder / REQUESTS_FILE).is_file():
        requests = tuple(_ours(SavedRecords(folder / REQUESTS_FILE)))
        return SavedRun(named, document, requests, _same_as(document))
    return SavedRun(named, document, tuple(_vllms(document)))


def _published(id_: str) -> SavedRun:
    results = published_by_id()
    if id_ not in results:
        raise UsageError(f"the catalogue has no result {id_!r}", remedy=f"name one of {', '.join(results)}")
    return SavedRun(f"{PUBLISHED}{id_}", dict(results[id_].figures))


def read_document(file: Path) -> dict[str, Any]:
    """A result with the keys of `vllm bench serve`.

    Raises:
        UsageError: it is missing, or not a result.
    """
    try:
        document = read_json_file(file)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}", remedy=MAKE_ONE) from error
    except ValueError as error:
        raise UsageError(f"{file} is not a benchmark result: {error}", remedy=MAKE_ONE) from error
    if not isinstance(document, dict) or "output_throughput" not in document:
        raise UsageError(f"{file} is not a benchmark result: it has no output_throughput", remedy=MAKE_ONE)
    return document


def _ours(records: Iterable[RequestRecord]) -> Iterable[SavedRequest]:
    for record in records:
        times = record.token_times_s
        if record.ok and times and record.ttft_s is not None:
            tokens = record.output_tokens
            yield SavedRequest(record.index, tokens, record.ttft_s, record.tpot_s, record.e2el_s, times)


def _vllms(document: Mapping[str, Any]) -> Iterable[SavedRequest]:
    """The requests of `--save-detailed`; `start_times` are of its clock, and count from the first here."""
    names = ("ttfts", "itls", "output_lens", "start_times", "errors")
    columns = [document.get(name) for name in names]
    if not all(isinstance(column, list) for column in columns):
        return
    starts = [start_s for start_s in document["start_times"] if isinstance(start_s, int | float)]
    zero_s = min(starts, default=0.0)
    for index, (ttft_s, itls, tokens, start_s, error) in enumerate(zip(*columns, strict=False)):
        if error or not tokens or not isinstance(ttft_s, float) or not isinstance(itls, list):
            continue
        e2el_s = ttft_s + math.fsum(itls)
        times = tuple(accumulate(itls, initial=start_s - zero_s + ttft_s))
        tpot_s = (e2el_s - ttft_s) / (tokens - 1) if tokens > 1 else None
        yield SavedRequest(index, tokens, ttft_s, tpot_s, e2el_s, times)


def _same_as(document: Mapping[str, Any]) -> tuple[object, ...] | None:
    """Our own prompts follow from the seed, the lengths and the model's tokenizer."""
    ours = document.get("moonpad")
    if not isinstance(ours, dict):
        return None
    prompts, workload = ours.get("input_tokens", {}), {**ours.get("workload", {}), "file": None}  # its digest is there
    return (
        ours.get("seed"),
        prompts.get("words"),
        prompts.get("exact"),
        ours.get("output_tokens", {}).get("requested"),
        ours.get("temperature"),
        orjson.dumps(workload),
    )


def throughput_slices(run: SavedRun, count: int = 20) -> list[float]:
    """Output tokens a second in so many equal slices of the run; empty where token times were not saved.

    The slices end with the last request's start, since the drain after it is not noise; or with the run, where all
    requests start in its first half. A chunk's tokens are its request's, spread evenly over its chunks.
    """
    duration_s = run.figure("duration")
    requests = [request for request in run.requests if request.token_times_s]
    if not duration_s or not requests:
        return []
    last_s = max(request.token_times_s[0] - request.ttft_s for request in requests)
    end_s = last_s if duration_s / 2 < last_s < duration_s else duration_s
    width_s = end_s / count
    slices = [0.0] * count
    for request in requests:
        share = request.output_tokens / len(request.token_times_s)
        for time_s in request.token_times_s:
            if time_s < end_s or end_s == duration_s:
                slices[min(count - 1, max(0, int(time_s / width_s)))] += share / width_s
    return slices
