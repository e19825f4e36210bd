"""Data-parallel ranks of experts over the machines of a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines.program_words import RAY_OF_ITS_OWN
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import since

_BACKEND: Final = "--data-parallel-backend"
_SINCE: Final = "0.10.0"
_ELSEWHERE: Final = (
    *(
        _BACKEND,
        "-dpb",
        "--data-parallel-size-local",
        "-dpl",
        "--data-parallel-start-rank",
        "-dpr",
        "--headless",
        "-dph",
    ),
    *("--data-parallel-rank", "-dpn", "--data-parallel-hybrid-lb", "--data-parallel-external-lb", "--nnodes"),
)


def ranks_kept_from_ray(case: Case) -> Iterator[Remark]:
    """Ray spreads the ranks over machines, and those that start them take all for local ones."""
    cluster, layout = case.cluster, case.first.layout
    if case.base != RAY_OF_ITS_OWN or case.open_ended or len(case.commands) > 1 or cluster is None or cluster.nodes < 2:
        return
    if case.first.settings.executor != "ray" or layout.dp < 2 or case.option("--enable-expert-parallel", "-ep") is None:
        return
    ranks = layout.world_size
    if ranks <= cluster.per_node or case.option(*_ELSEWHERE) is not None or not since(case.base_version, _SINCE):
        return
    message = (
        f"{layout.dp} data-parallel ranks, {ranks} devices in all, are started as if all were on this machine, which "
        f"has {cluster.per_node}, and they meet at 127.0.0.1: Ray puts some of them on other machines, where nothing "
        "listens at that address, and DistStoreError ends the start after ten minutes"
    )
    edit = Edit(len(case.commands[0].argv), 0, (_BACKEND, "ray"))
    remark = make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, _BACKEND, message, f"add {_BACKEND} ray", edits=[edit])
    yield replace(remark, stops=True)
