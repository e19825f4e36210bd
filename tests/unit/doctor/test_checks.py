"""Each thing that doctor looks at: silent on a sound host, and named with its numbers where it is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moonpad.doctor.checks import findings_of
from moonpad.doctor.need import Held, Need
from moonpad.doctor.survey import Survey
from moonpad.store.paths import state_home
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.platform import Platform
from moonpad.values.records import replace
from tests.unit.doctor.sound import FABRIC, GPUS, HEALTH, LINKED, MISSING, NEED, printed, sound

Change = Callable[[dict[str, Any]], None]
LATE = {"error": "nvidia-smi did not end within 4 s", "late": True}


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Survey:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return sound(str(state_home()))


def found(survey: Survey, need: Need = NEED) -> list[Finding]:
    """All but notes that only tell a figure."""
    every = [finding for of in findings_of(survey, need).values() for finding in of]
    return [each for each in every if each.severity is not Severity.NOTE or each.code is Code.FACT_UNKNOWN]


def test_a_sound_host(host: Survey) -> None:
    assert found(host) == []
    notes = [each.message for of in findings_of(host, NEED).values() for each in of]
    assert any("6.00 GB/s" in note and "594" in note for note in notes)


def test_without_a_spec_nothing_is_asked_of_it(host: Survey) -> None:
    assert found(host, Need()) == []


def setting(value: object, *keys: str) -> Change:
    """The value at these keys of the answer."""

    def change(answer: dict[str, Any]) -> None:
        place = answer
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    return change


def command(name: str, result: dict[str, Any]) -> Change:
    return setting(result, "commands", name)


def file(path: str, text: str) -> Change:
    return setting(text, "files", path)


def less(name: str, **figures: object) -> Change:
    def change(answer: dict[str, Any]) -> None:
        place = str(state_home()) if name == "state" else name
        answer["folders"][place] = {**answer["folders"][place], **figures}

    return change


WRONG: dict[str, tuple[Change, Severity, Code, tuple[str, ...]]] = {
    "driver too old": (
        command("nvidia", printed(GPUS.replace("580.95.05", "570.86.15"))),
        Severity.ERROR, Code.PLATFORM_UNSUPPORTED, ("570.86.15", "580"),
    ),
    "driver hangs": (command("nvidia", LATE), Severity.ERROR, Code.DEVICE_TROUBLE, ("nvidia-smi", "4 s")),
    "a device is missing": (
        command("nvidia", printed("".join(GPUS.splitlines(keepends=True)[:7]))),
        Severity.ERROR, Code.PLATFORM_UNSUPPORTED, ("8 devices", "7"),
    ),
    "a device has errors": (
        command("nvidia", printed(GPUS.replace("9.0, 0\n", "9.0, 3\n", 1))),
        Severity.ERROR, Code.PLATFORM_UNSUPPORTED, ("3 uncorrected",),
    ),
    "a device is split": (
        command("nvidia", printed(GPUS.replace("Disabled, 9.0", "Enabled, 9.0", 1))),
        Severity.ERROR, Code.PLATFORM_UNSUPPORTED, ("MIG",),
    ),
    "a device is in use": (
        command("nvidia processes", printed("GPU-0000, 777, 70000\n")),
        Severity.WARNING, Code.DEVICE_TROUBLE, ("777", "alice"),
    ),
    "a device is hot": (
        command("nvidia health", printed(HEALTH.replace("0x0000000000000001", "0x0000000000000040", 1))),
        Severity.WARNING, Code.DEVICE_TROUBLE, ("thermal", "31 °C"),
    ),
    "a device is capped": (
        command("nvidia health", printed(HEALTH.replace("700.00, 700.00", "400.00, 700.00", 1))),
        Severity.WARNING, Code.DEVICE_TROUBLE, ("400 of 700 W",),
    ),
    "the fabric is not ready": (
        command("nvidia fabric", printed(FABRIC.replace("Completed, Success", "In Progress, N/A", 1))),
        Severity.ERROR, Code.DEVICE_TROUBLE, ("In Progress",),
    ),
    "devices are hidden": (
        setting("0,1,2,3", "environment", "CUDA_VISIBLE_DEVICES"),
        Severity.ERROR, Code.DEVICE_TROUBLE, ("0,1,2,3", "4 of the 8"),
    ),
    "no fast links": (
        command("nvidia topology", printed(LINKED.replace("NV18", "SYS"))),
        Severity.WARNING, Code.TOPOLOGY, ("all pairs", "between the processors"),
    ),
    "one pair has no fast link": (
        command("nvidia topology", printed(LINKED.replace("X\tNV18", "X\tPHB", 1))),
        Severity.WARNING, Code.TOPOLOGY, ("1 of 28",),
    ),
    "topology is not told": (command("nvidia topology", printed("?")), Severity.NOTE, Code.FACT_UNKNOWN, ("joined",)),
    "an old C library": (
        setting(["glibc", "2.27"], "libc"), Severity.ERROR, Code.HOST_SOFTWARE, ("2.27", "2.28"),
    ),
    "another C library": (setting(["", ""], "libc"), Severity.ERROR, Code.HOST_SOFTWARE, ("no glibc",)),
    "an old Python": (
        file("/engine/pyvenv.cfg", "version_info = 3.9.18\n"), Severity.ERROR, Code.HOST_SOFTWARE, ("3.9.18",),
    ),
    "another release": (
        lambda answer: answer["files"].update(
            {"/engine/lib/python3.12/site-packages/vllm-0.11.0.dist-info/WHEEL": "x"}
        )
        or answer["files"].pop("/engine/lib/python3.12/site-packages/vllm-0.33.0.dist-info/WHEEL"),
        Severity.WARNING, Code.HOST_SOFTWARE, ("0.11.0", "0.33.0"),
    ),
    "no engine": (less("/engine", there=False), Severity.ERROR, Code.ENGINE_MISSING, ("/engine",)),
    "little RAM": (
        file("/proc/meminfo", "MemTotal: 40000000 kB\nMemAvailable: 33554432 kB\n"),
        Severity.ERROR, Code.MEMORY_LOW, ("64.00 GiB", "32.00 GiB"),
    ),
    "RAM is not told": (file("/proc/meminfo", ""), Severity.NOTE, Code.FACT_UNKNOWN, ("RAM",)),
    "swapped out": (
        file(
            "/proc/meminfo",
            "MemTotal: 2113000000 kB\nMemAvailable: 2000000000 kB\nSwapTotal: 8388608 kB\nSwapFree: 4194304 kB\n",
        ),
        Severity.WARNING, Code.MEMORY_LOW, ("4.00 GiB",),
    ),
    "small shared memory": (
        less("/dev/shm", total_bytes=64 << 20, free_bytes=64 << 20),
        Severity.ERROR, Code.LIMIT_LOW, ("64 MiB",),
    ),
    "few files": (
        setting([1024, 1_048_576], "limits", "files"), Severity.WARNING, Code.LIMIT_LOW, ("1,024",),
    ),
    "little memory may be locked": (
        setting([65_536, 65_536], "limits", "memlock"), Severity.ERROR, Code.LIMIT_LOW, ("RDMA",),
    ),
    "a full disk": (less("state", free_bytes=10 << 20), Severity.ERROR, Code.DISK_LOW, ("10.0 MiB",)),
    "no inodes": (less("state", free_files=0), Severity.ERROR, Code.DISK_LOW, ("inodes",)),
    "a disk that is read alone": (less("state", writable=False), Severity.ERROR, Code.DISK_LOW, ("written",)),
    "a slow disk": (
        setting({"file": "x", "bytes_per_s": 1e8, "read_bytes": 10**7}, "speeds", "/checkpoint"),
        Severity.ERROR, Code.DISK_SLOW, ("0.10 GB/s", "longer than a start may take"),
    ),
    "no checkpoint": (less("/checkpoint", there=False), Severity.ERROR, Code.CHECKPOINT_MISSING, ("/checkpoint",)),
    "its disk cannot be measured": (
        setting({"error": "no direct reads"}, "speeds", "/checkpoint"),
        Severity.NOTE, Code.FACT_UNKNOWN, ("direct reads",),
    ),
    "another address": (
        command("addresses", printed('[{"ifname":"eth0","addr_info":[{"local":"10.0.0.9"}]}]')),
        Severity.ERROR, Code.NETWORK, ("10.0.0.1", "10.0.0.9"),
    ),
    "its name is the loopback": (
        setting(["127.0.1.1"], "names", "gpu-a"), Severity.WARNING, Code.NETWORK, ("127.0.1.1",),
    ),
    "a name that is none": (
        setting({"error": "Name or service not known"}, "names", "10.0.0.1"),
        Severity.ERROR, Code.NETWORK, ("not known",),
    ),
    "an interface that is none": (
        setting("ib7", "environment", "NCCL_SOCKET_IFNAME"), Severity.ERROR, Code.NETWORK, ("ib7", "eth0, lo"),
    ),
    "an interface of another network": (
        setting("lo", "environment", "GLOO_SOCKET_IFNAME"), Severity.WARNING, Code.NETWORK, ("eth0",),
    ),
    "a proxy": (
        setting("http://user:secret@proxy:3128", "environment", "http_proxy"),
        Severity.WARNING, Code.NETWORK, ("no_proxy",),
    ),
    "RDMA is down": (
        file("/sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n"),
        Severity.WARNING, Code.NETWORK, ("none of 1", "DOWN"),
    ),
    "RDMA without a GID": (
        file("/sys/class/infiniband/mlx5_0/ports/1/gids/0", "0000:0000:0000:0000:0000:0000:0000:0000\n"),
        Severity.WARNING, Code.NETWORK, ("no GID",),
    ),
    "RDMA is switched off": (
        setting("1", "environment", "NCCL_IB_DISABLE"), Severity.WARNING, Code.NETWORK, ("NCCL_IB_DISABLE",),
    ),
    "a port is taken": (
        setting("Address already in use", "ports", "8000"), Severity.ERROR, Code.PORT_TAKEN, ("8000", "api of engine"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("pids", "own", "codes"),
    [
        ((777,), (777, 778), set()),
        ((777, 900), (777,), {Code.MEMORY_LOW, Code.DEVICE_TROUBLE}),
        ((777,), (), set()),  # a container's processes are not seen from here
    ],
)
def test_what_the_specs_own_deployment_holds_is_no_fault(
    host: Survey, pids: tuple[int, ...], own: tuple[int, ...], codes: set[Code]
) -> None:
    full = "".join(f"GPU-0000, {pid}, 70000\n" for pid in pids)
    busy = GPUS.replace("143771, 1,", "143771, 130000,")
    assert busy != GPUS
    commands = {**host.answer["commands"], "nvidia": printed(busy), "nvidia processes": printed(full)}
    answer = {**host.answer, "commands": commands, "ports": {**host.answer["ports"], "8000": "Address already in use"}}
    up = replace(host, answer=answer)
    assert {each.code for each in found(up)} >= {Code.MEMORY_LOW, Code.PORT_TAKEN, Code.DEVICE_TROUBLE}
    held = replace(NEED, held=Held("k2, which is up", frozenset(own), frozenset({8000})))
    assert {each.code for each in found(up, held)} == codes
    notes = [each for of in findings_of(up, held).values() for each in of if each.severity is Severity.NOTE]
    assert any(each.code is Code.PORT_TAKEN and "held by k2, which is up" in each.message for each in notes)


def on(host: Survey, tool: str, output: str, **files: str) -> Survey:
    """The same host with the tool of another vendor alone."""
    answer = dict(host.answer)
    gone = dict.fromkeys(("nvidia", "amd", "rocm", "ascend", "nvidia topology"), MISSING)
    quiet = dict.fromkeys(("nvidia health", "nvidia fabric", "nvidia processes"), MISSING)
    answer["commands"] = {**answer["commands"], **gone, **quiet, tool: printed(output)}
    answer["files"] = {**answer["files"], **{path.replace("__", "/"): text for path, text in files.items()}}
    return replace(host, answer=answer)


INFO = "__usr__local__Ascend__ascend-toolkit__latest__aarch64-linux__ascend_toolkit_install.info"


@pytest.mark.parametrize(
    ("version", "messages"), [("9.1.0", []), ("8.5.0", ["CANN 8.5.0; vllm-ascend 0.23.0 asks for 9.1"])]
)
def test_cann(version: str, messages: list[str], host: Survey) -> None:
    need = replace(
        NEED, engine="vllm-ascend", version="0.23.0", platform=Platform.ASCEND, devices=None, engine_folder=""
    )
    survey = on(host, "ascend", "", **{INFO: f"package_name=x\nversion={version}\n"})
    found_here = [each for each in found(survey, need) if each.where == "CANN"]
    assert [each.message.removesuffix(" or newer") for each in found_here] == messages


def test_rocm_and_how_its_devices_are_joined(host: Survey) -> None:
    need = replace(NEED, platform=Platform.ROCM, devices=None, engine_folder="")
    links = [
        {
            "gpu": row,
            "links": [{"gpu": other, "link_type": "PCIE" if {row, other} == {0, 1} else "XGMI"} for other in range(8)],
        }
        for row in range(8)
    ]
    survey = on(host, "amd topology", json.dumps(links), **{"__opt__rocm__.info__version": "6.4.1-83"})
    survey.answer["commands"]["amd"] = printed("")
    messages = [each.message for each in found(survey, need) if each.where in ("ROCm", "topology")]
    assert messages == [
        "1 of 28 pairs of the 8 ranks of one layer are joined by PCIE and not by fast links (devices 0 and 1)",
        "ROCm 6.4.1-83; vllm 0.33.0 asks for 7.0 or newer",
    ]


def test_an_image_needs_a_way_to_the_devices(host: Survey) -> None:
    need = replace(NEED, image="vllm/vllm-openai:v0.33.0", engine_folder="")
    assert found(host, need) == []
    answer = {**host.answer, "commands": {**host.answer["commands"], "docker": printed('{"Runtimes": {"runc": {}}}')}}
    (finding,) = found(replace(host, answer=answer), need)
    assert finding.code is Code.CONTAINER_RUNTIME
    answer["commands"] = {**answer["commands"], "docker": MISSING}
    (finding,) = found(replace(host, answer=answer), need)
    assert finding.code is Code.TOOL_MISSING
    answer["commands"] = {**answer["commands"], "docker": printed('{"ServerErrors": ["permission denied"]}')}
    (finding,) = found(replace(host, answer=answer), need)
    assert "permission denied" in finding.message


def test_published_weaknesses(host: Survey) -> None:
    files = {"/engine/lib/python3.12/site-packages/vllm-0.11.0.dist-info/WHEEL": "x"}
    answer = {**host.answer, "files": {**host.answer["files"], **files}}
    del answer["files"]["/engine/lib/python3.12/site-packages/vllm-0.33.0.dist-info/WHEEL"]
    findings = found(replace(host, answer=answer), replace(NEED, version="0.11.0"))
    assert {each.where for each in findings if each.code is Code.ADVISORY} == {
        "CVE-2025-62164", "CVE-2026-56340", "CVE-2026-22807", "CVE-2026-22778",
    }  # fmt: skip


@pytest.mark.parametrize("off_s", [-9.0, 9.0])
def test_a_clock_that_is_off(off_s: float, host: Survey) -> None:
    (finding,) = found(replace(host, clock_off_s=off_s))
    assert (finding.code, f"{off_s:+.1f} s" in finding.message) == (Code.HOSTS_DIFFER, True)
    assert found(replace(host, clock_off_s=off_s / 9)) == []


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name: str, host: Survey) -> None:
    change, severity, code, words = WRONG[name]
    answer = dict(host.answer)
    change(answer)
    findings = found(replace(host, answer=answer))
    assert [(each.severity, each.code) for each in findings] == [(severity, code)], findings
    assert all(word in findings[0].message for word in words), findings[0].message
    assert findings[0].remedy or severity is Severity.NOTE
    assert "secret" not in findings[0].message + findings[0].remedy
