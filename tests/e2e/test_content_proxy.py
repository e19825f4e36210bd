"""The real vLLM behind a proxy that spoils content: each fault is named, and the engine alone is clean."""

from __future__ import annotations

import asyncio

import pytest

from moonpad.cli.verify_recording import shipped_recording
from moonpad.values.endpoint import Endpoint
from moonpad.verify.probe import Status
from moonpad.verify.runner import Report, verify
from tests.broken_endpoints.content_proxy import SOUND, ContentFault, ContentProxy, proxied
from tests.broken_endpoints.test_content_proxy import FAULTS
from tests.e2e.conftest import Served

MOST_NOT_JUDGED = 6
SOME = tuple(fault for place, fault in enumerate(FAULTS) if place % 24 == 0)
"""For `make test`; the others are for `make test-all`."""


def report_behind(served: Served, fault: ContentFault, only: tuple[str, ...] = ()) -> Report:
    async def ask() -> Report:
        async with proxied(ContentProxy(served.base_url.removesuffix("/v1"), fault)) as url:
            return await verify(Endpoint(url, served.model), only=only, recording_of=shipped_recording)

    return asyncio.run(ask())


@pytest.mark.parametrize(
    "fault",
    [pytest.param(fault, marks=() if fault in SOME else pytest.mark.slow, id=fault.name) for fault in FAULTS],
)
def test_is_named(served: Served, fault: ContentFault) -> None:
    (result,) = report_behind(served, fault, (fault.probe,)).results
    assert result.outcome.status is Status.FAIL, result.outcome.because


@pytest.mark.slow
@pytest.mark.parametrize("turn", range(20))
def test_the_engine_alone_is_clean(served: Served, turn: int) -> None:
    report = report_behind(served, SOUND)
    assert not report.failed, [(result.probe.id, result.outcome.because) for result in report.failed]
    assert len(report.not_judged) <= MOST_NOT_JUDGED, [result.probe.id for result in report.not_judged]
    assert report.judges("tool_call")
    assert report.judges("reasoning")
