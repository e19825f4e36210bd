"""Which tools are asked, what the answers mean as a cluster, and what is wrong with them. Faults 26 and 28."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from moonpad.facts import amd, ascend, nvidia, probe
from moonpad.facts import devices as module
from moonpad.facts.amd import join, parse_metric, parse_rocm_smi, parse_static
from moonpad.facts.ascend import parse_npu_smi
from moonpad.facts.device import DeviceFact, DeviceFacts
from moonpad.facts.device_findings import device_findings
from moonpad.facts.devices import detect_cluster, devices, this_host
from moonpad.facts.gather import gather
from moonpad.facts.nvidia import BASIC, parse_nvidia_smi
from moonpad.facts.probe import Unknown
from moonpad.values.cluster import Cluster, Host
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.plan import Platform
from moonpad.values.records import replace

RECORDED = Path(__file__).parent / "recorded"
HOST = Host(2**40, 2, "a processor")


def nvidia_facts(name: str) -> DeviceFacts:
    return parse_nvidia_smi((RECORDED / f"nvidia-{name}.txt").read_text())


def npu_facts(name: str) -> DeviceFacts:
    return parse_npu_smi((RECORDED / f"npu-smi-{name}.txt").read_text())


def text(name: str) -> str:
    return (RECORDED / name).read_text()


def cluster(facts: DeviceFacts) -> Cluster:
    detected = detect_cluster(facts, HOST)
    assert isinstance(detected, Cluster)
    assert detected.detected
    assert detected.host == HOST
    return detected


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with nothing on it but what a test puts there, and a shell's own tools."""
    home = tmp_path / "bin"
    home.mkdir(exist_ok=True)
    monkeypatch.setenv("PATH", f"{home}:/usr/bin:/bin")
    monkeypatch.setattr(module, "PLACES", ())
    return home


def test_a_machine_without_a_tool_has_no_devices(path: Path) -> None:
    assert devices() == DeviceFacts()


def test_the_tool_on_the_path_is_asked(path: Path, fake_tool: Callable[..., str]) -> None:
    fake_tool("nvidia-smi", "nvidia-8xh200.txt")
    facts = devices()
    assert isinstance(facts, DeviceFacts)
    assert len(facts.devices) == 8


def test_rocm_smi_is_asked_where_there_is_no_amd_smi(path: Path, fake_tool: Callable[..., str]) -> None:
    fake_tool("rocm-smi", "rocm-smi-8xmi300x.json")
    facts = devices()
    assert isinstance(facts, DeviceFacts)
    assert (facts.tool, len(facts.devices)) == ("rocm-smi", 8)


def test_a_tool_that_answers_wins_over_one_that_fails(path: Path, fake_tool: Callable[..., str]) -> None:
    fake_tool("nvidia-smi", "nvidia-no-driver.txt", code=9)
    fake_tool("npu-smi", "npu-smi-a3.txt")
    facts = devices()
    assert isinstance(facts, DeviceFacts)
    assert facts.tool == "npu-smi"


