"""Options that are another way to write a key of an option that takes JSON: what a table says of one is true of both.

`--attention-config '{"backend": "FLASHMLA"}'` is `--attention-backend FLASHMLA`, and `--spec-method mtp` with
`--spec-tokens 1` is a `--speculative-config` with both keys (engine/arg_utils.py: create_engine_config).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final

from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.value_checks import as_json, unresolved
from moonpad.explain.checks.check_case import Case

KEYS: Final[Mapping[str, tuple[str, str]]] = {
    "--attention-backend": ("--attention-config", "backend"),
    "--moe-backend": ("--kernel-config", "moe_backend"),
    "--linear-backend": ("--kernel-config", "linear_backend"),
    "--spec-method": ("--speculative-config", "method"),
    "--spec-model": ("--speculative-config", "model"),
    "--spec-tokens": ("--speculative-config", "num_speculative_tokens"),
}
"""Option → the option that takes JSON, and its key."""
_OF_DRAFTS: Final = "--speculative-config"
_OF_TERMS: Final = {f"{flag}.{key}": option for option, (flag, key) in KEYS.items()}


def equal_flags(given: Iterable[str]) -> frozenset[str]:
    """Options that those which are given may stand for."""
    found = {*given}
    plain = {option for option, (flag, _) in KEYS.items() if flag in found}
    return frozenset(plain | {flag for option, (flag, _) in KEYS.items() if option in found})


def equal_term(term: str) -> str:
    """The other way to write it: `--attention-config.backend` of `--attention-backend`; "" where there is none."""
    return ".".join(KEYS[term]) if term in KEYS else _OF_TERMS.get(term, "")


def equal_option(case: Case, flag: str) -> tuple[Occurrence, str] | None:
    """Where an option that is not given itself is written in another way, and the text that it has so. What a row says
    of a part alone is not said of the whole that it stands in: a draft may have more settings there."""
    whole, key = KEYS.get(flag, ("", ""))
    if whole not in ("", _OF_DRAFTS):
        place = case.option(whole)
        value = _object(case, whole).get(key)
        return (place, str(value)) if place is not None and value not in (None, "") else None
    if flag != _OF_DRAFTS:
        return None
    parts = {
        name: place
        for option, (of, name) in KEYS.items()
        if of == flag and (place := case.option(option)) is not None and isinstance(place.value, str)
    }
    if not parts or any(unresolved(str(place.value)) for place in parts.values()):
        return None
    known = {name: as_json(str(place.value)) for name, place in parts.items()}
    texts = {name: str(parts[name].value).strip("'\"") if value is None else value for name, value in known.items()}
    return next(iter(parts.values())), json.dumps(texts)


def written_with_dots(case: Case, place: Occurrence) -> str:
    """The JSON that an option has which is written key by key (`--speculative-config.method mtp`); "" of others."""
    flag = place.flag or ""
    value = _object(case, flag) if "." in place.written else {}
    return json.dumps(value) if value else ""


def _object(case: Case, flag: str) -> Mapping[str, object]:
    value = case.first.parsed.values.get(flag.removeprefix("--").replace("-", "_"))
    return value if isinstance(value, Mapping) else {}
