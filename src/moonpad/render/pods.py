"""One process as the pod that runs it.

Kubernetes expands `$(NAME)` in arguments, and in an environment variable where NAME stands before it; `$$` is a dollar
(https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#Container). LeaderWorkerSet puts
LWS_LEADER_ADDRESS, LWS_GROUP_SIZE and LWS_WORKER_INDEX before all others
(https://github.com/kubernetes-sigs/lws, pkg/utils/pod).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, assert_never

from moonpad.render.containers import (
    CHECKPOINT,
    DRAFT,
    Contained,
    beside,
    contain,
    grants,
    has_draft,
    healthy,
    model_mounts,
    one_token,
)
from moonpad.render.env_variables import variable_of
from moonpad.values.deployment import AliveProbe, Deployment, HealthProbe, HttpProbe, Process, Role
from moonpad.values.platform import Platform
from moonpad.values.records import replace
from moonpad.values.references import Arg, HostRef, PathRef, PortRef, RankRef, Ref, SecretRef, parts

Object = dict[str, Any]

# What the vendors' device plugins call their devices.
DEVICES: Final[Mapping[Platform, str]] = {
    Platform.CUDA: "nvidia.com/gpu",
    Platform.ROCM: "amd.com/gpu",
    Platform.ASCEND: "huawei.com/Ascend910",
}
PROBE_EVERY_S: Final = 10
TOKEN_LIMIT_S: Final = 60
UNANSWERED_S: Final = 300
"""An engine under full load may be late with `/health`; one that is silent for so long is started again."""

OWN_ADDRESS: Final = "MOONPAD_POD_IP"
INDEX: Final = "LWS_WORKER_INDEX"


@dataclass(frozen=True, slots=True)
class Pods:
    """The pods of a deployment. `claim` holds the checkpoint, `draft_claim` the draft model where there is one; `rdma`
    is the resource of the cluster's RDMA plugin."""

    deployment: Deployment
    name: str
    claim: str
    draft_claim: str = ""
    rdma: str = ""
    group: str = ""
    """The endpoint that they are a part of; "": they are the whole of one."""

    def template(self, process: Process, labels: Mapping[str, str]) -> Object:
        """A pod template: its labels, and a pod of one container, or two where the engine has a front."""
        contained = _with_ranks_computed(contain(process))
        container: Object = {"name": process.role.value, "image": contained.image}
        if contained.entrypoint:
            container["command"] = [self._text(arg, process) for arg in contained.entrypoint]
        container["args"] = [self._text(arg, process) for arg in contained.argv]
        container["env"] = list(self._env(process, contained))
        container |= self._ports(process) | self._resources(process) | self._probes(process)
        container["securityContext"] = _security(process)
        models = [("checkpoint", CHECKPOINT, self.claim)] if model_mounts(process) else []
        if has_draft(process):
            models.append(("draft", DRAFT, self.draft_claim))
        container["volumeMounts"] = [{"name": name, "mountPath": path, "readOnly": True} for name, path, _ in models]
        volumes: list[Object] = [
            {"name": name, "persistentVolumeClaim": {"claimName": claim, "readOnly": True}} for name, _, claim in models
        ]
        if process.needs.shm_bytes:
            container["volumeMounts"].append({"name": "shm", "mountPath": "/dev/shm"})  # noqa: S108 - the pod's own
            limit = f"{process.needs.shm_bytes // 2**20}Mi"
            volumes.append({"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": limit}})
        pod: Object = {
            "automountServiceAccountToken": False,
            # Kubernetes would set VLLM_PORT for a service that is called vllm, and vLLM reads that as its own.
            "enableServiceLinks": False,
            "terminationGracePeriodSeconds": math.ceil(process.stop.grace_s + process.stop.drain_s),
            "containers": [container, *(self._beside(other) for other in beside(self.deployment, process))],
            "volumes": volumes,
        }
        return {"metadata": {"labels": dict(labels)}, "spec": pod}

    def _beside(self, process: Process) -> Object:
        """The front is ready when the engine is, and alive by itself."""
        contained = contain(process)
        number = self.deployment.port_spec(self.deployment.endpoint).preferred
        health = {"path": "/health", "port": number}
        return {
            "name": process.name,
            "image": contained.image,
            "command": [self._text(arg, process) for arg in contained.entrypoint],
            "args": [self._text(arg, process) for arg in contained.argv],
            "env": list(self._env(process, contained)),
            **self._ports(process),
            "readinessProbe": {"httpGet": health, "periodSeconds": PROBE_EVERY_S, "timeoutSeconds": PROBE_EVERY_S},
            "livenessProbe": {"tcpSocket": {"port": number}, "periodSeconds": PROBE_EVERY_S},
            "securityContext": _security(process) | {"capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True},
        }

    def _ports(self, process: Process) -> Object:
        ports = [port for port in process.ports if port.reach != "private"]
        return {"ports": [{"name": port.name, "containerPort": port.preferred} for port in ports]} if ports else {}

    def _env(self, process: Process, contained: Contained) -> Iterator[Object]:
        args = (*contained.entrypoint, *contained.argv, *contained.env.values())
        if process.role is not Role.ROUTER and any(HostRef(process.node) in parts(arg) for arg in args):
            yield {"name": OWN_ADDRESS, "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
        for secret in secrets_of(contained):
            source = {"name": f"{self.group or self.name}-{secret.name.replace('_', '-')}", "key": secret.name}
            yield {"name": variable_of(secret, self.deployment), "valueFrom": {"secretKeyRef": source}}
        for name, arg in contained.env.items():
            yield {"name": name, "value": self._text(arg, process)}

    def _resources(self, process: Process) -> Object:
        needs, amounts = process.needs, {}
        if needs.devices:
            amounts[DEVICES[needs.platform]] = needs.devices
        if self.rdma and process.role is not Role.ROUTER:
            amounts[self.rdma] = 1
        asked: Object = {"limits": amounts} if amounts else {}
        if needs.memory_bytes:
            asked["requests"] = {"memory": f"{math.ceil(needs.memory_bytes / 2**20)}Mi"}
        return {"resources": asked} if asked else {}

    def _probes(self, process: Process) -> Object:
        """Start-up is over with the first token, which may take as long as the load; only then the others count."""
        match process.ready:
            case AliveProbe():
                return {}
            case HealthProbe(port, path):
                number = self.deployment.port_spec(port).preferred
                health: Object = {"httpGet": {"path": path, "port": number}}
                health |= {"periodSeconds": PROBE_EVERY_S, "timeoutSeconds": PROBE_EVERY_S}
                return {
                    "startupProbe": health | {"failureThreshold": math.ceil(process.start_budget_s / PROBE_EVERY_S)},
                    "readinessProbe": health | {"failureThreshold": 3},
                    "livenessProbe": health | {"failureThreshold": UNANSWERED_S // PROBE_EVERY_S},
                }
            case HttpProbe(port, path):
                spec = self.deployment.port_spec(port)
                number = spec.preferred
                ask = one_token(str(number), self.deployment.served_name, TOKEN_LIMIT_S - 5)
                asked: Object = {"httpGet": {"path": path, "port": number}}
                if spec.reach == "private":  # the kubelet asks from outside
                    asked = {"exec": {"command": list(healthy(str(number), path, PROBE_EVERY_S - 1))}}
                often = {"periodSeconds": PROBE_EVERY_S, "timeoutSeconds": PROBE_EVERY_S}
                health = alive = asked | often
                if process.role is Role.ROUTER:  # one without a copy that can serve is not helped by a restart
                    alive = {"tcpSocket": {"port": number}} | often
                return {
                    "startupProbe": {
                        "exec": {"command": [_escaped(word) for word in ask]},
                        "periodSeconds": PROBE_EVERY_S,
                        "timeoutSeconds": TOKEN_LIMIT_S,
                        "failureThreshold": math.ceil(process.start_budget_s / PROBE_EVERY_S),
                    },
                    "readinessProbe": health | {"failureThreshold": 3},
                    "livenessProbe": alive | {"failureThreshold": UNANSWERED_S // PROBE_EVERY_S},
                }
            case _:
                raise ValueError(f"process {process.name}: Kubernetes cannot ask a log whether it is ready")

    def _text(self, arg: Arg, process: Process) -> str:
        return "".join(_escaped(part) if isinstance(part, str) else self._ref(part, process) for part in parts(arg))

    def _ref(self, ref: Ref, process: Process) -> str:
        match ref:
            # A router has a pod of its own, whichever machine it shares elsewhere.
            case HostRef(node) if node == process.node and process.role is not Role.ROUTER:
                return f"$({OWN_ADDRESS})"
            case HostRef(node):
                gang = next((gang for gang in self.deployment.gangs if gang.processes[0].node == node), None)
                if gang is None:
                    raise ValueError(f"process {process.name} names {node}: a pod knows leaders only")
                return "$(LWS_LEADER_ADDRESS)" if process in gang.processes else service_of(gang.name)
            case PortRef():
                return str(self.deployment.port_spec(ref).preferred)
            case RankRef(_, times) if times == 1:
                return f"$({INDEX})"
            case RankRef():
                raise ValueError(f"process {process.name}: Kubernetes cannot multiply a rank in the middle of a word")
            case SecretRef():
                return f"$({variable_of(ref, self.deployment)})"
            case PathRef(name):
                raise ValueError(f"process {process.name} names the path {name}, which a container does not have")
            case _:
                assert_never(ref)


def service_of(name: str) -> str:
    """The service that finds the leader of a group: LeaderWorkerSet makes a headless one of the group's own name."""
    return f"{name}-api"


def secrets_of(contained: Contained) -> tuple[SecretRef, ...]:
    """In the order of their use."""
    used = (part for arg in contained.env.values() for part in parts(arg))
    return tuple(dict.fromkeys(part for part in used if isinstance(part, SecretRef)))


def _with_ranks_computed(contained: Contained) -> Contained:
    """Kubernetes cannot multiply: the shell of the image adds the options that take a multiple of the rank."""
    argv, computed = list(contained.argv), ""
    for at, arg in reversed(list(enumerate(argv))):
        if isinstance(arg, RankRef) and arg.times != 1:
            computed = f' {argv[at - 1]} "$(({INDEX} * {arg.times}))"{computed}'
            del argv[at - 1 : at + 1]
    if not computed:
        return contained
    return replace(
        contained,
        entrypoint=("sh", "-c", f'exec "$@"{computed}', "sh", *contained.entrypoint),
        argv=tuple(argv),
    )


def _escaped(text: str) -> str:
    return text.replace("$", "$$")


def _security(process: Process) -> Object:
    given, context = grants(process.needs), Object(allowPrivilegeEscalation=False)
    if given.capabilities:
        context["capabilities"] = {"add": list(given.capabilities)}
    if "seccomp=unconfined" in given.security:
        context["seccompProfile"] = {"type": "Unconfined"}
    return context
