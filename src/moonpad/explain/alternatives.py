"""Branches of one condition and passes of one loop are alternatives: one judgement with its differences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from moonpad.explain.commands import Command
from moonpad.explain.grouping import value_of
from moonpad.explain.results import Judged
from moonpad.values.records import replace

SHOWN = 6
"""Differences of one alternative that are named."""


def fold(judged: Iterable[Judged]) -> tuple[Judged, ...]:
    """In the order of the first of each; the one that the script's own defaults start stands for the others."""
    folded: list[Judged] = []
    for deployment in judged:
        at = next((at for at, main in enumerate(folded) if _instead(deployment, main)), None)
        if at is None:
            folded.append(deployment)
        elif all(command.aside for command in folded[at].sources) and not any(
            each.aside for each in deployment.sources
        ):
            before = replace(folded[at], alternatives=())
            folded[at] = replace(deployment, alternatives=(before, *folded[at].alternatives))
        elif not any(_repeats(deployment, main) for main in (folded[at], *folded[at].alternatives)):
            folded[at] = replace(folded[at], alternatives=(*folded[at].alternatives, deployment))
    return tuple(folded)


def differences(one: Judged, main: Judged) -> list[str]:
    """`--tp-size 16`, `no --enforce-eager`, `NCCL_DEBUG=INFO`: what the first command of `one` has and the main one
    has not, and the other way round."""
    if not one.sources or not main.sources:
        return []
    its, others = _options(one.sources[0]), _options(main.sources[0])
    names = {option.split(" ", 1)[0] for option in its}
    lacking = [f"no {option.split(' ', 1)[0]}" for option in others if option.split(" ", 1)[0] not in names]
    return [*(option for option in its if option not in others), *lacking]


def _repeats(one: Judged, other: Judged) -> bool:
    """Whether it is the same line with the same words once more, of which nothing else is said: a function that is
    called again."""
    written = [[(_place(each), _texts(each)) for each in judged.sources] for judged in (one, other)]
    same = written[0] == written[1] and (one.cluster, one.layout) == (other.cluster, other.layout)
    return same and set(one.findings) <= set(other.findings)


def _place(command: Command) -> tuple[int, int]:
    return next(((word.line, word.column) for word in command.words if word.line), (0, 0))


def _texts(command: Command) -> tuple[list[str], list[str]]:
    return [word.text for word in command.words], sorted(word.text for word in command.env.values())


def _instead(one: Judged, other: Judged) -> bool:
    """Whether it is started in the place of the other, and not beside it."""
    if one.layout is None or (one.engine, one.kind) != (other.engine, other.kind):
        return False
    return all(_apart(command, main) for command in one.sources for main in other.sources)


def _apart(command: Command, other: Command) -> bool:
    """In two branches of one condition, or the same words once more: at one port, since else both may run."""
    arms = dict(other.arms)
    if any(arms.get(condition, arm) != arm for condition, arm in command.arms):
        return True
    names = [each.container.value("--name") if each.container else None for each in (command, other)]
    if names[0] and names[0] == names[1] and "$" not in names[0] and len({*_machines_of(command, other)}) == 1:
        return True  # a name is taken once
    places = [[(word.line, word.column) for word in each.prefix[:1]] for each in (command, other)]
    ports = [value_of(each.argv, ("--port",)) for each in (command, other)]
    same_port = ports[0] == ports[1] or (ports[0] and ports[1] and ports[0].text == ports[1].text)
    return bool(places[0] == places[1] != [] and places[0][0][0] > 0 and same_port)


def _machines_of(*commands: Command) -> list[tuple[str, ...]]:
    """Where they run, as far as they say: `ssh host`."""
    return [
        tuple(word.text for wrapper in command.wrappers if wrapper.kind == "ssh" for word in wrapper.words)
        for command in commands
    ]


def _options(command: Command) -> list[str]:
    """Each flag with its values, and each variable of its environment."""
    return [*_grouped([word.text for word in command.argv]), *(f"{k}={v.text}" for k, v in command.env.items())]


def _grouped(words: Sequence[str]) -> list[str]:
    groups: list[str] = []
    for word in words:
        if groups and not word.startswith("-"):
            groups[-1] = f"{groups[-1]} {word}"
        else:
            groups.append(word)
    return groups
