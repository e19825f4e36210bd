"""The result of a run that was killed before it wrote one, computed from the requests it had saved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import orjson

from moonpad.bench.lenient_json import number_at
from moonpad.bench.metrics import metrics_of
from moonpad.bench.result import BenchResult, as_json
from moonpad.bench.run_files import SERVER_FILE
from moonpad.bench.run_header import read_plan
from moonpad.bench.telemetry import Sample, ServerStats
from moonpad.load.record import RequestRecord
from moonpad.observe.metrics import EngineLoad


def killed_document(folder: Path, records: Sequence[RequestRecord]) -> dict[str, Any]:
    """As if the run had been interrupted; `date` and `client` are None, since only its process knew them.

    Raises:
        UsageError: the folder holds no run.
    """
    plan = read_plan(folder)
    duration_s = max((record.closed_s for record in records), default=0.0)
    result = BenchResult(
        plan=plan,
        began="",
        records=records,
        metrics=metrics_of(records, duration_s, plan.config.slo),
        client_cpu=0.0,
        partial=len(records) < plan.config.requests,
        workers=plan.config.workers,
        server=ServerStats(list(_server_samples(folder / SERVER_FILE))),
    )
    document = as_json(result)
    return {**document, "date": None, "moonpad": {**document["moonpad"], "client": None}}


def sample_rows(file: Path) -> Iterator[object]:
    """The lines of a file of samples, if there is one; without a line that a kill tore."""
    for line in file.read_bytes().splitlines() if file.exists() else ():
        with suppress(ValueError):
            yield orjson.loads(line)


def _server_samples(file: Path) -> Iterator[Sample]:
    for row in sample_rows(file):
        if (at_s := number_at(row, "at_s")) is not None:
            yield Sample(at_s, EngineLoad(**{field.name: number_at(row, field.name) for field in fields(EngineLoad)}))
