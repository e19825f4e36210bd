"""Which changes are tried: one knob at a time, the planner's other layouts, and what did well together. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from moonpad.catalog.knobs import Knob, KnobValue
from moonpad.tune.candidate import LAYOUT, Candidate, Change
from moonpad.values.records import replace

LEAST_GAIN: Final = 1.03
"""A single change that gains less is not combined: it would only be carried along."""
MOST_TOGETHER: Final = 4
"""Knobs that are combined: more of them have effects that hide in the noise."""
MOST_PARTNERS: Final = 4
APART: Final = 1.5
"""Two values of a number with a larger ratio have one between them that is worth a visit."""


@dataclass(frozen=True, slots=True)
class InForce:
    """What the spec runs before anything is changed.

    settings: by the names of [settings], the planner's choices too. extra_args: those of the spec. has_option: whether
    the engine's release takes a flag with a value (None: a switch).
    """

    settings: Mapping[str, Any]
    extra_args: Sequence[str] = ()
    layout: str = "TP1"
    cores: int = 0
    numa_nodes: int = 1
    has_draft: bool = False
    shares_experts: bool = False
    has_state: bool = False
    """Of linear attention: defaults of its engine differ."""
    has_option: Callable[[str, str | None], bool] = field(default=lambda flag, value: True)


def single_changes(knobs: Sequence[Knob], before: InForce, layouts: Sequence[str] = ()) -> tuple[Candidate, ...]:
    """Each value of each knob that is not in force already, and each other layout."""
    changes = [change for knob in knobs for change in _changes(knob, before)]
    others = [Change(LAYOUT, layout) for layout in layouts if layout != before.layout]
    return tuple(Candidate((change,)) for change in (*others, *changes))


def _changes(knob: Knob, before: InForce) -> Iterator[Change]:
    if (knob.needs == "draft" and not before.has_draft) or (knob.without == "draft" and before.has_draft):
        return
    if (knob.needs == "ep" and not before.shares_experts) or (knob.numa and before.numa_nodes < 2):
        return
    now = before.settings.get(knob.key) if knob.key else value_of_flag(knob, before.extra_args)
    if now is None and not before.has_state:
        now = knob.unset
    seen = {now}
    for value in _values(knob, now, before):
        if value in seen or not knob.allows(value):
            continue
        seen.add(value)
        change = Change.to(knob, value)
        if knob.flag and not (change.argv[0] and before.has_option(change.argv[0], (*change.argv, None)[1])):
            continue
        yield change


def _values(knob: Knob, now: object, before: InForce) -> Iterator[KnobValue]:
    yield from knob.values
    if isinstance(now, int | float) and not isinstance(now, bool):
        for factor in knob.times:
            value = now * factor
            yield max(1, round(value)) if knob.type == "integer" else value
    if knob.cores and before.cores > 0:
        yield from _of_cores(knob, before.cores)


def _of_cores(knob: Knob, cores: int) -> Iterator[KnobValue]:
    """All cores, and one left free where there are several; for bindings the scheduler's own choice too."""
    counts = [count for count in (cores, cores - 1, cores // 2) if count >= 1]
    if knob.type == "integer":
        yield from counts
        return
    yield "nobind"
    for count in counts:
        yield f"0-{count - 1}" if count > 1 else "0"


def value_of_flag(knob: Knob, extra_args: Sequence[str]) -> KnobValue | None:
    """What the spec's own arguments say of a knob; None where they say nothing."""
    for place, word in enumerate(extra_args):
        name, equals, value = word.partition("=")
        if name == knob.negated and knob.negated:
            return False
        if name == knob.flag:
            if knob.type == "switch":
                return True
            text = value if equals else (*extra_args, "")[place + 1]
            return int(text) if knob.type == "integer" and text.isdecimal() else text
    return None


def combined(
    ranked: Sequence[tuple[Candidate, float]], known: Sequence[Candidate], partners: Sequence[Candidate] = ()
) -> tuple[Candidate, ...]:
    """Of single changes that did clearly better than the default, best first with their ratios: the best two together,
    the best three, and so on, each knob at its best value. Without what is `known` already.

    partners: single changes that may help beside another, the most promising first: what the limits hide of one change
    shows beside another that keeps them. The first value of each other knob joins the best ones, and the first of all
    the next best value of the best knob, which may keep the limits with it, or what lies between the two.
    """
    best: list[Change] = []
    for candidate, ratio in ranked:
        single = len(candidate.changes) == 1 and ratio >= LEAST_GAIN
        if single and candidate.changes[0].knob not in {one.knob for one in best}:
            best.append(candidate.changes[0])
    together = [best[:count] for count in range(2, min(len(best), MOST_TOGETHER) + 1)]
    others: dict[str, Change] = {}
    for one in partners if best else ():
        if one.changes[0].knob not in {each.knob for each in best}:
            others.setdefault(one.changes[0].knob, one.changes[0])
    together += [[*best[: MOST_TOGETHER - 1], other] for other in list(others.values())[:MOST_PARTNERS]]
    values = [(one.changes[0], ratio) for one, ratio in ranked if best and one.changes[0].knob == best[0].knob]
    if len(values) > 1 and (others or _between(*values[:2])):
        together.append([_between(*values[:2]) or values[1][0], *list(others.values())[:1]])
    found = dict.fromkeys(Candidate(tuple(changes)) for changes in together)
    return tuple(candidate for candidate in found if candidate not in known)


def _between(best: tuple[Change, float], second: tuple[Change, float]) -> Change | None:
    """The value in the middle, by their product, of the two best values of a number: where both gain, the best of all
    may lie there."""
    (one, gain), (other, its_gain) = best, second
    if min(gain, its_gain) < LEAST_GAIN or not (_is_count(one.value) and _is_count(other.value)):
        return None
    low, high = sorted((int(one.value), int(other.value)))
    middle = round((low * high) ** 0.5)
    return replace(one, value=middle) if high >= APART * low and low < middle < high else None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
