"""The devices that a text names: how many of which kind, where, and which of them a command is about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from operator import itemgetter
from typing import Final

from msgspec import Struct

from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.hardware import find_hardware, hardware
from moonpad.explain.documents import device_patterns
from moonpad.explain.documents.bare_card_numbers import bare_cards, is_one_card
from moonpad.explain.documents.brief_names import is_label
from moonpad.explain.documents.denied_devices import as_there_are, is_denied
from moonpad.explain.documents.device_names import CALLED, OTHERS, SIZES, VARIANTS
from moonpad.explain.documents.device_patterns import WORDS
from moonpad.explain.documents.device_sums import is_sum, summed_kinds
from moonpad.explain.documents.machine_counts import counts_of, with_machines
from moonpad.explain.documents.rack_machines import racks_in
from moonpad.explain.documents.ruled_out import is_ruled_out, is_set_against
from moonpad.explain.input_limits import Budget
from moonpad.values.cluster import Cluster
from moonpad.values.errors import UsageError
from moonpad.values.platform import Platform

_LONGEST: Final = 2000
"""A longer line is data, not prose."""
_SPARKS: Final = re.compile(
    r"\b(?:two|three|four|eight|both|(?:pair|cluster) of(?: \w+)?|[2-9] ?[x×]?|x[2-9]) ?sparks\b"
)
"""What counts machines by half of their name: Apache's are not counted so."""
LARGER: Final[Mapping[str, str]] = {"H20": "H20-141G", "RTX4090": "RTX4090-48G"}
"""Kinds that come with more memory under the same name."""


class Mention(Struct, frozen=True):
    """`machine` is a cluster's name (`8xH100`, `2x8xH800`), None where only the kind is named. `kind` is the label of
    the catalogue, and what is written for a kind that the catalogue does not have: `known` says which."""

    line: int
    kind: str
    known: bool
    machine: str | None = None
    sized: bool = False
    """Its memory stands beside it, `H100 80GB`."""


@cache
def _kinds() -> Mapping[str, str]:
    """What is written, without blanks and dashes and in lower case → the catalogue's label; "" for a kind of others."""
    kinds = {_plain(name): "" for name in OTHERS}
    for row in hardware().values():
        if row.device is None or row.device.platform is Platform.CPU:
            kinds |= {_plain(name): "" for name in (row.label, *row.aliases) if row.device is None}
            continue
        names = (row.label, *row.aliases)
        kinds |= {_plain(name): row.label for name in names if any(char.isdigit() for char in name) or "-" in name}
        if row.device.platform is Platform.ROCM:
            kinds.setdefault(_plain(row.label.removesuffix("X")), row.label)
    return kinds | {_plain(name): label for name, label in VARIANTS.items()}


def _plain(name: str) -> str:
    return re.sub(r"[ \-_]", "", name).casefold()


_PRODUCT: Final = re.compile(
    r"\b(?:NVIDIA|AMD-Instinct|AMD_Instinct)[-_](?:Instinct[-_])?(?P<device>(?!TF32)[A-Z]{1,2}[0-9]{2,3}X?)(?![A-Z0-9])"
)
"""As a node is labelled: `nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3`."""
_ATLAS: Final = re.compile(r"Atlas 800I? (A[23]) \([0-9]{1,3}GB? ?[x×*] ?([0-9]{1,3})\)")
_SURE: Final = re.compile(r"[A-Za-z]")
_SERVERS: Final = re.compile(r"Atlas[ -]8")
_CARDS: Final = re.compile(r"卡|张|块|NPUs?|cards", re.IGNORECASE)
_PER_SERVER: Final = {"A2": 8, "A3": 16}
"""`four Atlas 800 A3` are servers."""
_TIMED: Final = re.compile(r"[x×*]|卡|张")
_EXAMPLE: Final = re.compile(r"(?:\be\.g\.,?|\bsuch as|例如|比如)[ ]?\Z", re.IGNORECASE)
"""Before a machine that is named beside the own one."""
_LIKE: Final = re.compile(
    r"\((?:like|for example,?)[ ](?:[0-9]{1,2}[x×][ ](?:or|and)[ ])?(?:[0-9]{1,2}[x×][ ])?\Z", re.IGNORECASE
)
"""`if there are smaller cards (like 2x or 4x RTX 3090)`: nobody's machine."""
_EXAMPLES: Final = re.compile(
    r"(?:\be\.g\.,?|\bsuch as|\bfor example,?|例如|比如)[ ]?(?:NVIDIA[ ]|AMD[ ])?"
    r"(?P<before>(?:[\w-]+(?:[ ][\w-]+)?[,/、][ ]?(?:or[ ]|and[ ])?){0,5})\Z",
    re.IGNORECASE,
)
_MORE: Final = re.compile(r"(?:[ ]GPUs?)?(?:[,/、][ ]?|[ ](?:or|and)[ ])(?:or[ ]|and[ ])?[A-Z]")
"""`(e.g., A100, A40)`: several kinds that would do are nobody's machine."""
_LONG, _NEAR = 1000, 150
"""Characters: of a longer line only what is so near to a part of a name is searched."""
_FEW: Final = 8
"""Names that are worth patterns of their own: those of all names are compiled once."""
_MOST: Final = 1024
"""A larger number before a kind is none of devices."""


