"""What publishers have: of some lines of models the catalogue has every repository."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.models import find_model, models
from moonpad.catalog.toml_rows import Provenance, rows

FILE: Final = "publishers.toml"
OWNERS: Final = "model_owners.toml"
_LEAST: Final = 5
"""Letters of an owner's name that `ai` is taken off."""
_FORMAT: Final = re.compile(r"-(?:nv|mx)?fp4(?:-|$)", re.IGNORECASE)
_LINE: Final = re.compile(r"kimi-(?:k[0-9](?:\.?[0-9])?(?![0-9])|linear)", re.IGNORECASE)


class Publisher(Struct, frozen=True, kw_only=True):
    """`lines` are the beginnings of the names that are known in full."""

    lines: tuple[str, ...]
    provenance: Provenance


class Family(Struct, frozen=True, kw_only=True):
    """`name`: what the whole name of a repository of `owner` is like. `words`: how owners are called,
    in lower case, that have none of them."""

    owner: str
    name: str
    words: tuple[str, ...]
    provenance: Provenance


@cache
def families() -> tuple[Family, ...]:
    return tuple(row.build(Family) for _, row in rows(OWNERS, "families"))


def owner_of(name: str) -> str:
    """Who has published a model of just that name; "" where that is not known."""
    return next((family.owner for family in families() if re.fullmatch(family.name, name)), "")


@cache
def publishers() -> Mapping[str, Publisher]:
    return {key: row.build(Publisher) for key, row in rows(FILE, "publishers")}


def lacking(repository: str) -> tuple[tuple[str, ...], str]:
    """What the publisher has in the place of a repository that it does not have, the same generation first, and the
    day of the list; ((), "") where nothing is known to lack."""
    owner, slash, name = repository.partition("/")
    publisher = publishers().get(owner.casefold())
    if not slash or publisher is None or "/" in name or find_model(repository) is not None:
        return (), ""
    if not name.casefold().startswith(tuple(line.casefold() for line in publisher.lines)):
        return (), ""
    of_it = [model.partition("/")[2] for model in models() if model.startswith(f"{owner.casefold()}/")]
    same = [each for each in of_it if _line(each) == _line(name)]
    return tuple(same or of_it), publisher.provenance.checked


def owner_meant(repository: str) -> str:
    """The repository of that name whose owner is written nearly so: `moonshotai/Kimi-K2-Instruct` of `moonshot-ai/…`.
    Of an owner all of whose repositories are known, the only other one that has it: `nvidia/Kimi-K2.5-NVFP4` of
    `moonshotai/…`. "" where the owner is right, or none is meant."""
    owner, slash, name = repository.partition("/")
    if not slash or not name or "/" in name:
        return ""
    others = {family.owner.casefold() for family in families()}
    for family in families():
        wrong = owner.casefold() in family.words or owner.casefold() in others - {family.owner.casefold()}
        if wrong and re.fullmatch(family.name, name, re.IGNORECASE):
            return f"{family.owner}/{name}"
    same = [model for model in models() if model.partition("/")[2].casefold() == name.casefold()]
    if any(model.partition("/")[0].casefold() == owner.casefold() for model in same):
        return ""
    nearly = next((model for model in same if _plain(model.partition("/")[0]) == _plain(owner)), "")
    publisher = publishers().get(owner.casefold())
    in_full = publisher is not None and name.casefold().startswith(tuple(line.casefold() for line in publisher.lines))
    return nearly or (same[0] if len(same) == 1 and (in_full or _has_it_smaller(owner, name)) else "")


def _has_it_smaller(owner: str, name: str) -> bool:
    """Whether an owner publishes other formats alone, and has the model in one: `nvidia/Kimi-K2.5-NVFP4`."""
    parts = (model.casefold().partition("/") for model in models())
    its = [other for of, _, other in parts if of == owner.casefold()]
    named = any(other.startswith(f"{name.casefold()}-") for other in its)
    return named and all(_FORMAT.search(other) for other in its)


def _plain(owner: str) -> str:
    """Without what people leave out or add: `moonshot` of moonshotai, `deepseek` of deepseek-ai."""
    letters = re.sub(r"[^a-z0-9]", "", owner.casefold())
    return letters.removesuffix("ai") if len(letters) > _LEAST else letters


def _line(name: str) -> str:
    """`kimi-k25` of Kimi-K2.5-Instruct."""
    match = _LINE.match(name)
    return match[0].casefold().replace(".", "") if match else ""
