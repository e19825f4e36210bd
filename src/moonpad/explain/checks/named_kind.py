"""The kind of devices that a text names, where the layout of its command is not known: `$TP` devices of one kind."""

from __future__ import annotations

from moonpad.explain.checks.check_case import Case
from moonpad.explain.device_detection import cluster_of
from moonpad.explain.documents.device_mentions import mentions, platform_of
from moonpad.explain.target_detection import Question
from moonpad.values.cluster import Cluster


def kind_named(case: Case) -> Cluster | None:
    """One device of it, or as many as the text counts; None where no kind, or more than one, is named. How many the
    command uses is not known, so this is for what holds of each device alone."""
    if case.cluster is not None or case.laid_out:
        return case.cluster
    cluster = cluster_of(case.engine, case.first, case.script, case.commands, Question())[0]
    if cluster is None:
        return None
    named = mentions(case.script.lines, case.script.placed_hints)
    others = {platform_of(each.kind) for each in named if each.known} - {cluster.device.platform}
    return None if others else cluster