@cache
def _parts() -> Mapping[str, tuple[str, ...]]:
    """A name → its parts in lower case, the longest first: a text without one of them does not hold the name."""
    written = {name for row in hardware().values() for name in (row.label, *row.aliases)} | {*OTHERS, *VARIANTS}
    written = {name for name in written if _plain(name) in _kinds()}
    split = {name: re.split(r"[ \-_]|(?<=rtx)(?=[0-9])", name.lower()) for name in sorted(written)}
    return {name: tuple(sorted(parts, key=len, reverse=True)) for name, parts in split.items()}


def names_in(lowered: str) -> tuple[str, ...]:
    """The names that a text in lower case may hold; `int4` holds no `T4`, `A100` no `A10`."""
    return _names_in_line(lowered) if len(lowered) <= 2 * _NEAR else _names_held(lowered)


@lru_cache(maxsize=4096)  # each deployment of a text asks for the same lines
def _names_in_line(lowered: str) -> tuple[str, ...]:
    return _names_held(lowered)


def _names_held(lowered: str) -> tuple[str, ...]:
    near = {name: parts[0] for name, parts in _parts().items() if all(part in lowered for part in parts)}
    held = {part for part in set(near.values()) if re.search(rf"(?<![a-wyz]){part}(?![0-9])", lowered)}
    names = tuple(name for name, part in near.items() if part in held)
    names = names if len(names) <= _FEW else tuple(_parts())
    return names if _SPARKS.search(lowered) else tuple(name for name in names if name != "Sparks")


