"""Ports that a container publishes, that probes ask and that a Service sends to, against the one of the engine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from yaml import Node

from moonpad.engines import surrounding_names as around
from moonpad.engines.host_expert_names import OLD_PROGRAMS
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.request_names import is_only_server
from moonpad.explain.checks.dynamo.dynamo_workers import is_worker
from moonpad.explain.checks.manifests.pod_objects import (
    Fields,
    PodObject,
    fields_of,
    inner,
    items_of,
    number_of,
    own_container,
    pod_objects,
    text_of,
)
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_PUBLISHED: Final = re.compile(r"(?:.*:)?(?P<inside>\d{1,5})(?:/tcp)?")
_OWN_NETWORK: Final = re.compile(r"host|none|container:.*|service:.*|slirp4netns.*")
_PORTS: Final = re.compile(r"(?<![\d.])\d{2,5}(?![\d.])")
_VARIABLE: Final = re.compile(r"\$[{<]?(?P<name>[A-Za-z_]\w{0,80})[}>]?")
_LONGEST: Final = 1000
_PROBES: Final = ("startupProbe", "readinessProbe", "livenessProbe")
_KEEPS: Final = ("--config", "--uds", "--grpc", "--ssl-keyfile", "--ssl-certfile")
_KEYS: Final = ("--ssl-keyfile", "--ssl-certfile", "--ssl-key-file", "--ssl-cert-file")
BESIDE: Final = re.compile(
    r"nginx|caddy|envoy|haproxy|prox(?:y|ies)\b|litellm|gateway|uvicorn|gunicorn|launch_router|dynamo\."
)
"""What a script in the container may start beside the engine, with a port of its own."""
_KINDS: Final = frozenset({"Deployment", "StatefulSet", "DaemonSet", "Pod", "Job", "ReplicaSet"})
"""Kinds whose pods have the labels that stand in them, and no more containers than those."""
_OF_JOB: Final = re.compile(
    r"(?:[ \t]+ports:[ \t]*[\"']?|port:[ \t]*|@modal\.web_server\((?:port=)?)(?P<port>[0-9]{2,5})"
    r"[\"']?[ \t]*(?:#.*|[,)].*)?$"
)
"""What SkyPilot, dstack and Modal open of a job's machine."""
_EXPOSED: Final = re.compile(r"[ \t]*[\"']?expose[\"']?[ \t]*:[ \t]*[\"']?(?P<port>[0-9]{2,5})[\"']?[ \t]*,?[ \t]*$")
_SERVICE: Final = re.compile(r"type:[ \t]*[\"']?service[\"']?[ \t]*(?:#.*)?$")
"""Of dstack, whose `resources` need not name a device."""
_NEAR: Final = 30
OTHER_PORTS: Final = ("--kv-transfer-config", "--disaggregation-mode", "--distributed-executor-backend", "--nnodes")
"""What makes an engine listen on more than its own port."""


def published_port(case: Case) -> Iterator[Remark]:
    """`docker run -p 8000:8000 … --port 30000`, or the ports of a service of Compose."""
    command = case.commands[0]
    container, port = command.container, own_port(case)
    if container is None or container.kind != "docker run" or port is None or command.wrappers[-1] is not container:
        return
    if any(_OWN_NETWORK.fullmatch(value) for value in container.values("--network")) or command.custom:
        return
    given = [option for option in container.given("--publish") if option.value]
    inside = [_PUBLISHED.fullmatch(option.value or "") for option in given]
    ports = {int(match["inside"]) for match in inside if match is not None}
    if not given or not all(inside) or port in ports:
        return
    published, target = shortened(given[0].value or "", 40), inside[0]["inside"] if inside[0] is not None else ""
    message = f"{published} leads to port {target} of the container, and {case.engine.facts.title} listens on "
    message += f"{port} in it" + ("" if case.option("--port") is not None else ", its default")
    remedy = f"publish …:{port}, or start it with --port {target}"
    word = given[0].words[-1]
    yield make_remark(Severity.WARNING, Code.CONFLICT, f"-p {published}", message, remedy, word=word)


def probed_port(case: Case) -> Iterator[Remark]:
    """A probe of the container that asks another port than the engine's, or by HTTPS where it has no key."""
    port, found = own_port(case), _own_container(case)
    if found is None or port is None:
        return
    holder, container, pod = found
    ports = _named_ports(container)
    if _is_shared(pod):
        return
    for name in _PROBES:
        probe = fields_of(container.get(name))
        for way in ("httpGet", "tcpSocket"):
            node = fields_of(probe.get(way)).get("port")
            asked = _resolved(node, ports)
            if node is None or asked is None or asked == port:
                continue
            yield _of_probe(case, name, asked, port, holder, node)
            return
        scheme = inner(probe, "httpGet", "scheme")
        if text_of(scheme).upper() == "HTTPS" and scheme is not None and not _has_key(case):
            message = f"{case.script.where(holder.offset + scheme.start_mark.line)}: {name} asks by HTTPS, and "
            message += f"{case.engine.facts.title} has no certificate: it speaks HTTP"
            remedy = "leave scheme out, or start the engine with a key and a certificate"
            remark = make_remark(Severity.WARNING, Code.CONFLICT, f"{name}: scheme", message, remedy)
            yield replace(remark, command=None)
            return


