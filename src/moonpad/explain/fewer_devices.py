"""Fewer devices than a command uses, where its author says that he has no more: `I only have one H200`, and TP8."""

from __future__ import annotations

import re
from typing import Final

from moonpad.explain.commands import Script
from moonpad.explain.documents.denied_devices import is_all_there_is
from moonpad.explain.documents.device_mentions import cluster_named, machines_of
from moonpad.explain.documents.posts import of_other_person
from moonpad.values.cluster import Cluster

_LONGEST: Final = 2000
"""A longer line is data, not prose."""
_TOLD: Final = re.compile(r"\b(?:only|just)\b[^\n]{0,40}\b(?:have|own|one|two|three|four)\b|\bhave (?:only|just)\b")


def all_there_are(script: Script, line: int, cluster: Cluster | None, used: int) -> Cluster | None:
    """The one machine that the author of the command at `line` counts so; None where it is as large as what the
    command uses, or of another kind than what the text names else."""
    script.budget.once("all devices that there are", script.steps_to_scan, "the machines that it names")
    told: set[str] = set()
    for number, text in enumerate(script.lines, 1):
        if len(text) > _LONGEST or not _TOLD.search(text) or of_other_person(script.lines, number, line):
            continue
        if script.says_of(number, line):
            told |= {machine for at, machine in machines_of(text, script.budget) if is_all_there_is(text, at)}
    fewer = cluster_named(told.pop()) if len(told) == 1 else None
    if fewer is None or fewer.devices >= used or fewer.nodes > 1:
        return None
    same = cluster is None or cluster.device == fewer.device
    return fewer if same else None
