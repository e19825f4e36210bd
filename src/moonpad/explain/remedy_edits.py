"""The words of a command in which a remedy is made, where it says exactly what to do (remedy_steps.py).

The sizes of the layout are left to a person, and so is an option that the release does not have or whose value is not
said. A step that changes nothing is none: then nothing is called mended.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from moonpad.catalog.former_options import same_options
from moonpad.catalog.options import Option, OptionSet, option_set
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.base import Engine, Reading
from moonpad.engines.value_checks import as_json, fits, number, unresolved
from moonpad.explain.checks.models.other_families import IF_PUBLISHED
from moonpad.explain.commands import Command
from moonpad.explain.manifests.option_sources import program_of
from moonpad.explain.remedy_steps import DRAFT, Step, steps_of
from moonpad.explain.results import Edit, Remark
from moonpad.explain.spoiling import spoils
from moonpad.values.cluster import Cluster
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_OF_LAYOUT: Final = ("tp", "pp", "dp", "dcp", "ep", "nodes", "node_rank")
WHOLE_EXPERTS: Final = "--enable-expert-parallel"
"""A switch that shares whole experts out over the same devices."""
_NEVER: Final = frozenset(
    {"--host", "--port", "--nnodes", "--node-rank", "--dp-size", "--data-parallel-size", "--pp-size"}
)
_GOES_WITH: Final[Mapping[str, tuple[str, ...]]] = {
    "--speculative-algorithm": ("--speculative-",),
    "--load-format": ("--model-loader-extra-config",),
    "--enable-lora": ("--lora-", "--max-lora", "--max-cpu-loras", "--fully-sharded-loras"),
    "--enable-eplb": ("--eplb-", "--num-redundant-experts", "--ep-num-redundant-experts", "--ep-dispatch-algorithm"),
    "--enable-hierarchical-cache": ("--hicache-",),
    "--hicache-storage-backend": ("--hicache-storage-",),
    "--spec-method": ("--spec-",),
    "--kv-offloading-size": ("--kv-offloading-backend",),
    "--moe-a2a-backend": ("--deepep-",),
    "--enable-dbo": ("--dbo-",),
    "--enable-two-batch-overlap": ("--tbo-",),
    "--attn-cp-size": ("--enable-prefill-context-parallel", "--enable-prefill-cp", "--prefill-cp-", "--cp-strategy"),
    "--enable-prefill-context-parallel": ("--attn-cp-size", "--attention-context-parallel-size", "--prefill-cp-"),
    "--enable-prefill-cp": ("--attn-cp-size", "--attention-context-parallel-size", "--prefill-cp-", "--cp-strategy"),
    "--dcp-size": ("--dcp-",),
    "--decode-context-parallel-size": ("--dcp-", "--cp-kv-cache-interleave-size"),
}
"""Option → beginnings of those that are for it alone."""


_OF_ONE_KIND: Final = frozenset(
    {
        "--speculative-config",
        "--kv-transfer-config",
        "--kv-events-config",
        "--limit-mm-per-prompt",
        "--mm-processor-kwargs",
    }
)
"""Options of JSON whose keys all serve what the option is for."""
_DRAFTS: Final = ("--speculative-config", "--speculative-algorithm", "--spec-method")
_OF_REFUSALS: Final = (Code.CONFLICT, Code.INVALID_VALUE, Code.MISSING_FLAG)
_ENDS: Final = re.compile(r"\bthe start (?:ends|fails)\b|\bends? the start\b")
_OUTSIDE: Final = re.compile(r"(?:take|pip install|install|update|build)\b")
"""What is done beside the command."""


class Mending(Struct, frozen=True):
    """`edits` of the words, `variables` that are set before the command, and those that are not set any more."""

    edits: tuple[Edit, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    dropped: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.edits or self.variables or self.dropped)


class _Place(Struct, frozen=True):
    """A command with what was read of it, and the options that its release has."""

    command: Command
    reading: Reading
    options: OptionSet
    where: str
    sizes: frozenset[str]
    """Names of the options for sizes of the layout."""

    def occurrence(self, flag: str) -> Occurrence | None:
        names = (flag, *same_options(self.options.program).get(flag, ()))
        return next((place for name in names if (place := self.reading.parsed.occurrence(name)) is not None), None)


class Started(Struct, frozen=True):
    """What is started: the commands of one deployment with what was read of them, and the devices as far as known."""

    commands: Sequence[Command]
    readings: Sequence[Reading]
    engine: Engine
    version: str
    cluster: Cluster | None

    @property
    def devices(self) -> frozenset[str]:
        """Words for the devices: `Hopper`, `gfx950`."""
        if self.cluster is None:
            return frozenset()
        device = self.cluster.device
        return frozenset({device.architecture, device.capability, *device.product.replace("-", " ").split()})


def with_remedy(remark: Remark, started: Started) -> Remark:
    """With what makes its remedy in each command of the deployment, where it has no edits yet and all of it is exact.

    Of warnings what was reported of the release that is meant, and what ends its start.
    """
    finding = remark.finding
    if remark.mends or remark.word is not None or remark.of_former or not _may_be_made(remark):
        return remark
    ends = finding.severity is Severity.ERROR or remark.ends_start or remark.stops
    any_alternative = ends or remark.complained or (spoils(finding) and not remark.of_some)
    if finding.code is Code.LOGGED_FAILURE:
        any_alternative = _OUTSIDE.match(finding.remedy) is not None
    first = steps_of(finding.remedy, any_alternative=False, devices=started.devices)
    steps = first or (any_alternative and steps_of(finding.remedy, any_alternative=True, devices=started.devices))
    mending = {
        number: made
        for number, (command, reading) in enumerate(zip(started.commands, started.readings, strict=True))
        if steps and (made := _made(steps, finding.where, command, reading, started))
    }
    if not ends and started.cluster is None and _leaves_backend(finding.where, mending.values()):
        return remark  # it may be there for devices on which no other one works
    number = remark.command or 0
    if number not in mending or (number and remark.command is not None and len(mending) == 1 < len(started.commands)):
        return remark
    own = mending.pop(number)
    others = tuple((other, made.edits) for other, made in mending.items())
    command = remark.command if remark.command is not None else 0 if own.edits or own.variables else None
    return replace(
        remark,
        command=command,
        edits=own.edits,
        others=others,
        sets=own.variables,
        unsets=own.dropped,
        second_choice=not first,
    )


def _leaves_backend(where: str, mending: Iterable[Mending]) -> bool:
    """Whether the option of a backend is taken out, and none is written in its place."""
    return where.endswith("-backend") and any(not edit.words for each in mending for edit in each.edits)


def _may_be_made(remark: Remark) -> bool:
    """An error, what was reported, and a warning that the start ends, also where it does with the weights that the name
    stands for."""
    finding = remark.finding
    if finding.severity is not Severity.WARNING or remark.ends_start:
        return finding.severity is Severity.ERROR or remark.ends_start
    refused = finding.code in _OF_REFUSALS and _ENDS.search(finding.message) is not None
    refused |= IF_PUBLISHED in finding.message  # an error, if the name says what the weights are
    return refused or remark.unmeant or finding.code in (Code.KNOWN_REPORT, Code.LOGGED_FAILURE)


def _made(steps: Sequence[Step], where: str, command: Command, reading: Reading, started: Started) -> Mending | None:
    """None where a step cannot be made."""
    options = option_set(program_of(command, started.engine), started.version or None)
    if options is None or not (command.prefix or command.wrappers or command.argv):
        return None
    line = started.engine.command_line.options
    named = (option for name in _OF_LAYOUT if (option := options.named(line.get(name, ""))) is not None)
    sizes = _NEVER | {name for option in named for name in option.names}
    place = _Place(command, reading, options, where, frozenset(sizes))
    made = [_step(step, place) for step in steps]
    if any(each is None for each in made):
        return None
    known = [each for each in made if each is not None]
    return Mending(
        tuple(edit for each in known for edit in each.edits),
        tuple(pair for each in known for pair in each.variables),
        tuple(name for each in known for name in each.dropped),
    )


def _step(step: Step, place: _Place) -> Mending | None:
    name = step.name or place.where
    is_variable = name[:1].isupper() and not name.startswith("-")
    if step.kind == "variable":
        return _variable(step, place)
    if step.kind == "unset" or (step.kind == "leave" and is_variable):
        return Mending(dropped=(name,)) if name in place.command.env and _alone(place.command) else None
    if step.kind == "key":
        return _key(name, as_json(step.value or ""), place, step.of)
    if step.name == DRAFT:
        return next((made for flag in _DRAFTS if (made := _left_out(step, flag, place))), None)
    if step.kind == "leave":
        return _left_out(step, name, place) if name.startswith("-") else _key(name, None, place)
    return _written(step, name, place) if name.startswith("-") else None


def _alone(command: Command) -> bool:
    """Whether what is set before it is part of the line that is shown; that of a list of options is, where it sets any
    variables itself."""
    return bool(command.prefix or command.wrappers or command.env)


def _variable(step: Step, place: _Place) -> Mending | None:
    name, value = step.name, step.value or ""
    word = place.command.env.get(name)
    given = word.text.removeprefix(f"{name}=").strip("'\"") if word is not None else None
    longer = "TIMEOUT" in name and value.isdecimal() and (given or "").isdecimal() and int(given or 0) >= int(value)
    if not _alone(place.command) or given == value or longer:
        return None
    return Mending(variables=((name, value),))


def _left_out(step: Step, name: str, place: _Place) -> Mending | None:
    """All places of the option, and what is for it alone."""
    if keys := [given for given in place.reading.parsed.occurrences if given.written == name and "." in name]:
        return Mending(tuple(Edit(given.index, given.length, ()) for given in keys))
    option = place.options.named(name)
    given = place.occurrence(option.name if option is not None else name)
    if given is None and option is None:
        given = _unknown(name, place)
    negations = option.negations if option is not None else ()
    if given is None or (given.written in negations) != (name in negations):
        return None
    size = place.options.named(given.flag or "")
    dcp = size is not None and any("context-parallel" in each or each.startswith("--dcp") for each in size.names)
    if {name, *given.names} & place.sizes and not dcp:
        return None
    if _has_keys(given, place):
        return None
    if step.value is not None and given.value != step.value and step.value not in str(given.value):
        return None
    beginnings = _GOES_WITH.get(given.flag or name, _GOES_WITH.get(name, ()))
    edits = [
        Edit(each.index, each.length, ())
        for each in place.reading.parsed.occurrences
        if (option is not None and each.names == option.names)
        or each.written in (name, given.written)
        or (each.flag or each.written).startswith(beginnings or "\0")
    ]
    return Mending(tuple(edits))


def _unknown(name: str, place: _Place) -> Occurrence | None:
    """An option that the release does not have, where no word behind it may be its value."""
    given = next((each for each in place.reading.parsed.occurrences if each.written == name), None)
    behind = given.index + given.length if given is not None else 0
    argv = place.command.argv
    return given if behind >= len(argv) or argv[behind].text.startswith("-") else None


def _has_keys(given: Occurrence, place: _Place) -> bool:
    """Whether it holds settings of several kinds, of which one alone is meant."""
    held = as_json(str(given.value))
    if not isinstance(held, Mapping) and "." not in given.written:
        return False
    while isinstance(held, Mapping) and len(held) == 1:
        held = next(iter(held.values()))
    return given.written not in _OF_ONE_KIND and (isinstance(held, Mapping) or "." in given.written)


def _written(step: Step, name: str, place: _Place) -> Mending | None:
    option = place.options.named(name)
    given = place.occurrence(option.name) if option is not None else None
    sized = option is not None and bool({name, *option.names} & place.sizes) and name != WHOLE_EXPERTS
    if option is None or sized or (given is not None and "." in given.written):
        return None
    value = step.value
    if value is not None and value.startswith("{"):
        return _merged(name, value, given, place)
    if not _is_taken(option, value):
        return None
    if given is None:
        return Mending((Edit(len(place.command.argv), 0, (name, *([value] if value is not None else []))),))
    if value is None:
        other = (given.written in option.negations) != (name in option.negations)
        return Mending((Edit(given.index, given.length, (name,)),)) if other else None
    if given.value == value or _within(str(given.value), step):
        return None
    if not isinstance(given.value, str) or (not step.name and not _alike(given.value, value, option)):
        return None
    written = given.written if given.written in option.names else name
    equals = "=" in place.command.argv[given.index].text
    return Mending((Edit(given.index, given.length, (f"{written}={value}",) if equals else (written, value)),))


def _is_taken(option: Option, value: str | None) -> bool:
    if value is None:
        return option.kind == "flag" or not option.takes_value
    return option.kind not in ("flag", "json") and not unresolved(value) and fits(option.kind, option.choices, value)


def _alike(given: str, value: str, option: Option) -> bool:
    """Whether a value by itself stands for the whole of what is given: both numbers, or one of several names."""
    return (number(given) is not None) == (number(value) is not None) and (
        bool(option.choices) or number(value) is not None
    )


def _within(given: str, step: Step) -> bool:
    """Whether a value that is given keeps to the bound already."""
    there, bound = number(given), number(step.value or "")
    if not step.bound or there is None or bound is None:
        return False
    return there >= bound if step.bound == "least" else there <= bound


def _merged(name: str, value: str, given: Occurrence | None, place: _Place) -> Mending | None:
    """JSON whose keys go beside those that are there."""
    wanted = as_json(value)
    if not isinstance(wanted, Mapping):
        return None
    if given is None:
        return Mending((Edit(len(place.command.argv), 0, (name, value)),))
    there = as_json(str(given.value).strip("'"))
    if not isinstance(there, Mapping):
        return None
    return _as_object(given, _both(there, wanted), place)


def _both(there: Mapping[str, object], wanted: Mapping[str, object]) -> dict[str, object]:
    merged = dict(there)
    for key, value in wanted.items():
        held = merged.get(key)
        merged[key] = _both(held, value) if isinstance(held, Mapping) and isinstance(value, Mapping) else value
    return merged


def _key(key: str, value: object, place: _Place, of: str = "") -> Mending | None:
    """A key of the one JSON option that has it, or of the one that the finding stands at, with another value or without
    one (None). `of`: the option that is meant."""
    objects = [
        (given, there)
        for given in place.reading.parsed.occurrences
        if isinstance(given.value, str) and isinstance(there := as_json(given.value.strip("'")), Mapping)
        if not of or of in (given.flag, given.written)
    ]
    having = [(given, there) for given, there in objects if any(True for _ in _holders(there, key))]
    dotted = [given for given in place.reading.parsed.occurrences if given.written.endswith(f".{key}")]
    if value is None and dotted and not having:
        return Mending(tuple(Edit(given.index, given.length, ()) for given in dotted))
    if not having and value is not None:
        having = [(given, there) for given, there in objects if (of or place.where) in (given.flag, given.written)]
        return _as_object(*_added(having[0], key, value), place) if len(having) == 1 else None
    if len(having) != 1 or len([*_holders(having[0][1], key)]) != 1:
        return None
    given, there = having[0]
    changed = _with_key(there, key, value)
    return None if changed == there else _as_object(given, changed, place)


def _added(
    at: tuple[Occurrence, Mapping[str, object]], key: str, value: object
) -> tuple[Occurrence, Mapping[str, object]]:
    return at[0], {**at[1], key: value}


def _holders(there: object, key: str) -> Iterator[Mapping[str, object]]:
    """The objects that have the key, at whatever depth."""
    if isinstance(there, Mapping):
        if key in there:
            yield there
        for inner in there.values():
            yield from _holders(inner, key)


def _with_key(there: Mapping[str, object], key: str, value: object) -> dict[str, object]:
    changed: dict[str, object] = {}
    for name, held in there.items():
        if name != key:
            changed[name] = _with_key(held, key, value) if isinstance(held, Mapping) else held
        elif value is not None:
            changed[name] = value
    return changed


def _as_object(given: Occurrence, changed: Mapping[str, object], place: _Place) -> Mending:
    """An option whose object has nothing left is left out."""
    if not changed:
        return Mending((Edit(given.index, given.length, ()),))
    text = json.dumps(changed, ensure_ascii=False)
    equals = "=" in place.command.argv[given.index].text.partition("{")[0]
    return Mending(
        (Edit(given.index, given.length, (f"{given.written}={text}",) if equals else (given.written, text)),)
    )
