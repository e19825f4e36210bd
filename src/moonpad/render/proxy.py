"""The front of an endpoint that the spec opens to others (fault 61): nginx, which forwards what clients of the
API ask for, and answers 404 to everything else.

The key that an engine asks for guards /v1 alone; /pause, /invocations or /update_weights answer everybody. Here each
path is passed on as it is written in the list, never as the client wrote it, so that the two cannot read one request
in two ways. Directives: https://nginx.org/en/docs/http/ngx_http_proxy_module.html.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.values.deployment import (
    After,
    Deployment,
    Executable,
    File,
    Gang,
    HttpProbe,
    Image,
    PortSpec,
    Process,
    Role,
    Runtime,
)
from moonpad.values.plan import Plan
from moonpad.values.records import replace
from moonpad.values.references import PathRef, PortRef, Ref, joined

NAME: Final = "front"
PASSED: Final = (
    ("GET", "/health"),
    ("GET", "/v1/models"),
    ("POST", "/v1/chat/completions"),
    ("POST", "/v1/completions"),
)
PROGRAM: Final = "/usr/sbin/nginx"
"""Where Debian's, Ubuntu's and Red Hat's packages put it, which is not in the PATH of a user."""
IN_TURN: Final = (
    "trap 'kill -QUIT $front' INT TERM HUP; "
    '"$@" & front=$!; while wait $front; status=$?; kill -0 $front 2>/dev/null; do :; done; '
    "wait $front; last=$?; [ $last -eq 127 ] || status=$last; exit $status"
)
"""For a shell: what asks an engine to drain lets what is open here finish too. nginx itself would cut it. A signal ends
a `wait`, and the front may be gone before it is looked for: then its status is still to be had."""
IMAGE: Final = "nginxinc/nginx-unprivileged:1.28"
"""https://hub.docker.com/r/nginxinc/nginx-unprivileged: the image that does not run as root."""

LONGEST_SILENCE_S: Final = 3600
"""An answer may take long; a client that no longer waits closes the connection itself."""
LARGEST_REQUEST: Final = "64m"
CONNECTIONS: Final = 16384
"""Each request holds two."""


def behind(plan: Plan) -> Plan:
    """The plan for the engine behind the front: on the next port, which only the front reaches."""
    return replace(plan, serving=replace(plan.serving, port=plan.serving.port + 1, reach="private"))


def with_front(deployment: Deployment, port: int, image: str = IMAGE) -> Deployment:
    """The same with a front on `port` before its endpoint, which is the endpoint then. `image` is what it runs in where
    the engine runs in a container."""
    head = deployment.process(deployment.endpoint.process)
    api = PortSpec("api", port, "public")
    front = Process(
        name=NAME,
        role=Role.ROUTER,
        node=head.node,
        rank=head.rank,
        runtime=_runtime(head, image),
        argv=("-e", "stderr", "-p", PathRef("run"), "-c", (PathRef("run"), "/front.conf")),
        files=(File("front.conf", (joined(_config(PortRef(NAME, api.name), deployment.endpoint)),)),),
        ports=(api,),
        after=(After(head.name, "started"),),
    )
    return replace(deployment, gangs=(*deployment.gangs, Gang(NAME, (front,))), endpoint=PortRef(NAME, api.name))


def engine_port(deployment: Deployment) -> PortRef:
    """Where the engine itself answers, with a front or without."""
    probes = (process.ready for process in deployment.processes)
    return next((probe.port for probe in probes if isinstance(probe, HttpProbe)), deployment.endpoint)


def front_of(deployment: Deployment) -> Process | None:
    return next((process for process in deployment.processes if process.name == NAME), None)


def _runtime(head: Process, image: str) -> Runtime:
    if isinstance(head.runtime, Image):
        alone = head.runtime.own_network
        return Image(image, ("nginx",), own_network=alone, beside=head.name if alone else "")
    return Executable(("sh", "-c", IN_TURN, "sh", PROGRAM))


def _config(front: PortRef, engine: PortRef) -> Iterator[str | Ref]:
    """Its temporary files and its pid are in its own folder: relative paths are those of `-p`."""
    yield "daemon off;\npid front.pid;\nerror_log stderr crit;\n"
    yield f"worker_processes auto;\nworker_rlimit_nofile {2 * CONNECTIONS};\n"
    yield f"events {{ worker_connections {CONNECTIONS}; }}\n"
    yield "http {\n  access_log off;\n  server_tokens off;\n"
    for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"):
        yield f"  {kind}_temp_path front-{kind};\n"
    yield f"  client_max_body_size {LARGEST_REQUEST};\n"
    yield from ("  upstream engine { server 127.0.0.1:", engine, "; keepalive 64; }\n")
    yield from ("  server {\n    listen 0.0.0.0:", front, ";\n")
    yield "    proxy_http_version 1.1;\n"
    yield '    proxy_set_header Connection "";\n'
    # A token is passed on when it comes, and no request is asked twice.
    yield "    proxy_buffering off;\n    proxy_request_buffering off;\n    proxy_next_upstream off;\n"
    yield f"    proxy_read_timeout {LONGEST_SILENCE_S}s;\n    proxy_send_timeout {LONGEST_SILENCE_S}s;\n"
    for method, path in PASSED:
        yield f"    location = {path} {{ limit_except {method} {{ deny all; }} proxy_pass http://engine{path}; }}\n"
    yield "    location / { return 404; }\n  }\n}\n"
