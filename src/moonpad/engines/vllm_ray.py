"""vLLM over several nodes by Ray: `ray start` on each, and on the first the engine behind it.

The head's process starts Ray and then becomes the engine, so both live in one environment, container or pod, and end
together. Options: https://docs.ray.io/en/latest/cluster/cli.html.
"""

from __future__ import annotations

from typing import Final

from moonpad.engines.base import installed_runtime
from moonpad.values.deployment import Executable, Image, PortSpec, Runtime
from moonpad.values.records import replace
from moonpad.values.references import Arg, HostRef, PortRef

EXECUTOR: Final = "ray"
RAY: Final = PortRef("engine", "ray")
PORT: Final = PortSpec(RAY.name, 6379, "cluster")  # the default of `ray start --head`

# Addresses come as arguments, so that none of them is ever code. The dashboard would be one more open port. RAY_ADDRESS
# says which cluster the engine joins, should the machine have another.
_HEAD: Final = (
    '"$1" start --head --node-ip-address="$2" --port="$3" --num-gpus="$4" --include-dashboard=false '
    '--disable-usage-stats && export RAY_ADDRESS="$2:$3" && shift 4 && exec "$@"'
)


def head_runtime(runtime: Runtime, devices: int) -> Runtime:
    """Starts Ray's head, then the engine."""
    before: tuple[Arg, ...] = ("sh", "-c", _HEAD, "sh", *_ray(runtime), HostRef("node-0"), RAY, str(devices))
    if isinstance(runtime, Image):
        return replace(runtime, entrypoint=(*before, *(runtime.entrypoint or ("vllm",))))
    return Executable((*before, *runtime.prefix))


def worker_runtime(runtime: Runtime) -> Runtime:
    return replace(runtime, entrypoint=_ray(runtime)) if isinstance(runtime, Image) else Executable(_ray(runtime))


def worker_argv(node: str, devices: int) -> tuple[Arg, ...]:
    """Joins the head and stays; vLLM starts its ranks in it."""
    return (
        *("start", "--address", (HostRef("node-0"), ":", RAY), "--node-ip-address", HostRef(node)),
        *("--num-gpus", str(devices), "--disable-usage-stats", "--block"),
    )


def _ray(runtime: Runtime) -> tuple[Arg, ...]:
    return ("ray",) if isinstance(runtime, Image) else installed_runtime("ray").prefix
