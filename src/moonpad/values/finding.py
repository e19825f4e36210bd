"""What is wrong, how bad it is, and the one thing to do: the same type for every verb that judges."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import Final

from msgspec import Struct

from moonpad.values.records import as_dict


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Code(StrEnum):
    """The closed list of codes. Scripts match on them, so a code is never renamed."""

    UNKNOWN_FLAG = "unknown-flag"
    REMOVED_FLAG = "removed-flag"
    RENAMED_FLAG = "renamed-flag"
    PREFIX_FLAG = "prefix-flag"
    INVALID_VALUE = "invalid-value"
    MISSING_FLAG = "missing-flag"
    CONFLICT = "conflict"
    REDUNDANT_FLAG = "redundant-flag"
    DEAD_ENV = "dead-env"
    DOES_NOT_FIT = "does-not-fit"
    TIGHT = "tight"
    SUBOPTIMAL = "suboptimal"
    INSECURE = "insecure"
    ILLEGAL_LAYOUT = "illegal-layout"
    UNSUPPORTED_FORMAT = "unsupported-format"
    UNKNOWN_VERSION = "unknown-version"
    LOGGED_FAILURE = "logged-failure"
    KNOWN_REPORT = "known-report"
    MENDED_LATER = "mended-later"
    # preflight
    ENGINE_MISSING = "engine-missing"
    TOOL_MISSING = "tool-missing"
    PLATFORM_UNSUPPORTED = "platform-unsupported"
    PROCESSOR_UNSUPPORTED = "processor-unsupported"
    CHECKPOINT_MISSING = "checkpoint-missing"
    CHECKPOINT_INCOMPLETE = "checkpoint-incomplete"
    CHECKPOINT_UNKNOWN = "checkpoint-unknown"
    PORT_TAKEN = "port-taken"
    DISK_LOW = "disk-low"
    MEMORY_LOW = "memory-low"
    KEY_MISSING = "key-missing"
    KEY_EXPOSED = "key-exposed"
    HOSTS_DIFFER = "hosts-differ"
    # doctor
    HOST_SOFTWARE = "host-software"
    """Driver, CUDA, ROCm, CANN, Python or C library of a host are not what the engine's release asks for."""
    DEVICE_TROUBLE = "device-trouble"
    TOPOLOGY = "topology"
    NETWORK = "network"
    LIMIT_LOW = "limit-low"
    DISK_SLOW = "disk-slow"
    CONTAINER_RUNTIME = "container-runtime"
    ADVISORY = "advisory"
    FACT_UNKNOWN = "fact-unknown"
    # verify
    UNREACHABLE = "unreachable"
    WRONG_ANSWER = "wrong-answer"
    MODEL_NAME = "model-name"
    REASONING_LOST = "reasoning-lost"
    TOOL_CALL_LOST = "tool-call-lost"
    STREAM_BROKEN = "stream-broken"
    PARAMETER_IGNORED = "parameter-ignored"
    BAD_REQUEST = "bad-request"


class Finding(Struct, frozen=True):
    """`where` names what to look at: a flag, a key of the spec, a file, a probe."""

    severity: Severity
    code: Code
    where: str
    message: str
    remedy: str = ""

    def as_json(self) -> dict[str, str]:
        return {name: str(value) for name, value in as_dict(self).items()}


OF_MEMORY: Final = frozenset({Code.DOES_NOT_FIT, Code.TIGHT})
"""There is, or may be, too little of it."""


def errors_of(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Those that stop a launch."""
    return tuple(finding for finding in findings if finding.severity is Severity.ERROR)


# Called with `where`, the message and the remedy.
illegal: Final = partial(Finding, Severity.ERROR, Code.ILLEGAL_LAYOUT)
"""A layout that the engine refuses or fails at."""
unsupported: Final = partial(Finding, Severity.ERROR, Code.UNSUPPORTED_FORMAT)
"""A format of weights or KV cache for which there are no kernels."""
invalid: Final = partial(Finding, Severity.ERROR, Code.INVALID_VALUE)
suboptimal: Final = partial(Finding, Severity.WARNING, Code.SUBOPTIMAL)
conflict: Final = partial(Finding, Severity.WARNING, Code.CONFLICT)
