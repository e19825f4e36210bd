"""A program that only chats, and is asked to complete one prompt and end."""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.engines.chat_names import ALWAYS_CHAT, NO_CHAT, ONE_TURN
from moonpad.explain.chat_programs import is_chat
from moonpad.explain.checks.check_case import Case
from moonpad.explain.programs import base_name
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import since


def chat_that_waits(case: Case) -> Iterator[Remark]:
    """`llama-cli -m FILE -no-cnv -p PROMPT` of a script: the option does nothing, and the program waits for input."""
    command = case.commands[0]
    if not is_chat(command) or command.fork or case.serves_already:
        return
    first, other = ALWAYS_CHAT.get(base_name(command.prefix[-1]), ("", ""))
    word = next((each for each in command.own_words if each.text in NO_CHAT), None)
    one_turn = any(each.text in ONE_TURN for each in command.own_words)
    if word is None or not first or one_turn or (case.version and not since(case.version, first)):
        return
    name = base_name(command.prefix[-1])
    message = f"{name} of builds since December 2025 only chats: it refuses the option, goes on as a chat, and after "
    message += "the answer waits for input without an end"
    remedy = f"start {other} with the same options, or write {ONE_TURN[0]} for {word.text}"
    yield make_remark(Severity.WARNING, Code.UNKNOWN_FLAG, word.text, message, remedy, word=word)
