"""Keys of a KV connector's own settings that are nearly the name of one that it reads."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

import orjson

from moonpad.engines.surrounding_names import CONNECTOR_KEYS
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_OPTION: Final = "--kv-transfer-config"
_EXTRA: Final = "kv_connector_extra_config"
_ALIKE: Final = 0.85
_MOST: Final = 40


def nearly_a_connector_key(case: Case) -> Iterator[Remark]:
    """`"backend": ["UCX"]` where the connector reads `backends`: it is passed over without a word."""
    place = case.option(_OPTION)
    if place is None:
        return
    try:
        config = orjson.loads(case.text(_OPTION))
    except ValueError:
        return
    config = config if isinstance(config, dict) else {}
    name, extra = config.get("kv_connector"), config.get(_EXTRA)
    known = CONNECTOR_KEYS.get(name, ()) if isinstance(name, str) else ()
    if not isinstance(extra, dict):
        return
    for key in list(extra)[:_MOST]:
        near = get_close_matches(key, known, 1, _ALIKE) if key not in known else []
        if near and near[0] not in extra:
            message = (
                f"{name} reads {near[0]} of {_EXTRA} and passes over {shortened(key, 40)}: its value does not count"
            )
            yield make_remark(
                Severity.WARNING, Code.INVALID_VALUE, _OPTION, message, f"write {near[0]}", at=place.index
            )
            return
