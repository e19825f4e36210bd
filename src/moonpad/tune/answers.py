"""Whether a candidate answers as the default does: the probes of verify, and its log-probabilities."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from moonpad.spec.input_file import read_regular
from moonpad.store.atomic_files import replace_json
from moonpad.tune.accuracy import Accuracy, AccuracyVerdict, verdict_of
from moonpad.tune.candidate import DEFAULT
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
    accuracy: Accuracy | None = None
    """The winner's questions, where they were asked for."""

    def record(self, endpoint: Endpoint, left_s: float) -> None:
        """The default's log-probabilities, within `left_s`, else TimeoutError.

        Raises:
            UsageError: it gives none.
        """
        if not self.numerics:
            return
        try:
            recording = _within(left_s, _record(endpoint))
        except CheckFailed as error:
            message = f"the answers of two settings cannot be compared: {error.message}"
            raise UsageError(message, remedy=NO_NUMERICS) from error
        replace_json(self.folder.numerics_path, msgspec.to_builtins(recording))

    def failed_probes(self, endpoint: Endpoint, only: Sequence[str] = ()) -> dict[str, str]:
        """Those of the quick set that fail, with the reason of each; of `only`, where it is not empty."""
        report = asyncio.run(runner.verify(endpoint, only=only, recording_of=self.recording_of))
        return {result.probe.id: result.outcome.because for result in report.failed}

    def numerics_apart(self, endpoint: Endpoint) -> tuple[str, ...]:
        """How its log-probabilities are farther from the default's than noise, one sentence each."""
        if not self.numerics:
            return ()
        raw = read_regular(self.folder.numerics_path, RECORDING_BYTES)
        recording = msgspec.json.decode(raw, type=Recording)
        try:
            return asyncio.run(_judge(endpoint, recording, self.rounding_of))
        except CheckFailed as error:
            return (error.message,)

    def ask_questions(self, candidate: str, endpoint: Endpoint) -> None:
        """Raises MoonpadError where they cannot be asked."""
        if self.accuracy is not None:
            self.accuracy.ask(endpoint, self._eval_folder(candidate))

    def accuracy_of(self, candidate: str) -> AccuracyVerdict | None:
        """None where nothing was asked for. Raises UsageError where no question has an answer of both."""
        if self.accuracy is None:
            return None
        return verdict_of(self.accuracy.compare(self._eval_folder(DEFAULT), self._eval_folder(candidate)))

    def _eval_folder(self, candidate: str) -> Path:
        digest = hashlib.sha256(candidate.encode()).hexdigest()[:12]
        return self.folder.path / "evals" / (DEFAULT if candidate == DEFAULT else digest)


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
