"""The devices: as many as needed, sound, idle, not held back, and seen by the session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.host_requirements import requirement_of
from moonpad.doctor.checks.wording import error, note, warning
from moonpad.doctor.need import Need
from moonpad.doctor.survey import Survey
from moonpad.facts.device_findings import OLDEST_CUDA, device_findings
from moonpad.facts.nvidia import TROUBLE, throttle_reasons
from moonpad.facts.probe import Unknown, number_or_none
from moonpad.values.finding import Code, Finding
from moonpad.values.platform import Platform

TOOLS: Final = {Platform.CUDA: "nvidia", Platform.ROCM: "amd", Platform.ASCEND: "ascend"}
NAMES: Final = {"nvidia": "nvidia-smi", "amd": "amd-smi", "rocm": "rocm-smi", "ascend": "npu-smi"}

SOME_CAP: Final = 0.95
"""Of its default: a power limit below it costs speed that can be measured."""
VARIABLES: Final = {
    Platform.CUDA: ("CUDA_VISIBLE_DEVICES",),
    Platform.ROCM: ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"),
    Platform.ASCEND: ("ASCEND_RT_VISIBLE_DEVICES",),
}


def sound(survey: Survey, need: Need) -> Iterator[Finding]:
    """What `up` refuses too (facts/device_findings.py), with the CUDA of the engine's release."""
    if need.platform is Platform.CPU:
        return
    facts = survey.devices()
    tool = next((name for name in ("nvidia", "amd", "rocm", "ascend") if survey.has_tool(name)), "")
    if tool and survey.hangs(tool):
        message = f"{NAMES[tool]} hangs: {survey.answer['commands'][tool]['error']}"
        yield error(
            Code.DEVICE_TROUBLE, "devices", message, "restart the machine: a driver that hangs does not recover"
        )
        return
    if not tool and not need.platform:
        yield note(Code.FACT_UNKNOWN, "devices", "no driver's tool is here: nvidia-smi, amd-smi, rocm-smi, npu-smi")
        return
    wanted = requirement_of(need.engine, str(need.platform or ""), need.version)
    cuda = int(wanted.cuda) if wanted and wanted.cuda else OLDEST_CUDA
    held = need.held if need.held is not None and need.held.all_of(_pids(survey)) else None
    for finding in device_findings(facts, need.devices, cuda):
        if held is None or finding.code is not Code.MEMORY_LOW:
            yield finding
        else:
            yield note(Code.MEMORY_LOW, finding.where, f"{finding.message}: held by {held.by}")


def _pids(survey: Survey) -> list[int]:
    """Of the processes on NVIDIA's devices."""
    text = survey.output("nvidia processes")
    lines = [] if isinstance(text, Unknown) else text.splitlines()
    return [int(pid) for line in lines if (pid := [*line.split(","), ""][1].strip()).isdigit()]


def whose(survey: Survey, need: Need) -> Iterator[Finding]:
    """The processes on NVIDIA's devices, by their owners; those of the spec's own deployment left out."""
    own = need.held.pids if need.held is not None else frozenset()
    pids = [str(pid) for pid in _pids(survey) if pid not in own]
    if not pids or (need.held is not None and not own):
        return
    owners = survey.output("owners")
    known = {}
    for line in owners.splitlines() if isinstance(owners, str) else []:
        pid, _, rest = line.strip().partition(" ")
        user, _, command = rest.strip().partition(" ")
        known[pid] = f"{user}'s {command.strip()}"
    counts = Counter(pids)
    words = [f"pid {pid} ({known.get(pid, 'not seen from here')})" for pid in sorted(counts, key=int)]
    shown = ", ".join(words[:4]) + (f" and {len(words) - 4} more" if len(words) > 4 else "")
    yield warning(Code.DEVICE_TROUBLE, "devices", f"in use by {shown}", "stop them first, if this run is to have all")


def health(survey: Survey, need: Need) -> Iterator[Finding]:
    """Slowdowns, power limits and persistence of NVIDIA's devices."""
    lazy, capped = [], []
    for row in survey.nvidia_rows():
        index, reasons = row["index"], throttle_reasons(row["clocks_throttle_reasons.active"])
        for words in reasons or ():
            if words in TROUBLE.values():
                message = f"held back by {words}, at {row['temperature.gpu']} °C"
                remedy = "look at cooling and power of this machine, before anything is measured on it"
                yield warning(Code.DEVICE_TROUBLE, f"device {index}", message, remedy)
        limit, default = number_or_none(row["power.limit"]), number_or_none(row["power.default_limit"])
        if limit and default and limit < SOME_CAP * default:
            capped.append((index, limit, default))
        if row["persistence_mode"] == "Disabled":
            lazy.append(index)
    if capped:
        index, limit, default = capped[0]
        message = f"capped at {limit:.0f} of {default:.0f} W ({_devices([each[0] for each in capped])})"
        remedy = f"sudo nvidia-smi -pl {default:.0f}, unless the cap is meant"
        yield warning(Code.DEVICE_TROUBLE, f"device {index}", message, remedy)
    if lazy:
        message = f"persistence mode is off ({_devices(lazy)}): the driver is loaded again at each first use"
        yield note(Code.DEVICE_TROUBLE, "devices", message, "sudo nvidia-smi -pm 1")


def fabric(survey: Survey, need: Need) -> Iterator[Finding]:
    """NVSwitch machines need the fabric manager: without it CUDA fails with error 802."""
    rows = survey.nvidia_rows("nvidia fabric", ("index", "fabric.state", "fabric.status"))
    unready = [
        row["index"] for row in rows if row["fabric.state"] not in ("Completed", "N/A", "[N/A]", "Not Supported")
    ]
    if unready:
        state = next(row for row in rows if row["index"] == unready[0])
        message = (
            f"the NVLink fabric is not ready ({_devices(unready)}: {state['fabric.state']}, {state['fabric.status']})"
        )
        remedy = "sudo systemctl start nvidia-fabricmanager, of the driver's version"
        yield error(Code.DEVICE_TROUBLE, "devices", message, remedy)


def visible(survey: Survey, need: Need) -> Iterator[Finding]:
    """A variable of the session that hides devices."""
    names = VARIABLES.get(need.platform, ()) if need.platform else tuple(sum(VARIABLES.values(), ()))
    for name in names:
        value = survey.variable(name)
        if not value:
            continue
        count = len([word for word in value.split(",") if word.strip()])
        if need.devices is not None and count < need.devices:
            message = f"{name}={value} shows {count} of the {need.devices} devices that are needed"
            yield error(Code.DEVICE_TROUBLE, name, message, f"unset {name} in the session that starts the engine")
        else:
            yield note(Code.DEVICE_TROUBLE, name, f"{name}={value} chooses among the devices")


def _devices(indices: list[str]) -> str:
    return f"device {indices[0]}" if len(indices) == 1 else f"devices {', '.join(indices)}"
