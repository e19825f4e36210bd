"""Keys of a manifest that stand one level too high or too low: Kubernetes knows no such field there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import Fields, fields_of, items_of, own_container, text_of
from moonpad.explain.manifests.command_keys import begins_with_model
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_KINDS: Final = frozenset({
    *("Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "LeaderWorkerSet"),
})  # fmt: skip
"""Those whose pods are described as Kubernetes itself describes them."""
_OF_POD: Final = frozenset({
    *("volumes", "nodeSelector", "nodeName", "tolerations", "affinity", "hostNetwork", "hostIPC", "hostPID"),
    *("runtimeClassName", "serviceAccountName", "serviceAccount", "imagePullSecrets", "initContainers", "containers"),
    *("shareProcessNamespace", "topologySpreadConstraints", "terminationGracePeriodSeconds", "dnsPolicy"),
    *("schedulerName", "priorityClassName", "subdomain", "resourceClaims", "enableServiceLinks", "schedulingGates"),
})  # fmt: skip
_OF_VARIABLE: Final = frozenset({"value", "valueFrom", "secretKeyRef", "configMapKeyRef", "fieldRef"})
_OF_PROBE: Final = frozenset({
    *("httpGet", "tcpSocket", "exec", "initialDelaySeconds", "periodSeconds", "timeoutSeconds", "failureThreshold"),
})  # fmt: skip
_OF_RESOURCES: Final = frozenset({"limits", "requests"})
_OF_SECURITY: Final = frozenset({"privileged", "capabilities", "runAsUser", "runAsGroup", "readOnlyRootFilesystem"})
_OF_COMPOSE: Final = frozenset({"environment", "entrypoint", "shm_size", "gpus", "ipc", "network_mode", "ulimits"})
_BELONGS: Final = {
    **dict.fromkeys(_OF_POD, "the pod: move it beside containers"),
    **dict.fromkeys(_OF_VARIABLE, "a variable: indent it under the name in env"),
    **dict.fromkeys(_OF_PROBE, "a probe: indent it under livenessProbe, readinessProbe or startupProbe"),
    **dict.fromkeys(_OF_RESOURCES, "resources: indent it under them"),
    **dict.fromkeys(_OF_SECURITY, "securityContext: indent it under that"),
    **dict.fromkeys(_OF_COMPOSE, "a compose file: write what Kubernetes calls it"),
}
_OF_CONTAINER: Final = frozenset({
    *("image", "command", "args", "env", "envFrom", "volumeMounts", "volumeDevices", "imagePullPolicy", "workingDir"),
    *("livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "ports"),
})  # fmt: skip
_IN_CONTAINER: Final = "a container: indent it under its entry of containers"


def misplaced_field(case: Case) -> Iterator[Remark]:
    """The API refuses the object, or drops the field where it is not asked to be strict."""
    found = own_container(case)
    if found is None:
        return
    holder, container, pod = found
    if holder.kind not in _KINDS or not pod:
        return
    wrong = [(name, node, "container", home) for name, node in container.items() if (home := _BELONGS.get(name))]
    if pod is not container:
        wrong += [(name, node, "pod", _IN_CONTAINER) for name, node in pod.items() if name in _OF_CONTAINER]
    for name, node, level, home in wrong[:1]:
        line = case.script.where(holder.offset + node.start_mark.line)
        belongs, _, remedy = home.partition(": ")
        empty = _without_value(container) if name in _OF_VARIABLE else ""
        then = f", and {shortened(empty, 60)} is empty" if empty else ""
        message = f"{line}: {name} is not a field of a {level} but of {belongs}: kubectl refuses the manifest (unknown "
        message += f"field), and what does not check it drops the field{then}"
        yield replace(make_remark(Severity.WARNING, Code.INVALID_VALUE, name, message, remedy), command=None)


def _without_value(container: Fields) -> str:
    for item in items_of(container.get("env")):
        fields = fields_of(item)
        if set(fields) == {"name"}:
            return text_of(fields["name"])
    return ""


def options_as_command(case: Case) -> Iterator[Remark]:
    """`command: ["--model", …]`, `command: ["org/name", "--port", …]`: it stands in the place of the image's own
    program, to which `args` would be handed."""
    found = own_container(case)
    if found is None:
        return
    holder, container, _ = found
    words = [text_of(item) for item in items_of(container.get("command"))]
    first = words[0] if words else ""
    if holder.kind not in _KINDS:
        return
    if not first.startswith("--") and not begins_with_model(text_of(container.get("image")), words, of_pod=True):
        return
    line = case.script.where(holder.offset + container["command"].start_mark.line)
    message = (
        f"{line}: the pod runs {shortened(first, 60)} as its program, and there is none of that name: it does not "
    )
    message += "start (Kubernetes puts command in the place of the image's own program)"
    remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "command", message, "write args instead of command")
    yield replace(remark, command=None, stops=True)
