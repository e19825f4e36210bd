"""Names of a plugin for other devices that it does not have: the connector between two pools, keys of its option."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.engines import ascend_names as names
from moonpad.engines.value_checks import as_json, unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import since

_CONNECTOR: Final = "kv_connector"
_PATH: Final = "kv_connector_module_path"
_EXTRA: Final = "kv_connector_extra_config"
_ALIKE: Final = 0.85
_MOST: Final = 8


def connector_name(case: Case) -> Iterator[Remark]:
    """A connector that is the engine's own for other devices, or that no release of the plugin has."""
    place = case.option(names.TRANSFER_OPTION)
    value = as_json(place.value) if place is not None and isinstance(place.value, str) else None
    if case.engine.name != names.PLUGIN or place is None or not isinstance(value, dict):
        return
    title = case.engine.facts.title
    for config in _configs(value):
        written, path = config.get(_CONNECTOR), config.get(_PATH)
        if not isinstance(written, str) or unresolved(written):
            continue
        told = _told(case, title, written, path if isinstance(path, str) else "")
        if told:
            remedy = f'write "{_CONNECTOR}": "{told[1]}"'
            where = names.TRANSFER_OPTION
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, where, told[0], remedy, at=place.index)


def _configs(value: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """The table itself, and those of the connectors that one of several holds."""
    yield value
    extra = value.get(_EXTRA)
    inner = extra.get("connectors") if isinstance(extra, dict) else None
    yield from [each for each in inner if isinstance(each, dict)][:_MOST] if isinstance(inner, list) else []


def _told(case: Case, title: str, written: str, path: str) -> tuple[str, str] | None:
    """What is wrong with the name, and the right one."""
    own = names.OF_OTHER_DEVICES.get(written)
    if own is not None:
        by_path = path.startswith(names.OWN_MODULE)
        if by_path and case.version and not since(case.version, names.NAME_TAKEN_SINCE):
            return None
        loaded = f", and is loaded from {names.NAME_TAKEN_SINCE} on whatever {_PATH} says" if by_path else ""
        return f"{written} is the engine's own connector, for CUDA{loaded}: {title} calls its class {own}", own
    if path:
        return None
    if written in names.CONNECTORS:
        gone, successor = names.CONNECTORS[written][1], names.CONNECTORS_REMOVED.get(written, "")
        if successor and gone and case.version and since(case.version, gone):
            return f"{title} {case.version} has no {written}: it was removed in {gone}", successor
        return None
    near = difflib.get_close_matches(written[:80], names.CONNECTORS, n=1, cutoff=_ALIKE)
    same = [name for name in names.CONNECTORS if name.casefold() == written.casefold()]
    if same or (near and near[0][:8] == written[:8] and written.removesuffix("s") != near[0]):
        right = same[0] if same else near[0]
        return f"{title} has no connector named {shortened(written)}", right
    return None


def plugin_key(case: Case) -> Iterator[Remark]:
    """`{"torchair_graph_config": {"enable": true}}`: the plugin asks each table for its own keys alone."""
    place = case.option(names.PLUGIN_OPTION)
    value = as_json(place.value) if place is not None and isinstance(place.value, str) else None
    if place is None or not isinstance(value, dict):
        return
    for table, keys in names.TABLE_KEYS.items():
        given = value.get(table)
        if not isinstance(given, dict):
            continue
        for key in list(given)[:_MOST]:
            near = difflib.get_close_matches(key[:80], keys, n=1, cutoff=_ALIKE) if key not in keys else []
            if not near or near[0] in given or unresolved(key):
                continue
            message = f'{table} has no key "{shortened(key)}", and what is there is passed over: it stays off'
            if given[key] is not True:
                message = f'{table} has no key "{shortened(key)}", and what is there is passed over'
            remedy = f'write "{near[0]}"'
            yield make_remark(
                Severity.WARNING, Code.INVALID_VALUE, names.PLUGIN_OPTION, message, remedy, at=place.index
            )


def moved_key(case: Case) -> Iterator[Remark]:
    """`{"enable_npugraph_ex": true}`, which stood there in former releases, and stands in a table of it now."""
    place = case.option(names.PLUGIN_OPTION)
    value = as_json(place.value) if place is not None and isinstance(place.value, str) else None
    if case.engine.name != names.PLUGIN or place is None or not isinstance(value, dict):
        return
    title = case.engine.facts.title
    for key, (gone, there, table) in names.MOVED_KEYS.items():
        inner = value.get(table)
        if key not in value or (isinstance(inner, dict) and key in inner):
            continue
        if case.version and not since(case.version, gone):
            continue
        message = f'{title} reads "{key}" in {table} from {there} on, and passes over it here from {gone} on'
        remedy = f'write "{table}": {{"{key}": {shortened(json.dumps(value[key]), 30)}}}'
        where = names.PLUGIN_OPTION
        yield make_remark(Severity.WARNING, Code.INVALID_VALUE, where, message, remedy, at=place.index)
