"""Other settings of the same deployment that hold more tokens, with what each of them buys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final, NamedTuple

from msgspec import Struct

from moonpad.catalog.calibrations import Calibration
from moonpad.engines.attention_backends import takes_draft
from moonpad.explain.first_taking import first_taking
from moonpad.explain.input_limits import Budget
from moonpad.plan.judgement import room_outside
from moonpad.plan.memory import memory_of
from moonpad.plan.ranking import tensor_group_spans_nodes
from moonpad.plan.rules import is_legal
from moonpad.values.configuration import Configuration
from moonpad.values.memory import LIKELY, Memory
from moonpad.values.plan import Layout, Settings
from moonpad.values.platform import Platform
from moonpad.values.records import replace
from moonpad.values.units import GIB, gib

WAYS: Final = 3
"""Ways out among which two are chosen: more changes at once are tried only where there are fewer."""
_LIMITS: Final = {"max_num_batched_tokens": (4096, "batched tokens"), "max_num_seqs": (256, "sequences")}
"""What is turned down, to how many on each rank, and its name for people."""
FEW_SEQUENCES: Final = 64
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
    budget: Budget = field(default_factory=Budget, compare=False)
    paired: bool = False
    """Whether it hands its cache to another server, or takes it over: both have the same format and the same shares."""
    barred: frozenset[str] = frozenset()
    """Our names of what is not to be changed, since something speaks against it here."""

    highest: float = HIGH_FRACTION
    """Of the memory of a device, what may be given to it at the most."""

    found: dict[tuple[Layout, Settings, int | None], Memory] = field(default_factory=dict, compare=False, repr=False)
    """Memories that were computed for it and what was made of it: ways out are made of the same changes."""

    def memory(self) -> Memory:
        """Raises UsageError when the budget is spent."""
        key = self.configuration.layout, self.configuration.settings, self.context
        if key not in self.found:
            self.budget.work(200, "the search for better settings")
            self.found[key] = memory_of(self.configuration, context=self.context, calibrations=self.calibrations)
        return self.found[key]

    def with_settings(self, **changes: object) -> Subject:
        return replace(self, configuration=self.configuration.with_settings(**changes))


Changes = tuple[tuple[str, str | None], ...]
"""Our names of what changes with the new value, None for a switch."""


class Improvement(Struct, frozen=True):
    why: str
    changes: Changes
    memory: Memory


_OF_BOTH: Final = frozenset({"dcp", "kv_cache_dtype"})


class Lever(NamedTuple):
    """What it is called, the changes by our names, and the subject with them."""

    what: str
    changes: Changes
    subject: Subject


def improvements(subject: Subject, memory: Memory) -> tuple[Improvement, ...]:
    """At most two, each legal. Where the context fits: what holds the most more, and the most without an FP8 cache.
    Where not: the fewest changes, and what holds the most."""
    if memory.fits and not memory.tight:
        return _roomier(subject, memory)
    return tuple(each for each in _ways_out(subject, memory) if _gains(memory, each.memory))


def _gains(before: Memory, after: Memory) -> bool:
    """Whether more is held than before, or it is surer that what runs outside of the memory fraction finds room: as
    many tokens, which the pool is told to have, are none for experts that are taken from the devices."""
    same = before.fits and f"{after.kv_tokens.value:,.0f}" == f"{before.kv_tokens.value:,.0f}"
    return not same or before.outside is not None or after.max_context.value > before.max_context.value


def _roomier(subject: Subject, memory: Memory) -> tuple[Improvement, ...]:
    names = [name for name in _LEVERS if not subject.paired or name not in _OF_BOTH]
    both = () if subject.paired else (("dcp", "kv_cache_dtype"),)
    levers = _legal_levers(subject, (*((name,) for name in names), *both))
    least = LEAST_GAIN * max(memory.kv_tokens.value, 1.0)
    roomier = [
        _improvement(subject, lever, memory, after)
        for lever, after in levers
        if after.fits and after.kv_tokens.value >= least
    ]
    roomier.sort(key=lambda improvement: -improvement.memory.kv_tokens.value)
    exact = [improvement for improvement in roomier if "kv_cache_dtype" not in dict(improvement.changes)]
    return _different(roomier[:1], exact[:1])


def _ways_out(subject: Subject, memory: Memory) -> tuple[Improvement, ...]:
    """Combinations that hold the context; where none does, the one that holds the longest, with that context."""
    tried: list[tuple[int, Lever, Memory]] = []
    for count in range(1, len(_LEVERS) + 1):
        tried += ((count, *pulled) for pulled in _legal_levers(subject, combinations(_LEVERS, count)))
        fitting = [way for way in tried if way[2].fits and not way[2].tight]
        if len(fitting) >= WAYS:
            break
    if fitting:
        fitting.sort(key=lambda way: (way[0], -way[2].kv_tokens.value))
        roomiest = max(fitting, key=lambda way: way[2].kv_tokens.value)
        ways = [_improvement(subject, lever, memory, after) for _, lever, after in (fitting[0], roomiest)]
        return _different(ways[:1], ways[1:])
    if memory.outside is not None and not memory.outside.told and memory.outside.probability < LIKELY:
        return ()  # no context is short enough for what runs outside of the memory fraction
    alone = memory.max_context.value
    shorter = [] if alone < SHORTEST or _holds_all(subject, alone) else [Lever("", (), subject)]
    if not any(_holds_all(subject, after.max_context.value) for *_, after in tried):
        # Fewer sequences at once keep the context, which comes before a shorter one.
        keeping = [names for count in range(len(_KEEPING) + 1) for names in combinations(_KEEPING, count)]
        pulled = _legal_levers(subject, (("few", *names) for names in keeping))
        tried += [(0, *way) for way in pulled if _holds_all(subject, way[1].max_context.value)]
    longest = max(tried, key=lambda way: way[2].max_context.value, default=None)
    if longest is not None and longest[2].max_context.value >= max(SHORTEST, LEAST_GAIN * alone):
        shorter.append(longest[1])
    return tuple(_shorter(subject, way, memory) for way in shorter)


def _holds_all(subject: Subject, tokens: float) -> bool:
    """Whether no context is shorter than the one that is served already."""
    served = subject.context or subject.configuration.checkpoint.architecture.max_context
    return int(tokens) // 1024 * 1024 >= served


def _different(first: Sequence[Improvement], second: Sequence[Improvement]) -> tuple[Improvement, ...]:
    """Both, or the first where they change the same."""
    return (*first, *(other for other in second if all(set(other.changes) != set(each.changes) for each in first)))


def _legal_levers(subject: Subject, combined: Iterable[Sequence[str]]) -> Iterator[tuple[Lever, Memory]]:
    """The levers that can be pulled together, with the memory behind each."""
    for names in combined:
        lever = _apply(subject, names)
        if lever is not None and is_legal(lever.subject.configuration):
            yield lever, lever.subject.memory()


def _shorter(asked: Subject, way: Lever, before: Memory) -> Improvement:
    """The same with the longest context that fits, in whole thousands, and no longer than the one that is asked for."""
    what, changes, subject = way
    memory = subject.memory()
    context = int(memory.max_context.value) // 1024 * 1024
    if what and context >= (subject.context or subject.configuration.checkpoint.architecture.max_context):
        return _improvement(asked, way, before, memory)  # it holds what is asked, if only just
    shorter = replace(subject.with_settings(max_model_len=context), context=context)
    with_levers = f", with {what}" if what else ""
    lever = Lever(f"a context of {context:,} tokens{with_levers}", (("max_model_len", str(context)), *changes), shorter)
    return _improvement(asked, lever, before, shorter.memory())


def _apply(subject: Subject, names: Sequence[str]) -> Lever | None:
    """All of these levers at once; None where one of them is pulled already, or there is none."""
    whats: list[str] = []
    changes: Changes = ()
    for name in names:
        pulled = _MORE_LEVERS[name](subject)
        if pulled is None:
            return None
        what, change, subject = pulled
        if not subject.barred.isdisjoint(dict(change)):
            return None
        whats.append(what)
        changes += change
    return Lever(", ".join([*whats[:-2], " and ".join(whats[-2:])]), changes, subject)


def _dcp(subject: Subject) -> Lever | None:
    """Not on AMD devices: there it depends on the build of AITER, and releases of 2026 end at the first decoded token
    (https://github.com/vllm-project/vllm/pull/54639, https://github.com/sgl-project/sglang/pull/39075)."""
    layout, device = subject.configuration.layout, subject.configuration.cluster.device
    if layout.dcp >= layout.tp or not subject.configuration.engine.dcp_unasked or device.platform is Platform.ROCM:
        return None
    if subject.memory().fits and tensor_group_spans_nodes(layout, subject.configuration.cluster):
        return None  # two more exchanges a layer and token through the network
    changed = replace(subject, configuration=subject.configuration.with_layout(dcp=layout.tp))
    if not takes_draft(changed.configuration):
        return None
    return Lever(f"decode context parallelism over the {layout.tp} ranks", (("dcp", str(layout.tp)),), changed)


def _fp8_kv(subject: Subject) -> Lever | None:
    name = subject.configuration.engine.fp8_kv_name
    if name is None or subject.configuration.settings.kv_cache_dtype not in (None, "auto", "bfloat16"):
        return None
    changed = subject.with_settings(kv_cache_dtype=name)
    return Lever("an FP8 KV cache, half the bytes a token", (("kv_cache_dtype", name),), changed)


def _fewer(subject: Subject) -> Lever | None:
    """What was not asked for is always turned down, what was asked for only where it does not fit."""
    configuration, memory = subject.configuration, subject.memory()
    ranks = configuration.layout.dp if configuration.engine.limits_over_dp else 1
    fewer: dict[str, int] = {}
    for name, (least, _) in _LIMITS.items():
        given = getattr(configuration.settings, name)
        if given is None and configuration.engine.reserves_kv:
            continue  # it reserves for what it is told, and for few sequences where it is not
        if name == "max_num_batched_tokens" and configuration.engine.whole_prompts:
            least = max(least, subject.context or configuration.architecture.max_context)
        if given is None or (given > least * ranks and (memory.tight or not memory.fits)):
            fewer[name] = least * ranks
    if not fewer:
        return None
    words = " and ".join(f"{value:,} {_LIMITS[name][1]}" for name, value in fewer.items())
    changes = tuple((name, str(value)) for name, value in fewer.items())
    return Lever(f"at most {words} at once", changes, subject.with_settings(**fewer))


def _few(subject: Subject) -> Lever | None:
    """So few sequences as nobody asked for: what an engine reserves for each of them may be all that lacks."""
    configuration = subject.configuration
    ranks = configuration.layout.dp if configuration.engine.limits_over_dp else 1
    given, few = configuration.settings.max_num_seqs, FEW_SEQUENCES * ranks
    if subject.memory().fits or configuration.engine.reserves_kv or (given is not None and given <= few):
        return None
    changed = subject.with_settings(max_num_seqs=few)
    return Lever(f"at most {few:,} sequences at once", (("max_num_seqs", str(few)),), changed)


def _eager(subject: Subject) -> Lever | None:
    configuration = subject.configuration
    if configuration.settings.enforce_eager or subject.memory().fits or not configuration.engine.graphs_option:
        return None  # slower, so only where nothing else helps
    return Lever("no CUDA graphs", (("enforce_eager", None),), subject.with_settings(enforce_eager=True))


def higher_fraction(subject: Subject) -> Lever | None:
    name = subject.configuration.engine.memory_fraction_name
    if subject.configuration.settings.kv_cache_bytes is not None:
        return None  # it decides, not the fraction
    given = getattr(subject.configuration.settings, name, None)
    if not name or subject.memory().fits or (given is not None and given >= subject.highest):
        return None
    if subject.highest < HIGH_FRACTION and given is None:
        return None  # its default may be more than the servers beside it leave
    changed = subject.with_settings(**{name: subject.highest})
    return Lever(f"{subject.highest:.0%} of the memory", ((name, str(subject.highest)),), changed)


def _told(subject: Subject) -> Lever | None:
    """A KV cache of another size where it was told one: what is surely left of a device beside all else."""
    memory = subject.memory()
    outside = memory.outside
    if outside is None or not outside.told or (memory.fits and not memory.tight):
        return None
    room = int(memory.kv_bytes.value + outside.left_bytes - outside.needed_bytes.high)
    if room <= 0 or room == subject.configuration.settings.kv_cache_bytes:
        return None
    return Lever(
        f"a KV cache of {gib(room)}", (("kv_cache_bytes", str(room)),), subject.with_settings(kv_cache_bytes=room)
    )


def _host_experts(subject: Subject) -> Lever | None:
    """As few experts more in host RAM as it takes, for engines that can leave some there; all, where that is not
    enough."""
    settings, memory = subject.configuration.settings, subject.memory()
    if memory.fits and not memory.tight:
        return None
    if settings.gpu_experts:
        count = _most(settings.gpu_experts - 1, lambda number: subject.with_settings(gpu_experts=number))
        what = f"{count} instead of {settings.gpu_experts} experts of each layer on the devices"
        name = "gpu_experts"
    elif settings.host_expert_layers is not None or _may_leave_layers(subject):
        layers, there = subject.configuration.architecture.layers, settings.host_expert_layers or 0
        if there >= layers:
            return None
        left = layers - there - 1
        count = layers - _most(left, lambda number: subject.with_settings(host_expert_layers=layers - number))
        what, name = f"the experts of {count} layers in host RAM", "host_expert_layers"
        if (host := subject.with_settings(host_expert_layers=count).memory().host) is not None:
            if (whole := _host_layers(subject, host.needed_bytes)) is not None:
                return whole
            what += f", which needs {gib(host.needed_bytes)} of it"
    else:
        return None
    return Lever(what, ((name, str(count)),), subject.with_settings(**{name: count}))


def _host_layers(subject: Subject, needed_bytes: float) -> Lever | None:
    """Fewer layers on several devices, dealt out anew, where experts would need twice the host RAM: those of the first
    layers leave the first devices alone."""
    layers, settings = subject.configuration.architecture.layers, subject.configuration.settings
    if subject.configuration.layout.pp < 2 or settings.device_layers is not None:
        return None
    count = _most(layers, lambda number: subject.with_settings(device_layers=number))
    changed = subject.with_settings(device_layers=count)
    if not count or (host := changed.memory().host) is None or 2 * host.needed_bytes > needed_bytes:
        return None
    what = f"{layers + 1 - count} layers in host RAM, which needs {gib(host.needed_bytes)} of it"
    return Lever(what, (("device_layers", str(count)),), changed)


def _may_leave_layers(subject: Subject) -> bool:
    """Whether the engine leaves experts of whole layers in host RAM, and nothing was asked for yet."""
    configuration = subject.configuration
    on_devices = configuration.settings.device_layers is None and not configuration.cluster.device.unified
    by_layers = configuration.engine.host_experts == "of the first layers"
    return by_layers and on_devices and configuration.architecture.routed_experts > 0


def _most(highest: int, changed: Callable[[int], Subject]) -> int:
    """The largest number up to `highest` that fits, where each smaller one needs less; 0 where none does."""
    most, too_many = 0, highest + 1
    while too_many - most > 1:
        number = (most + too_many) // 2
        memory = changed(number).memory()
        if memory.fits and not memory.tight:
            most = number
        else:
            too_many = number
    return most


def _lower(subject: Subject) -> Lever | None:
    """A smaller memory fraction where what runs outside of it may find too little."""
    memory, name = subject.memory(), subject.configuration.engine.memory_fraction_name
    outside = memory.outside
    if not name or outside is None or outside.told or outside.probability >= LIKELY or not memory.fits:
        return None
    fraction = room_outside(subject.configuration, memory, outside)
    if fraction <= 0:
        return None
    changed = subject.with_settings(**{name: fraction})
    return Lever(f"{fraction:.0%} of the memory", ((name, str(fraction)),), changed)


_LEVERS: Final[Mapping[str, Callable[[Subject], Lever | None]]] = {
    "told": _told,
    "lower": _lower,
    "host_experts": _host_experts,
    "dcp": _dcp,
    "fewer": _fewer,
    "kv_cache_dtype": _fp8_kv,
    "fraction": higher_fraction,
    "eager": _eager,
}
_MORE_LEVERS: Final[Mapping[str, Callable[[Subject], Lever | None]]] = {"few": _few, **_LEVERS}
_KEEPING: Final = ("dcp", "fewer", "kv_cache_dtype", "fraction")
"""What is pulled with fewer sequences: neither the context nor the graphs are given up."""


def _improvement(subject: Subject, lever: Lever, before: Memory, after: Memory) -> Improvement:
    tokens, more = before.kv_tokens.value, after.kv_tokens.value
    other = tokens >= 1 and f"{more:,.0f}" != f"{tokens:,.0f}"
    gains = [f"{more:,.0f} tokens of KV cache" + (f" instead of {tokens:,.0f}" if other else "")]
    if other:
        gains.append(f"× {more / tokens:.3g}")
    freed = after.kv_bytes.value - max(before.kv_bytes.value, 0.0)
    if freed > GIB / 200:
        gains.append(f"{gib(freed)} more for it on each device")
    if after.max_context.value > before.max_context.value >= 1:
        gains.append(f"context up to {after.max_context.value:,.0f}")
    if not after.measured:
        gains.append(f"estimated, not measured{_at_its_worse_end(after)}")
    if release := first_taking(lever.subject.configuration, subject.configuration):
        gains.append(f"from {subject.configuration.engine.title} {release} on")
    return Improvement(f"{lever.what}: {', '.join(gains)}", lever.changes, after)


def _at_its_worse_end(memory: Memory) -> str:
    """Of a context that the middle of the estimate holds, and its worse end does not."""
    least = max(0, int(memory.max_context.low))
    if not memory.fits or least >= memory.context or memory.max_context.value < memory.context:
        return ""
    return f" (at the worse end of the estimate {f'{least:,} tokens' if least else 'none'})"
