"""Requests to paths that the server of the text has only when it is started for them, or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.asked_server import calls_to, is_named, is_shown_to_fail, own_port
from moonpad.explain.checks.clients.request_names import is_one_group
from moonpad.explain.documents.client_calls import ClientCall
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import since

_METRICS: Final = "--enable-metrics"
_TARGETS: Final = re.compile(r"\btargets[ ]*:[ ]*\[?[ ]*[\"']?(?:localhost|127\.0\.0\.1)[:](?P<port>\d{2,5})[\"']?")
_SCRAPES: Final = re.compile(r"\bscrape_configs\b")
_NEVER: Final = ("/v1/health", "/v1/healthz", "/healthz", "/v1/generate", "/v1/metrics", "/api/generate", "/api/chat")
"""Paths of other programs."""
_OF_THE_OTHER: Final = ("/generate", "/flush_cache", "/get_model_info", "/get_server_info", "/health_generate")
"""Paths of the engine of `EXPERTS_BY_OPTION` alone."""
_ASLEEP: Final = ("/sleep", "/wake_up", "/is_sleeping")
_RESETS: Final = ("/reset_prefix_cache", "/reset_mm_cache", "/collective_rpc", "/server_info")
_PROFILES: Final = ("/start_profile", "/stop_profile")
_EMBEDDINGS: Final = "/v1/embeddings"
_POOLS: Final = ("--task", "--runner", "--convert", "--is-embedding", "--model-impl", "--override-pooler-config")
_GENERATES: Final = re.compile(r"kimi-|moonlight|deepseek-(?:v[234]|r1)|glm-[45]", re.IGNORECASE)


def path_not_there(case: Case) -> Iterator[Remark]:
    """`/metrics` without the option that opens it, `/sleep` without the development mode, paths of other programs."""
    if case.base not in (names.EXPERTS_BY_VARIABLE, names.EXPERTS_BY_OPTION) or case.open_ended:
        return
    if case.text("--root-path") or case.option("--config", "--middleware") is not None:
        return
    for call in calls_to(case):
        if call.kind != "curl" or is_shown_to_fail(case, call.line):
            continue
        told = _told(case, call)
        if told is not None:
            path, what, remedy = told
            message = f"{case.script.where(call.line)}: {what}"
            yield replace(make_remark(Severity.WARNING, Code.INVALID_VALUE, path, message, remedy), command=None)
            return


def _told(case: Case, call: ClientCall) -> tuple[str, str, str] | None:
    """The path, what happens, and the remedy."""
    path = call.path.split("?")[0].rstrip("/")
    by_option = case.base == names.EXPERTS_BY_OPTION
    if path in _NEVER and not (by_option and path.startswith("/api/")):
        known = f"/{path.rpartition('/')[2].removesuffix('z')}" if "health" in path or "metrics" in path else ""
        return path, f"{path} is not a path of the server, which answers 404", f"ask {known or '/v1/chat/completions'}"
    if by_option:
        if path == "/metrics" and case.option(_METRICS) is None and not is_named(case, _METRICS):
            return path, f"the server has no {path} without {_METRICS}: it answers 404", f"start it with {_METRICS}"
    elif path in _OF_THE_OTHER:
        return path, f"{path} is a path of another engine: this one answers 404", "ask /v1/completions, or /health"
    elif path in (*_ASLEEP, *_RESETS) and not is_named(case, names.DEVELOPER_MODE):
        what = f"the server has no {path} without {names.DEVELOPER_MODE}=1: it answers 404"
        return (
            path,
            what,
            f"set {names.DEVELOPER_MODE}=1"
            + (
                " and give --enable-sleep-mode"
                if path in _ASLEEP and case.option("--enable-sleep-mode") is None
                else ""
            ),
        )
    elif path in _PROFILES and since(case.base_version or "0.19.0", "0.14.0") and not _profiles(case):
        what = f"the server has no {path} without a profiler in --profiler-config: it answers 404"
        return path, what, "start it with --profiler-config"
    if path == _EMBEDDINGS and _GENERATES.search(case.first.model or "") and case.option(*_POOLS) is None:
        return path, f"{path} wants a model of embeddings, and this one generates text: it is refused", "ask another"
    return None


def _profiles(case: Case) -> bool:
    """Whether the text speaks of what a profiler is started by."""
    return is_named(case, "--profiler-config") or is_named(case, "PROFILER")


def scraped_metrics(case: Case) -> Iterator[Remark]:
    """Prometheus that scrapes a server which shows no metrics, or another port of this machine."""
    port, script = own_port(case), case.script
    if case.base != names.EXPERTS_BY_OPTION or not port or is_named(case, _METRICS) or case.open_ended:
        return
    if not is_one_group(case):
        return  # it may be another server of the text that is scraped there
    seen = False
    for number, text in numbered(script, 1, len(script.lines)):
        seen = seen or _SCRAPES.search(text) is not None
        match = _TARGETS.search(text) if seen else None
        if match is not None and match["port"] == port:
            message = (
                f"{script.where(number)}: Prometheus asks for /metrics, which the server has with {_METRICS} alone"
            )
            remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, _METRICS, message, f"start it with {_METRICS}")
            yield replace(remark, command=None)
            return
