"""What a rule is asked, and what it should say."""

from __future__ import annotations

from dataclasses import dataclass, field

from moonpad.values.checkpoint import Architecture
from moonpad.values.cluster import Cluster
from moonpad.values.finding import Code, Severity
from moonpad.values.plan import Layout, Settings
from tests.unit.plan.rules.builders import (
    H200,
    K2_256K,
    K3,
    cluster,
)

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE
ILLEGAL, FORMAT, VALUE = Code.ILLEGAL_LAYOUT, Code.UNSUPPORTED_FORMAT, Code.INVALID_VALUE
SUBOPTIMAL, CONFLICT, PLATFORM = Code.SUBOPTIMAL, Code.CONFLICT, Code.PLATFORM_UNSUPPORTED

assert K3.linear is not None
K3_LINEAR = K3.linear
ONE = cluster(H200)
TWO = cluster(H200, 2)
FOUR = cluster(H200, 4)
TWELVE = cluster(H200, 12)


@dataclass(frozen=True)
class Trial:
    """`says` empty: the rule is silent."""

    layout: Layout = field(default_factory=lambda: Layout(tp=8))
    scheme: str = "int4"
    on: Cluster = ONE
    engine: str = "vllm"
    version: str = "0.32.0"
    settings: Settings = field(default_factory=Settings)
    architecture: Architecture = K2_256K
    says: tuple[str, ...] = ()
    where: str = ""
    severity: Severity = ERROR
    code: Code = ILLEGAL