def _of_probe(case: Case, name: str, asked: int, port: int, holder: PodObject, node: Node) -> Remark:
    where, title = case.script.where(holder.offset + node.start_mark.line), case.engine.facts.title
    message = f"{where}: {name} asks at port {asked}, and {title} listens on {port}"
    message += ": the pod never becomes ready" if name == "readinessProbe" else ": the container is killed"
    remedy = f"write port: {port}, or start it with --port {asked}"
    return replace(make_remark(Severity.WARNING, Code.CONFLICT, f"{name}: port", message, remedy), command=None)


def service_port(case: Case) -> Iterator[Remark]:
    """A Service that chooses the pods of the engine, and sends to a port where nothing listens."""
    port, found = own_port(case), _own_container(case)
    if found is None or port is None:
        return
    holder, container, pod = found
    if holder.kind not in _KINDS or _is_shared(pod) or any(case.option(flag) is not None for flag in OTHER_PORTS):
        return
    labels = _labels(holder)
    others = {int(each) for text in _texts(container) for each in _PORTS.findall(text)}
    for service in pod_objects(case.script):
        chosen = {key: text_of(value) for key, value in fields_of(inner(service.fields, "spec", "selector")).items()}
        if service.kind != "Service" or service.templated or not chosen or not chosen.items() <= labels.items():
            continue
        if text_of(inner(service.fields, "spec", "clusterIP")) == "None" or _space(service) != _space(holder):
            continue
        sent = [_target(fields_of(each), _named_ports(container)) for each in _ports(service)]
        targets = [(target, node) for target, node in sent if target is not None and node is not None]
        if len(targets) != len(sent) or not targets or any(at == port or at in others for at, _ in targets):
            continue
        target, node = targets[0]
        where, name = case.script.where(service.offset + node.start_mark.line), _name(service)
        message = f"{where}: the Service {name} sends to port {target} of the pods, and {case.engine.facts.title} "
        message += f"listens on {port}"
        remedy = f"write targetPort: {port}, or start it with --port {target}"
        remark = make_remark(Severity.WARNING, Code.CONFLICT, "targetPort", message, remedy)
        yield replace(remark, command=None)
        return


def service_of_variable_port(case: Case) -> Iterator[Remark]:
    """`--port ${PORT}` and `containerPort: ${PORT}`, and a Service that sends to a number: nothing makes them agree."""
    variable, found = _VARIABLE.fullmatch(case.text("--port")), _own_container(case)
    if found is None or variable is None or is_fragment(case.commands[0]):
        return
    holder, container, pod = found
    declared = [text_of(fields_of(each).get("containerPort")) for each in items_of(container.get("ports"))]
    if holder.kind not in _KINDS or _is_shared(pod) or len(declared) != 1:
        return
    inside = _VARIABLE.fullmatch(declared[0])
    if inside is None or inside["name"] != variable["name"] or _is_known(variable["name"], case):
        return
    service = next((each for each in pod_objects(case.script) if _chooses(each, holder)), None)
    sent = [_target(fields_of(each), {}) for each in _ports(service)] if service is not None else []
    if service is None or not sent or any(target is None for target, _ in sent):
        return
    target, node = sent[0]
    line = service.offset + (node.start_mark.line if node is not None else 0)
    message = f"{case.script.where(line)}: the Service {_name(service)} sends to port {target} of the pods, and "
    message += f"{case.engine.facts.title} listens on ${{{variable['name']}}}, as its containerPort says"
    remedy = f"write targetPort: ${{{variable['name']}}}"
    remark = make_remark(Severity.WARNING, Code.CONFLICT, "targetPort", message, remedy)
    yield replace(remark, command=None)


def _chooses(service: PodObject, holder: PodObject) -> bool:
    """Whether it is a Service for the pods of the holder."""
    chosen = {key: text_of(value) for key, value in fields_of(inner(service.fields, "spec", "selector")).items()}
    return service.kind == "Service" and bool(chosen) and chosen.items() <= _labels(holder).items()


def _is_known(name: str, case: Case) -> bool:
    """Whether the text gives the variable a value, which other checks compare."""
    given = re.compile(rf"(?:^|[ \t;])(?:export[ \t]+)?{name}=|\$\{{{name}:?[-=]")
    case.script.budget.work(len(case.script.lines), "its ports")
    return any(given.search(line[:_LONGEST]) for line in case.script.lines)


