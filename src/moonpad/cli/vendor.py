"""`moonpad verify --vendor FILE`: Moonshot's two scores of an endpoint, over a set of requests."""

from __future__ import annotations

import asyncio
import json as json_module
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from moonpad.cli.endpoint import EndpointOptions
from moonpad.cli.output import bar, emit_json, next_command, out
from moonpad.cli.verify_options import VendorOptions
from moonpad.store.files import LINE_BYTES, append_line
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, UsageError
from moonpad.verify.api import connect
from moonpad.verify.subject import subject_of
from moonpad.verify.vendor import Score, VendorRequest, ask_all, read_requests, score
from moonpad.verify.vendor_set import own_requests

OWN = "own"
MOST_AT_ONCE = 1024


def verify_vendor(
    spec: Path | None,
    at: EndpointOptions,
    requests: str,
    options: VendorOptions,
    *,
    gate: bool,
    out_file: Path | None,
    json: bool,
) -> None:
    """Asks what `out_file` has no answer to yet, and scores all of it.

    Raises:
        CheckFailed: a request failed, the trigger similarity is below the floor, or the gate is not passed.
    """
    from moonpad.cli.verdict import check_gate, endpoint_of, gate_of, with_gate, words_of

    if out_file is None:
        raise UsageError("--vendor writes its results to a file", remedy="--vendor own --out results.jsonl")
    if not 1 <= options.concurrency <= MOST_AT_ONCE:
        raise UsageError(f"--concurrency {options.concurrency}: from 1 to {MOST_AT_ONCE}", remedy="--concurrency 5")
    if options.floor is not None and options.reference is None:
        raise UsageError("--floor is of the likeness to a reference", remedy="--reference RESULTS.jsonl")
    limits = gate_of(spec, at) if gate else None
    asked = own_set() if requests == OWN else read_requests(_lines(Path(requests)))
    theirs = _rows(options.reference) if options.reference else []
    endpoint = endpoint_of(spec, at, gate=gate)
    wanted = {request.index: request.hash for request in asked}
    known = [row for row in _rows(out_file) if _answers(row, wanted)] if out_file.exists() else []
    done = {row["data_index"] for row in known}
    asyncio.run(_run(endpoint, [one for one in asked if one.index not in done], len(asked), out_file, options))
    rows = {row["data_index"]: row for row in _rows(out_file) if row.get("hash") == wanted.get(row["data_index"])}
    found = score(rows.values(), theirs)
    broken = limits.of_score(found) if limits else None
    _show(found, with_gate({**found.as_json(), "results": str(out_file)}, broken) if json else None)
    if found.failure_count:
        remedy = f'look for "failed" in {out_file}; the same command asks those again'
        raise CheckFailed(f"{found.failure_count} of {len(rows)} requests failed", remedy=remedy)
    check_gate(broken)
    _judge(found, options.floor)
    next_command("moonpad bench" + words_of(spec, at, gate=gate))


def _judge(found: Score, floor: float | None) -> None:
    if floor is not None and (found.tool_call_f1 or 0.0) < floor:
        raise CheckFailed(
            f"the trigger similarity is {found.tool_call_f1 or 0.0:.3f}, below {floor:g}",
            remedy="moonpad verify: the parsers first; then chat template and ids in the history",
        )


def own_set() -> list[VendorRequest]:
    return [VendorRequest(number, body) for number, body in enumerate(own_requests(), 1)]


async def _run(
    endpoint: Endpoint, asked: Sequence[VendorRequest], of: int, out_file: Path, options: VendorOptions
) -> None:
    if not asked:
        return
    async with connect(endpoint, None) as api:
        named, _ = await subject_of(api)
        with bar("asking", of) as show:
            count = of - len(asked)
            show(count)
            rows = ask_all(replace(api, endpoint=named), asked, concurrency=options.concurrency, stream=options.stream)
            async for row in rows:
                _keep(out_file, row)
                count += 1
                show(count)


def _keep(out_file: Path, row: Mapping[str, Any]) -> None:
    """A line as it comes; without its request where that is too long for one."""
    if len(json_module.dumps(row)) > LINE_BYTES // 2:
        row = {name: value for name, value in row.items() if name != "request"}
    try:
        out_file.parent.mkdir(parents=True, exist_ok=True)
        append_line(out_file, row)
    except OSError as error:
        raise UsageError(f"{out_file} cannot be written: {error.strerror or error}", remedy="--out FILE") from error


def _answers(row: Mapping[str, Any], wanted: Mapping[int, str]) -> bool:
    index = row.get("data_index")
    return row.get("status") == "success" and isinstance(index, int) and wanted.get(index) == row.get("hash")


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", remedy="--vendor FILE.jsonl, or own") from error


def _rows(path: Path) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(_lines(path), 1):
        try:
            row = json_module.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict) or not isinstance(row.get("data_index"), int):
            raise UsageError(f"{path}, line {number}: no result of the vendor verifier", remedy="name a results file")
        rows.append(row)
    return rows


def _show(found: Score, document: Mapping[str, object] | None) -> None:
    """The document on stdout where it is given, else the scores in words."""
    if document is not None:
        emit_json(document)
        return
    accuracy = "no call" if found.schema_accuracy is None else f"{found.schema_accuracy:.2%}"
    out().print(
        f"{found.success_count} answers, {found.failure_count} failed\n"
        f"finish_reason: {found.finish_tool_calls} tool_calls, {found.finish_stop} stop, {found.finish_others} others\n"
        f"schema accuracy: {accuracy} ({found.successful_tool_call_count} of {found.finish_tool_calls})",
        markup=False,
        highlight=False,
    )
    if found.compared:
        likeness = "no call" if found.tool_call_f1 is None else f"{found.tool_call_f1:.2%}"
        out().print(
            f"trigger similarity (F1): {likeness} over {found.compared} requests", markup=False, highlight=False
        )
