"""`moonpad verify --vendor FILE`: Moonshot's two scores of an endpoint, for a set of requests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from moonpad.cli.output import bar, emit, note
from moonpad.cli.verify_options import VendorOptions
from moonpad.cli.verify_target import Target, check_gate, refuse_unwritable, with_gate, writing
from moonpad.spec.input_file import read_regular
from moonpad.spec.json_input import lines_in, load_json
from moonpad.store.atomic_files import LINE_BYTES, append_line
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, MoonpadError, UsageError
from moonpad.verify.judged_model import connect_named
from moonpad.verify.vendor import Score, VendorRequest, ask_all, read_requests, score
from moonpad.verify.vendor_set import own_requests

OWN = "own"
MOST_AT_ONCE = 1024
FILE_BYTES = 64 << 20
"""Moonshot's own set of 4000 requests, with its answers, has some 30 MB."""


def verify_vendor(target: Target, requests: str, options: VendorOptions, out_file: Path | None) -> None:
    """Asks the requests that `out_file` has no answer to yet, and scores them all.

    Raises:
        CheckFailed: a request failed, the trigger similarity is below the floor, or the gate is not passed.
    """
    if out_file is None:
        raise UsageError("--vendor needs a file for its results", remedy="--vendor own --out results.jsonl")
    if not 1 <= options.concurrency <= MOST_AT_ONCE:
        raise UsageError(
            f"--concurrency {options.concurrency}: must be from 1 to {MOST_AT_ONCE}", remedy="--concurrency 5"
        )
    if options.floor is not None and options.reference is None:
        raise UsageError("--floor needs a reference to compare with", remedy="--reference RESULTS.jsonl")
    refuse_unwritable(out_file, "--out FILE")
    limits = target.limits()
    chosen = own_set() if requests == OWN else read_requests(_lines(Path(requests)))
    reference = _rows(options.reference) if options.reference else []
    if options.reference and not reference:
        raise UsageError(f"{options.reference} holds no results", remedy="name a file that --vendor --out wrote")
    endpoint = target.endpoint()
    wanted = {request.index: request.hash for request in chosen}
    earlier = _rows(out_file) if out_file.exists() else []
    done = {row["data_index"] for row in earlier if row.get("status") == "success" and _is_of(row, wanted)}
    missing = [request for request in chosen if request.index not in done]
    failure: MoonpadError | None = None
    try:
        if missing:
            asyncio.run(_run(endpoint, missing, len(chosen), out_file, options))
    except MoonpadError as error:
        if not out_file.exists():
            raise
        failure = error  # what was answered before is scored all the same
    rows = {row["data_index"]: row for row in _rows(out_file) if _is_of(row, wanted)}
    result = score(rows.values(), reference)
    broken = limits.of_score(result) if limits else None
    document = with_gate({**result.as_json(), "results": str(out_file)}, broken)
    emit("\n".join(_lines_of(result)), document, json=target.json)
    if problem := next((row["tool_calls_problem"] for row in rows.values() if row.get("tool_calls_problem")), None):
        note(f"the first call that is not valid: {problem}")
    if failure:
        raise failure
    if result.failure_count:
        remedy = f'look for "failed" in {out_file}; the same command asks those again'
        raise CheckFailed(f"{result.failure_count} of {len(rows)} requests failed", remedy=remedy)
    check_gate(broken)
    similarity = result.tool_call_f1 or 0.0
    if options.floor is not None and similarity < options.floor:
        raise CheckFailed(
            f"the trigger similarity is {similarity:.3f}, below {options.floor:g}",
            remedy="moonpad verify checks the parsers; then look at chat template and ids in the history",
        )
    target.next_is_bench()


def own_set() -> list[VendorRequest]:
    return [VendorRequest(number, body) for number, body in enumerate(own_requests(), 1)]


async def _run(
    endpoint: Endpoint, missing: Sequence[VendorRequest], total: int, out_file: Path, options: VendorOptions
) -> None:
    async with connect_named(endpoint) as (api, _):
        with bar("asking", total) as show:
            count = total - len(missing)
            show(count)
            async for row in ask_all(api, missing, concurrency=options.concurrency, stream=options.stream):
                _keep(out_file, row)
                count += 1
                show(count)


def _keep(out_file: Path, row: Mapping[str, Any]) -> None:
    """A line as it comes; without its request, or the answer too, if those are too long for one."""
    if len(json.dumps(row)) > LINE_BYTES // 2:
        row = {name: value for name, value in row.items() if name != "request"}
    if (size := len(json.dumps(row))) > LINE_BYTES // 2:
        row = {**row, "response": {"error": f"{size} bytes, too long to be kept"}}
    with writing(out_file, "--out FILE"):
        out_file.parent.mkdir(parents=True, exist_ok=True)
        append_line(out_file, row)


def _is_of(row: Mapping[str, Any], wanted: Mapping[int, str]) -> bool:
    """Whether a row is of one of these requests, and not of another set with the same line numbers."""
    return row["data_index"] in wanted and wanted[row["data_index"]] == row.get("hash")


def _lines(path: Path) -> list[str]:
    try:
        return [line.decode("utf-8") for line in lines_in(read_regular(path, FILE_BYTES))]
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{path} cannot be read: {reason}", remedy="--vendor FILE.jsonl, or own") from error


def _rows(path: Path) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(_lines(path), 1):
        try:
            row = load_json(line.encode("utf-8", "surrogatepass"))
        except ValueError:
            row = None
        if not isinstance(row, dict) or not isinstance(row.get("data_index"), int):
            raise UsageError(f"{path}, line {number}: not a result of --vendor", remedy="name a results file")
        rows.append(row)
    return rows


def _lines_of(result: Score) -> Iterator[str]:
    """The scores in words."""
    valid, calls = result.successful_tool_call_count, result.finish_tool_calls
    accuracy = "no call" if result.schema_accuracy is None else f"{result.schema_accuracy:.2%}"
    yield f"{result.success_count} answers, {result.failure_count} failed"
    yield f"finish_reason: {calls} tool_calls, {result.finish_stop} stop, {result.finish_others} others"
    yield f"schema accuracy: {accuracy} ({valid} of {calls} calls valid)"
    if result.compared:
        similarity = "no call" if result.tool_call_f1 is None else f"{result.tool_call_f1:.2%}"
        yield f"trigger similarity (F1): {similarity} over {result.compared} requests"
