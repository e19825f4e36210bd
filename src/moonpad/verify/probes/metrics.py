"""The engine's own figures."""

from typing import Final

from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.mend import Mend
from moonpad.verify.probe import Outcome, Probe, failed, passed, skipped

RUNNING: Final = ("vllm:num_requests_running", "sglang:num_running_reqs")


async def run(api: Api) -> Outcome:
    reply = await api.get_root("/metrics")
    if reply.status in (401, 403, 404, 405):
        remedy = "SGLang has it with --enable-metrics; a front keeps it closed, rightly"
        return skipped(f"no /metrics here (HTTP {reply.status}): {remedy}")
    if reply.status != 200:
        message = f"/metrics answers {reply.status}: {reply.error_text()}"
        return failed(Code.WRONG_ANSWER, "/metrics", message, "look at the engine's log: moonpad logs")
    count = running(reply.text)
    if count is None:
        message = f"/metrics names none of {', '.join(RUNNING)}"
        return failed(Code.WRONG_ANSWER, "/metrics", message, "ask the engine itself: this may be a gateway's own page")
    return passed(f"requests running: {count:.0f}")


def running(text: str) -> float | None:
    """Requests that run, over all data-parallel ranks; None where no such figure is in it."""
    values = []
    for line in text.splitlines():
        name, _, value = line.rpartition(" ")
        if name.partition("{")[0] in RUNNING:
            try:
                values.append(float(value))
            except ValueError:
                return None
    return sum(values) if values else None


PROBE = Probe(
    id="metrics",
    proves="/metrics has the number of requests that run",
    matters="a hang behind a healthy /health is found by it alone",
    mend=Mend(
        vllm="leave --disable-log-stats out",
        sglang="--enable-metrics",
        gateway="ask the engine itself for /metrics",
    ),
    run=run,
)
