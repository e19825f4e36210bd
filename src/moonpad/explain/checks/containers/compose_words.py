"""Services of a compose file: what they call each other, and words that Compose refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from yaml import MappingNode, Node, ScalarNode

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.containers.compose_files import compose_files
from moonpad.explain.checks.containers.compose_top import beside_services
from moonpad.explain.checks.manifests.pod_devices import of_nvidia
from moonpad.explain.checks.manifests.pod_objects import fields_of, items_of, text_of
from moonpad.explain.commands import Script
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_URL: Final = re.compile(
    r"https?://(?P<host>[A-Za-z][\w.-]*|127\.0\.0\.1|0\.0\.0\.0)(?::(?P<port>\d{2,5}))?(?P<path>/\S*)?"
)
_LOCAL: Final = ("localhost", "127.0.0.1", "0.0.0.0")  # noqa: S104 what is written, not what is bound
_SPACES: Final = re.compile(r"(?:host|none|private|shareable|service:.+|container:.+|\$.*)?")
_OPENAI: Final = re.compile(r"OPENAI\w*_(?:BASE_)?URLS?|OPENAI_BASE_URL")
"""Variables of clients that put /chat/completions behind what they are given."""
_DRIVERS: Final = ("nvidia", "amd", "amd.com/gpu", "cdi", "intel", "habana")

_GIVES: Final = ("deploy", "gpus", "runtime", "devices", "privileged", "device_requests", "<<")
_VISIBLE: Final = "VISIBLE_DEVICES"
_CPU: Final = re.compile(r"--device[ =]+cpu\b")
_OF_SERVICE: Final = frozenset({
    *("shm_size", "ipc", "ports", "volumes", "environment", "command", "image", "runtime", "gpus", "restart"),
    *("network_mode", "container_name", "healthcheck", "depends_on", "privileged", "devices", "env_file"),
    *("ulimits", "entrypoint"),
})  # fmt: skip
_CAPABILITIES: Final = ("gpu", "nvidia", "tpu", "npu")
_NEARLY: Final = ("gpus", "cuda", "nvidia-gpu", "all", "gpu0")

_Said = tuple[Code, str, str, str, Node]


def compose_words(case: Case) -> Iterator[Remark]:
    """One remark of each file."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    for first, _, services in compose_files(script):
        for said in _found(services, is_whole=not script.markdown):
            yield _remark(script, first, said)
            break


def refused_at_top(case: Case) -> Iterator[Remark]:
    """A service that stands beside `services`."""
    if is_first_server(case.commands, case.script):
        yield from refused_by_compose(case.script)


def refused_by_compose(script: Script) -> Iterator[Remark]:
    """The first of each file."""
    for first, top, _ in () if script.markdown else compose_files(script):
        for said in beside_services(top):
            yield _remark(script, first, said)


def _remark(script: Script, first: int, said: _Said) -> Remark:
    code, where, message, remedy, node = said
    line = script.where(first + node.start_mark.line)
    return Remark(make_remark(Severity.WARNING, code, where, f"{line}: {message}", remedy).finding, command=None)


def _found(services: Mapping[str, Mapping[str, Node]], *, is_whole: bool) -> Iterator[_Said]:
    """What a guide shows in part may leave out services and devices: those are looked for in whole files."""
    names = {*services} | {text_of(each.get("container_name")) for each in services.values()}
    names |= {text_of(each.get("hostname")) for each in services.values()}
    for fields in services.values():
        yield from _depends(fields, services) if is_whole else ()
        yield from _networks(fields)
        yield from _devices(fields)
        yield from _deploys(fields)
        ipc = fields.get("ipc")
        if ipc is not None and not _SPACES.fullmatch(text_of(ipc)):
            message = (
                f"ipc takes host, private, shareable or service:NAME, and Docker refuses {shortened(text_of(ipc), 40)}"
            )
            yield Code.INVALID_VALUE, "ipc", message, "write ipc: host", ipc
        for name, url, node in _urls(fields):
            yield from _of_host(name, url, node, fields, services)
            yield from _of_url(name, url, node, fields, services, names if is_whole else {url["host"]})
    for fields in services.values() if is_whole else ():
        yield from _without_devices(fields)