def variable_of_service(case: Case) -> Iterator[Remark]:
    """A Service of the engine's own name: Kubernetes gives all pods beside it a variable that the engine reads."""
    name = around.NAMES_OF_SERVICES.get(case.base)
    found = _own_container(case)
    if name is None or found is None:
        return
    holder, container, pod = found
    variable = f"{name.upper()}_PORT"
    set_here = {text_of(fields_of(each).get("name")) for each in items_of(container.get("env"))}
    if variable in set_here or text_of(pod.get("enableServiceLinks")).lower() == "false":
        return
    for service in pod_objects(case.script):
        if service.kind != "Service" or _name(service) != name or _space(service) != _space(holder):
            continue
        if text_of(inner(service.fields, "spec", "clusterIP")) == "None":
            continue  # without an address there is no variable
        where = case.script.where(service.first)
        message = f"{where}: for a Service {name} Kubernetes sets {variable}=tcp://… in pods that start after it, and "
        message += f"{case.engine.facts.title} reads {variable} as the number of a port of its own: ValueError"
        remedy = "give the Service another name, or the pod enableServiceLinks: false"
        remark = make_remark(Severity.WARNING, Code.CONFLICT, f"name: {name}", message, remedy)
        yield replace(remark, command=None)
        return


def exposed_port(case: Case) -> Iterator[Remark]:
    """`"expose": 9000` of a job: the platform opens that port of its container."""
    port = own_port(case)
    if port is None or not is_only_server(case):
        return
    line = case.commands[0].line
    lines = list(numbered(case.script, max(1, line - _NEAR), line + _NEAR))
    is_job = bool(case.script.asked) or any(_SERVICE.match(text) for _, text in lines)
    patterns = (_EXPOSED, _OF_JOB) if is_job else (_EXPOSED,)
    given = [(number, match) for number, text in lines for each in patterns if (match := each.match(text)) is not None]
    if len(given) != 1 or int(given[0][1]["port"]) == port:
        return
    number, match = given[0]
    message = f"{case.script.where(number)}: port {match['port']} is opened, and {case.engine.facts.title} listens on "
    message += str(port)
    remedy = f"write {port} there, or start it with --port {match['port']}"
    key = re.sub(r"\W*(\w+).*", r"\1", match.group(), flags=re.DOTALL)
    yield replace(make_remark(Severity.WARNING, Code.CONFLICT, key, message, remedy), command=None)


def own_port(case: Case) -> int | None:
    """Where the engine of the first command serves, None where that is not certain."""
    command, node = case.commands[0], case.first.node
    if case.open_ended or is_fragment(command) or command.embedded or is_worker(command, case.script):
        return None
    if node.headless or node.node_rank not in (None, 0) or any(case.option(flag) is not None for flag in _KEEPS):
        return None
    if case.option("--port") is not None:
        return case.first.serving.port
    if command.program in OLD_PROGRAMS:
        return None  # its configuration file chooses the port
    if command.guessed or command.more or any(name.endswith("PORT") for name in command.env):
        return None
    container, before = command.container, sum(len(wrapper.words) for wrapper in command.wrappers)
    image = container.image.text if container is not None and container.image is not None else ""
    if not command.prefix[before:] and not around.WITHOUT_WEIGHTS.fullmatch(image):
        return None  # an image of somebody's own may choose another port
    return case.first.serving.port or case.engine.command_line.port


def _own_container(case: Case) -> tuple[PodObject, Fields, Fields] | None:
    """Of a command that a pod starts: the object, the container and the pod."""
    found = own_container(case) if not case.commands[0].custom else None
    if found is None or found[0].templated or any(BESIDE.search(text) for text in _texts(found[1])):
        return None
    return found


def _is_shared(pod: Fields) -> bool:
    """Whether another container of the pod may listen there."""
    return len(items_of(pod.get("containers"))) > 1 or any(
        text_of(fields_of(each).get("restartPolicy")) == "Always" for each in items_of(pod.get("initContainers"))
    )


def _named_ports(container: Fields) -> dict[str, int]:
    ports = [fields_of(each) for each in items_of(container.get("ports"))]
    numbers = {text_of(each.get("name")): number_of(each.get("containerPort")) for each in ports}
    return {name: number for name, number in numbers.items() if name and number is not None}


def _resolved(node: Node | None, ports: dict[str, int]) -> int | None:
    return number_of(node) if number_of(node) is not None else ports.get(text_of(node))


def _target(port: Fields, ports: dict[str, int]) -> tuple[int | None, Node | None]:
    node = port.get("targetPort", port.get("port"))
    return _resolved(node, ports), node


def _ports(service: PodObject) -> list[Node]:
    return [*items_of(inner(service.fields, "spec", "ports"))]


def _labels(holder: PodObject) -> dict[str, str]:
    path = ("metadata", "labels") if holder.kind == "Pod" else ("spec", "template", "metadata", "labels")
    return {key: text_of(value) for key, value in fields_of(inner(holder.fields, *path)).items()}


def _texts(container: Fields) -> Iterator[str]:
    """What the command and its environment say, beside the ports that the container declares."""
    for key in ("command", "args"):
        yield from (text_of(each) for each in items_of(container.get(key)))
    yield from (text_of(fields_of(each).get("value")) for each in items_of(container.get("env")))


def _has_key(case: Case) -> bool:
    return any(case.option(flag) is not None for flag in _KEYS)


def _name(service: PodObject) -> str:
    return text_of(inner(service.fields, "metadata", "name"))


def _space(each: PodObject) -> str:
    return text_of(inner(each.fields, "metadata", "namespace"))
