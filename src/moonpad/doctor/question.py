"""What every host is asked (run/keeper/host_survey.py): files, commands with their limits, variables."""

from __future__ import annotations

from typing import Any, Final

from moonpad.doctor.need import SHARED, Need
from moonpad.facts import amd, ascend, cann, nvidia
from moonpad.store.paths import state_home

TOOL_S: Final = 4.0
"""A driver's tool that takes longer hangs; a whole look takes less than 5 s."""
QUICK_S: Final = 2.0

HEALTH: Final = (
    "index", "persistence_mode", "power.limit", "power.default_limit", "clocks_throttle_reasons.active",
    "temperature.gpu",
)  # fmt: skip
"""nvidia-smi --help-query-gpu. Since 535 `clocks_throttle_reasons` is also called `clocks_event_reasons`."""

COMMANDS: Final[dict[str, tuple[float, tuple[str, ...]]]] = {
    "nvidia": (TOOL_S, nvidia.question()),
    "nvidia basic": (TOOL_S, nvidia.question(nvidia.BASIC)),
    "nvidia health": (TOOL_S, nvidia.question(HEALTH)),
    "nvidia fabric": (TOOL_S, nvidia.question(("index", "fabric.state", "fabric.status"))),
    "nvidia processes": (
        TOOL_S,
        ("nvidia-smi", "--query-compute-apps=gpu_uuid,pid,used_memory", "--format=csv,noheader,nounits"),
    ),
    "nvidia topology": (TOOL_S, ("nvidia-smi", "topo", "-m")),
    "amd": (TOOL_S, (amd.AMD_SMI, "static", "--asic", "--vram", "--driver", "--json")),
    "amd metric": (TOOL_S, (amd.AMD_SMI, "metric", "--mem-usage", "--ecc", "--json")),
    "amd topology": (TOOL_S, (amd.AMD_SMI, "topology", "--json")),
    "rocm": (TOOL_S, (amd.ROCM_SMI, "--showproductname", "--showmeminfo", "vram", "--showdriverversion", "--json")),
    "ascend": (TOOL_S, (ascend.TOOL, "info")),
    "owners": (QUICK_S, ("ps", "-eo", "pid=,user:32=,comm=")),
    "addresses": (QUICK_S, ("ip", "-j", "address")),
    "docker": (QUICK_S, ("docker", "info", "--format", "{{json .}}")),
    "podman": (QUICK_S, ("podman", "version", "--format", "{{.Client.Version}}")),
    "time": (QUICK_S, ("timedatectl", "show", "--property=NTPSynchronized,NTP")),
}

CANN_FILE: Final = f"{cann.ROOT}/ascend-toolkit/latest/*-linux/ascend_toolkit_install.info"
FILES: Final = (
    "/etc/os-release",
    "/proc/meminfo",
    "/proc/swaps",
    "/proc/mounts",
    "/proc/sys/kernel/numa_balancing",
    "/proc/sys/vm/max_map_count",
    "/proc/sys/vm/overcommit_memory",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/devices/system/node/node*/cpulist",
    "/sys/devices/system/node/node*/meminfo",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "/sys/class/net/*/mtu",
    "/sys/class/net/*/operstate",
    "/sys/class/net/*/speed",
    "/sys/class/infiniband/*/ports/*/state",
    "/sys/class/infiniband/*/ports/*/rate",
    "/sys/class/infiniband/*/ports/*/link_layer",
    "/sys/class/infiniband/*/ports/*/gids/[0-3]",
    "/sys/module/nvidia/version",
    "/sys/module/nvidia_peermem/version",
    "/sys/module/amdgpu/version",
    "/opt/rocm/.info/version",
    CANN_FILE,
    f"{cann.ROOT}/driver/version.info",
    f"{cann.ROOT}/firmware/version.info",
    "/etc/docker/daemon.json",
    "/etc/cdi/*",
    "/var/run/cdi/*",
)

VARIABLES: Final = (
    "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES",
    "NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "HCCL_SOCKET_IFNAME", "TP_SOCKET_IFNAME", "NCCL_IB_HCA",
    "NCCL_IB_DISABLE", "NCCL_P2P_DISABLE", "LD_LIBRARY_PATH", "PYTHONPATH", "http_proxy", "HTTP_PROXY", "https_proxy",
    "HTTPS_PROXY", "no_proxy", "NO_PROXY", "HF_ENDPOINT", "HF_HUB_OFFLINE", "XDG_STATE_HOME",
)  # fmt: skip
"""Of the session in which the engine will be started. Of a proxy only that there is one is ever shown: its address may
hold a password."""


def question_of(need: Need) -> dict[str, Any]:
    """For one host; `need` says which folders and ports matter there."""
    folders = [SHARED, str(state_home()), *filter(None, (need.checkpoint, need.engine_folder))]
    return {
        "files": [*FILES, *need.engine_files],
        "commands": {name: [limit_s, *words] for name, (limit_s, words) in COMMANDS.items()},
        "variables": list(VARIABLES),
        "folders": folders,
        "ports": sorted(need.ports),
        "names": list(need.names),
        "read": [need.checkpoint] if need.checkpoint else [],
    }
