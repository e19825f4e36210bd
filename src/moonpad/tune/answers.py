"""Whether a candidate answers as the default does: the probes of verify, and its log-probabilities."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from moonpad.spec.input_file import read_regular
from moonpad.store.atomic_files import replace_json
from moonpad.tune.journal import TuneFolder
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, UsageError
from moonpad.verify import runner
from moonpad.verify.judged_model import Card, connect_named
from moonpad.verify.numerics.compare import Distance
from moonpad.verify.numerics.judge import judge, record
from moonpad.verify.numerics.recording import Recording
from moonpad.verify.own_text.recording import AnswerRecording

T = TypeVar("T")
RECORDING_BYTES: Final = 64 << 20
NO_NUMERICS: Final = "--no-numerics tunes without that proof, by the probes alone"


@dataclass(frozen=True, slots=True)
class Answers:
    """`recording_of`, `rounding_of`: what is known of a model that comes with moonpad; None of another.
    `numerics`: the log-probabilities are compared too."""

    folder: TuneFolder
    recording_of: Callable[[str], AnswerRecording | None]
    rounding_of: Callable[[Card], Distance | None]
    numerics: bool = True

    @property
    def _probes_path(self) -> Path:
        return self.folder.path / "probes.json"

    def record(self, endpoint: Endpoint, left_s: float) -> None:
        """Of the default: which probes it fails itself, and its log-probabilities. Within `left_s`, else TimeoutError.

        Raises:
            UsageError: it gives no log-probabilities.
        """
        until_s = time.monotonic() + left_s
        failed = self._failed(endpoint, left_s)
        if self.numerics:
            try:
                recording = _within(until_s - time.monotonic(), _record(endpoint))
            except CheckFailed as error:
                message = f"the answers of two settings cannot be compared: {error.message}"
                raise UsageError(message, remedy=NO_NUMERICS) from error
            replace_json(self.folder.numerics_path, msgspec.to_builtins(recording))
        replace_json(self._probes_path, {"failed": failed})

    def differences(self, endpoint: Endpoint, left_s: float) -> tuple[str, ...]:
        """What speaks against a candidate, one sentence each: probes that fail here and not of the default, and
        log-probabilities that are farther apart than noise. Within `left_s`, else TimeoutError."""
        until_s = time.monotonic() + left_s
        found = [f"{id_}: {why}" for id_, why in self._failed(endpoint, left_s).items() if id_ not in before]
        if self.numerics:
            raw = read_regular(self.folder.numerics_path, RECORDING_BYTES)
            recording = msgspec.json.decode(raw, type=Recording)
            try:
                found += _within(until_s - time.monotonic(), _judge(endpoint, recording, self.rounding_of))
            except CheckFailed as error:
                found.append(error.message)
        return tuple(found)

    def _failed(self, endpoint: Endpoint, left_s: float) -> dict[str, str]:
        report = _within(left_s, runner.verify(endpoint, recording_of=self.recording_of))
        return {result.probe.id: result.outcome.because for result in report.failed}


def _within(left_s: float, work: Coroutine[Any, Any, T]) -> T:
    async def bounded() -> T:
        return await asyncio.wait_for(work, max(0.01, left_s))

    return asyncio.run(bounded())


async def _record(endpoint: Endpoint) -> Recording:
    async with connect_named(endpoint) as (api, _):
        return await record(api, api.endpoint.base_url, lambda text: None)


async def _judge(
    endpoint: Endpoint, recording: Recording, rounding_of: Callable[[Card], Distance | None]
) -> tuple[str, ...]:
    async with connect_named(endpoint) as (api, card):
        verdict = await judge(api, recording, rounding_of(card), lambda text: None)
        return verdict.because