def machines_of(text: str, budget: Budget) -> Iterator[tuple[int, str]]:
    """Offset and cluster for each machine that is surely meant: `8× NVIDIA H100 80GB` → `8xH100`, `2x8xH800`."""
    budget.work(len(text) // 8, "the machines that it names")
    found = with_machines([*_all_machines(text, budget)], text)
    found = [each for each in found if not _LIKE.search(text, max(0, each[0] - 30), each[0])]
    found = [each for each in found if not is_set_against(text, each[0])]
    found = [each for one in found if (each := as_there_are(*one, text)) is not None]
    own = [each for each in found if not _EXAMPLE.search(text, max(0, each[0] - 12), each[0])]
    racks = racks_in(text)
    yield from ((offset, racks.get(machine, machine)) for offset, machine in own or found)


def _all_machines(text: str, budget: Budget) -> Iterator[tuple[int, str]]:
    start, lowered_text = 0, text.lower()
    names = names_in(lowered_text)
    present = sorted({_parts()[name][0] for name in names})
    for line in text.splitlines(keepends=True):
        lowered = line.lower()
        for first, last in _around(lowered, present):
            budget.work(20 + 3 * (last - first), "the machines that it names")
            machines = sorted(_machines_in(line, names, first, last), key=itemgetter(0))
            yield from ((start + offset, machine) for offset, machine in machines)
        start += len(line)


def _around(line: str, parts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where machines may be named in a line: all of it, of a long one what is near to a part of a name."""
    if not any(part in line for part in parts):
        return
    if len(line) <= _LONG:
        yield 0, len(line)
        return
    begin = end = -1
    for match in re.finditer("|".join(map(re.escape, parts)), line):
        if match.start() - _NEAR > end:
            if end >= 0:
                yield begin, end
            begin = max(0, match.start() - _NEAR)
        end = min(len(line), match.end() + _NEAR)
    yield begin, end


def _machines_in(line: str, names: tuple[str, ...], first: int, last: int) -> list[tuple[int, str]]:
    machines = [(match.start(), f"{match[2]}x{match[1]}") for match in _ATLAS.finditer(line, first, last)]
    taken: list[tuple[int, int]] = [match.span() for match in _ATLAS.finditer(line, first, last)]
    marked = device_patterns.marked(line[first:last], names)
    for pattern in device_patterns.counted():
        spans = []
        for match in pattern.finditer(marked.text):
            start, stop = first + marked.starts[match.start()], first + marked.starts[match.end()]
            if any(begin < stop and start < end for begin, end in taken):
                continue
            groups, written = match.groupdict(), line[start:stop]
            spelled = (groups.get("count") or "").casefold() in WORDS
            device = marked.names[match.start("device")]
            if not (_SURE.search(device) or spelled or _TIMED.search(written)):
                continue  # `port 8 4090`
            also = marked.names[match.start("also")] if groups.get("also") else ""
            for name, size in ((device, groups.get("size")), (also, None)):
                kind = _kind(name, size)[0] if name else ""
                counts = counts_of(match, kind, line)
                if _SERVERS.search(written) and not _CARDS.search(written) and kind in _PER_SERVER and len(counts) == 1:
                    counts = [counts[0], _PER_SERVER[kind]]
                if name and counts and all(0 < number <= _MOST for number in counts):
                    machines.append((start, "x".join((*map(str, counts), kind))))
            spans.append((start, stop))
        taken += spans
    return machines


def _kind(name: str, size: str | None) -> tuple[str, bool]:
    """What a name means, and whether the catalogue has it."""
    label = _kinds().get(_plain(name), "")
    if label and size is not None:
        label = SIZES.get((label, int(size)), label)
    if label:
        return label, True
    called = CALLED.get(_plain(name)) or next((other for other in OTHERS if _plain(other) == _plain(name)), "")
    return called or re.sub(" +", " ", name), False


@lru_cache(maxsize=4)
def _kinds_in(lines: tuple[str, ...]) -> tuple[Mention, ...]:
    found = []
    names = names_in("\n".join(line[:_LONGEST] for line in lines).lower())
    pairs, alone = device_patterns.pairs(names), device_patterns.alone(names)
    for number, line in enumerate(lines, 1):
        short = pairs.sub(r"\1 ", line[:_LONGEST])
        if any(char.isdigit() for char in short) or "Spark" in short:
            places = sorted((*alone.finditer(short), *_PRODUCT.finditer(short)), key=lambda match: match.start())
            places = [match for match in places if _SURE.search(match["device"])] or [*bare_cards(short)]
            above = lines[number - 2][-_NEAR:] if number > 1 else ""
            places = [match for match in places if not _is_example(short, match)]
            places = [each for each in places if not is_set_against(f"{above}\n{short}", len(above) + 1 + each.start())]
            places = [each for each in device_patterns.without_series(places, short) if not is_label(short, each)]
            sizes = [None if is_sum(short, each.end()) else each.groupdict().get("size") for each in places]
            found += [_mention(number, match, size) for match, size in zip(places, sizes, strict=True)]
    return tuple(dict.fromkeys(found))


def _mention(line: int, match: re.Match[str], size: str | None) -> Mention:
    kind, known = _kind(match["device"], size)
    return Mention(line, kind, known, f"1x{kind}" if known and is_one_card(match) else None, bool(size))


_SPECIFIED: Final = re.compile(
    r"[*_`) ]{0,3}(?:[:：][ ]?[~≈]?[0-9.,]+[ ]?(?:[TG]i?B/s|[TP]FLOPS|TOPS)\b|[ ]?(?:→|->|=>)[ ]?[A-Z])", re.IGNORECASE
)
"""`RTX 4090: ~1 TB/s`, `RTX 4090 → A100: 2x`: what a device has or another would bring, and no machine of anybody's."""


def _is_example(text: str, match: re.Match[str]) -> bool:
    """Whether it is one of several kinds that a text counts up, or one whose data are told."""
    if _SPECIFIED.match(text, match.end()) or text[: match.start()].rstrip().endswith(("→", "->")):
        return True
    like = _LIKE.search(text, max(0, match.start() - 30), match.start())
    if (
        is_denied(text, match.start())
        or is_ruled_out(text, *match.span())
        or (like is not None and not device_patterns.OF_GENERATION.search(text, 0, like.start()))
    ):
        return True
    listed = _EXAMPLES.search(text, max(0, match.start() - 100), match.start())
    return listed is not None and bool(listed["before"] or _MORE.match(text, match.end()))


def mentions(lines: tuple[str, ...], machines: Sequence[tuple[str, int]]) -> tuple[Mention, ...]:
    """Those with a number (`machines`, with their lines) and those without, in the order of the text. A kind that the
    text always has with one and the same other size has it where it stands without one too."""
    sized = _sized(lines)
    counted = [
        Mention(line, kind, find_hardware(kind) is not None, machine)
        for written, line in machines
        if (machine := _with_size(written, sized)) and (kind := machine.rpartition("x")[2])
    ]
    places = {(each.line, each.kind) for each in counted}
    alone = [
        Mention(each.line, sized.get(each.kind, each.kind), each.known, each.machine, each.sized)
        for each in _kinds_in(lines)
        if (each.line, sized.get(each.kind, each.kind)) not in places
    ]
    return tuple(sorted((*counted, *alone), key=lambda each: each.line))


@lru_cache(maxsize=4)
def _sized(lines: tuple[str, ...]) -> Mapping[str, str]:
    """A kind of the catalogue → the one of another size that the text means by its name: a line has `RTX 4090 48GB`,
    and none has another size behind that name."""
    found: dict[str, set[int]] = {}
    for line in lines:
        for match in device_patterns.SIZED.finditer(line[:_LONGEST]) if "G" in line else ():
            found.setdefault(_kind(match["device"], None)[0], set()).add(int(match["size"]))
    only = {kind: SIZES.get((kind, max(sizes)), "") for kind, sizes in found.items() if len(sizes) == 1}
    titled = {kind: label for kind, label in _titled(lines).items() if kind not in found}
    summed = summed_kinds(lines, SIZES)
    return summed | titled | {kind: label for kind, label in only.items() if kind in LARGER and label}


def _titled(lines: tuple[str, ...]) -> Mapping[str, str]:
    """The same where the title gives the whole name, `# A draft for Kimi-K2.6 on H20-3e`, and no line names both."""
    title = next((number for number, line in enumerate(lines, 1) if line.strip()), 0)
    on_lines: dict[str, set[int]] = {}
    for each in _kinds_in(lines):
        on_lines.setdefault(each.kind, set()).add(each.line)
    return {
        kind: larger
        for kind, larger in LARGER.items()
        if title in on_lines.get(larger, ()) and on_lines[larger].isdisjoint(on_lines.get(kind, ()))
    }


def _with_size(machine: str, sized: Mapping[str, str]) -> str:
    count, times, kind = machine.rpartition("x")
    return f"{count}{times}{sized.get(kind, kind)}"


_IN_NAMES: Final = (
    r"(?<![A-Za-z0-9])(gb[23]00|b[23]00|h[128]00|h20|a100|mi3[0-9]{2}x|l40s|(?<![A-Za-z0-9]-)(?<![A-Za-z0-9]\.)A[23])"
    r"(?![A-Za-z0-9]|-(?:highgpu|megagpu|ultragpu|edgegpu))"
)
"""`a3-highgpu-8g` is a machine with other devices."""
_NAMING: Final = re.compile(
    r"^[ \t]*(?:#SBATCH[ \t]+--|- )?[\"']?(?:job[-_]|test_)?(?:name|runner|runs-on|gpu_?(?:type|model)|gpu|accelerator"
    r"|hardware|sku|platform|instance)[\"']?[ \t]*[:=][ \t]*[\"'\[]{0,2}[\w./, -]{0,80}?" + _IN_NAMES,
    re.IGNORECASE,
)
_TAGGED: Final = re.compile(r"(?<![\w/.-])[\w.-]+(?:/[\w.-]+){1,4}:(?=[\w.-]*[0-9])[\w.-]{0,80}?[._-]" + _IN_NAMES)
"""`registry.example/team/sglang:2026.05-h200`: what somebody's own image is built for."""
_FILE_KIND: Final = re.compile(_IN_NAMES, re.IGNORECASE)


def named_by_names(lines: Sequence[str], file: str = "", line: int = 1) -> tuple[Mention, ...]:
    """Kinds in the names of objects and jobs, `name: kimi-k3-h200-agg`, where nothing else names any; else in that of
    the command's own file, `k3-mi355x-fp4.yaml`, where it names one."""
    found = [(number, match) for number, text in enumerate(lines, 1) if (match := _NAMING.match(text[:_LONGEST]))]
    if not found:
        tags = [(number, match) for number, text in enumerate(lines, 1) for match in _TAGGED.finditer(text[:_LONGEST])]
        found = tags if len({match[1].upper() for _, match in tags}) == 1 else []
    if not found:
        of_file = list(_FILE_KIND.finditer(re.split(r"[\\/]", file)[-1]))
        found = [(line, match) for match in of_file] if len({match[1].upper() for match in of_file}) == 1 else []
    return tuple(Mention(number, *_kind(match[1], None)) for number, match in found)


def kind_of(name: str) -> str:
    """The catalogue's label of what is written; "" for what it does not have."""
    kind, known = _kind(name, None)
    return kind if known else ""


def cluster_named(text: str) -> Cluster | None:
    try:
        return parse_cluster(text)
    except UsageError:
        return None


def capability_of(kind: str) -> str | None:
    row = find_hardware(kind)
    return row.device.capability if row is not None and row.device is not None else None


def platform_of(kind: str) -> Platform | None:
    row = find_hardware(kind)
    return row.device.platform if row is not None and row.device is not None else None