def _depends(fields: Mapping[str, Node], services: Mapping[str, Mapping[str, Node]]) -> Iterator[_Said]:
    given = fields.get("depends_on")
    nodes = items_of(given) or (list(given.value) if isinstance(given, MappingNode) else [])
    for each in nodes:
        node = each[0] if isinstance(each, tuple) else each
        name = text_of(node)
        if name and name not in services and "$" not in name:
            message = f"depends_on names {shortened(name, 40)}, and the file has no such service: Compose refuses it"
            yield Code.CONFLICT, "depends_on", message, f"name one of {', '.join(list(services)[:4])}", node


def _networks(fields: Mapping[str, Node]) -> Iterator[_Said]:
    mode = fields.get("network_mode")
    if mode is not None and "networks" in fields and "$" not in text_of(mode):
        message = "network_mode and networks exclude each other: Compose refuses the file"
        yield Code.CONFLICT, "network_mode", message, "leave one of the two out", mode


def _of_host(
    name: str,
    url: re.Match[str],
    node: Node,
    fields: Mapping[str, Node],
    services: Mapping[str, Mapping[str, Node]],
) -> Iterator[_Said]:
    """A service in the machine's own network that another one, which is in a network of Compose, calls by its name."""
    host = url["host"]
    asked = services.get(host) or next(
        (each for each in services.values() if text_of(each.get("container_name")) == host), None
    )
    if asked is None or text_of(asked.get("network_mode")) != "host" or asked is fields:
        return
    if any(key in fields for key in ("network_mode", "extra_hosts", "links", "external_links")):
        return
    message = f"{name} asks {shortened(host, 40)}, which is in the network of the machine (network_mode: host): it has "
    message += "no name in the networks of Compose, and is not found"
    remedy = "write host.docker.internal in its place, with extra_hosts: host.docker.internal:host-gateway, or leave "
    remedy += "network_mode out"
    yield Code.CONFLICT, name, message, remedy, node


def _without_devices(fields: Mapping[str, Node]) -> Iterator[_Said]:
    """A service of an image for NVIDIA's devices that is given none; `deploy` may hold them in other words."""
    image = fields.get("image")
    if image is None or not of_nvidia(text_of(image)) or any(key in fields for key in _GIVES):
        return
    if any(_VISIBLE in name for name in _variables(fields)) or _CPU.search(_words(fields)):
        return
    message = f"{shortened(text_of(image), 60)} gets no device, unless Docker's default runtime is NVIDIA's"
    remedy = "reserve them under deploy.resources.reservations.devices, or write gpus: all"
    yield Code.MISSING_FLAG, "deploy", message, remedy, image


def _variables(fields: Mapping[str, Node]) -> Iterator[str]:
    yield from fields_of(fields.get("environment"))
    for item in items_of(fields.get("environment")):
        yield text_of(item).partition("=")[0]


def _words(fields: Mapping[str, Node]) -> str:
    nodes = [node for name in ("command", "entrypoint") if (node := fields.get(name)) is not None]
    return " ".join(text_of(word) for node in nodes for word in (items_of(node) or (node,)))


def _deploys(fields: Mapping[str, Node]) -> Iterator[_Said]:
    """Keys of a service that stand under deploy, which has others."""
    for name, node in fields_of(fields.get("deploy")).items():
        if name in _OF_SERVICE:
            message = f"deploy has no {name}: Compose refuses the file (additional properties '{name}' not allowed)"
            yield Code.INVALID_VALUE, name, message, f"write {name} beside deploy", node


