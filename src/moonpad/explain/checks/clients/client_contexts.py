"""The context and the answers that a client counts on, against the server's; and the times that it waits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.request_limits import THINKS, context_of
from moonpad.explain.checks.clients.request_names import is_one_group
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_LONGEST: Final = 1000
_SERVERS: Final = (names.EXPERTS_BY_VARIABLE, names.EXPERTS_BY_OPTION)
_OF_SERVER: Final = ("--max-model-len", "--context-length")
_CONTEXT: Final = re.compile(
    r"(?P<name>\"limit\"\s*:\s*\{[^{}]{0,80}?\"context\"|\bmax_context_size|\bmodel_context_window|\"?\bcontextWindow\"?"
    r"|\"?\bcontextLength\"?|\"?\bmax_input_tokens\"?)\s*[:=]\s*(?P<number>\d[\d_]{3,8})\b"
)
"""Of OpenCode, the Kimi CLI, Codex, Cline and Roo, Continue, LiteLLM."""
_OUTPUT: Final = re.compile(r"CLAUDE_CODE_MAX_OUTPUT_TOKENS\"?\s*[=:]\s*\"?(?P<number>\d{4,7})\b")
_OWN_PROMPT: Final = 16_000
"""Tokens that the client's own instructions and tools take at the least."""
_WAITS: Final = (
    re.compile(
        r"(?:^|[{,\s])\"?(?P<name>request_timeout|stream_timeout)\"?\s*[:=]\s*(?P<number>\d{1,4})(?:\.0)?\s*(?:[,}#)]|$)"
    ),
    re.compile(r"OpenAI\((?:[^()]|\([^()]*\))*?\b(?P<name>timeout)\s*=\s*(?P<number>\d{1,4})(?:\.0)?\s*[,)]"),
)
_LONG_ENOUGH: Final = 120
"""Seconds in which thoughts of a few thousand tokens are over."""
_PASSES: Final = re.compile(r"\bproxy_pass[ ]+https?:")
_READS: Final = re.compile(r"proxy_read_timeout|^\s*include\s")
_CUT_OFF: Final = re.compile(r"\b504\b|gateway time-?out|\bminutes\b|upstream timed out", re.IGNORECASE)


def context_of_client(case: Case) -> Iterator[Remark]:
    """`"limit": {"context": 262144}` of a server with `--max-model-len 65536`."""
    if case.base not in _SERVERS or case.option(*_OF_SERVER) is None or not is_one_group(case):
        return
    context, option = context_of(case)
    lines = case.script.lines
    if context < 1:
        return
    for pattern, more in ((_CONTEXT, 0), (_OUTPUT, _OWN_PROMPT)):
        if not is_in_lines(pattern, lines, _LONGEST):
            continue
        for number, text in numbered(case.script, 1, len(lines)):
            match = pattern.search(text)
            wanted = int(match["number"].replace("_", "")) if match is not None else 0
            if wanted + more <= context:
                continue
            where = case.script.where(number)
            if more:
                message = (
                    f"{where}: answers of {wanted:,} tokens leave {max(0, context - wanted):,} of {context:,} for the "
                )
                message += "client's own instructions, tools and history: requests are refused with 400"
                remedy = f"write at most {max(4096, context // 4)}, or start the server with more {option}"
                place = "CLAUDE_CODE_MAX_OUTPUT_TOKENS"
            else:
                message = (
                    f"{where}: the client counts on a context of {wanted:,} tokens, and the server has {context:,} "
                )
                message += f"({option}): it does not shorten the history in time, and long sessions end with 400"
                remedy, place = f"write {context} there, or give {option} more", "context"
            yield _said(place, message, remedy)
            return


def wait_of_client(case: Case) -> Iterator[Remark]:
    """`request_timeout: 30` and `AsyncOpenAI(timeout=20)` for a model that thinks."""
    model, lines = (case.first.model or "").rstrip("/").rpartition("/")[2], case.script.lines
    if case.base not in _SERVERS or not THINKS.search(model) or not is_one_group(case):
        return
    for pattern in _WAITS:
        if not is_in_lines(pattern, lines, _LONGEST):
            continue
        for number, text in numbered(case.script, 1, len(lines)):
            match = pattern.search(text)
            if match is None or not 0 < int(match["number"]) < _LONG_ENOUGH:
                continue
            message = (
                f"{case.script.where(number)}: the client gives up after {match['number']} s, and this model thinks "
            )
            message += "for longer before it answers a hard question: the answer is lost, and each retry begins again"
            yield _said(match["name"], message, "wait 600 s or more, and stream", Severity.NOTE)
            return


def wait_of_proxy(case: Case) -> Iterator[Remark]:
    """nginx before a server whose answers take minutes, with the 60 s that it waits by itself."""
    lines = case.script.lines
    if not is_one_group(case) or not is_in_lines(_PASSES, lines, _LONGEST) or is_in_lines(_READS, lines, _LONGEST):
        return
    model = (case.first.model or "").rstrip("/").rpartition("/")[2]
    told = is_in_lines(_CUT_OFF, lines, _LONGEST)
    if not told and not THINKS.search(model):
        return
    line = next(number for number, text in numbered(case.script, 1, len(lines)) if _PASSES.search(text))
    message = (
        f"{case.script.where(line)}: nginx waits 60 s for the next part of an answer, and then answers 504: what is "
    )
    message += "not streamed, or thinks for longer, is lost"
    remedy = "write proxy_read_timeout 3600s; and proxy_buffering off;"
    yield _said("proxy_read_timeout", message, remedy, Severity.WARNING if told else Severity.NOTE)


def _said(place: str, message: str, remedy: str, severity: Severity = Severity.WARNING) -> Remark:
    return replace(make_remark(severity, Code.CONFLICT, place, message, remedy), command=None)
