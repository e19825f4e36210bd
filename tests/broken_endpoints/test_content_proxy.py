"""Each fault of the content is named by the right probe, before a scripted server in seconds; the real engine is in
tests/e2e/test_content_proxy.py."""

from __future__ import annotations

import asyncio

import pytest

from moonpad.values.endpoint import Endpoint
from moonpad.verify.own_text.recording import AnswerRecording
from moonpad.verify.probe import Status
from moonpad.verify.runner import Report, verify
from tests.broken_endpoints.content_faults import WHOLE_FAULTS
from tests.broken_endpoints.content_proxy import SOUND, ContentFault, ContentProxy, proxied
from tests.broken_endpoints.rarer_faults import RARER_FAULTS
from tests.broken_endpoints.request_faults import REQUEST_FAULTS
from tests.broken_endpoints.server import BrokenEndpoint, serve
from tests.broken_endpoints.stream_faults import STREAM_FAULTS
from tests.broken_endpoints.test_broken_endpoints import DEADLINES, failed_of

FAULTS = (*WHOLE_FAULTS, *STREAM_FAULTS, *REQUEST_FAULTS, *RARER_FAULTS)


def report_behind(fault: ContentFault, only: tuple[str, ...] = (), recording: AnswerRecording | None = None) -> Report:
    async def ask() -> Report:
        async with serve(BrokenEndpoint()) as endpoint, proxied(ContentProxy(endpoint.root_url, fault)) as url:
            target = Endpoint(url, endpoint.model)
            return await verify(target, only=only, deadlines=DEADLINES, recording_of=lambda model: recording)

    return asyncio.run(ask())


@pytest.fixture(scope="module")
def recording() -> AnswerRecording:
    """Of the sound endpoint, as `verify --record` writes it."""
    report = report_behind(SOUND)
    return AnswerRecording(report.model, "the sound endpoint", "", report.own_texts)


@pytest.mark.parametrize(
    "fault",
    # Every second one for `make test`.
    [pytest.param(fault, marks=pytest.mark.slow if number % 2 else []) for number, fault in enumerate(FAULTS)],
    ids=lambda fault: fault.name,
)
def test_is_named(fault: ContentFault, recording: AnswerRecording) -> None:
    (result,) = report_behind(fault, (fault.probe,), recording if fault.completion else None).results
    assert result.outcome.status is Status.FAIL, result.outcome.because
    assert result.outcome.findings[0].remedy


@pytest.mark.parametrize("recorded", [False, True])
def test_nothing_is_said_of_a_sound_proxy(recorded: bool, recording: AnswerRecording) -> None:
    report = report_behind(SOUND, recording=recording if recorded else None)
    assert failed_of(report) == set(), report.as_json()
    skipped = {result.probe.id for result in report.results if result.outcome.status is Status.SKIP}
    assert skipped == {"auth"}, report.as_json()


def test_there_are_enough_of_them_and_each_once() -> None:
    names = [fault.name for fault in FAULTS]
    assert len(names) == len(set(names)) >= 80
