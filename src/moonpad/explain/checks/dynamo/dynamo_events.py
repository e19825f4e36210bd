"""Workers of Dynamo that tell the router in front of them nothing of their caches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.surrounding_names import EVENT_KEYS, EVENT_OPTIONS, EVENTS_BY_THEMSELVES
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.dynamo.dynamo_workers import by_module
from moonpad.explain.commands import Command
from moonpad.explain.grouping import value_of
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_FRONTEND: Final = re.compile(r"-m[\s\"',-]{1,20}dynamo\.(?:frontend|router)\b")
_COMPONENT: Final = re.compile(r"^[ ]{0,60}(?:-[ ]{1,8})?(?:componentType|type):[ ]{1,8}[\"']?frontend\b", re.MULTILINE)
_BY_CACHE: Final = re.compile(
    r"--router-mode[=\s\"',-]{1,20}kv\b|\bDYN_ROUTER_MODE[\"']?[ ]{0,8}(?:[=:]|\n[ ]{0,60}value:)[ ]{0,8}[\"']?kv\b"
)
_OTHERWISE: Final = re.compile(
    r"no-(?:router-)?kv-events|DYN_ROUTER_USE_KV_EVENTS|--load-aware|overlap-score-(?:weight|credit)|PUBLISH_"
)
"""What tells the router not to wait for events, or the workers to send them."""
_SAYS_MORE: Final = ("--config", "--extra-engine-args", "--override-engine-args")
_ROLE: Final = ("--is-decode-worker", "--multimodal-encode-worker")
_MODE: Final = "--disaggregation-mode"


def silent_workers(case: Case) -> Iterator[Remark]:
    """A frontend that chooses by what workers hold in their caches, and a worker that sends it no events."""
    command = case.commands[0]
    module = next((word.text.split(".")[1] for word in command.prefix if word.text.startswith("dynamo.")), "")
    if not by_module(command) or module not in EVENT_OPTIONS or not _is_whole(command):
        return
    text = "\n".join(case.script.lines)
    case.script.budget.work(len(text) // 16, "its router")
    fronts = len(_FRONTEND.findall(text)) or len(_COMPONENT.findall(text))
    # A text with several frontends shows several deployments.
    if not fronts or len(_BY_CACHE.findall(text)) != fronts or _OTHERWISE.search(text):
        return
    if module in EVENTS_BY_THEMSELVES and EVENTS_BY_THEMSELVES[module].search(text):
        return
    option, wanted, value = EVENT_OPTIONS[module]
    given = value_of(command.argv, (option,)) if value else None
    if given is not None and (unresolved(given.text) or re.search(EVENT_KEYS[module] + wanted, given.text)):
        return
    if given is None and any(word.text.partition("=")[0] == option for word in command.argv):
        return
    message = (
        "the frontend chooses workers by what their caches hold, and this worker does not tell it: without events it "
        "finds no prefix anywhere"
    )
    remedy = f"give {option} {value}".rstrip() + ", or have the frontend route without events"
    place = case.option(option)
    yield make_remark(Severity.WARNING, Code.MISSING_FLAG, option, message, remedy, at=place.index if place else None)


def _is_whole(command: Command) -> bool:
    words = [word.text for word in command.argv]
    flags = {word.partition("=")[0] for word in words}
    mode = value_of(command.argv, (_MODE,))
    if mode is not None and mode.text not in ("prefill", "agg"):
        return False
    return not (command.unresolved or flags & {*_SAYS_MORE, *_ROLE} or any(word.startswith("$") for word in words))
