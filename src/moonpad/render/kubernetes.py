"""A Deployment as objects of Kubernetes, `kubernetes.yaml`.

One node: a Deployment. Several: a LeaderWorkerSet, whose whole group is recreated when one of its pods ends, since
ranks cannot go on without one another (https://lws.sigs.k8s.io/docs/). Pools are one of these each, with a router in a
Deployment of its own before them. Nothing reaches the pods but one another, unless the spec exposes the endpoint:
`kubectl port-forward` is the loopback of a cluster.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from moonpad import __version__
from moonpad.engines.base import API
from moonpad.engines.router_programs import NAME as ROUTER
from moonpad.engines.routers import is_routed
from moonpad.render.containers import contain, has_draft, image_note
from moonpad.render.pods import Object, Pods, secrets_of, service_of
from moonpad.render.rendered import Rendered, yaml_text
from moonpad.spec.schema import KubernetesTable
from moonpad.values.deployment import Deployment, Gang, Image, Process, Role
from moonpad.values.errors import UsageError
from moonpad.values.references import PortRef

FILE: Final = "kubernetes.yaml"
NAME: Final = "app.kubernetes.io/name"
GROUP: Final = "app.kubernetes.io/part-of"
"""Of the copies behind a router, and of the router: the endpoint's name."""
LONGEST_NAME: Final = 50
"""Names of pods and services add to it, and a label has 63 characters."""


def render_kubernetes(deployment: Deployment, table: KubernetesTable = KubernetesTable()) -> Mapping[str, Rendered]:
    """
    Raises:
        UsageError: the deployment has a shape that is not rendered for Kubernetes yet, or too long a name.
        ValueError: a process runs in no container image.
    """
    if is_routed(deployment):
        return {FILE: _routed(deployment, table)}
    engines = [gang for gang in deployment.gangs if gang.processes[0].role is not Role.ROUTER]
    name = deployment.title
    for each in (name, *(gang.name for gang in engines)):
        _refuse_long(each)
    pods = Pods(deployment, name, *_claims(table, name), table.rdma_resource or "")
    if len(engines) == 1:
        objects = [_workload(pods, engines[0]), _service(pods)]
    else:
        objects = [part for gang in engines for part in _pool(pods, gang)]
        routers = _routers(deployment)
        objects += [_single(pods, router, f"{name}-{router.name}", router.name) for router in routers]
        objects.append(_service(pods, routers[0].name))
    objects.append(_policy(pods))
    return {FILE: Rendered(yaml_text(objects, _notes(pods)))}


def _routed(deployment: Deployment, table: KubernetesTable) -> Rendered:
    """Each copy as it would be by itself, and the router, which reaches them by their services."""
    name = deployment.title
    claims = _claims(table, name)
    objects: list[Object] = []
    notes: dict[str, None] = {}
    for gang in (gang for gang in deployment.gangs if gang.processes[0].role is not Role.ROUTER):
        _refuse_long(gang.name)
        own = Deployment((gang,), PortRef(gang.processes[0].name, API.name), deployment.served_name)
        copy = Pods(own, gang.name, *claims, table.rdma_resource or "", group=name)
        objects += [_workload(copy, gang), _service(copy)]
        notes |= dict.fromkeys(_notes(copy))
    pods = Pods(deployment, name, *claims, group=name)
    objects += [_single(pods, deployment.process(ROUTER), name, "leader"), _service(pods), _policy(pods)]
    notes |= dict.fromkeys(line for process in deployment.processes for line in image_note(process))
    return Rendered(yaml_text(objects, tuple(notes)))


def _refuse_long(name: str) -> None:
    if len(name) > LONGEST_NAME:
        raise UsageError(f"the name {name} has {len(name)} characters, Kubernetes leaves room for {LONGEST_NAME}")


def _claims(table: KubernetesTable, name: str) -> tuple[str, str]:
    """Of the checkpoint, and of the draft."""
    return table.checkpoint_claim or f"{name}-checkpoint", table.draft_claim or f"{name}-draft"


def _routers(deployment: Deployment) -> tuple[Process, ...]:
    """Those with pods of their own. Raises UsageError where nothing is before several groups."""
    routers = (process for process in deployment.processes if process.role is Role.ROUTER)
    found = tuple(each for each in routers if not (isinstance(each.runtime, Image) and each.runtime.beside))
    if not found:
        raise UsageError("several groups of processes without a router are not written for Kubernetes")
    return found


def _workload(pods: Pods, gang: Gang, role: str = "leader") -> Object:
    """`role`: the label of its first process."""
    if len(gang.processes) > 1:
        return _group(pods, gang.processes, gang.name, role)
    return _single(pods, gang.processes[0], gang.name, role)


