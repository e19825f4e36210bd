"""What one host of a run says of itself, before anything is started on it."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import socket
import struct
import time
from pathlib import Path
from typing import Any

from moonpad.store.paths import state_home

SMALL_BYTES = 32 << 20
CONNECT_LIMIT_S = 5.0
SIOCGIFADDR = 0x8915


def gather_facts(question: dict[str, Any]) -> dict[str, Any]:
    """Of `{"engine": folder, "checkpoint": folder, "address": own, "meet": [address, port], "packages": [names]}`: what
    has to be equal on all hosts of one run, whether this one reaches the first, and its capacity: available memory,
    free bytes where logs go, devices of the drivers that are loaded. Nothing is started; what is not there is None."""
    return {
        "clock_s": time.time(),
        "host": socket.gethostname(),
        "engine": read_versions(Path(question["engine"]), question["packages"]),
        "driver": read_driver(),
        "checkpoint": digest_checkpoint(Path(question["checkpoint"])),
        "has_address": has_address(question["address"]),
        "interface": find_interface(question["address"]),
        "trouble": try_connection(*question["meet"]) if question.get("meet") else "",
        "memory_bytes": read_available_memory(),
        "disk_bytes": read_free_disk(state_home()),
        "devices": count_devices(),
    }


def read_versions(engine: Path, names: list[str]) -> dict[str, str] | None:
    """Of the engine's packages, by the folders that pip has written: importing them takes half a minute."""
    if not (engine / "bin").is_dir():
        return None
    versions = {}
    for info in sorted(engine.glob("lib/python*/site-packages/*.dist-info")):
        name, _, version = info.name[: -len(".dist-info")].partition("-")
        if (name := name.lower().replace("_", "-")) in names:
            versions[name] = version
    return versions


def read_driver() -> str | None:
    """Name and version of NVIDIA's or AMD's kernel module."""
    for path in ("/sys/module/nvidia/version", "/sys/module/amdgpu/version"):
        with contextlib.suppress(OSError):
            return f"{path.split('/')[3]} {Path(path).read_text().strip()}"
    return None


def read_available_memory() -> int | None:
    """proc_meminfo(5), MemAvailable."""
    with contextlib.suppress(OSError):
        if match := re.search(r"^MemAvailable: *(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE):
            return int(match[1]) * 1024
    return None


def read_free_disk(folder: Path) -> int | None:
    """Bytes for an ordinary user, where the folder is or will be made."""
    for path in (folder, *folder.parents):
        with contextlib.suppress(OSError):
            stat = os.statvfs(path)
            return stat.f_bavail * stat.f_frsize
    return None


def count_devices(root: Path = Path("/")) -> int:
    """As the drivers show them: NVIDIA a folder each, AMD a node of the KFD that has a GPU, Ascend a file each
    (`davinci0`, `davinci1`, …)."""
    nvidia = sum(1 for _ in root.glob("proc/driver/nvidia/gpus/*"))
    ascend = sum(path.name[len("davinci") :].isdigit() for path in root.glob("dev/davinci*"))
    amd = 0
    for path in root.glob("sys/class/kfd/kfd/topology/nodes/*/gpu_id"):
        with contextlib.suppress(OSError):
            amd += path.read_text().strip() not in ("", "0")
    return max(nvidia, amd, ascend)


def digest_checkpoint(checkpoint: Path) -> str | None:
    """Of everything small in it, and of the names and sizes of the weights: reading a terabyte takes too long."""
    if not checkpoint.is_dir():
        return None
    digest = hashlib.sha256()
    for path in sorted(checkpoint.rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            size = path.stat().st_size
            digest.update(f"{path.relative_to(checkpoint)} {size}\n".encode("utf-8", "surrogateescape"))
            if size <= SMALL_BYTES:
                digest.update(path.read_bytes())
    return digest.hexdigest()


def has_address(address: str) -> bool:
    """Whether it is one of this host's own."""
    for family, kind, _, _, sockaddr in resolve(address):
        with contextlib.suppress(OSError), socket.socket(family, kind) as own:
            own.bind(sockaddr)
            return True
    return False


def find_interface(address: str) -> str | None:
    """The network interface that has it (netdevice(7), SIOCGIFADDR; /proc/net/if_inet6)."""
    wanted = {sockaddr[0] for *_, sockaddr in resolve(address)}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for _, name in socket.if_nameindex():
            with contextlib.suppress(OSError):
                request = struct.pack("256s", name.encode())
                if socket.inet_ntoa(fcntl.ioctl(any_socket, SIOCGIFADDR, request)[20:24]) in wanted:
                    return name
    with contextlib.suppress(OSError), Path("/proc/net/if_inet6").open() as file:
        for line in file:
            digits, *_, name = line.split()
            if socket.inet_ntop(socket.AF_INET6, bytes.fromhex(digits)) in wanted:
                return name
    return None


def resolve(name: str) -> list[tuple[Any, ...]]:
    with contextlib.suppress(OSError):
        return list(socket.getaddrinfo(name, 0, type=socket.SOCK_STREAM))
    return []


def try_connection(address: str, port: int) -> str:
    """Why it cannot be reached, "" where a connection can be made."""
    try:
        with socket.create_connection((address, port), timeout=CONNECT_LIMIT_S):
            return ""
    except OSError as error:
        return str(error)
