"""A sound host of eight H200, as host_survey.py answers for it; tests change what is to be wrong."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from moonpad.doctor.need import Need
from moonpad.doctor.survey import Survey
from moonpad.values.platform import Platform

GIB = 1 << 30
GPUS = "".join(f"{index}, NVIDIA H200, GPU-{index:04d}, 143771, 1, 580.95.05, Disabled, 9.0, 0\n" for index in range(8))
HEALTH = "".join(f"{index}, Enabled, 700.00, 700.00, 0x0000000000000001, 31\n" for index in range(8))
FABRIC = "".join(f"{index}, Completed, Success\n" for index in range(8))
LINKED = "\n".join(
    [
        "\tGPU0\tGPU1\tGPU2\tGPU3\tGPU4\tGPU5\tGPU6\tGPU7\tCPU Affinity\tNUMA Affinity",
        *(
            f"GPU{row}\t" + "\t".join("X" if column == row else "NV18" for column in range(8)) + "\t0-47\t0"
            for row in range(8)
        ),
        "",
        "Legend:",
        "  X    = Self",
    ]
)
ADDRESSES = (
    '[{"ifname":"lo","addr_info":[{"family":"inet","local":"127.0.0.1"}]},'
    '{"ifname":"eth0","addr_info":[{"family":"inet","local":"10.0.0.1"}]}]'
)
MISSING: dict[str, Any] = {"error": "No such file or directory", "missing": True}


def printed(text: str, returncode: int = 0, stderr: str = "") -> dict[str, Any]:
    return {"stdout": text, "stderr": stderr, "returncode": returncode, "took_s": 0.1}


ANSWER: dict[str, Any] = {
    "host": "gpu-a",
    "user": 1000,
    "system": ["Linux", "6.8.0-60-generic", "x86_64"],
    "libc": ["glibc", "2.39"],
    "python": [3, 12, 3],
    "cores": 96,
    "environment": {},
    "files": {
        "/proc/meminfo": "MemTotal: 2113000000 kB\nMemAvailable: 2000000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
        "/proc/sys/kernel/numa_balancing": "0\n",
        "/sys/devices/system/node/node0/cpulist": "0-47\n",
        "/sys/devices/system/node/node1/cpulist": "48-95\n",
        "/sys/class/net/lo/mtu": "65536\n",
        "/sys/class/net/eth0/mtu": "9000\n",
        "/sys/class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE\n",
        "/sys/class/infiniband/mlx5_0/ports/1/gids/0": "fe80:0000:0000:0000:0000:0000:0000:0001\n",
        "/engine/pyvenv.cfg": "home = /usr/bin\nversion = 3.12.3\n",
        "/engine/lib/python3.12/site-packages/vllm-0.33.0.dist-info/WHEEL": "Wheel-Version: 1.0\n",
    },
    "folders": {
        "/dev/shm": {
            "there": True, "writable": True, "total_bytes": 1000 * GIB, "free_bytes": 1000 * GIB, "free_files": 10**6,
        },
        "/checkpoint": {
            "there": True, "writable": True, "total_bytes": 4000 * GIB, "free_bytes": 900 * GIB, "free_files": 10**6,
        },
        "/engine": {
            "there": True, "writable": True, "total_bytes": 4000 * GIB, "free_bytes": 900 * GIB, "free_files": 10**6,
        },
    },
    "limits": {"memlock": [-1, -1], "files": [1_048_576, 1_048_576], "processes": [-1, -1]},
    "names": {"gpu-a": ["10.0.0.1"], "10.0.0.1": ["10.0.0.1"]},
    "ports": {"8000": ""},
    "commands": {
        "nvidia": printed(GPUS),
        "nvidia health": printed(HEALTH),
        "nvidia fabric": printed(FABRIC),
        "nvidia processes": printed(""),
        "nvidia topology": printed(LINKED),
        "amd": MISSING,
        "amd topology": MISSING,
        "rocm": MISSING,
        "ascend": MISSING,
        "owners": printed("    1 root systemd\n  777 alice VLLM::Worker\n"),
        "addresses": printed(ADDRESSES),
        "docker": printed('{"Runtimes": {"runc": {}, "nvidia": {}}}'),
        "podman": MISSING,
        "time": printed("NTP=yes\nNTPSynchronized=yes\n"),
    },
    "reached": [],
    "speeds": {"/checkpoint": {"file": "model-00001.safetensors", "bytes_per_s": 6e9, "read_bytes": 3 * 10**9}},
    "clocks_s": [0.0, 0.1],
}  # fmt: skip

NEED = Need(
    engine="vllm", version="0.33.0", platform=Platform.CUDA, devices=8, nodes=2, tp=8, checkpoint="/checkpoint",
    weights_bytes=594 * GIB, load_budget_s=3600.0, memory_bytes=64 * GIB, engine_folder="/engine",
    ports={8000: "api of engine"}, address="10.0.0.1", names=("10.0.0.1",),
)  # fmt: skip


def sound(state: str) -> Survey:
    """`state` is the folder of moonpad's state, which the checks look at too."""
    answer = deepcopy(ANSWER)
    answer["folders"][state] = dict(answer["folders"]["/checkpoint"])
    return Survey("node-0", answer)
