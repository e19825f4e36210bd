"""Other settings of the same deployment that hold more tokens, with what each of them buys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from moonpad.catalog.calibrations import Calibration
from moonpad.plan.judgement import Judgement, judge
from moonpad.plan.layouts import legal_layouts
from moonpad.plan.memory import memory_of
from moonpad.plan.ranking import network_hops
from moonpad.plan.rules import is_legal
from moonpad.values.configuration import Configuration, EngineFacts
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout, Settings
from moonpad.values.units import GIB, gib

MOST: Final = 3
FEW_TOKENS: Final = 4096
SOME_SEQUENCES: Final = 256
HIGH_FRACTION: Final = 0.95
SHORTEST: Final = 2048
LEAST_GAIN: Final = 1.05
"""Less than a twentieth more tokens is within what an estimate knows."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A deployment that was read, as far as memory is concerned.

    `context` None: nothing has to be held, the longest that fits will do.
    """

    configuration: Configuration
    context: int | None
    calibrations: tuple[Calibration, ...] = ()

    @property
    def engine(self) -> EngineFacts:
        return self.configuration.engine

    @property
    def layout(self) -> Layout:
        return self.configuration.layout

    @property
    def settings(self) -> Settings:
        return self.configuration.settings

    def judgement(self) -> Judgement:
        return judge(self.configuration, context=self.context, calibrations=self.calibrations)

    def memory(self) -> Memory:
        return memory_of(self.configuration, context=self.context, calibrations=self.calibrations)

    def legal(self) -> bool:
        return is_legal(self.configuration)

    def with_settings(self, **changes: object) -> Subject:
        return replace(self, configuration=self.configuration.with_settings(**changes))


@dataclass(frozen=True, slots=True)
class Improvement:
    """`changes` are our names with the value to say, None for a switch."""

    why: str
    changes: tuple[tuple[str, str | None], ...]
    memory: Memory


Lever = tuple[str, tuple[tuple[str, str | None], ...], Subject]
"""What it is called, the changes by our names, and the subject with them."""


def improvements(subject: Subject, memory: Memory) -> tuple[Improvement, ...]:
    """At most three, each legal. Where the context fits: what holds the most more. Where not: the fewest changes."""
    return _roomier(subject, memory) if memory.fits and not memory.tight else _ways_out(subject, memory)


def _roomier(subject: Subject, memory: Memory) -> tuple[Improvement, ...]:
    found = []
    for names in (*((name,) for name in _LEVERS), ("dcp", "kv_cache_dtype")):
        one = _apply(subject, names)
        if one is None or not one[2].legal():
            continue
        after = one[2].memory()
        if after.fits and after.kv_tokens.value >= LEAST_GAIN * max(memory.kv_tokens.value, 1.0):
            found.append(_improvement(one, memory, after))
    found.sort(key=lambda one: -one.memory.kv_tokens.value)
    return tuple(found[:MOST])


def _ways_out(subject: Subject, memory: Memory) -> tuple[Improvement, ...]:
    """Combinations that hold the context; where none does, the one that holds the longest, with that context."""
    fitting: list[tuple[int, float, Improvement]] = []
    longest: tuple[float, Lever, Memory] | None = None
    for count in range(1, len(_LEVERS) + 1):
        for names in combinations(_LEVERS, count):
            one = _apply(subject, names)
            if one is None or not one[2].legal():
                continue
            after = one[2].memory()
            if after.fits and not after.tight:
                fitting.append((count, -after.kv_tokens.value, _improvement(one, memory, after)))
            if longest is None or after.max_context.value > longest[0]:
                longest = (after.max_context.value, one, after)
        if len(fitting) >= MOST:
            break
    if fitting:
        return tuple(one for _, _, one in sorted(fitting, key=lambda one: one[:2])[:MOST])
    alone = subject.memory().max_context.value
    ways: list[Lever] = [] if alone < SHORTEST else [("", (), subject)]
    if longest is not None and longest[0] >= max(SHORTEST, LEAST_GAIN * alone):
        ways.append(longest[1])
    return tuple(_shorter(way, memory) for way in ways)


def _shorter(way: Lever, before: Memory) -> Improvement:
    """The same with the longest context that fits, in whole thousands."""
    what, changes, subject = way
    context = int(subject.memory().max_context.value) // 1024 * 1024
    shorter = replace(subject.with_settings(max_model_len=context), context=context)
    said = f"a context of {context:,} tokens"
    every = (("max_model_len", str(context)), *changes)
    return _improvement((f"{said}, with {what}" if what else said, every, shorter), before, shorter.memory())


def _apply(subject: Subject, names: Sequence[str]) -> Lever | None:
    """All of these levers at once; None where one of them is pulled already, or there is none."""
    whats: list[str] = []
    changes: list[tuple[str, str | None]] = []
    for name in names:
        pulled = _LEVERS[name](subject)
        if pulled is None:
            return None
        what, change, subject = pulled
        whats.append(what)
        changes += change
    return ", ".join([*whats[:-2], " and ".join(whats[-2:])]), tuple(changes), subject


def _dcp(subject: Subject) -> Lever | None:
    layout = subject.layout
    if layout.dcp >= layout.tp or not subject.engine.dcp_unasked:
        return None
    changed = replace(subject, configuration=subject.configuration.with_layout(dcp=layout.tp))
    return f"decode context parallelism over the {layout.tp} ranks", (("dcp", str(layout.tp)),), changed


def _fp8_kv(subject: Subject) -> Lever | None:
    name = subject.engine.fp8_kv_name
    if name is None or subject.settings.kv_cache_dtype not in (None, "auto", "bfloat16"):
        return None
    changed = subject.with_settings(kv_cache_dtype=name)
    return "an FP8 KV cache, half the bytes a token", (("kv_cache_dtype", name),), changed


def _fewer(subject: Subject) -> Lever | None:
    """What nobody asked for is always turned down, what was asked for only where it does not fit."""
    ranks = subject.layout.dp if subject.engine.limits_over_dp else 1
    asked = subject.memory()
    roomy = asked.fits and not asked.tight
    fewer: dict[str, int] = {}
    for name, least in (("max_num_batched_tokens", FEW_TOKENS), ("max_num_seqs", SOME_SEQUENCES)):
        given = getattr(subject.settings, name)
        if given is None or (given > least * ranks and not roomy):
            fewer[name] = least * ranks
    if not fewer:
        return None
    words = " and ".join(f"{value:,} {_WORDS[name]}" for name, value in fewer.items())
    changes = tuple((name, str(value)) for name, value in fewer.items())
    return f"at most {words} at once", changes, subject.with_settings(**fewer)


def _eager(subject: Subject) -> Lever | None:
    if subject.settings.enforce_eager or subject.memory().fits:
        return None  # slower, so only where nothing else helps
    return "no CUDA graphs", (("enforce_eager", None),), subject.with_settings(enforce_eager=True)


def _fraction(subject: Subject) -> Lever | None:
    name = subject.engine.memory_fraction_name
    given = getattr(subject.settings, name)
    if subject.memory().fits or (given is not None and given >= HIGH_FRACTION):
        return None
    what = f"{HIGH_FRACTION:.0%} of the memory"
    return what, ((name, str(HIGH_FRACTION)),), subject.with_settings(**{name: HIGH_FRACTION})


_WORDS: Final = {"max_num_batched_tokens": "batched tokens", "max_num_seqs": "sequences"}
_LEVERS: Final[Mapping[str, Callable[[Subject], Lever | None]]] = {
    "dcp": _dcp,
    "fewer": _fewer,
    "kv_cache_dtype": _fp8_kv,
    "fraction": _fraction,
    "eager": _eager,
}


def _improvement(lever: Lever, before: Memory, after: Memory) -> Improvement:
    what, changes, _ = lever
    return Improvement(f"{what}: {_gain(before, after)}", changes, after)


def _gain(before: Memory, after: Memory) -> str:
    tokens, more = before.kv_tokens.value, after.kv_tokens.value
    said = [f"{more:,.0f} tokens of KV cache" + (f" instead of {tokens:,.0f}" if tokens >= 1 else "")]
    if tokens >= 1:
        said.append(f"× {more / tokens:.3g}")
    freed = after.kv_bytes.value - max(before.kv_bytes.value, 0.0)
    if freed > GIB / 200:
        said.append(f"{gib(freed)} more for it on each device")
    if after.max_context.value > before.max_context.value >= 1:
        said.append(f"context up to {after.max_context.value:,.0f}")
    if not after.measured:
        said.append("estimated, not measured")
    return ", ".join(said)


def best_remedy(subject: Subject, found: Sequence[Improvement]) -> str:
    """The one thing to do, in a sentence for a finding."""
    if found:
        return found[0].why
    if (other := another_layout(subject)) is None:
        return "take more devices, or devices with more memory"
    layout, memory = other
    return (
        f"spread it in another way over the same devices: {layout.words} leaves {gib(memory.kv_bytes.value)} for the "
        f"KV cache on each, {memory.kv_tokens.value:,.0f} tokens (estimated, not measured); moonpad plan gives the "
        "commands"
    )


def another_layout(subject: Subject) -> tuple[Layout, Memory] | None:
    """Over all devices of the cluster, with the same settings: the one that crosses the network least."""
    configuration = subject.configuration

    def cost(layout: Layout) -> tuple[int, int, int]:
        return network_hops(layout, configuration.cluster, configuration.architecture), -layout.tp, -layout.dcp

    for layout in sorted(legal_layouts(configuration), key=cost):
        other = replace(subject, configuration=replace(configuration, layout=layout))
        if other.legal() and (memory := other.memory()).fits and not memory.tight:
            return layout, memory
    return None