def _devices(fields: Mapping[str, Node]) -> Iterator[_Said]:
    place: Node | None = fields.get("deploy")
    for key in ("resources", "reservations", "devices"):
        place = fields_of(place).get(key)
    for device in items_of(place):
        given = fields_of(device)
        if given and "capabilities" not in given and "<<" not in given:
            message = "a reserved device needs capabilities: Compose refuses the file without it"
            yield Code.MISSING_FLAG, "capabilities", message, "write capabilities: [gpu]", device
        if "count" in given and "device_ids" in given:
            message = "count and device_ids exclude each other: Compose refuses the file"
            yield Code.CONFLICT, "device_ids", message, "leave one of the two out", given["device_ids"]
        named = [text_of(each) for each in items_of(given.get("capabilities"))]
        if named and not {*named} & {*_CAPABILITIES} and any(each.casefold() in _NEARLY for each in named):
            message = f"no driver offers {shortened(named[0], 20)}: could not select device driver"
            yield Code.INVALID_VALUE, "capabilities", message, "write capabilities: [gpu]", device
        driver = given.get("driver")
        if driver is not None and text_of(driver).casefold() in ("nvidea", "nividia", "nvdia", "nvida", "nvidia-gpu"):
            message = f"no driver is called {text_of(driver)}: could not select device driver"
            yield Code.INVALID_VALUE, "driver", message, f"write driver: {_DRIVERS[0]}", driver


def _urls(fields: Mapping[str, Node]) -> Iterator[tuple[str, re.Match[str], Node]]:
    environment = fields.get("environment")
    pairs: list[tuple[str, str, Node]] = []
    if isinstance(environment, MappingNode):
        pairs = [(key, text_of(node), node) for key, node in fields_of(environment).items()]
    for item in items_of(environment):
        if isinstance(item, ScalarNode):
            name, _, value = item.value.partition("=")
            pairs.append((name, value, item))
    for name, value, node in pairs:
        match = _URL.fullmatch(value.strip("'\""))
        if match is not None:
            yield name, match, node


def _of_url(
    name: str,
    url: re.Match[str],
    node: Node,
    fields: Mapping[str, Node],
    services: Mapping[str, Mapping[str, Node]],
    names: set[str],
) -> Iterator[_Said]:
    host, port = url["host"], url["port"]
    own = [each for each in services.values() if each is not fields and _publishes(each, port or "")]
    alone = "network_mode" in fields or any("network_mode" in each for each in services.values())
    if host in _LOCAL and own and not alone and not _publishes(fields, port or ""):
        served = next(key for key, each in services.items() if each is own[0])
        message = (
            f"{name} asks at {host}, which is the container itself, and port {port} is that of the service {served}"
        )
        inside = f"http://{served}:{_inside(own[0], port or '')}{shortened(url['path'] or '', 60)}"
        yield Code.CONFLICT, name, message, f"write {inside}", node
    elif host not in _LOCAL and "." not in host and host not in names and port and not alone:
        if any(key in fields for key in ("networks", "extra_hosts", "links", "external_links")) or host.startswith(
            "host"
        ):
            return
        message = f"{name} asks {shortened(host, 40)}, and the file has no service of that name"
        yield Code.CONFLICT, name, message, f"write one of {', '.join(list(services)[:4])}", node
    elif host in services and _OPENAI.fullmatch(name) and (url["path"] or "/") == "/":
        message = f"{name} has no /v1 at its end: clients put /chat/completions behind it, and the server answers 404"
        yield Code.INVALID_VALUE, name, message, f"write {url[0].rstrip('/')}/v1", node


def _publishes(fields: Mapping[str, Node], port: str) -> bool:
    return bool(port) and any(port in part for part in _ports(fields))


def _inside(fields: Mapping[str, Node], port: str) -> str:
    return next((part[-1] for part in _ports(fields) if port in part), port)


def _ports(fields: Mapping[str, Node]) -> Sequence[list[str]]:
    return [text_of(each).partition("/")[0].split(":") for each in items_of(fields.get("ports"))]
