"""Options that are misspelt beyond doubt, read as they are meant: `-tensor-parallel-size 16`, `--tensor-paralel-size`.

The parser refuses them, and what is said of that is an error. What the layout and the memory are judged by is what the
command says once that is mended.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from moonpad.catalog.options import releases_with
from moonpad.engines.argv_reader import Occurrence, Parsed
from moonpad.explain.foreign_options import of_another_engine
from moonpad.explain.former_flags import said_today
from moonpad.explain.input_limits import Budget
from moonpad.explain.manifests.option_sources import Rulebook
from moonpad.explain.unknowns import is_cut_off
from moonpad.values.records import replace

_ONE_DASH: Final = re.compile(r"-([a-z]\w*(?:-\w+)*)(?:=.*)?", re.ASCII | re.DOTALL)
_MORE_DASHES: Final = re.compile(r"-{3,5}(?P<name>[a-z][\w-]*)(?P<keys>(?:\.\w[\w-]*)*)", re.ASCII)
"""`---name` or `----name.key`: of any build, no option has more than two dashes."""
_LEAST: Final = 4
"""Letters of an option that is meant where it has one dash."""
_LONG: Final = 12
"""Letters of a name in which one may be wrong, with its dashes."""
_ONE_LETTER: Final = 0.93
"""How much alike names of that length are that differ in one letter, or in two that are swapped."""


def with_one_dash(word: str, book: Rulebook) -> str:
    """The option that `-tensor-parallel-size` is but for its second dash, as it is written; "" for what is none."""
    short = _ONE_DASH.fullmatch(word)
    if short is None or len(short[1]) < _LEAST:
        return ""
    option = book.options.named(f"--{short[1].replace('_', '-')}")
    if option is None or book.options.named(f"-{short[1]}") is not None or f"-{short[1]}" in option.names:
        return ""
    return f"--{short[1]}"


def meant_options(words: Sequence[str], parsed: Parsed, book: Rulebook, budget: Budget) -> Mapping[int, str]:
    """Places of such options among the words → the names that are meant. None of a release that is not recorded, whose
    options may be called so."""
    if not book.options.exact:
        return {}
    return dict(_meant(words, parsed, book, budget))


def _meant(words: Sequence[str], parsed: Parsed, book: Rulebook, budget: Budget) -> Iterator[tuple[int, str]]:
    for option in parsed.occurrences:
        written = words[option.index].partition("=")[0] if option.index < len(words) else ""
        if name := with_one_dash(written, book):
            yield option.index, name
        elif option.problem == "ambiguous" and f"{written}-size" in option.matches:
            yield option.index, f"{written}-size"
        elif option.problem == "unknown" and not option.matches and option.flag is None and not is_cut_off(written):
            if (dashed := _MORE_DASHES.fullmatch(written)) and _takes(dashed["name"], dashed["keys"], book):
                yield option.index, f"--{written.lstrip('-')}"
            elif name := _all_but_one_letter(words, option, book, budget):
                yield option.index, name


def _takes(name: str, keys: str, book: Rulebook) -> bool:
    """Whether the release has that option, and reads keys behind a dot of its name where there are some."""
    option = book.options.named(f"--{name.replace('_', '-')}")
    return option is not None and (not keys or option.kind == "json")


def _all_but_one_letter(words: Sequence[str], option: Occurrence, book: Rulebook, budget: Budget) -> str:
    """The one option that is written so but for a letter; "" where another release or engine has one of that name."""
    written = option.written.replace("_", "-")[:80]
    if len(written) < _LONG or not written.startswith("--"):
        return ""
    if said_today(words, option, book) is not None or of_another_engine(option.written, book) is not None:
        return ""
    if any(releases_with(book.program, name) for name in (option.written, written)):
        return ""
    key = (written, book.label, _ONE_LETTER)
    if key not in budget.nearest:
        negated = written.startswith("--no-")
        names = [name for each in book.options.options for name in (*each.names, *(each.negations if negated else ()))]
        names = [name for name in names if abs(len(name) - len(written)) <= 1]
        budget.work(8 * len(names), "names that are not known")
        near = difflib.get_close_matches(written, names, n=2, cutoff=_ONE_LETTER)
        budget.nearest[key] = near[0] if len(near) == 1 and _is_one_slip(written, near[0]) else None
    return budget.nearest[key] or ""


def _is_one_slip(written: str, name: str) -> bool:
    """Whether one letter is wrong, missing or too many, or two are swapped: `…-host` is not meant by `…-port`."""
    short, long = sorted((written, name), key=len)
    if len(short) < len(long):
        return any(long[:at] + long[at + 1 :] == short for at in range(len(long)))
    wrong = [at for at, (one, other) in enumerate(zip(written, name, strict=True)) if one != other]
    if len(wrong) == 2 and wrong[1] == wrong[0] + 1:
        return written[wrong[0] : wrong[1] + 1] == name[wrong[1]] + name[wrong[0]]
    return len(wrong) == 1


def respelt(words: Sequence[str], names: Mapping[int, str]) -> list[str]:
    """The words with these names for the misspelt ones; a value behind `=` stays."""
    return [_named(word, names[at]) if at in names else word for at, word in enumerate(words)]


def _named(word: str, name: str) -> str:
    _, equals, value = word.partition("=")
    return f"{name}{equals}{value}"


def _is_short(word: str, name: str) -> bool:
    """`--pp 2`, which releases took for `--pp-size` before other options began so."""
    return f"{word.partition('=')[0]}-size" == name


def as_written(parsed: Parsed, words: Sequence[str], names: Mapping[int, str]) -> Parsed:
    """What was read of the respelt words, with the options that are refused as they were written."""
    occurrences = tuple(
        replace(
            option,
            written=words[option.index].partition("=")[0],
            flag=None,
            problem="ambiguous" if _is_short(words[option.index], names[option.index]) else "unknown",
            matches=(names[option.index],),
            names=option.names,
        )
        if option.index in names and option.problem in (None, "prefix")
        else option
        for option in parsed.occurrences
    )
    return replace(parsed, occurrences=occurrences)
