"""What is wrong between the hosts of one run: connections that are blocked, packets that are lost, what differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.doctor.checks.wording import error, note, warning
from moonpad.doctor.examine import ANY, Reach
from moonpad.doctor.survey import Survey
from moonpad.facts.device import DeviceFacts
from moonpad.facts.devices import device_kind
from moonpad.facts.probe import Unknown
from moonpad.values.finding import Code, Finding

FAR_S: Final = 0.005
"""A connection between machines of one room is made in a fraction of a millisecond."""


def reach_findings(reached: Sequence[Reach]) -> dict[str, list[Finding]]:
    """By the node that tried."""
    findings: dict[str, list[Finding]] = {}
    pairs = sorted({(each.source, each.target) for each in reached})
    for source, target in pairs:
        own = [each for each in reached if (each.source, each.target) == (source, target)]
        findings.setdefault(source, []).extend(_of_pair(source, target, own))
    return findings


def _of_pair(source: str, target: str, tried: Sequence[Reach]) -> Iterator[Finding]:
    failed = [each for each in tried if "error" in each.answer]
    address = tried[0].address
    if len(failed) == len(tried):
        message = f"{source} cannot reach {target} ({address}): {failed[0].answer['error']}"
        remedy = "allow all TCP ports between the hosts' addresses: engines choose some of theirs at the start"
        yield error(Code.NETWORK, target, message, remedy)
        return
    for each in failed:
        which = "ports that the system chooses" if each.wanted == ANY else f"port {each.wanted}"
        message = f"{source} cannot reach {which} of {target} ({address}): {each.answer['error']}"
        yield error(Code.NETWORK, target, message, "allow all TCP ports between the hosts' addresses")
    for answer in [each.answer for each in tried if "error" not in each.answer][:1]:
        if answer["longest"] is False:
            message = f"packets of {answer['mtu']} bytes from {source} do not arrive at {target}, short ones do"
            yield error(Code.NETWORK, "mtu", message, "set the same MTU on both interfaces and on the switch between")
        elif answer["longest"] is None and answer["mtu"] is not None and answer["mtu"] <= 65_535:
            yield note(Code.FACT_UNKNOWN, "mtu", f"whether long packets reach {target} is unknown: it got no datagram")
        if answer["took_s"] > FAR_S:
            message = f"a connection to {target} takes {answer['took_s'] * 1000:.1f} ms"
            yield note(Code.NETWORK, target, message)


def differences(surveys: Sequence[Survey]) -> dict[str, list[Finding]]:
    """By node: where it differs from the first one, in what should be the same on all."""
    first, *others = surveys
    findings: dict[str, list[Finding]] = {}
    for survey in others:
        for what, own, expected in zip(_NAMES, _alike(survey), _alike(first), strict=True):
            if own is not None and expected is not None and own != expected:
                message = f"{what} {own}; on {first.host} {expected}"
                remedy = "make them the same: ranks of one engine run in step"
                findings.setdefault(survey.node, []).append(warning(Code.HOSTS_DIFFER, what, message, remedy))
    return findings


_NAMES: Final = ("driver", "devices", "glibc", "kernel")


def _alike(survey: Survey) -> tuple[str | None, ...]:
    """In the order of `_NAMES`; None where it is not known."""
    facts = survey.devices()
    driver = kinds = None
    if isinstance(facts, DeviceFacts) and facts.tool:
        driver = None if isinstance(facts.driver, Unknown) else facts.driver
        names = [device_kind(device) for device in facts.devices]
        kinds = ", ".join(f"{names.count(name)} of {name}" for name in sorted(set(names)))
    return driver, kinds, " ".join(survey.answer["libc"]), ".".join(str(survey.answer["system"][1]).split(".")[:2])
