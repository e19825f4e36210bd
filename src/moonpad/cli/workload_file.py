"""A file of requests as a workload: a Mooncake trace, the requests of a bench run, or a saved result with lengths."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from moonpad.spec.input_file import read_regular
from moonpad.values.errors import UsageError
from moonpad.values.workload import Lengths, Workload

FILE_BYTES: Final = 1 << 30
MOST_INSTANTS: Final = 1000
"""As many requests as a simulated run has. Of a longer trace the arrivals are a Poisson process of its rate."""
INPUTS: Final = ("input_length", "prompt_tokens", "requested_input_tokens", "input_tokens")
OUTPUTS: Final = ("output_length", "output_tokens", "completion_tokens", "requested_output_tokens")
LINE: Final = 'a line is {"input_length": 6758, "output_length": 500}'


def workload_of_file(path: Path) -> Workload:
    """The lengths of its requests; where they have instants (`timestamp`, milliseconds), their mean rate too, and of a
    trace of at most `MOST_INSTANTS` the instants themselves; where they have `hash_ids`, the share of these that an
    earlier request had.

    Raises:
        UsageError: it cannot be read, or has no request.
    """
    try:
        text = read_regular(path, FILE_BYTES).decode("utf-8")
        rows = list(_rows(text))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not JSON"
        raise UsageError(f"--workload {path} cannot be read: {reason}", remedy=LINE) from None
    pairs = [(size, answer) for row in rows if (size := _first(row, INPUTS)) and (answer := _first(row, OUTPUTS))]
    if not pairs:
        raise UsageError(f"--workload {path} has no request with the lengths of its prompt and answer", remedy=LINE)
    instants = [float(at) for row in rows if isinstance(at := row.get("timestamp"), int | float)]
    rate: float | None = None
    arrivals: tuple[float, ...] = ()
    if len(instants) == len(rows) > 1 and (span := (max(instants) - min(instants)) / 1e3) > 0:
        rate = (len(rows) - 1) / span
        arrivals = tuple(at / 1e3 for at in sorted(instants)) if len(instants) <= MOST_INSTANTS else ()
    return Workload(
        Lengths.of([size for size, _ in pairs]),
        Lengths.of([answer for _, answer in pairs]),
        concurrency=None if rate else 1,
        rate_per_s=rate,
        arrivals_s=arrivals,
        shared_prefix=_shared(rows),
        name=path.name,
    )


def _rows(text: str) -> Iterator[Mapping[str, Any]]:
    """Lines of objects; or one with `input_lens` and `output_lens`, as `vllm bench serve --save-detailed` has."""
    lines = text.splitlines()
    if text.lstrip().startswith("{") and (len(lines) == 1 or not lines[0].rstrip().endswith("}")):
        document = json.loads(text)
        if "input_lens" in document:
            for size, answer in zip(document["input_lens"], document.get("output_lens", ()), strict=False):
                yield {"input_length": size, "output_length": answer}
            return
        yield document
        return
    for line in lines:
        if line.strip() and isinstance(row := json.loads(line), dict):
            yield row


def _first(row: Mapping[str, Any], names: tuple[str, ...]) -> float | None:
    for name in names:
        value = row.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 1:
            return float(value)
    return None


def _shared(rows: list[Mapping[str, Any]]) -> float:
    seen: set[Any] = set()
    blocks = known = 0
    for row in rows:
        ids = row.get("hash_ids")
        for block in ids if isinstance(ids, list) else ():
            if isinstance(block, int | str):
                blocks += 1
                known += block in seen
                seen.add(block)
    return min(0.99, known / blocks) if blocks else 0.0
