"""What the log of a text says that a start had left for its KV cache: it is measured, and comes before the estimate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from moonpad.catalog.calibrations import Calibration, kv_bytes_of_log
from moonpad.engines import ENGINES
from moonpad.engines.log_grammar import plain, read_progress
from moonpad.engines.start_log import LINE_CHARACTERS, inner_line
from moonpad.explain.commands import Command, Script
from moonpad.explain.grouping import Group, value_of
from moonpad.explain.programs import is_server
from moonpad.explain.target_detection import Question
from moonpad.plan.memory import memory_of
from moonpad.values.configuration import Configuration
from moonpad.values.errors import MoonpadError
from moonpad.values.units import GIB

_NEAR: Final = 40
"""Lines of a log between the memory of the ranks and the tokens that it holds."""
_ALIKE: Final = 0.005
"""How far the bytes of a token may be off, whose memory is printed with two digits, and whose tokens are in blocks."""
_MOST_LINES: Final = 2000
_WORDS: Final = ("KV cache", "KV Cache", "#tokens")


def with_those_of_text(
    known: tuple[Calibration, ...], configuration: Configuration, group: Group, script: Script, question: Question
) -> tuple[Calibration, ...]:
    """The start that a log of the text shows, in place of the known ones: of all its logs one alone has the bytes a
    token of this model in this layout, and no other command of the text has this layout. Devices that are asked about
    beside the text are not those of its log."""
    pairs = _figures(configuration.engine.name, script.lines) if question.cluster is None else frozenset()
    options = ENGINES[configuration.engine.name].command_line.options
    if not pairs or not _is_alone(group.commands[0], script.commands, options):
        return known
    try:
        memory = memory_of(configuration)
    except MoonpadError:
        return known
    layout = configuration.layout
    per_token = memory.kv_bytes_per_token / layout.dcp
    room = memory.budget_bytes - memory.weights_bytes
    fitting = {pair for pair in pairs if abs(pair[0] * GIB / pair[1] / per_token - 1) < _ALIKE and pair[0] * GIB < room}
    if len(fitting) != 1:
        return known
    gib, tokens = fitting.pop()
    size, low, high = kv_bytes_of_log(gib)
    measured = Calibration(
        "the text's log",
        configuration.engine.name,
        configuration.version,
        configuration.checkpoint.name,
        configuration.scheme,
        configuration.device.id,
        layout,
        configuration.settings,
        size,
        low,
        high,
        "a log of the text",
        "",
        "reported",
        tokens,
    )
    return (measured,)


def _is_alone(own: Command, commands: Sequence[Command], options: Mapping[str, str]) -> bool:
    """Whether no other server of the text has the same sizes with other words."""
    flags = [(flag,) for name in ("tp", "pp", "dp", "dcp") if (flag := options.get(name))]

    def sizes(command: Command) -> list[str]:
        words = (value_of(command.argv, flag) for flag in flags)
        return [word.text if word is not None else "1" for word in words]

    def texts(command: Command) -> list[str]:
        return [word.text for word in command.argv]

    same = [each for each in commands if is_server(each.program) and sizes(each) == sizes(own)]
    return all(texts(each) == texts(own) for each in same)


@lru_cache(maxsize=8)  # each deployment of a text asks
def _figures(engine: str, lines: tuple[str, ...]) -> frozenset[tuple[float, int]]:
    """GiB on one device and the tokens that they hold, of each start that the lines log."""
    grammar = ENGINES[engine].log
    near = [at for at, line in enumerate(lines) if any(word in line for word in _WORDS)][:_MOST_LINES]
    found: set[tuple[float, int]] = set()
    sizes: list[tuple[int, float]] = []
    for at in near:
        progress = read_progress(grammar, plain(inner_line(lines[at][:LINE_CHARACTERS])))
        if progress is None:
            continue
        gib, tokens = progress.figures.get("kv_gib", ""), progress.figures.get("kv_tokens", "")
        if (size := _number(gib)) > 0:
            sizes.append((at, size))
        if tokens.isdigit() and 0 < len(tokens) < 16 and int(tokens) > 0:
            held = [size for number, size in sizes if at - number <= _NEAR]
            found |= {(min(held), int(tokens))} if held else set()
            sizes.clear()
    return frozenset(found)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
