"""Connectors between two pools that a plugin for other devices does not have, or not in its release."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from moonpad.catalog.options import values_of, versions
from moonpad.catalog.options.config_keys import key_tables
from moonpad.engines import ascend_names as names
from moonpad.engines.value_checks import as_json, unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import nearest_release, since

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
            where = names.TRANSFER_OPTION
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, where, told[0], told[1], at=place.index)


def connector_keys(case: Case) -> Iterator[Remark]:
    """What a connector of several reads stands in its kv_connector_extra_config; beside it another key ends the
    start, as it would in the option itself."""
    place = case.option(names.TRANSFER_OPTION)
    value = as_json(place.value) if place is not None and isinstance(place.value, str) else None
    if place is None or not isinstance(value, dict) or case.commands[0].fork:
        return
    history = key_tables(names.BASE_PROGRAM).get(names.TRANSFER_OPTION, ())
    for config in list(_configs(value))[1:]:
        for key in config:
            if key in history or unresolved(key) or not history:
                continue
            message = f'a connector of several has no key "{shortened(key)}" beside its {_EXTRA}: the start ends'
            remedy = f"write it into {_EXTRA} of {shortened(str(config.get(_CONNECTOR, '')), 40) or 'the connector'}"
            where = names.TRANSFER_OPTION
            yield make_remark(Severity.WARNING, Code.UNKNOWN_FLAG, where, message, remedy, at=place.index)
            return


def _configs(value: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """The table itself, and those of the connectors that one of several holds."""
    yield value
    extra = value.get(_EXTRA)
    inner = extra.get("connectors") if isinstance(extra, dict) else None
    yield from [each for each in inner if isinstance(each, dict)][:_MOST] if isinstance(inner, list) else []


def _told(case: Case, title: str, written: str, path: str) -> tuple[str, str] | None:
    """What is wrong with the name, and the remedy."""
    own = names.OF_OTHER_DEVICES.get(written)
    if own is not None:
        by_path = path.startswith(names.OWN_MODULE)
        if by_path and case.version and not since(case.version, names.NAME_TAKEN_SINCE):
            return None
        loaded = f", and is loaded from {names.NAME_TAKEN_SINCE} on whatever {_PATH} says" if by_path else ""
        return f"{written} is the engine's own connector, for CUDA{loaded}: {title} calls its class {own}", _write(own)
    if path or written in names.CONNECTORS_OF_BASE:
        return None
    known = _releases()
    if written in known:
        return _of_release(case.version, title, written, known[written])
    near = difflib.get_close_matches(written[:80], known, n=1, cutoff=_ALIKE)
    same = [name for name in known if name.casefold() == written.casefold()]
    if same or (near and near[0][:8] == written[:8] and written.removesuffix("s") != near[0]):
        right = same[0] if same else near[0]
        return f"{title} has no connector named {shortened(written)}", _write(right)
    return None


def _of_release(version: str, title: str, written: str, releases: tuple[str, ...]) -> tuple[str, str] | None:
    """Of a connector that another release has than the one that is named."""
    every = versions(names.PLUGIN)
    nearest = nearest_release(every, version or None)
    neighbours = every[nearest.at : nearest.at + (1 if nearest.exact else 2)]
    if not version or any(release in releases for release in neighbours):
        return None
    if not since(version, releases[0]):
        return f"{title} {version} has no {written}: it came with {releases[0]}", f"take {releases[0]} or newer"
    if not since(version, releases[-1]):
        return None
    gone, successor = every[every.index(releases[-1]) + 1], names.CONNECTORS_REMOVED.get(written, "")
    remedy = _write(successor) if successor else "take one that the release has"
    return f"{title} {version} has no {written}: it was removed in {gone}", remedy


def _write(name: str) -> str:
    return f'write "{_CONNECTOR}": "{name}"'


@cache
def _releases() -> Mapping[str, tuple[str, ...]]:
    """The releases that register each of the plugin's own connectors, oldest first."""
    found: dict[str, list[str]] = {}
    for version in versions(names.PLUGIN):
        for name in values_of(names.PLUGIN, version, _CONNECTOR):
            found.setdefault(name, []).append(version)
    return {name: tuple(releases) for name, releases in found.items()}
