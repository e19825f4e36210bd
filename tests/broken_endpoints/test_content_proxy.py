"""Each fault of the content is named by the right probe, before a scripted server in seconds; the real engine is in
tests/e2e/test_content_proxy.py."""

from __future__ import annotations

import asyncio

import pytest

from moonpad.values.endpoint import Endpoint
from moonpad.verify.probe import Status
from moonpad.verify.runner import Report, verify
from tests.broken_endpoints.content_faults import WHOLE_FAULTS
from tests.broken_endpoints.content_proxy import SOUND, ContentFault, ContentProxy, proxied
from tests.broken_endpoints.request_faults import REQUEST_FAULTS
from tests.broken_endpoints.server import BrokenEndpoint, serve
from tests.broken_endpoints.stream_faults import STREAM_FAULTS
from tests.broken_endpoints.test_broken_endpoints import DEADLINES, failed_of

FAULTS = (*WHOLE_FAULTS, *STREAM_FAULTS, *REQUEST_FAULTS)


def report_behind(fault: ContentFault, only: tuple[str, ...] = ()) -> Report:
    async def ask() -> Report:
        async with serve(BrokenEndpoint()) as endpoint, proxied(ContentProxy(endpoint.root_url, fault)) as url:
            return await verify(Endpoint(url, endpoint.model), only=only, deadlines=DEADLINES)

    return asyncio.run(ask())


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_is_named(fault: ContentFault) -> None:
    (result,) = report_behind(fault, (fault.probe,)).results
    assert result.outcome.status is Status.FAIL, result.outcome.because
    assert result.outcome.findings[0].remedy


def test_nothing_is_said_of_a_sound_proxy() -> None:
    report = report_behind(SOUND)
    assert failed_of(report) == set(), report.as_json()
    skipped = {result.probe.id for result in report.results if result.outcome.status is Status.SKIP}
    assert skipped == {"auth"}, report.as_json()


def test_there_are_enough_of_them_and_each_once() -> None:
    names = [fault.name for fault in FAULTS]
    assert len(names) == len(set(names)) >= 80
