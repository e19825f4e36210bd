"""Weights that are mapped into the memory of a container, against what it may use of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.hardware import hardware
from moonpad.engines.former_forms import OVERRIDES
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_memory import memory_limit
from moonpad.explain.checks.memory.least_weights import least_weights
from moonpad.explain.checks.memory.stated_memory import stated_gigabytes
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.units import GIB

_ALL_EXPERTS: Final = re.compile(
    r"[\\.^]*(?:blk\\?\.(?:\.\*|\.\+|\\d\+|\[0-9\]\+)\\?\.)?(?:ffn_)?(?:\.\*|\.\+)?_?exps?[\\.]*(?:weight)?\$?=CPU",
    re.IGNORECASE,
)
"""`.ffn_.*_exps.=CPU`, `exps=CPU`: those of all layers, and all three matrices of each."""
_OF_SWITCH: Final = ("--cpu-moe", "-cmoe")
_OUTSIDE: Final = 0.1
"""Of a model of hundreds of experts, what is none of them, at the most."""
_MANY: Final = 100


def ram_of_container(case: Case) -> Iterator[Remark]:
    """Told where the devices that the container gets would not hold the rest, however much is laid on them."""
    command = case.commands[0]
    if not case.engine.facts.gguf_only or is_fragment(command) or command.custom:
        return
    if case.option("--rpc") is not None or (limit := memory_limit(case)) is None:
        return
    case.script.budget.work(len(case.script.lines), "the weights of its text")
    if (weights := least_weights(case)) is None:
        return
    held, said = weights
    on_devices, what = _on_devices(case, held)
    if on_devices is None or held <= limit[0] + on_devices:
        return
    message = f"{said}, {limit[1]} leaves the container {limit[0] / GIB:,.0f} GiB, "
    message += f"and {what} {on_devices / GIB:,.0f} GiB at most: what has no room is read from the disk again for each "
    message += "token, if it loads at all"
    remedy = (
        f"raise the limit above {(held - on_devices) / GIB:,.0f} GiB, or take "
        f"{'a smaller model' if case.checkpoint is None else 'weights of fewer bits'}"
    )
    yield make_remark(Severity.WARNING, Code.MEMORY_LOW, "host memory", message, remedy)


def _on_devices(case: Case, held: float) -> tuple[float | None, str]:
    """Bytes of the weights that its devices can take: where the kind is not known, by the most that the text speaks of,
    else of the largest kind there is; None where their number is not known either."""
    checkpoint = case.checkpoint
    override = case.text(OVERRIDES.get(case.engine.program, "")).strip("'\"")
    if (checkpoint is not None and (checkpoint.architecture.routed_experts or 0) > _MANY) and (
        case.option(*_OF_SWITCH) is not None or any(map(_ALL_EXPERTS.fullmatch, override.split(",")))
    ):
        return _OUTSIDE * held, "what is not of the experts is"
    if case.cluster is not None:
        return case.cluster.devices * case.cluster.device.usable_bytes, "the devices hold"
    container = case.commands[0].container
    count = container.devices if container is not None else None
    largest = max(row.device.usable_bytes for row in hardware().values() if row.device is not None)
    stated = stated_gigabytes(case)
    return (count * (min(stated * GIB, largest) if stated else largest) if count else None), "the devices hold"
