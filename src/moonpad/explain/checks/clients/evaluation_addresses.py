"""The address and the kind of requests of an evaluation, which its harness takes as they are written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.grouping import value_of
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_EVALUATES: Final = "lm_eval"
_PLAIN: Final = "local-completions"
_CHAT: Final = "local-chat-completions"
_TEMPLATE: Final = ("--apply-chat-template",)
_ENDS: Final = {_PLAIN: "/v1/completions", _CHAT: "/v1/chat/completions"}


def address_of_evaluation(case: Case) -> Iterator[Remark]:
    """`--model local-completions` with a base_url that ends with /v1, or with the path of the other kind."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    for command in script.commands:
        if command.program != _EVALUATES:
            continue
        word, kind = value_of(command.argv, ("--model-args", "-a")), value_of(command.argv, ("--model", "-m"))
        ends = _ENDS.get(kind.text.strip("'\"") if kind is not None else "", "")
        if not ends or kind is None or word is None:
            continue
        parts = word.text.strip("'\"").split(",")
        address = next((part.partition("=")[2] for part in parts if part.strip().startswith("base_url=")), "")
        where = script.where(command.line)
        if address and not unresolved(address) and not address.rstrip("/").endswith(ends):
            other = next((path for path in _ENDS.values() if path != ends and address.rstrip("/").endswith(path)), "")
            what = f"its requests are refused at {other}" if other else "each request is answered by 404"
            message = f"{where}: {kind.text} sends to base_url as it is written, without {ends}: {what}"
            told = "base_url", message, f"let base_url end with {ends}"
        elif ends == _ENDS[_CHAT] and not _has_template(command.argv):
            message = f"{where}: {kind.text} sends messages, which are made with --apply_chat_template alone: it ends"
            told = "--apply_chat_template", message, "add --apply_chat_template"
        else:
            continue
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, told[0], told[1], told[2])
        yield replace(remark, command=None)
        return


def _has_template(words: object) -> bool:
    texts = [str(getattr(word, "text", "")) for word in words] if isinstance(words, tuple) else []
    return any(text.partition("=")[0].replace("_", "-") in _TEMPLATE or text.startswith("$") for text in texts)
