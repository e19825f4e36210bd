"""A proxy that starts servers by itself asks each by the key that its part of the file has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

import yaml

from moonpad.engines.foreign_names import EXPERTS_BY_VARIABLE
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.proxied_names import names_of_server
from moonpad.explain.checks.manifests.pod_objects import fields_of, text_of
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_MODELS: Final = re.compile(r"^models:[ \t]*(?:#.*)?$", re.MULTILINE)
_NAMED: Final = "--served-model-name"
_PORT: Final = "${PORT}"
_LARGEST: Final = 100_000


class _Entry(NamedTuple):
    key: str
    first: int
    last: int


def name_behind_swap(case: Case) -> Iterator[Remark]:
    """`"kimi": {cmd: vllm serve moonshotai/Kimi-K2.5 --port ${PORT}}` is asked for kimi."""
    script = case.script
    if script.markdown or script.origins or case.base != EXPERTS_BY_VARIABLE or case.open_ended:
        return
    script.budget.once("servers of a proxy", 2 * len(script.lines), "its YAML")
    line = case.commands[0].line
    entry = next((each for each in _entries(script.lines) if each.first <= line <= each.last), None)
    known = names_of_server(case) if entry is not None else []
    if entry is None or not known or entry.key in known:
        return
    key = shortened(entry.key, 40)
    message = (
        f"the proxy of this file asks for {key}, the key above, and the server is called "
        f"{shortened(known[0], 50)}: it answers 404"
    )
    remedy = f"add {_NAMED} {key}, or useModelName: {shortened(known[0], 50)} beside cmd"
    yield make_remark(Severity.WARNING, Code.CONFLICT, _NAMED, message, remedy)


@lru_cache(maxsize=4)
def _entries(lines: tuple[str, ...]) -> tuple[_Entry, ...]:
    """Those that are started on a port that the proxy chooses, and are not given another name."""
    text = "\n".join(lines)
    if _PORT not in text or not _MODELS.search(text) or len(text) > _LARGEST:
        return ()
    try:
        top = fields_of(yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except (yaml.YAMLError, RecursionError):
        return ()
    found = []
    for key, node in fields_of(top.get("models")).items():
        fields = fields_of(node)
        set_there = fields_of(fields_of(fields.get("filters")).get("setParams"))
        if _PORT in text_of(fields.get("cmd")) and "useModelName" not in fields and "model" not in set_there:
            found.append(_Entry(key, node.start_mark.line + 1, node.end_mark.line + 1))
    return tuple(found)
