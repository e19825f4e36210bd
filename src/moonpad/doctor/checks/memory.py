"""RAM, shared memory, limits of the session, swap and NUMA."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.doctor.checks.wording import error, note, unknown, warning
from moonpad.doctor.need import SHARED, Need
from moonpad.doctor.survey import Survey
from moonpad.facts.memory import parse_meminfo
from moonpad.facts.probe import Unknown, parsed
from moonpad.values.finding import Code, Finding
from moonpad.values.platform import Platform
from moonpad.values.units import GIB, KIB, MIB, gib

SHM_OF_RANKS_BYTES: Final = 1 * GIB
"""What the ranks of one host exchange through /dev/shm: NCCL's own buffers are some 33 MiB a rank, and vLLM's message
queue between its processes 160 to 240 MiB; docker's 64 MiB is the common failure."""
FILES_NEEDED: Final = 4096
"""A server of 1,024 streams holds a socket for each, and the ranks' pipes."""
MEMLOCK_NEEDED: Final = 1 * GIB
"""RDMA registers its buffers, and NCCL asks for unlimited."""


def ram(survey: Survey, need: Need) -> Iterator[Finding]:
    memory = parsed(survey.text("/proc/meminfo"), parse_meminfo)
    if isinstance(memory, Unknown):
        yield unknown("memory", "the RAM", memory)
    elif need.memory_bytes > memory.available_bytes:
        message = f"{gib(need.memory_bytes)} of RAM is needed at the peak, {gib(memory.available_bytes)} is available"
        if need.held is not None:
            yield note(Code.MEMORY_LOW, "memory", f"{message} beside {need.held.by}")
            return
        yield error(Code.MEMORY_LOW, "memory", message, "free memory on this host")


def shared(survey: Survey, need: Need) -> Iterator[Finding]:
    folder = survey.folder(SHARED)
    if isinstance(folder, Unknown) or not folder["there"]:
        why = folder if isinstance(folder, Unknown) else Unknown(f"there is no {SHARED}")
        yield unknown(SHARED, "the shared memory", why)
        return
    if (need.devices or 0) < 2 and need.tp < 2:
        return
    total, free = int(folder["total_bytes"]), int(folder["free_bytes"])
    if free < SHM_OF_RANKS_BYTES:
        message = f"{_size(free)} of shared memory is free of {_size(total)}; ranks of one host exchange data there"
        remedy = "raise it: ipc=host or shm-size=16g for a container; on a host mount -o remount,size=16G /dev/shm"
        yield error(Code.LIMIT_LOW, SHARED, message, remedy)


def limits(survey: Survey, need: Need) -> Iterator[Finding]:
    """Those of the session over which the host was asked, as an engine that is started by it will have them."""
    soft: Mapping[str, list[int]] = survey.answer["limits"]
    files, hard_files = soft["files"]
    if 0 <= files < FILES_NEEDED:
        message = f"a process may open {files:,} files and sockets; {FILES_NEEDED:,} are needed under load"
        raised = f"ulimit -n {max(FILES_NEEDED, 65_536) if hard_files < 0 else min(65_536, hard_files)}"
        remedy = raised if hard_files < 0 or hard_files >= FILES_NEEDED else "raise nofile in /etc/security/limits.conf"
        yield warning(Code.LIMIT_LOW, "files", message, remedy)
    memlock = soft["memlock"][0]
    has_rdma = any(True for _ in survey.texts("/sys/class/infiniband/*/ports/*/state"))
    if has_rdma and need.nodes > 1 and 0 <= memlock < MEMLOCK_NEEDED:
        message = f"a process may lock {_size(memlock)} of memory; RDMA between the hosts needs more"
        remedy = "set memlock to unlimited in /etc/security/limits.conf (a container: ulimit memlock=-1)"
        yield error(Code.LIMIT_LOW, "memlock", message, remedy)


def swap(survey: Survey, need: Need) -> Iterator[Finding]:
    text = survey.text("/proc/meminfo")
    match = (
        {name: int(kib) * KIB for name, kib in re.findall(r"^(Swap\w+):\s+(\d+) kB", text, re.MULTILINE)}
        if isinstance(text, str)
        else {}
    )
    used = match.get("SwapTotal", 0) - match.get("SwapFree", 0)
    if used > 1 * GIB:
        message = f"{gib(used)} is swapped out: this host has run out of memory before"
        yield warning(
            Code.MEMORY_LOW, "swap", message, "find what holds the memory; sudo swapoff -a once there is room"
        )


def numa(survey: Survey, need: Need) -> Iterator[Finding]:
    """The kernel's own moving of pages costs engines that compute on processors, or keep weights in host RAM."""
    nodes = sum(1 for _ in survey.texts("/sys/devices/system/node/node*/cpulist"))
    balancing = survey.text("/proc/sys/kernel/numa_balancing")
    if nodes > 1 and isinstance(balancing, str) and balancing.strip() not in ("", "0"):
        message = f"{nodes} NUMA nodes, and the kernel moves pages between them by itself"
        advice = "sudo sysctl kernel.numa_balancing=0, while the engine runs"
        if need.platform is Platform.CPU or need.engine == "ktransformers" or need.platform is Platform.ROCM:
            yield warning(Code.SUBOPTIMAL, "numa", message, advice)
        else:
            yield note(Code.SUBOPTIMAL, "numa", message)


def _size(size_bytes: int) -> str:
    return gib(size_bytes) if size_bytes >= GIB else f"{size_bytes / MIB:.0f} MiB"