def _pool(pods: Pods, gang: Gang) -> tuple[Object, Object]:
    """With a service for the router and the other pool: its servers' ports stay what they are, since they tell one
    another of them."""
    head = gang.processes[0]
    ports = [{"name": port.name, "port": port.preferred, "targetPort": port.name} for port in head.ports]
    spec = {"type": "ClusterIP", "selector": _labels(pods, head.name), "ports": ports}
    return _workload(pods, gang, head.name), _object("v1", "Service", pods, spec, name=service_of(gang.name))


def _notes(pods: Pods) -> tuple[str, ...]:
    processes = pods.deployment.processes
    keyed = bool(secrets_of(contain(processes[0])))
    secret = f"{pods.group or pods.name}-api-key"
    return (
        f"Written by moonpad {__version__}.",
        f"  kubectl apply -f {FILE}",
        f"The claim {pods.claim} holds the checkpoint; create it first.",
        *((f"So does {pods.draft_claim}, for the draft model.",) if has_draft(processes[0]) else ()),
        *((f"  kubectl create secret generic {secret} --from-file=api_key=FILE",) if keyed else ()),
        *dict.fromkeys(line for process in processes for line in image_note(process)),
    )


def _group(pods: Pods, processes: tuple[Process, ...], name: str, role: str) -> Object:
    """The first process leads; the others must be the same pod, since there is one template for them."""
    leader = pods.template(processes[0], _labels(pods, role))
    of_workers = _labels(pods, "worker" if role == "leader" else f"{role}-worker")
    workers = [pods.template(process, of_workers) for process in processes[1:]]
    if any(worker != workers[0] for worker in workers):
        raise UsageError("the nodes after the first differ, and a LeaderWorkerSet has one template for all of them")
    template = {
        "size": len(processes),
        "restartPolicy": "RecreateGroupOnPodRestart",
        "leaderTemplate": leader,
        "workerTemplate": workers[0],
    }
    spec = {"replicas": 1, "leaderWorkerTemplate": template}
    return _object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", pods, spec, name=name)


def _single(pods: Pods, process: Process, name: str, role: str) -> Object:
    labels = _labels(pods, role)
    spec = {
        "replicas": 1,
        # The new pod would wait for the devices of the old one, which goes last in a rolling update.
        "strategy": {"type": "Recreate"},
        # Kubernetes calls a deployment stuck after ten minutes, which a large checkpoint takes to load.
        "progressDeadlineSeconds": math.ceil(process.start_budget_s) + 600,
        "selector": {"matchLabels": labels},
        "template": pods.template(process, labels),
    }
    return _object("apps/v1", "Deployment", pods, spec, name=name)


def _service(pods: Pods, role: str = "leader") -> Object:
    deployment = pods.deployment
    port = {"name": "api", "port": deployment.port_spec(deployment.endpoint).preferred, "targetPort": "api"}
    spec = {"type": "ClusterIP", "selector": _labels(pods, role), "ports": [port]}
    return _object("v1", "Service", pods, spec, name=service_of(pods.name))


def _policy(pods: Pods) -> Object:
    """Nothing goes in or out but between the pods themselves, to the name service and, where asked for, to the API."""
    deployment = pods.deployment
    own = {"podSelector": {"matchLabels": {GROUP: pods.group} if pods.group else {NAME: pods.name}}}
    api = deployment.port_spec(deployment.endpoint)
    ingress: list[Object] = [{"from": [own]}]
    if api.reach != "loopback":
        ingress.append({"ports": [{"protocol": "TCP", "port": api.preferred}]})
    names = [{"protocol": protocol, "port": 53} for protocol in ("UDP", "TCP")]
    spec = {
        "podSelector": own["podSelector"],
        "policyTypes": ["Ingress", "Egress"],
        "ingress": ingress,
        "egress": [{"to": [own]}, {"to": [{"namespaceSelector": {}}], "ports": names}],
    }
    return _object("networking.k8s.io/v1", "NetworkPolicy", pods, spec)


def _object(version: str, kind: str, pods: Pods, spec: Object, *, name: str = "") -> Object:
    labels = {NAME: pods.name, "app.kubernetes.io/managed-by": "moonpad"}
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name or pods.name, "labels": labels},
        "spec": spec,
    }


def _labels(pods: Pods, role: str) -> dict[str, str]:
    return {NAME: pods.name, "app.kubernetes.io/component": role, **({GROUP: pods.group} if pods.group else {})}
