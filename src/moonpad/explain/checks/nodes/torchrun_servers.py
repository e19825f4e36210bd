"""Servers that torchrun starts side by side, each of which starts its own ranks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines.surrounding_names import ONE_PROCESS_A_NODE
from moonpad.engines.value_checks import whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import since

_LAUNCHER: Final = "torchrun"
_PROCESSES: Final = ("--nproc_per_node", "--nproc-per-node")
_ALL: Final = frozenset({"gpu", "auto"})
"""One process for each device of the machine."""
_OWN_EXECUTORS: Final = frozenset({None, "mp", "ray"})


def servers_of_torchrun(case: Case) -> Iterator[Remark]:
    """`torchrun --nproc-per-node 4 -m vllm.entrypoints.openai.api_server -tp 8`: four servers on each machine. None of
    them joins the launcher's group: each starts tp × pp ranks on the devices from the first one on."""
    command = case.commands[0]
    wrapper = next((each for each in command.wrappers if each.kind == _LAUNCHER), None)
    if wrapper is None or case.base not in ONE_PROCESS_A_NODE or is_fragment(command) or command.custom:
        return
    if case.first.settings.executor not in _OWN_EXECUTORS:
        return  # `external_launcher` takes the processes of torchrun as its ranks
    given = next((value for name in _PROCESSES if (value := wrapper.value(name)) is not None), "1")
    processes, ranks = whole(given) or 0, case.first.layout.world_size
    if processes < 2 and not (given in _ALL and case.laid_out and ranks > 1):
        return
    count = f"{processes} servers" if processes else "a server for each device"
    own = f"its own {ranks} ranks" if case.laid_out and ranks > 1 else "its own engine"
    message = f"torchrun starts {count} on each machine, and each starts {own}, on the same devices and the same port"
    share = case.first.settings.gpu_memory_utilization
    # With small shares the devices may hold all of them, and SO_REUSEPORT lets several listen on one port.
    certain = share is None or share * (processes or 2) > 1
    severity = Severity.ERROR if certain else Severity.WARNING
    machines = wrapper.value("--nnodes")
    remedy = _remedy(case, 1 if machines is None else whole(machines) or 0)
    yield make_remark(severity, Code.CONFLICT, _LAUNCHER, message, remedy)


def _remedy(case: Case, machines: int) -> str:
    """`machines`: 0 where they are not known."""
    alone = "leave torchrun out: the server starts its ranks itself"
    if machines == 1:
        return alone
    nodes = case.engine.command_line.nodes
    if nodes is not None and case.version and not since(case.version, nodes.native_since):
        return f"{alone}, and over several machines by Ray ({nodes.executor} ray)"
    options = f"--nnodes {machines or 'N'} --node-rank R and the address of the first"
    headless = f", with {nodes.headless} on ranks above 0" if nodes is not None else ""
    return f"{alone}; start it once on each machine, with its own {options}{headless}"
