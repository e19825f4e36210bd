"""A Deployment as a job of Slurm: `job.sbatch` beside the scripts of the nodes, which it starts one on each host.

The scripts are the shell's or docker's own, so what runs under Slurm is what runs without it. The job finds out which
hosts it got and says so to them by the variables that the scripts have anyway; it waits for a real token, ends as a
whole when one rank ends, and is queued again a few times where it ends by itself after it was ready.
Sources: https://slurm.schedmd.com/sbatch.html, https://slurm.schedmd.com/srun.html.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from moonpad import __version__
from moonpad.render.containers import one_token
from moonpad.render.env_variables import variable_of
from moonpad.render.rendered import Rendered
from moonpad.values.deployment import Deployment, Executable, HttpProbe, Image, MpiRanks, Process, Role
from moonpad.values.errors import UsageError
from moonpad.values.platform import Platform
from moonpad.values.records import replace
from moonpad.values.references import HostRef

JOB: Final = "job.sbatch"
RESTARTS: Final = 3
PROBE_LIMIT_S: Final = 55
_ADDRESS: Final = """\
# The address of a host as others reach it. Its own name may stand for 127.0.1.1 there.
address() {
  local found
  found=$(srun --overlap --nodes=1 --ntasks=1 --nodelist="$1" --mem=0 bash -c \\
    '{ getent ahostsv4 "$1" | cut -d " " -f 1; hostname -I | tr " " "\\n"; } | grep -v "^127\\." | grep -m 1 .' \\
    address "$1") || true
  [ -n "$found" ] || { echo "no address of $1 is known; set its MOONPAD_HOST_ variable before sbatch" >&2; return 1; }
  echo "$found"
}"""
_PATHS: Final = """\
# What starts a rank parts its words at blanks, and takes the first python3 of PATH.
for word in "${MOONPAD_CHECKPOINT:-}" "${MOONPAD_ENGINE:-}" "${MOONPAD_RUN:-$PWD}"; do
  [[ $word != *[[:space:]*?[]* ]] || { echo "no blank, * or ? may be in $word" >&2; exit 2; }
done
[ -z "${MOONPAD_ENGINE:-}" ] || export PATH="$MOONPAD_ENGINE/bin:$PATH"
"""


def by_rank(deployment: Deployment) -> Deployment:
    """With what each rank runs in the place of a launcher: srun starts the ranks itself.

    Raises:
        UsageError: they run in a container image.
    """

    def rank_of(process: Process) -> Process:
        if process.ranks is None:
            return process
        if isinstance(process.runtime, Image):
            raise UsageError(
                "srun starts ranks of MPI in containers by a plugin alone, for which nothing is rendered",
                remedy="leave [engine] image out, and install the engine on the hosts",
            )
        return replace(process, role=Role.ENGINE, runtime=Executable(()), argv=process.ranks.command)

    gangs = (replace(gang, processes=tuple(map(rank_of, gang.processes))) for gang in deployment.gangs)
    return replace(deployment, gangs=tuple(gangs))


def render_slurm(deployment: Deployment, scripts: Mapping[str, Rendered]) -> Mapping[str, Rendered]:
    """The job and the scripts of its nodes: path → text and mode. Of a launcher, `by_rank` must be gone through."""
    return {JOB: Rendered("\n".join(_lines(deployment)) + "\n", 0o644), **scripts}


def _lines(deployment: Deployment) -> Iterator[str]:
    ranks = [process for process in deployment.processes if process.role is not Role.ROUTER]
    fronts = [process for process in deployment.processes if process.role is Role.ROUTER]
    nodes, mpi = deployment.nodes, ranks[0].ranks
    name = deployment.title
    yield from (
        "#!/usr/bin/env bash",
        f"# Written by moonpad {__version__}. From this folder, which all hosts must see:",
        f"#   sbatch {JOB}        # partition, account and time as options before the file",
        "# Variables come from the environment of sbatch; those without a default must be set there.",
        f"#SBATCH --job-name=moonpad-{name}",
        f"#SBATCH --nodes={len(nodes)}",
        f"#SBATCH --ntasks-per-node={mpi.per_node if mpi else 1}",
        *(f"#SBATCH {option}" for option in _devices(ranks[0])),
        "#SBATCH --exclusive",
        "#SBATCH --mem=0",
        f"#SBATCH --output=moonpad-{name}-%j.log",
        "#SBATCH --open-mode=append",
        "#SBATCH --requeue",
        "# shellcheck disable=SC2016  # words in single quotes are meant as they stand",
        "set -uo pipefail",
        "",
        'cd -- "${MOONPAD_FILES:-$SLURM_SUBMIT_DIR}" || exit',
        'mapfile -t hosts < <(scontrol show hostnames "$SLURM_JOB_NODELIST")',
        *_ADDRESS.splitlines(),
    )
    for number, node in enumerate(nodes):
        variable = variable_of(HostRef(node), deployment)
        yield f'{variable}="${{{variable}:-$(address "${{hosts[{number}]}}")}}" || exit'
        yield f"export {variable}"
        yield f'echo "{node} is ${{hosts[{number}]}}, ${variable}"'
    if mpi:
        yield from ("", *_PATHS.splitlines(), f"cpus=$((SLURM_CPUS_ON_NODE / {mpi.per_node}))")
    # A step gets one processor unless it asks for more, also in a job that has the whole host.
    step = 'srun --overlap --mem=0 --cpus-per-task="$SLURM_CPUS_ON_NODE" --kill-on-bad-exit=1'
    start = _mpi_step(mpi) if mpi else f"{step} --nodes={len(nodes)} --ntasks={len(nodes)} --ntasks-per-node=1"
    # Each rank has a folder of its own for the files that the script writes.
    own = 'export MOONPAD_RUN="${MOONPAD_RUN:-$PWD}/rank-$SLURM_PROCID"'
    run = f"{own}; exec bash node-0/run.sh" if mpi else _own_script(nodes)
    yield from (
        "",
        "steps=() ready=0 ended=0",
        "trap 'ended=1; kill -TERM \"${steps[@]}\" 2>/dev/null' TERM INT",
        *(["ulimit -l unlimited"] if any(rank.needs.memlock or rank.needs.rdma for rank in ranks) else []),
        f'{start} --nodelist="$SLURM_JOB_NODELIST" \\',
        f"  bash -c '{run}' &",
        "steps+=($!)",
    )
    for front in fronts:
        host = nodes.index(front.node)
        yield f'{step} --nodes=1 --ntasks=1 --nodelist="${{hosts[{host}]}}" bash {front.node}/{front.name}.sh &'
        yield "steps+=($!)"
    head = next((process for process in deployment.processes if isinstance(process.ready, HttpProbe)), None)
    if head is not None and isinstance(head.ready, HttpProbe):
        yield from _waiting(deployment, head, head.ready, nodes.index(head.node))
    yield from (
        'wait -n "${steps[@]}"',
        "status=$?",
        '[ "$ended" = 0 ] || wait "${steps[@]}"  # a signal ends a wait',
        'kill -TERM "${steps[@]}" 2>/dev/null',
        "wait",
        f'if [ "$ready$ended" = 10 ] && [ "$status" -ne 0 ] && [ "${{SLURM_RESTART_COUNT:-0}}" -lt {RESTARTS} ]; then',
        '  echo "ended with $status; queued again"',
        '  scontrol requeue "$SLURM_JOB_ID"',
        "fi",
        'exit "$status"',
    )


def _own_script(nodes: Sequence[str]) -> str:
    """Of the host that runs it, by its number in the job."""
    if all(node == f"node-{number}" for number, node in enumerate(nodes)):
        return 'exec bash "node-$SLURM_NODEID/run.sh"'
    return f'set -- {" ".join(nodes)}; shift "$SLURM_NODEID"; exec bash "$1/run.sh"'


def _mpi_step(mpi: MpiRanks) -> str:
    """One task a rank, the ranks of a host side by side: the engine's ranks count its devices. They share the host's
    processors, of which rank 0 uses many."""
    return (
        "srun --mpi=pmix --overlap --mem=0 --cpus-per-task=$((cpus > 1 ? cpus : 1)) --cpu-bind=none"
        f" --kill-on-bad-exit=1 --distribution=block --nodes={len(mpi.nodes)}"
        f" --ntasks={mpi.count} --ntasks-per-node={mpi.per_node}"
    )


def _devices(rank: Process) -> Iterator[str]:
    needs = rank.needs
    if needs.devices and needs.platform is Platform.ASCEND:
        yield f"--gres=npu:{needs.devices}"
    elif needs.devices:
        yield f"--gpus-per-node={needs.devices}"


def _waiting(deployment: Deployment, head: Process, probe: HttpProbe, host: int) -> Iterator[str]:
    """Says when the endpoint has written a token, and ends the job where it does not in time."""
    port, public = (
        f"${{{variable_of(port, deployment)}:-{deployment.port_spec(port).preferred}}}"
        for port in (probe.port, deployment.endpoint)  # not the same where a front stands before the engine
    )
    ask = " ".join(
        f'"{port}"' if word == "PORT" else shlex.quote(word)
        for word in one_token("PORT", deployment.served_name, PROBE_LIMIT_S)
    )
    yield from (
        f'asked() {{ srun --overlap --mem=0 --nodes=1 --ntasks=1 --nodelist="${{hosts[{host}]}}" {ask} 2>/dev/null; }}',
        f"until=$((SECONDS + {head.start_budget_s:.0f}))",
        'while kill -0 "${steps[0]}" 2>/dev/null; do',
        "  if asked; then",
        "    ready=1",
        f'    echo "ready: http://${{hosts[{host}]}}:{public}/v1"',
        "    break",
        '  elif [ "$SECONDS" -ge "$until" ]; then',
        f'    echo "no token after {head.start_budget_s:.0f} s" >&2',
        '    kill -TERM "${steps[@]}" 2>/dev/null',
        "  fi",
        "  sleep 5",
        "done",
    )
