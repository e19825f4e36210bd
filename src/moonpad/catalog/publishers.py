"""What publishers have: of some lines of models the catalogue has every repository."""

from __future__ import annotations

import difflib
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
_SLIP: Final = 0.9
"""Of ten letters one is wrong."""
_FORMAT: Final = re.compile(r"-(?:nv|mx)?fp4(?:-|$)", re.IGNORECASE)
_LINE: Final = re.compile(r"kimi[-_.]?(?:k[0-9](?:\.?[0-9])?(?![0-9])|linear)", re.IGNORECASE)


class Publisher(Struct, frozen=True, kw_only=True):
    """`lines` are the beginnings of the names that are known in full. `never`: the formats behind the name of a model
    that stand in none of the publisher's own names, as others' conversions have them."""

    lines: tuple[str, ...]
    never: str = ""
    provenance: Provenance

    def knows(self, name: str) -> bool:
        """Whether each repository that the publisher has under such a name is known: `KimiK2-Thinking` is of the line
        Kimi-K2, for another way of writing a name is another name of the hub."""
        letters = _letters(name)
        return any(letters.startswith(_letters(line)) for line in self.lines)


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
    """What the publisher has in the place of a repository that it does not have, the most alike of the same generation
    first, and before all what another has under that name and in that format, with its owner; and the day of the list.
    ((), "") where nothing is known to lack."""
    owner, slash, name = repository.partition("/")
    publisher = publishers().get(owner.casefold())
    if not slash or publisher is None or "/" in name or find_model(repository) is not None:
        return (), ""
    form, own = _conversion(owner, name), _its_own(owner)
    if form is None and not publisher.knows(name):
        return (), ""
    same = [each for each in own if _line(each) and _line(each) == _line(name)] or own
    alike = sorted(same, key=lambda each: -difflib.SequenceMatcher(None, each.casefold(), name[:80].casefold()).ratio())
    others = () if form is None else converted_by_others(name[: form.start()], form[0][1:])
    return (*others, *alike), publisher.provenance.checked


def _its_own(owner: str) -> tuple[str, ...]:
    return tuple(key.partition("/")[2] for key in models() if key.casefold().startswith(f"{owner.casefold()}/"))


def _conversion(owner: str, name: str) -> re.Match[str] | None:
    """The format behind the name of a publisher's own model that only others' repositories bear."""
    publisher = publishers().get(owner.casefold())
    form = publisher and publisher.never and re.search(rf"[-_.](?:{publisher.never})$", name, re.IGNORECASE)
    return form if form and name[: form.start()].casefold() in {each.casefold() for each in _its_own(owner)} else None


def converted_by_others(model: str, form: str) -> tuple[str, ...]:
    """Whose repositories hold a model in that format: `nvidia/DeepSeek-R1-FP4` for DeepSeek-R1 in NVFP4."""
    plain = form.casefold().removeprefix("nv")
    names = {f"{model.casefold()}-{plain}", f"{model.casefold()}-nv{plain}"}
    known = {key.partition(":")[0] for key in models()}  # `unsloth/Kimi-K2.5-GGUF:Q4_K_M` is a file of a repository
    return tuple(sorted(each for each in known if each.partition("/")[2].casefold() in names))


def written_alike(repository: str) -> str:
    """The one repository of the publisher that a name means which is the same but for a slip: two letters swapped,
    another separator; "" where another thing may be meant."""
    has, _ = lacking(repository)
    owner, _, name = repository.partition("/")
    if not has or "/" in has[0]:
        return ""
    same = [each for each in has if sorted(_letters(each)) == sorted(_letters(name))]
    return f"{owner}/{same[0]}" if len(same) == 1 else ""


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
    same = [key for key, model in models().items() if name.casefold() in _called(key, *model.aliases)]
    if any(model.partition("/")[0].casefold() == owner.casefold() for model in same):
        return ""
    nearly = next((model for model in same if _nearly(model.partition("/")[0], owner)), "")
    publisher = publishers().get(owner.casefold())
    in_full = publisher is not None and (publisher.knows(name) or _conversion(owner, name) is not None)
    return nearly or (same[0] if len(same) == 1 and (in_full or _has_it_smaller(owner, name)) else "")


def _called(*names: str) -> set[str]:
    """The names behind the owners: `deepseek-r1-nvfp4` is another name of nvidia/DeepSeek-R1-FP4."""
    return {each.partition("/")[2].casefold() for each in names}


def _has_it_smaller(owner: str, name: str) -> bool:
    """Whether an owner publishes other formats alone, and has the model in one: `nvidia/Kimi-K2.5-NVFP4`."""
    parts = (model.casefold().partition("/") for model in models())
    its = [other for of, _, other in parts if of == owner.casefold()]
    named = any(other.startswith(f"{name.casefold()}-") for other in its)
    return named and all(_FORMAT.search(other) for other in its)


def _nearly(owner: str, written: str) -> bool:
    """Whether the owner is written without what people leave out, or with a slip in a long name: `moonshoai`."""
    same = _plain(owner) == _plain(written)
    slip = difflib.SequenceMatcher(None, owner.casefold(), written[:80].casefold()).ratio() >= _SLIP
    return same or (slip and len(owner) > _LEAST + 2)


def _plain(owner: str) -> str:
    """Without what people leave out or add: `moonshot` of moonshotai, `deepseek` of deepseek-ai."""
    letters = re.sub(r"[^a-z0-9]", "", owner.casefold())
    return letters.removesuffix("ai") if len(letters) > _LEAST else letters


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def _line(name: str) -> str:
    """`kimik25` of Kimi-K2.5-Instruct."""
    match = _LINE.match(name)
    return _letters(match[0]) if match else ""
