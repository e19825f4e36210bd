"""`--expert-parallel-size 8` given to an engine that has a switch alone, for the experts over all its ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from moonpad.engines import ENGINES
from moonpad.engines.argv_reader import Occurrence, parse
from moonpad.engines.option_grammar import Grammar
from moonpad.explain.commands import whole_number
from moonpad.explain.manifests.option_sources import Rulebook
from moonpad.explain.programs import program_table
from moonpad.explain.results import Edit

_SIZES: Final = ("--expert-parallel-size", "--ep-size", "--moe-expert-parallel-size")
_ALL_RANKS: Final = "all ranks"


def switch_for_size(words: Sequence[str], option: Occurrence, book: Rulebook) -> tuple[str, Edit] | None:
    """The remedy and its edit; None where the option is another, or what is meant is not known."""
    engine = ENGINES.get(program_table().engines.get(book.program, ""))
    if engine is None or engine.facts.expert_degrees != _ALL_RANKS or option.written.replace("_", "-") not in _SIZES:
        return None
    options = engine.command_line.options
    switch = book.options.named(options["ep"])
    if switch is None:
        return None
    dropped = Edit(option.index, option.length, ())
    parsed = parse(words, Grammar(book.options))
    if parsed.occurrence(options["ep"]) is not None:
        return f"leave it out: {options['ep']} is given, and spreads the experts over all ranks", dropped
    size = whole_number(option.value) if isinstance(option.value, str) else None
    places = [parsed.occurrence(options[name]) for name in ("tp", "dp")]
    sizes = [whole_number(str(place.value)) if place is not None else 1 for place in places]
    ranks = (sizes[0] or 0) * (sizes[1] or 0)
    if size is None or not ranks:
        return None
    if size > 1 and size == ranks:
        remedy = f"write {options['ep']}, which spreads the experts over all {ranks} ranks"
        return remedy, Edit(option.index, option.length, (options["ep"],))
    return "leave it out", dropped
