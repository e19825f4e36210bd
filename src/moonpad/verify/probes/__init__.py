"""The probes, one file each, in the order in which they run: liveness first."""

from collections.abc import Sequence
from typing import Final

from moonpad.verify.probe import Probe
from moonpad.verify.probes import chat, health, models, reasoning, streaming, tool_call, wrong_model

PROBES: Final[Sequence[Probe]] = (
    health.PROBE,
    models.PROBE,
    chat.PROBE,
    streaming.PROBE,
    reasoning.PROBE,
    tool_call.PROBE,
    wrong_model.PROBE,
)
