"""Objects of Kubernetes under the `apiVersion` of another group, or of one that is gone."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import pod_objects, text_of
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_RIGHT: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"), ("apps/v1",)),
    **dict.fromkeys(
        ("Service", "Pod", "ConfigMap", "Secret", "PersistentVolumeClaim", "PersistentVolume", "ServiceAccount"),
        ("v1",),
    ),
    **dict.fromkeys(("Job", "CronJob"), ("batch/v1",)),
    "Ingress": ("networking.k8s.io/v1",),
    "HorizontalPodAutoscaler": ("autoscaling/v2", "autoscaling/v1"),
    "PodDisruptionBudget": ("policy/v1",),
    "LeaderWorkerSet": ("leaderworkerset.x-k8s.io/v1",),
}
"""Kinds → where the API has them (https://kubernetes.io/docs/reference/kubernetes-api/)."""
_OF_CLUSTER: Final = re.compile(
    r"v\d\w*|(?:app|apps|batch|extensions|autoscaling|policy|core|networking\.k8s\.io)/v\d\w*", re.ASCII
)
"""Groups that Kubernetes itself has or had: those of others may have kinds of the same name."""
_ALIKE: Final = 0.75


def group_of_kind(case: Case) -> Iterator[Remark]:
    """`kind: Deployment` under `v1`, `apps/v1beta1` or `app/v1`. Told once for a text."""
    script = case.script
    if not script.objects or not is_first_server(case.commands, script):
        return
    for each in pod_objects(script):
        node, right = each.fields.get("apiVersion"), _RIGHT.get(each.kind)
        written = text_of(node)
        if right is None or node is None or not written or written in right or unresolved(written):
            continue
        group, wanted = written.rpartition("/")[0], right[0].rpartition("/")[0]
        near = bool(group and wanted) and difflib.SequenceMatcher(None, group, wanted).ratio() >= _ALIKE
        if group == wanted and "." in wanted:
            continue  # versions of a group that is not Kubernetes' own
        if not near and not _OF_CLUSTER.fullmatch(written):
            continue
        where = script.where(each.offset + node.start_mark.line)
        message = (
            f"{where}: {shortened(written, 50)} has no {each.kind}, which is in {right[0]}: Kubernetes refuses it "
        )
        message += "(no matches for kind)"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "apiVersion", message, f"write {right[0]}")
        yield Remark(remark.finding, command=None)
        return
