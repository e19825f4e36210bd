"""`moonpad verify --numerics`: does this engine compute what a trusted one computes?"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from importlib.resources import as_file, files
from json import loads
from pathlib import Path, PurePosixPath

from moonpad.cli.endpoint import EndpointOptions, resolve_endpoint
from moonpad.cli.output import busy, clean, emit_json, next_command, out
from moonpad.cli.verify_options import NumericsOptions
from moonpad.store.files import replace_json
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, UsageError
from moonpad.verify.api import connect
from moonpad.verify.numerics.compare import Distance
from moonpad.verify.numerics.judge import Verdict, judge, record
from moonpad.verify.numerics.recording import Recording, as_document, of_document
from moonpad.verify.subject import Card, subject_of

FILE_BYTES = 64 << 20
ASKING = "log-probabilities"
ORACLES = "moonpad.catalog"
"""Recordings of our own test models lie beside them: `kimi-k2-tiny-logprobs.json`."""


def verify_numerics(spec: Path | None, at: EndpointOptions, options: NumericsOptions, *, json: bool) -> None:
    record_to, against = options.record, options.against
    if not options.numerics:
        raise UsageError("--record and --against compare numbers", remedy="moonpad verify --numerics --against FILE")
    if record_to and against:
        raise UsageError("--record and --against at once", remedy="record the trusted endpoint, then compare the other")
    trusted = _read(against) if against else None
    endpoint = resolve_endpoint(spec, at)
    if record_to:
        made = asyncio.run(_record(endpoint))
        _write(record_to, made)
        _show_recorded(made, record_to, json)
        next_command(f"moonpad verify --numerics --against {record_to}  --url OTHER")
        return
    verdict = asyncio.run(_judge(endpoint, trusted))
    _show(verdict, json)
    if not verdict.passed:
        raise CheckFailed(
            f"{verdict.model} does not compute what was recorded: {verdict.because[0]}",
            remedy="another attention backend, kernel or parallel layout; moonpad verify --numerics again",
        )
    next_command("moonpad bench" + at.words(spec))


async def _record(endpoint: Endpoint) -> Recording:
    async with connect(endpoint, None) as api:
        named, _ = await subject_of(api)
        with busy(ASKING) as say:
            return await record(replace(api, endpoint=named), named.base_url, lambda text: say(f"{ASKING}: {text}"))


async def _judge(endpoint: Endpoint, trusted: Recording | None) -> Verdict:
    async with connect(endpoint, None) as api:
        named, card = await subject_of(api)
        with busy(ASKING) as say:
            shipped = _shipped(card)
            against = trusted or shipped
            if against is None:
                raise UsageError(
                    f"there is nothing to compare {named.model} with",
                    remedy="moonpad verify --numerics --record FILE  on a configuration that you trust, "
                    "--against FILE here",
                )
            known = shipped.floor if shipped else None
            return await judge(replace(api, endpoint=named), against, known, lambda text: say(f"{ASKING}: {text}"))


def _shipped(card: Card) -> Recording | None:
    """What an oracle said of this model, where it is one of our own."""
    root = card.get("root")
    model = PurePosixPath(root).name if isinstance(root, str) else str(card.get("id", ""))
    found = files(ORACLES) / f"{model}-logprobs.json"
    if not model or "/" in model or not found.is_file():
        return None
    with as_file(found) as path:
        return _read(path)


def _read(path: Path) -> Recording:
    """
    Raises:
        UsageError: there is none, or it is none.
    """
    try:
        if path.stat().st_size > FILE_BYTES:
            raise ValueError(f"it has {path.stat().st_size} bytes, a recording at most {FILE_BYTES}")
        return of_document(loads(path.read_bytes()))
    except OSError as error:
        raise UsageError(
            f"{path}: {error.strerror or error}", remedy="moonpad verify --numerics --record FILE  makes one"
        ) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{path} is no recording of log-probabilities: {error}",
            remedy="moonpad verify --numerics --record FILE  makes one",
        ) from error


def _write(path: Path, made: Recording) -> None:
    try:
        replace_json(path, as_document(made), mode=0o644)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}", remedy="--record ELSEWHERE") from error


def _show_recorded(made: Recording, path: Path, json: bool) -> None:
    if json:
        emit_json({"model": made.model, "file": str(path), "texts": len(made.texts), "positions": _positions(made)})
        return
    out().print(f"{_positions(made)} positions of {len(made.texts)} texts of {clean(made.model)} are in {path}")
    if made.floor:
        out().print(f"it differs from itself by {_said(made.floor)}")


def _positions(made: Recording) -> int:
    return sum(len(one.logprobs) for one in made.texts.values())


def _show(verdict: Verdict, json: bool) -> None:
    if json:
        emit_json(verdict.as_json())
        return
    out().print(f"{clean(verdict.model)} against {clean(verdict.trusted)}")
    if verdict.distance:
        out().print(f"  differs by       {_said(verdict.distance)}, over {verdict.distance.positions} positions")
        if first := verdict.distance.first_changed:
            out().print(f"  first other token at position {first.position} of {first.text}")
    out().print(f"  from itself by   {_said(verdict.floor)}")
    limits = verdict.limits
    out().print(f"  noise at most    {limits.mean:.3f} on average, {limits.largest:.2f}, {limits.changed:.1%}")
    for sentence in verdict.because:
        out().print(f"  {clean(sentence)}", style="red")


def _said(distance: Distance) -> str:
    return (
        f"{distance.mean:.4f} on average, {distance.largest:.3f} at most, "
        f"another token likeliest at {distance.changed:.2%}"
    )
