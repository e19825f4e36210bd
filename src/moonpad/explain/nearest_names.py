"""The name that is written most like another one: of options, and of variables that an engine or a library reads."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from itertools import takewhile

from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.value_checks import unresolved
from moonpad.explain.input_limits import Budget
from moonpad.explain.manifests.option_sources import Rulebook
from moonpad.explain.value_forms import FILE

_SEPARATORS = re.compile(r"[-_.]")
_BEGINNING = 3
"""Letters by which a name of a list begins like another one."""
_OFF = ("--no-", "--no_", "--disable-", "--disable_")
_SWITCH = re.compile(r"--(?:enable|disable|use|no|trust|skip)[-_]")
"""What many options begin with: what they switch stands behind it."""
_SAME_THING = 0.6
_ALL_BUT_THE_SAME = 0.93
_KNOWN_IN_FULL = frozenset({"HCCL"})
"""First words of libraries' variables that are all known, so that less than the same is a slip."""
_WORD_ALIKE = 0.8
"""Of six letters one is wrong."""
RENAMED = 0.88
"""Of 40 letters two are wrong: a slip. Engines read some variables that they do not declare, so more is not said."""


def nearest_name(written: str, names: Sequence[str], alike: float, book: Rulebook, budget: Budget) -> str | None:
    """The name that is written most like it, where one is. Raises UsageError when the budget is spent."""
    key = (written[:80], book.label, alike)
    if key not in budget.nearest:
        budget.work(8 * len(names), "names that are not known")
        budget.nearest[key] = next(iter(difflib.get_close_matches(key[0], names, n=1, cutoff=alike)), None)
    return budget.nearest[key]


def alike_first(written: str, names: Sequence[str], most: int) -> tuple[str, ...]:
    """Of a list that is too long to be shown, those that begin like the name first, and the rest as it stands:
    `kimi_k3` for `kimi3` is not cut off."""
    if len(names) <= most:
        return tuple(sorted(names, key=int)) if all(map(str.isdecimal, names)) else tuple(names)
    plain = _SEPARATORS.sub("", written[:80].casefold())

    def unlike(name: str) -> tuple[int, float]:
        other = _SEPARATORS.sub("", name.casefold())
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(plain, other, strict=False)))
        return (-shared, -difflib.SequenceMatcher(None, plain, other).ratio()) if shared >= _BEGINNING else (0, 0.0)

    return tuple(sorted(names, key=unlike)[:most])


def declared_like(name: str, known: Mapping[str, Sequence[str]], book: Rulebook, budget: Budget) -> str | None:
    """The name that is all but this one: of those with its first word, or one whose first word is written like it and
    that is the same behind it, as ASCEBD_RT_VISIBLE_DEVICES. A short word is a slip only where letters are swapped or
    doubled: NCCL, RCCL and HCCL are three libraries. `known`: by their first words."""
    first, _, rest = name.partition("_")
    if first in known:
        longer = [each for each in known[first] if each.startswith(f"{name}_")]
        if first in _KNOWN_IN_FULL and rest.count("_") and len(longer) == 1:
            return longer[0]
        alike = RENAMED if first in _KNOWN_IN_FULL else _ALL_BUT_THE_SAME
        return nearest_name(name, known[first], alike, book, budget)
    slips = (
        f"{word}_{rest}"
        for word, names in known.items()
        if f"{word}_{rest}" in names
        and (
            sorted(word) == sorted(first)
            or re.sub(r"(.)\1+", r"\1", word) == re.sub(r"(.)\1+", r"\1", first)
            or (min(len(word), len(first)) > 4 and difflib.SequenceMatcher(None, word, first).ratio() > _WORD_ALIKE)
        )
    )
    return next(slips, None)


def name_meant(near: str, option: Occurrence, book: Rulebook) -> str | None:
    """The option that is meant by one that is written nearly as `near`: of a value that is a file, its twin that takes
    one; None where that switches off, which is the opposite of what is meant, takes a number where there is none, or
    switches something else: `--enable-mis` is not meant by `--enable-moe`."""
    if near.startswith(_OFF) and not option.written.startswith(_OFF):
        return None
    if _switches_another(option.written, near) or _is_of_numbers(near, option, book):
        return None
    of_file = f"{near}-file"
    takes_it = FILE.fullmatch(str(option.value)) is not None and book.options.named(of_file) is not None
    return of_file if takes_it else near


def _is_of_numbers(near: str, option: Occurrence, book: Rulebook) -> bool:
    """Whether the value is an address or a word, and that option takes a number: `…-port 0.0.0.0`."""
    known, value = book.options.named(near), option.value
    if known is None or known.kind not in ("int", "float") or not isinstance(value, str) or unresolved(value):
        return False
    return re.search(r"[A-Za-z/:]|\..*\.", value) is not None


def _switches_another(written: str, near: str) -> bool:
    """Whether the two are alike by the word that says that they are switches, and not by what they switch."""
    switches = [_SWITCH.match(name) for name in (written, near)]
    things = [name[match.end() if match else 0 :] for name, match in zip((written, near), switches, strict=True)]
    alike = difflib.SequenceMatcher(None, things[0][:80], things[1]).ratio()
    return all(switches) and alike < _SAME_THING
