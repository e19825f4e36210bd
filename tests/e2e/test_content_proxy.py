"""The real vLLM behind a proxy that spoils content: each fault is named, and the engine alone is clean.

The faults are tried several at a time, each behind a proxy of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from moonpad.cli.verify_recording import shipped_recording
from moonpad.values.endpoint import Endpoint
from moonpad.verify.probe import Outcome, Status
from moonpad.verify.runner import Report, verify
from tests.broken_endpoints.content_proxy import SOUND, ContentFault, ContentProxy, proxied
from tests.broken_endpoints.test_content_proxy import FAULTS
from tests.conftest import one_and_drawn
from tests.e2e.conftest import Served

AT_ONCE = 4
MOST_NOT_JUDGED = 6
QUICK = {
    "the last character of the arguments is lost",
    "a digit changes in completions too",
}
"""For `make test`: of streams, and by the recording. The others are for `make test-all`."""
SOME = tuple(fault for fault in FAULTS if fault.name in QUICK)
OTHERS = tuple(fault for fault in FAULTS if fault not in SOME)


async def report_behind(served: Served, fault: ContentFault, only: tuple[str, ...] = ()) -> Report:
    async with proxied(ContentProxy(served.base_url.removesuffix("/v1"), fault)) as url:
        return await verify(Endpoint(url, served.model), only=only, recording_of=shipped_recording)


def outcomes(served: Served, faults: Sequence[ContentFault]) -> Mapping[str, Outcome]:
    """Of the probe that must name it, by the fault's name."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(fault: ContentFault) -> Outcome:
        async with slots:
            (result,) = (await report_behind(served, fault, (fault.probe,))).results
            return result.outcome

    async def each() -> list[Outcome]:
        return await asyncio.gather(*(one(fault) for fault in faults))

    return dict(zip((fault.name for fault in faults), asyncio.run(each()), strict=True))


@pytest.fixture(scope="module")
def of_some(served: Served) -> Mapping[str, Outcome]:
    return outcomes(served, SOME)


@pytest.fixture(scope="module")
def of_others(served: Served, request: pytest.FixtureRequest) -> Mapping[str, Outcome]:
    """Of those that are drawn."""
    asked = {item.name for item in request.session.items}
    return outcomes(served, [fault for fault in OTHERS if f"test_the_others_are_named[{fault.name}]" in asked])


@pytest.mark.parametrize("fault", SOME, ids=lambda fault: fault.name)
def test_is_named(of_some: Mapping[str, Outcome], fault: ContentFault) -> None:
    assert of_some[fault.name].status is Status.FAIL, of_some[fault.name].because


@pytest.mark.slow
@pytest.mark.drawn
@pytest.mark.timeout(3600)  # the first of them waits for all
@pytest.mark.parametrize("fault", OTHERS, ids=lambda fault: fault.name)
def test_the_others_are_named(of_others: Mapping[str, Outcome], fault: ContentFault) -> None:
    assert of_others[fault.name].status is Status.FAIL, of_others[fault.name].because


@pytest.mark.slow
@pytest.mark.parametrize("turn", one_and_drawn(range(20)))
def test_the_engine_alone_is_clean(served: Served, turn: int) -> None:
    report = asyncio.run(report_behind(served, SOUND))
    assert not report.failed, [(result.probe.id, result.outcome.because) for result in report.failed]
    assert len(report.not_judged) <= MOST_NOT_JUDGED, [result.probe.id for result in report.not_judged]
    assert report.judges("tool_call")
    assert report.judges("reasoning")
