"""What stands in front of the server of the same text: balancers and proxies of HTTP, and Open WebUI's settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.surrounding_names import WITHOUT_OLLAMA
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.asked_server import own_port
from moonpad.explain.checks.clients.client_keys import keys_of_server
from moonpad.explain.checks.clients.proxied_names import OPEN
from moonpad.explain.checks.clients.request_names import is_one_group
from moonpad.explain.checks.manifests.probe_paths import is_nowhere
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_BALANCER: Final = re.compile(
    r"option[ \t]+httpchk[ \t]+(?:(?:GET|HEAD|OPTIONS)[ \t]+)?(?P<path>/[\w/.-]*)"
    r"|http-check[ \t]+send\b.*[ \t]uri[ \t]+(?P<uri>/[\w/.-]*)"
    r"|\bhealth_uri[ \t]+(?P<caddy>/[\w/.-]*)"
)
_OLLAMA: Final = re.compile(
    r"\bOLLAMA_(?:API_)?(?:BASE_URLS?|HOST)[\"']?[ ]*[:=][ ]*[\"']?https?://[\w.-]+:(?P<port>\d{2,5})"
)
_BASE: Final = re.compile(r"\bOPENAI_API_BASE_URLS?[\"']?[ ]*[:=][ ]*[\"']?https?://[\w.-]+:(?P<port>\d{2,5})")
_KEY: Final = re.compile(r"\bOPENAI_API_KEYS?[\"']?[ ]*[:=][ ]*[\"']?(?P<key>[^\s\"',]{1,200})")
_LONGEST: Final = 2000


def health_of_balancer(case: Case) -> Iterator[Remark]:
    """`option httpchk GET /v1/health`, where the engine answers by 404."""
    for number, match in _matches(case, _BALANCER):
        path = match["path"] or match["uri"] or match["caddy"]
        if is_nowhere(case, path):
            message = f"{case.script.where(number)}: the balancer asks for {shortened(path)}, where "
            message += f"{case.engine.facts.title} does not answer (404): it takes every server for down"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, path, message, "write /health")
            yield replace(remark, command=None)
            return


def address_of_ollama(case: Case) -> Iterator[Remark]:
    """`OLLAMA_BASE_URL=http://vllm:8000`: the engine has the addresses of OpenAI, not those of Ollama."""
    port = own_port(case)
    if not port or case.base not in WITHOUT_OLLAMA:
        return
    for number, match in _matches(case, _OLLAMA):
        if match["port"] == port:
            message = (
                f"{case.script.where(number)}: {case.engine.facts.title} does not speak Ollama's API: the list of "
            )
            message += "models stays empty"
            remedy = "write OPENAI_API_BASE_URL with /v1 at the end"
            remark = make_remark(Severity.WARNING, Code.CONFLICT, "OLLAMA_BASE_URL", message, remedy)
            yield replace(remark, command=None)
            return


def key_of_front(case: Case) -> Iterator[Remark]:
    """`OPENAI_API_KEY=none` beside the server's address, and a server that is started with a key."""
    keys, port = keys_of_server(case), own_port(case)
    if not keys or not port or not any(match["port"] == port for _, match in _matches(case, _BASE)):
        return
    sent = [(number, match["key"]) for number, match in _matches(case, _KEY)]
    if len(sent) == 1 and sent[0][1] not in keys and not OPEN.search(sent[0][1]) and ";" not in sent[0][1]:
        message = (
            f"{case.script.where(sent[0][0])}: the key beside the server's address is not the one that it wants: it "
        )
        message += "answers 401"
        remark = make_remark(Severity.WARNING, Code.CONFLICT, "OPENAI_API_KEY", message, "give both sides the same key")
        yield replace(remark, command=None)


def _matches(case: Case, pattern: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str]]]:
    """Where a pattern is in the lines of a text that has one server, comments left out."""
    script = case.script
    if not is_one_group(case) or not is_in_lines(pattern, script.lines, _LONGEST):
        return
    script.budget.once("what stands in front of the server", len(script.lines), "the text around its engine commands")
    for number, line in enumerate(script.lines, 1):
        text = line[:_LONGEST]
        if not text.lstrip().startswith("#") and (match := pattern.search(text)) is not None:
            yield number, match


WEB_FRONT: Final = (health_of_balancer, address_of_ollama, key_of_front)
