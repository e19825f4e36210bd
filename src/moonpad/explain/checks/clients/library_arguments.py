"""Arguments of a request that OpenAI's library does not have: it raises a TypeError before it sends anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.asked_server import is_shown_to_fail
from moonpad.explain.documents.client_calls import arguments, client_calls
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_OF_SERVERS: Final = frozenset(
    {
        "top_k",
        "min_p",
        "min_tokens",
        "repetition_penalty",
        "length_penalty",
        "chat_template_kwargs",
        "guided_json",
        "guided_choice",
        "guided_regex",
        "guided_grammar",
        "structured_outputs",
        "ignore_eos",
        "stop_token_ids",
        "skip_special_tokens",
        "include_stop_str_in_output",
        "add_generation_prompt",
        "continue_final_message",
        "separate_reasoning",
        "include_reasoning",
        "mm_processor_kwargs",
        "thinking",
        "enable_thinking",
    }
)
"""Fields that servers read beside those of OpenAI; the library's `create` takes them in `extra_body` alone."""


def argument_of_library(case: Case) -> Iterator[Remark]:
    """`client.chat.completions.create(…, top_k=20)`, whose arguments are all named in the library."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    script.budget.once("requests of clients", 2 * len(script.lines), "the text around its engine commands")
    for call in client_calls(script.lines):
        if call.kind != "create" or not call.text.startswith((".chat", ".completions")):
            continue
        name = next((name for name in arguments(call) if name in _OF_SERVERS), "")
        if not name or is_shown_to_fail(case, call.line, call.line + call.text.count("\n")):
            continue
        message = f"{script.where(call.line)}: create() of OpenAI's library has no argument {name}: TypeError"
        remedy = f'write extra_body={{"{name}": …}}'
        yield replace(make_remark(Severity.WARNING, Code.INVALID_VALUE, name, message, remedy), command=None)
        return