def test_a_tool_that_hangs_leaves_the_devices_unknown(
    path: Path, hanging_tool: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a shortened deadline; what it is by default stands in the next test."""
    tools = {name: partial(ask, timeout_s=0.5) for name, ask in module.TOOLS.items()}
    monkeypatch.setattr(module, "TOOLS", tools)
    for name in tools:
        hanging_tool(name)
    facts = devices()
    assert isinstance(facts, Unknown)
    for name in ("nvidia-smi", "amd-smi", "npu-smi"):
        assert f"{path / name} timed out after 0.50 s" in facts.reason
    assert gather()["devices"] == f"unknown ({facts.reason})"
    assert detect_cluster(facts) == facts


def test_all_deadlines_together_stay_below_fifteen_seconds() -> None:
    longest = max(nvidia.TIMEOUT_S + nvidia.AGAIN_S + probe.REAP_S, amd.TIMEOUT_S, ascend.TIMEOUT_S)
    assert longest + probe.REAP_S <= 15.0


@pytest.mark.parametrize(
    ("facts", "name", "device", "usable_gib"),
    [
        (nvidia_facts("8xh100"), "8xH100", "h100-sxm", 79.18),
        (nvidia_facts("8xh200"), "8xH200", "h200-sxm", 139.80),
        (nvidia_facts("8xb300"), "8xB300", "b300-sxm", 267.69),
        (nvidia_facts("2x4090-48g"), "2xRTX4090-48G", "rtx4090-48g", None),
        (nvidia_facts("one-lost"), "7xH100", "h100-sxm", 79.18),
        (parse_rocm_smi(text("rocm-smi-8xmi300x.json")), "8xMI300X", "mi300x", None),
        (parse_static(text("amd-smi-static-rocm6.json")), "8xMI300X", "mi300x", None),
        (npu_facts("a3"), "16xA3", "ascend-910c", 61.0),
        (npu_facts("a2"), "8xA2", "ascend-910b", 61.0),
    ],
)
def test_what_the_catalogue_knows(facts: DeviceFacts, name: str, device: str, usable_gib: float | None) -> None:
    detected = cluster(facts)
    assert (detected.name, detected.nodes, detected.per_node) == (name, 1, len(facts.devices))
    assert detected.device.id == device
    if usable_gib is not None:
        assert detected.device.usable_bytes == pytest.approx(usable_gib * 2**30, rel=0.002)


@pytest.mark.parametrize(
    ("name", "mib", "capability", "fp8", "fp4"),
    [
        ("NVIDIA H100 CNX", 81559, "9.0", True, False),
        ("NVIDIA RTX A5000", 24564, "8.6", False, False),
        ("NVIDIA RTX 6000D", 86000, "12.0", True, True),
        ("NVIDIA H200", 71000, "9.0", True, False),  # half of one: no H200 that the catalogue knows
    ],
)
def test_what_it_does_not_know_is_built_from_the_driver(
    name: str, mib: int, capability: str, fp8: bool, fp4: bool
) -> None:
    first = DeviceFact(0, name, mib * 2**20, 0, capability=capability)
    detected = cluster(DeviceFacts("nvidia-smi", "NVIDIA", "570.1", (first, replace(first, index=1))))
    assert detected.name == f"2x{name}"
    device = detected.device
    assert (device.product, device.platform, device.standing) == (name, Platform.CUDA, "detected")
    assert (device.driver_bytes, device.native_fp8, device.native_fp4) == (mib * 2**20, fp8, fp4)
    assert 0.97 * device.driver_bytes < device.usable_bytes < device.driver_bytes
    assert device.sm == int(capability.replace(".", ""))
    assert device.memory_bytes_per_s is None


def test_a_910b4_is_no_a2_of_64_gb() -> None:
    facts = npu_facts("a2")
    small = tuple(replace(device, name="910B4", memory_bytes=32768 * 2**20) for device in facts.devices)
    detected = cluster(replace(facts, devices=small))
    assert (detected.device.standing, detected.device.platform) == ("detected", Platform.ASCEND)
    assert detected.device.driver_bytes == 32 * 2**30


def test_no_devices_is_a_cpu_with_the_memory_of_the_host() -> None:
    detected = cluster(DeviceFacts())
    assert (detected.name, detected.device.platform) == ("cpu", Platform.CPU)
    assert this_host().memory_bytes


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (nvidia_facts("lost"), "GPU is lost"),
        (nvidia_facts("mixed"), "4 devices are of 2 kinds"),
        (Unknown("nvidia-smi timed out"), "nvidia-smi timed out"),
    ],
)
def test_what_is_no_cluster(facts: DeviceFacts | Unknown, reason: str) -> None:
    detected = detect_cluster(facts, HOST)
    assert isinstance(detected, Unknown)
    assert re.search(reason, detected.reason)


def test_a_device_whose_memory_is_that_of_the_host() -> None:
    """nvidia-smi gives no figure for a GB10; the catalogue knows what the runtime sees of its 128 GB."""
    detected = detect_cluster(nvidia_facts("gb10"), HOST)
    assert isinstance(detected, Cluster)
    assert (detected.name, detected.device.id, detected.device.unified) == ("1xGB10", "gb10", True)
    unnamed = replace(nvidia_facts("gb10").devices[0], name="NVIDIA GB20")
    facts = replace(nvidia_facts("gb10"), devices=(unnamed,))
    assert isinstance(detect_cluster(facts, HOST), Unknown)


def summaries(findings: tuple[Finding, ...]) -> list[tuple[str, str, str]]:
    return [(finding.severity, finding.where, finding.message) for finding in findings]


@pytest.mark.parametrize(
    "facts",
    [
        nvidia_facts("8xh100"),
        nvidia_facts("8xh200"),
        nvidia_facts("2x4090-48g"),
        npu_facts("a3"),
        npu_facts("a2"),
        join(parse_static(text("amd-smi-static-rocm6.json")), parse_metric(text("amd-smi-metric-rocm6.json"))),
        DeviceFacts(),
    ],
)
def test_healthy_devices_have_no_finding(facts: DeviceFacts) -> None:
    assert device_findings(facts, expected=len(facts.devices)) == ()


def test_busy_devices_with_the_numbers() -> None:
    findings = device_findings(nvidia_facts("busy"))
    assert [(finding.severity, finding.where, finding.code) for finding in findings] == [
        *((Severity.ERROR, f"device {index}", Code.MEMORY_LOW) for index in range(4)),
        (Severity.WARNING, "device 6", Code.MEMORY_LOW),
    ]
    # 75318 MiB and 81559 MiB by hand: 73.55 and 79.65 GiB.
    assert findings[0].message == "73.55 GiB of 79.65 GiB are in use, at most 6.09 GiB are free"
    assert findings[4].message == "4.50 GiB of 79.65 GiB are in use, at most 75.14 GiB are free"


def test_busy_dies_and_what_an_idle_one_holds() -> None:
    assert [finding.where for finding in device_findings(npu_facts("a3-busy"))] == [f"device {i}" for i in range(4)]


@pytest.mark.parametrize(
    ("facts", "severity", "where", "words"),
    [
        (nvidia_facts("mig"), "error", "device 1", ("MIG",)),
        (nvidia_facts("ecc"), "error", "device 3", ("12 uncorrected",)),
        (nvidia_facts("reset"), "error", "device 2", ("GPU requires reset",)),
        (nvidia_facts("one-lost"), "error", "devices", ("fallen off the bus", "7 remain", "GPU0000:9D:00.0")),
        (nvidia_facts("lost"), "error", "devices", ("fallen off the bus", "0 remain")),
        (nvidia_facts("mixed"), "error", "devices", ("2 kinds", "2 of NVIDIA H100 80GB HBM3 with 81559 MiB")),
        (npu_facts("a3-alarm"), "error", "device 5", ("Alarm",)),
    ],
)
def test_one_thing_is_wrong(facts: DeviceFacts, severity: str, where: str, words: tuple[str, ...]) -> None:
    (finding,) = device_findings(facts)
    assert (finding.severity, finding.where) == (severity, where)
    assert finding.remedy
    for word in words:
        assert word in finding.message


def test_uncorrected_errors_of_amd() -> None:
    facts = join(parse_static(text("amd-smi-static-rocm7.json")), parse_metric(text("amd-smi-metric-rocm7-ecc.json")))
    assert [(finding.where, "3 uncorrected" in finding.message) for finding in device_findings(facts)] == [
        ("device 6", True)
    ]


def test_a_wrong_count() -> None:
    (finding,) = device_findings(nvidia_facts("2x4090-48g"), expected=8)
    assert finding.message == "8 devices are needed; this machine has 2"
    assert device_findings(nvidia_facts("8xh100"), expected=4) == ()
    assert len(device_findings(DeviceFacts(), expected=8)) == 1


def test_a_driver_too_old() -> None:
    old = parse_nvidia_smi(text("nvidia-old-basic.txt"), BASIC)
    assert summaries(device_findings(old)) == [
        ("error", "driver", "the driver is 470.82.01; CUDA 12 needs 525 or newer")
    ]
    new = nvidia_facts("8xh100")
    assert device_findings(new, cuda=12) == ()
    assert summaries(device_findings(new, cuda=13)) == [
        ("error", "driver", "the driver is 550.127.05; CUDA 13 needs 580 or newer")
    ]


def test_unknown_devices_are_one_finding_with_the_reason() -> None:
    (finding,) = device_findings(Unknown("nvidia-smi timed out after 10.0 s"))
    assert finding.message == "the devices cannot be read (nvidia-smi timed out after 10.0 s)"
    assert "--on" in finding.remedy


def test_as_json_nothing_is_null_or_zero_that_is_unknown() -> None:
    document = nvidia_facts("gb10").as_json()
    (device,) = document["devices"]  # type: ignore[misc]
    assert device["memory_bytes"] == "unknown (nvidia-smi reports [N/A])"
    assert document["driver"] == "580.95.05"
