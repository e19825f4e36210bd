"""The settings of LiteLLM's proxy in a text, against the server of the same text: name, address, provider."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from moonpad.engines import foreign_names as names
from moonpad.engines.surrounding_names import PROXIED
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.asked_server import is_shown_to_fail, own_port, stands_elsewhere
from moonpad.explain.checks.clients.request_names import is_one_group
from moonpad.explain.commands import Script
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_HEAD: Final = re.compile(r"(?P<indent>[ ]*)(?:-[ ]+)?litellm_params[ ]*:[ ]*$")
_FIELD: Final = re.compile(r"(?P<indent>[ ]+)(?P<name>[a-z_]+)[ ]*:[ ]*[\"']?(?P<value>[^\"'#\n]*?)[\"']?[ ]*(?:#.*)?$")
_URL: Final = re.compile(r"https?://(?P<host>[\w.-]+):(?P<port>\d{2,5})(?P<path>/[\w/.-]*)?")
_LOCAL: Final = ("localhost", "127.0.0.1")
_OPENAI: Final = "openai/"
_PROVIDERS: Final = (_OPENAI, PROXIED, "text-completion-openai/", "custom_openai/", "openai_like/", "litellm_proxy/")
_MOST: Final = 12
OPEN: Final = re.compile(r"[<>{}$*]|%[sd(]|your|xxx|\.\.\.", re.IGNORECASE)


class ProxySetting(NamedTuple):
    """One model of the proxy: "" what is not written."""

    line: int
    model: str
    base: str
    host: str
    port: str
    path: str
    key: str
    fields: tuple[str, ...]


def settings_of_proxy(script: Script) -> tuple[ProxySetting, ...]:
    """Those of all `litellm_params` of the text."""
    script.budget.once("settings of a proxy", len(script.lines), "the text around its engine commands")
    return _settings(script.lines)


@lru_cache(maxsize=8)
def _settings(lines: tuple[str, ...]) -> tuple[ProxySetting, ...]:
    found = []
    for number, line in enumerate(lines, 1):
        head = _HEAD.match(line[:200])
        if head is None:
            continue
        fields: dict[str, str] = {}
        for text in lines[number : number + _MOST]:
            match = _FIELD.match(text[:500])
            if match is None or len(match["indent"]) <= len(head["indent"]):
                break
            fields[match["name"]] = match["value"].strip()
        base = fields.get("api_base", "")
        url = _URL.fullmatch(base.rstrip("/"))
        host, port, path = (url["host"], url["port"], url["path"] or "") if url else ("", "", "")
        model, key = fields.get("model", ""), fields.get("api_key", "")
        found.append(ProxySetting(number, model, base, host, port, path, key, tuple(fields)))
    return tuple(found)


def name_behind_proxy(case: Case) -> Iterator[Remark]:
    """`model: openai/NAME` is asked of the server as NAME, at `api_base` and /chat/completions behind it."""
    if case.open_ended or not is_one_group(case) or (port := own_port(case)) == "":
        return
    known = names_of_server(case)
    for setting in settings_of_proxy(case.script):
        if not setting.port or OPEN.search(setting.model) or is_shown_to_fail(case, setting.line):
            continue
        provider = next((each for each in _PROVIDERS if setting.model.startswith(each)), "")
        asked = setting.model.removeprefix(provider)
        told = None
        apart = setting.port != port and setting.host in _LOCAL
        if apart and asked in known and not stands_elsewhere(case, setting.port, setting.line, setting.line + _MOST):
            what = f"the proxy asks at port {setting.port} for {shortened(asked, 40)}, and the server listens on {port}"
            told = what, "api_base", f"write port {port} in api_base"
        elif setting.port == port and not provider and asked in known and "custom_llm_provider" not in setting.fields:
            what = f"{shortened(asked, 40)} names no provider that the proxy knows: it refuses the model"
            told = what, "model", f"write {_OPENAI}{shortened(asked, 40)}"
        elif setting.port == port and provider == _OPENAI and setting.path == "":
            what = "the proxy puts /chat/completions behind api_base, and the server answers 404 without /v1 before it"
            told = what, "api_base", f"write {shortened(setting.base.rstrip('/'), 60)}/v1"
        elif setting.port == port and provider and asked not in known and known and case.base == _COMPARES:
            what = f"the proxy asks for {shortened(asked, 40)}, and the server is called {shortened(known[0], 40)}: it "
            told = f"{what}answers 404", "model", f"write {provider}{shortened(known[0], 40)}"
        if told is not None:
            message = f"{case.script.where(setting.line)}: {told[0]}"
            remark = make_remark(Severity.WARNING, Code.CONFLICT, told[1], message, told[2])
            yield replace(remark, command=None)
            return


_COMPARES: Final = names.EXPERTS_BY_VARIABLE
"""The engine that compares the name of a request with its own."""


def names_of_server(case: Case) -> list[str]:
    """What the server answers to, nothing where that is not sure."""
    place = case.option("--served-model-name")
    value = place.value if place is not None else case.first.model
    values = value if isinstance(value, tuple) else (value,)
    called = [each.strip("'\"") for each in values if isinstance(each, str) and each]
    if case.option("--enable-lora", "--lora-modules") is not None:
        return []
    return [] if any(unresolved(each) or OPEN.search(each) for each in called) else called
