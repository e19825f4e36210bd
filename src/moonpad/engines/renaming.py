"""A process under other names, so that several deployments stand beside one another in one."""

from __future__ import annotations

from collections.abc import Mapping

from moonpad.values.deployment import After, Executable, File, HealthProbe, HttpProbe, Mount, Process
from moonpad.values.records import replace
from moonpad.values.references import Arg, HostRef, PortRef, RankRef, Ref, parts


class Names:
    """Puts new names of processes and nodes in the place of the old ones, wherever they stand."""

    def __init__(self, processes: Mapping[str, str], nodes: Mapping[str, str]) -> None:
        self._processes, self._nodes = processes, nodes

    def port(self, ref: PortRef) -> PortRef:
        return PortRef(self._processes[ref.process], ref.name)

    def process(self, process: Process) -> Process:
        runtime = process.runtime
        if isinstance(runtime, Executable):
            runtime = Executable(tuple(map(self._arg, runtime.prefix)))
        else:
            beside = self._processes[runtime.beside] if runtime.beside else ""
            runtime = replace(runtime, entrypoint=tuple(map(self._arg, runtime.entrypoint)), beside=beside)
        ready = process.ready
        return replace(
            process,
            name=self._processes[process.name],
            node=self._nodes[process.node],
            runtime=runtime,
            argv=tuple(map(self._arg, process.argv)),
            env={name: self._arg(arg) for name, arg in process.env.items()},
            files=tuple(File(file.path, tuple(map(self._arg, file.content)), file.mode) for file in process.files),
            mounts=tuple(Mount(self._arg(mount.source), mount.target, mount.read_only) for mount in process.mounts),
            after=tuple(After(self._processes[after.process], after.state) for after in process.after),
            ready=replace(ready, port=self.port(ready.port)) if isinstance(ready, HttpProbe | HealthProbe) else ready,
        )

    def _arg(self, arg: Arg) -> Arg:
        if isinstance(arg, str):
            return arg
        named = tuple(part if isinstance(part, str) else self._ref(part) for part in parts(arg))
        return named if isinstance(arg, tuple) else named[0]

    def _ref(self, ref: Ref) -> Ref:
        match ref:
            case HostRef(node):
                return HostRef(self._nodes[node])
            case RankRef(node, times):
                return RankRef(self._nodes[node], times)
            case PortRef():
                return self.port(ref)
            case _:
                return ref
