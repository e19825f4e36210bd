"""Liveness."""

from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.mend import Mend
from moonpad.verify.probe import Outcome, Probe, failed, passed


async def run(api: Api) -> Outcome:
    reply = await api.get_root("/health")
    if reply.status == 200:
        return passed("/health answers 200")
    if reply.status in (401, 403, 404, 405):
        return passed(f"alive, without an open /health ({reply.status}), as behind a gateway")
    message = f"/health answers {reply.status}: {reply.error_text()}"
    return failed(
        Code.UNREACHABLE, "/health", message, "wait until the engine is ready, or look at its log: moonpad logs"
    )


PROBE = Probe(
    id="health",
    proves="something answers at the address and calls itself healthy",
    matters="load balancers and Kubernetes send traffic by it; it says nothing about the answers",
    mend=Mend(each="wait until the model is loaded; then moonpad status and moonpad logs say why not"),
    run=run,
)
