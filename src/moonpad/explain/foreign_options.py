"""Options that another engine calls so, in a command of this one: `--max-model-len` given to SGLang; and those of the
program that measures a server, given to the server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple

from moonpad.catalog.options import option_set, releases_with
from moonpad.engines import ENGINES
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.forks import FORKS_BY_PROGRAM
from moonpad.engines.surrounding_names import MEASURED_BY, OPTIONS_OF_MEASUREMENTS
from moonpad.explain.change_edits import respelled
from moonpad.explain.expert_sizes import switch_for_size
from moonpad.explain.manifests.option_sources import Rulebook
from moonpad.explain.programs import program_named, program_table
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_SAME: Final = ("tp", "pp", "dp", "max_model_len", "max_num_seqs", "max_num_batched_tokens", "enforce_eager")
"""What means the same to each engine that has an option for it."""
_FRACTION: Final = "gpu_memory_utilization"
"""Of all memory to one engine, of what weights and KV cache take to another."""


class Foreign(NamedTuple):
    title: str
    """The engine whose option it is."""
    own: str
    """What this engine calls the same; "" where nothing is known of that."""
    as_it_is: bool
    """Whether the value means the same too."""
    is_switch: bool = False
    measures: bool = False
    """Whether it belongs to the program that measures the server."""


def of_another_engine(written: str, book: Rulebook) -> Foreign | None:
    """None where a recorded release of this program has it, or the newest of no other engine."""
    if fork := next(
        (fork for fork in FORKS_BY_PROGRAM if fork.program == book.program and written in fork.options), None
    ):
        return Foreign(fork.title.partition(",")[0], "", False)
    program, plain = program_named(book.program), written.replace("_", "-")
    engine = ENGINES.get(program_table().engines.get(book.program, ""))
    if program is None or program.kind != "server" or engine is None or engine.facts.gguf_only:
        return None
    if not plain.startswith("--") or any(releases_with(book.program, name) for name in (written, plain)):
        return None
    if plain in OPTIONS_OF_MEASUREMENTS and (client := MEASURED_BY.get(book.program, "")):
        return Foreign(client, "", False, measures=True)
    title, setting = _meanings().get(plain, ("", ""))
    own = engine.command_line.options.get(setting, "")
    if own and own.replace("_", "-") != plain:
        return Foreign(title, own, setting != _FRACTION)
    return _of_options(plain, engine.program)


@lru_cache(maxsize=256)
def _of_options(option: str, program: str) -> Foreign | None:
    """Of the engine whose newest recorded release has an option of that very name."""
    for engine in ENGINES.values():
        options = option_set(engine.program) if engine.program != program and not engine.facts.gguf_only else None
        known = options.named(option) if options is not None else None
        if known is not None:
            return Foreign(engine.facts.title, "", False, is_switch=known.kind == "flag")
    return None


def foreign_remark(words: Sequence[str], option: Occurrence, book: Rulebook, foreign: Foreign) -> Remark:
    """What it is called here, with the same value where that means the same."""
    own = book.options.named(foreign.own) if foreign.own else None
    given = {word.partition("=")[0] for word in words}
    message = f"{book.label} has no {option.written}, which is {foreign.title}'s"
    if not book.options.exact and not foreign.own:  # the release that runs is older, and may have had one of that name
        message = f"{option.written} is not among the options of the nearest version recorded ({book.label})"
        remedy = f"ask the engine's --help; it is {foreign.title}'s today"
        return make_remark(Severity.NOTE, Code.UNKNOWN_FLAG, option.written, message, remedy, at=option.index)
    dropped = Edit(option.index, option.length, ())
    if foreign.measures:
        message = f"{book.label} has no {option.written}: it is an option of {foreign.title}, which measures a server"
        remedy = f"give it to {foreign.title}, in a command of its own"
        return make_remark(
            Severity.ERROR, Code.UNKNOWN_FLAG, option.written, message, remedy, at=option.index, edits=[dropped]
        )
    if (spread := switch_for_size(words, option, book)) is not None:
        remedy, edit = spread
        return make_remark(
            Severity.ERROR, Code.UNKNOWN_FLAG, option.written, message, remedy, at=option.index, edits=[edit]
        )
    if not foreign.own:
        remark = make_remark(
            Severity.ERROR, Code.UNKNOWN_FLAG, option.written, message, "leave it out", at=option.index
        )
        return replace(remark, edits=(dropped,)) if foreign.is_switch and option.length == 1 else remark
    if not given.isdisjoint(own.names if own is not None else (foreign.own,)):
        edit, remedy = dropped, f"leave it out: {foreign.own} is given"
    elif not foreign.as_it_is:
        edit = dropped
        remedy = f"leave it out, or give {foreign.own} a share of its own: the two count other parts of the memory"
    else:
        edit, remedy = respelled(words, option, foreign.own), f"write {foreign.own}"
    return make_remark(
        Severity.ERROR, Code.UNKNOWN_FLAG, option.written, message, remedy, at=option.index, edits=[edit]
    )


@cache
def _meanings() -> Mapping[str, tuple[str, str]]:
    """Option → the engine whose it is, and the setting by our name."""
    return {option: meaning for option, meaning in _all() if option.startswith("--")}


def _all() -> Iterator[tuple[str, tuple[str, str]]]:
    for engine in reversed([*ENGINES.values()]):  # what several have is called after the first
        if not engine.facts.gguf_only:
            for setting in (*_SAME, _FRACTION):
                option = engine.command_line.options.get(setting, "").replace("_", "-")
                yield option, (engine.facts.title, setting)
