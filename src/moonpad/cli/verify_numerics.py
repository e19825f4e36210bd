"""`moonpad verify --numerics`: does this engine compute what a trusted one computes?"""

from __future__ import annotations

import asyncio
from importlib.resources import as_file, files
from pathlib import Path, PurePosixPath

import msgspec

from moonpad.cli.output import busy, emit_json, next_command, out
from moonpad.cli.verify_options import RecordingOptions
from moonpad.cli.verify_target import Target, refuse_unwritable, writing
from moonpad.spec.input_file import read_regular
from moonpad.store.atomic_files import replace_json
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, UsageError
from moonpad.values.visible_text import shell_word
from moonpad.verify.judged_model import Card, connect_named
from moonpad.verify.numerics.compare import Distance
from moonpad.verify.numerics.judge import NumericsVerdict, judge, record
from moonpad.verify.numerics.recording import Recording

FILE_BYTES = 64 << 20
ASKING = "log-probabilities"
ORACLES = "moonpad.catalog"
"""The package with the recordings of our own test models: `kimi-k2-tiny-logprobs.json`."""
RECORD_ONE = "moonpad verify --numerics --record FILE  writes one"


def verify_numerics(target: Target, options: RecordingOptions) -> None:
    """
    Raises:
        CheckFailed: the endpoint computes something else than was recorded, or gives no log-probabilities.
    """
    trusted = _read(options.against) if options.against else None
    if options.record:
        refuse_unwritable(options.record, "--record ANOTHER_FILE")
    endpoint = target.endpoint()
    if options.record:
        recording = asyncio.run(_record(endpoint))
        with writing(options.record, "--record ANOTHER_FILE"):
            replace_json(options.record, msgspec.to_builtins(recording), mode=0o644)
        _show_recorded(recording, options.record, target.json)
        next_command(f"moonpad verify --numerics --against {shell_word(options.record)}  --url OTHER")
        return
    verdict = asyncio.run(_judge(endpoint, trusted))
    _show(verdict, target.json)
    if not verdict.passed:
        raise CheckFailed(
            f"{verdict.model} does not compute what was recorded: {verdict.because[0]}",
            remedy="try another attention backend, kernel or parallel layout; moonpad verify --numerics again",
        )
    target.next_is_bench()


async def _record(endpoint: Endpoint) -> Recording:
    async with connect_named(endpoint) as (api, _):
        with busy(ASKING) as show:
            return await record(api, api.endpoint.base_url, lambda text: show(f"{ASKING}: {text}"))


async def _judge(endpoint: Endpoint, trusted: Recording | None) -> NumericsVerdict:
    async with connect_named(endpoint) as (api, card):
        shipped = shipped_logprobs(card)
        against = trusted or shipped
        if against is None:
            raise UsageError(
                f"there is no recording to compare {api.endpoint.model} with",
                remedy="moonpad verify --numerics --record FILE  on a trusted configuration, --against FILE here",
            )
        rounding = shipped.floor if shipped else None
        with busy(ASKING) as show:
            return await judge(api, against, rounding, lambda text: show(f"{ASKING}: {text}"))


def shipped_logprobs(card: Card) -> Recording | None:
    """The oracle's recording of this model, if it is one of our own."""
    root = card.get("root")
    model = PurePosixPath(root).name if isinstance(root, str) else str(card.get("id", ""))
    recording = files(ORACLES) / f"{model}-logprobs.json"
    if not model or "/" in model or not recording.is_file():
        return None
    with as_file(recording) as path:
        return _read(path)


def _read(path: Path) -> Recording:
    """
    Raises:
        UsageError: the file cannot be read, or is not a recording.
    """
    try:
        return msgspec.json.decode(read_regular(path, FILE_BYTES), type=Recording)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", remedy=RECORD_ONE) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not a recording of log-probabilities: {error}", remedy=RECORD_ONE) from error


def _show_recorded(recording: Recording, path: Path, json: bool) -> None:
    positions = sum(len(scored.logprobs) for scored in recording.texts.values())
    if json:
        emit_json({"model": recording.model, "file": str(path), "texts": len(recording.texts), "positions": positions})
        return
    out().print(f"{positions} positions of {len(recording.texts)} texts of {recording.model} are in {path}")
    if recording.floor:
        out().print(f"it differs from itself by {_in_words(recording.floor)}")


def _show(verdict: NumericsVerdict, json: bool) -> None:
    if json:
        emit_json(verdict.as_json())
        return
    out().print(f"{verdict.model} against {verdict.trusted}")
    if verdict.distance:
        out().print(f"  differs by       {_in_words(verdict.distance)}, over {verdict.distance.positions} positions")
        if first := verdict.distance.first_changed:
            out().print(f"  first other token at position {first.position} of {first.text}")
    out().print(f"  from itself by   {_in_words(verdict.floor)}")
    limits = verdict.limits
    out().print(f"  noise at most    {limits.mean:.3f} on average, {limits.largest:.2f}, {limits.changed:.1%}")
    for sentence in verdict.because:
        out().print(f"  {sentence}", style="red")


def _in_words(distance: Distance) -> str:
    return (
        f"{distance.mean:.4f} on average, {distance.largest:.3f} at most, "
        f"another token likeliest at {distance.changed:.2%}"
    )
