"""LMCache's own settings, which its file or variables give: what its start refuses, and what it passes over."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.lmcache_refusals import LMCacheRefusal, lmcache_keys, lmcache_refusals
from moonpad.engines import lmcache_names as names
from moonpad.engines.foreign_names import EXPERTS_BY_VARIABLE
from moonpad.engines.option_file import flat_options
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.command_traits import model_names
from moonpad.explain.checks.lmcache_traits import is_latent, lmcache_releases
from moonpad.explain.checks.set_elsewhere import may_be_set
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import order

_SHARED: Final[Mapping[str, str]] = {
    "enable_pd": "(?i)true|1",
    "remote_url": "(?i)(?!(?:null|none|~)$).+",
}
"""Settings by which servers read what others have stored."""
_ALIKE: Final = 0.84


class _Settings(Struct, frozen=True):
    """What is set, by the file and by variables, which go before it."""

    values: Mapping[str, str]
    file: Mapping[str, str]
    name: str
    """Of the file, "" where there is none."""
    whole: bool
    """Whether all that is set is known."""


def lmcache_settings(case: Case) -> Iterator[Remark]:
    """One warning for each refusal; where the release of LMCache is not named, those that ended are notes."""
    settings = _settings(case)
    if settings is None:
        return
    releases = lmcache_releases(case)
    for row in lmcache_refusals().values():
        if not _is_met(row, settings) or (row.latent and not is_latent(case)):
            continue
        if not all(_is_of(row, release) for release in releases) or (row.named and not releases):
            continue
        severity = Severity.WARNING if releases or not row.until else Severity.NOTE
        message = row.message.format(model=_name(case))
        yield _remark(severity, next(iter(row.given)), message, row.remedy, settings)


def lmcache_keys_of_file(case: Case) -> Iterator[Remark]:
    """A key that no release has, and that is one of them but for a letter or two."""
    settings = _settings(case)
    for key in settings.file if settings is not None else ():
        if "." in key or key in lmcache_keys() or settings is None:
            continue
        near = next(iter(get_close_matches(key, sorted(lmcache_keys()), 1, _ALIKE)), "")
        if near:
            message = f"LMCache has no key {shortened(key)}, and passes it over with a warning in its log"
            yield _remark(Severity.WARNING, key, message, f"write {near}", settings)


def lmcache_hashes(case: Case) -> Iterator[Remark]:
    """Servers that share a cache find each other's tokens by hashes that begin with the same number."""
    settings = _settings(case)
    if settings is None or case.size("--tensor-parallel-size") > 1:
        return  # of several ranks known_reports tells the same
    shared = next((key for key, sure in _SHARED.items() if re.fullmatch(sure, settings.values.get(key, ""))), "")
    if not shared or names.SEED in case.commands[0].env or may_be_set(case, (names.SEED,)):
        return
    message = (
        f"{shared} has servers read what others have stored, and each begins its hashes with a random number where "
    )
    message += f"{names.SEED} is not set: what another process has stored is not found (LMCache hit tokens: 0)"
    yield _remark(Severity.WARNING, shared, message, f"set {names.SEED}=0 in front of all of them", settings)


def _is_of(row: LMCacheRefusal, release: str) -> bool:
    at = order(release)
    return order(row.since or "0") <= at and (not row.until or at < order(row.until))


def _remark(severity: Severity, key: str, message: str, remedy: str, settings: _Settings) -> Remark:
    told = f"{settings.name}: {message}" if settings.name and key in settings.file else message
    where = key if key in settings.file else names.PREFIX + key.upper()
    return replace(make_remark(severity, Code.INVALID_VALUE, shortened(where), told, remedy), command=None)


def _settings(case: Case) -> _Settings | None:
    """None where the server does not ask LMCache for its cache, or all of it is set elsewhere."""
    transfer = case.text("--kv-transfer-config")
    if case.engine.name != EXPERTS_BY_VARIABLE or not names.CONNECTOR.search(transfer):
        return None
    command = case.commands[0]
    path = case.variable(names.FILE)
    name = path.rpartition("/")[2]
    text = _content(path, case)
    file = flat_options(text)
    own = {
        name.removeprefix(names.PREFIX).casefold(): case.variable(name)
        for name in command.env
        if name.startswith(names.PREFIX) and name != names.FILE
    }
    own = {key: value for key, value in own.items() if key in lmcache_keys()}
    values = {**file, **own, **_inside(transfer)}
    if not values:
        return None
    return _Settings(values, file, name if file else "", not path or bool(file))


def _content(path: str, case: Case) -> str:
    files = {**case.script.files, **case.commands[0].files}
    if not path or unresolved(path):
        return ""
    case.script.budget.work(len(files), "its files")
    if path in files:
        return files[path].text
    same = {file.text for name, file in files.items() if name.rpartition("/")[2] == path.rpartition("/")[2]}
    return same.pop() if len(same) == 1 else ""


@lru_cache(maxsize=8)
def _inside(transfer: str) -> Mapping[str, str]:
    """Keys that the connector hands on: `"kv_connector_extra_config": {"lmcache.local_cpu": true}`."""
    try:
        connector = json.loads(transfer.strip("'"))
        extra = connector.get("kv_connector_extra_config") or {}
        return {
            key.removeprefix(names.INSIDE): json.dumps(value).strip('"')
            for key, value in extra.items()
            if key.startswith(names.INSIDE)
        }
    except (ValueError, AttributeError, RecursionError):
        return {}


def _is_met(row: LMCacheRefusal, settings: _Settings) -> bool:
    values = settings.values
    for key, sure in row.given.items():
        value = values.get(key, "")
        if unresolved(value) or not re.fullmatch(sure, value):
            return False
    return not row.lacks or (settings.whole and not any(key in values for key in row.lacks))


def _name(case: Case) -> str:
    called = model_names(case, True)[0]
    return shortened((called if case.checkpoint else called.rpartition("/")[2]) or "the model")


LMCACHE_CHECKS: Final = (lmcache_settings, lmcache_keys_of_file, lmcache_hashes)
