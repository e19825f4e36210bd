"""What `#SBATCH` lines ask for, as the variables that Slurm sets from it in the job.

Source: https://slurm.schedmd.com/sbatch.html (options, output environment variables).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from moonpad.explain.commands import Word
from moonpad.explain.manifests.node_labels import cluster_of_label
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.values.records import replace

_DIRECTIVE: Final = re.compile(r"^[ \t]*#SBATCH[ \t]+(.*)$", re.MULTILINE)
_OPTION: Final = re.compile(r"(--[a-z-]+(?![a-z-])|-[A-Za-z])(?:[= \t]*)(\"[^\"\n]*\"|[^\s#-][^\s#]*)")
_LONG: Final = {
    **{"-N": "--nodes", "-n": "--ntasks", "-G": "--gpus", "-p": "--partition", "-C": "--constraint"},
    **{"-c": "--cpus-per-task"},
}
_SET: Final[Mapping[str, tuple[str, ...]]] = {
    "--nodes": ("SLURM_NNODES", "SLURM_JOB_NUM_NODES"),
    "--ntasks": ("SLURM_NTASKS", "SLURM_NPROCS"),
    "--ntasks-per-node": ("SLURM_NTASKS_PER_NODE",),
    "--gpus-per-node": ("SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE"),
    "--gpus": ("SLURM_GPUS",),
    "--cpus-per-task": ("SLURM_CPUS_PER_TASK",),
}
_A100: Final = re.compile(r"(?<![a-z0-9])a100(?![0-9])", re.IGNORECASE)
_GRES: Final = re.compile(r"(?:gres/)?gpu(?::(?P<type>[A-Za-z][\w.-]*))?(?::(?P<count>\d{1,3}))?")
_CALLED: Final = re.compile(
    r"(?<![\w#-])sbatch[ \t][^\n]{0,200}?(?<![\w-])(?:-N|-n|--nodes|--ntasks|--gres|--gpus[\w-]*)[ =\d<$]"
)
_HOPPER: Final = frozenset({"H100", "H200"})
_SUPERCHIP: Final = re.compile(r"(?<![A-Za-z0-9])GH200(?![0-9])", re.IGNORECASE)
_PLAIN: Final = re.compile(r"(?<![A-Za-z0-9])H[12]00(?![0-9])", re.IGNORECASE)
_GRES_OPTION: Final = re.compile(r"--(?:gres|gpus(?:-per-(?:node|task))?)[= ]\S+")
_GPU: Final = re.compile(r"(?:gres/)?gpu(?![\w-])")
_TYPE: Final = re.compile(r".*\d.*|tesla|kepler|pascal|volta|turing|ampere|ada|hopper|blackwell", re.IGNORECASE)
"""A type of devices as clusters name them, where a template has a name that stands for a count (`gpu:NUM`)."""
_WHOLE_NODES: Final = re.compile(r"(?<![\w-])--exclusive(?![\w=-])")
"""By this a job has all devices of its nodes, however many it asks for."""
_KINDS: Final = ("--partition", "--constraint", "--gres", "--gpus-per-node", "--gpus")


def devices_of_gres(text: str) -> int | None:
    """What `--gres` asks for on each node, one where no count is given. None: other things, or not in numbers."""
    parts = [part for part in text.strip("\"'").split(",") if _GPU.match(part)]
    counts = [_count_of(match) for part in parts if (match := _GRES.fullmatch(part)) is not None]
    known = [count for count in counts if count is not None]
    return sum(known) if parts and len(known) == len(parts) else None


def _count_of(match: re.Match[str]) -> int | None:
    if match["count"] is not None:
        return int(match["count"])
    return 1 if match["type"] is None or _TYPE.fullmatch(match["type"]) else None


def takes_whole_nodes(directive: str) -> bool:
    return _WHOLE_NODES.search(directive) is not None


def _is_bare(text: str) -> bool:
    """Whether it only says that devices are wanted, without a count."""
    return not re.search(r":[0-9]{1,3}(?![\w.-])", text)


def slurm_variables(text: str, start: int, state: ScriptState) -> dict[str, Word]:
    """By name, with the place of the directive in the whole text, in which `text` begins at the offset `start`."""
    given: dict[str, Word] = {}
    whole = False
    for line in _DIRECTIVE.finditer(text):
        state.budget.work(10, "its directives")
        whole = whole or takes_whole_nodes(line[1])
        for match in _OPTION.finditer(line[1]):
            at = start + line.start(1) + match.start(2)
            value = match[2].strip('"')
            given[_LONG.get(match[1], match[1])] = state.text.word(value, at, at + len(match[2]))
    variables: dict[str, Word] = {}
    gres = given.get("--gres")
    if gres is not None and not (whole and _is_bare(gres.text)) and (each := devices_of_gres(gres.text)) is not None:
        variables["SLURM_GPUS_ON_NODE"] = replace(gres, text=str(each))
    for option, word in given.items():
        count = word.text.rpartition(":")[2]
        for name in _SET.get(option, ()) if count.isascii() and count.isdigit() else ():
            # `--gpus-per-node=h100:8` is handed on as it is written, the number on the node is one.
            variables[name] = replace(word, text=word.text if name == "SLURM_GPUS_PER_NODE" else count)
    nodes, tasks = variables.get("SLURM_NNODES"), variables.get("SLURM_NTASKS_PER_NODE")
    if nodes is not None and "SLURM_NTASKS" not in variables:
        ranks = int(nodes.text) * (int(tasks.text) if tasks is not None else 1)
        variables["SLURM_NTASKS"] = variables["SLURM_NPROCS"] = replace(nodes, text=str(ranks))
    for option in _KINDS:
        if option in given and (kind := as_superchip(_kind_of(given[option].text), text)):
            _remember(kind, given[option].line, variables, state)
    return variables


def is_called_with_others(text: str) -> bool:
    """Whether the text says how to start the script with other numbers than its directives': `sbatch -N 4 serve.sh`."""
    return _CALLED.search(text) is not None


def as_superchip(kind: str, text: str) -> str:
    """`4xGH200` for a cluster's `gpu:h200:4` (or `h100`, whose generation it is too), where the script names GH200 and
    no other device of Hopper."""
    count, times, name = kind.rpartition("x")
    named = name in _HOPPER and _SUPERCHIP.search(text) is not None
    prose = _DIRECTIVE.sub("", text) if named else ""
    alone = named and not any(_PLAIN.search(_GRES_OPTION.sub("", line)) for line in prose.splitlines())
    return f"{count}{times}GH200" if alone else kind


def _kind_of(text: str) -> str:
    """As a text names it: where nothing is said of 40 GB, `A100` is the one of 80."""
    return cluster_of_label(text) or ("A100" if _A100.search(text) and "40" not in text else "")


def _remember(kind: str, line: int, variables: Mapping[str, Word], state: ScriptState) -> None:
    nodes, per_node = variables.get("SLURM_NNODES"), variables.get("SLURM_GPUS_ON_NODE")
    count = "x".join(word.text for word in (nodes, per_node) if word is not None and per_node is not None)
    state.machines.append((line, f"{count}x{kind.rpartition('x')[2] if count else kind}".lstrip("x")))
