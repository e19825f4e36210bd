"""Reports about releases, models, devices or options that a command line alone can match: data/known_reports.toml.

Those of each engine alone have a file of their own, since reading all takes a quarter of a second.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct, field

from moonpad.catalog.kept_rows import table
from moonpad.catalog.toml_rows import Provenance, Text, any_of, rows, unique
from moonpad.values.versions import order, release_of

FILE: Final = "known_reports.toml"
OWN: Final = {
    name: f"known_reports_{name.replace('-', '_')}.toml"
    for name in ("vllm", "sglang", "vllm-ascend", "tensorrt-llm", "llama-cpp", "ktransformers")
}
"""Of each engine that has reports of its own."""
SHARED: Final = dict.fromkeys(("vllm", "vllm-ascend"), "known_reports_vllm_and_plugin.toml")
"""Of an engine and a plugin that is built upon it."""
FORKED: Final = {"ktransformers": "sglang"}
"""Engines that bring a state of another one's source with them → that one, whose rows may hold for them too."""
_ENDS: Final = re.compile(
    r"\bthe start (?:ends|fails)\b|\bends the start\b|\bdoes not start\b|\bit is refused\b"
    r"|\ball workers end in\b"
)
_ENDS_UNHEDGED: Final = re.compile(
    r"\bthe load ends\b|\bends? the (?:start|load)\b|\bfails? at the start\b|\bends while it is imported\b"
    r"|\bcrash(?:es)? at the start\b|\bout of memory at the start\b"
)
_ENDS_ITS: Final = re.compile(r"\b(?:fails?|ends?) at (?:its|the) start\b")
_LATER_MENDS: Final = re.compile(
    r"\b(?:take|install) (?:(?:a|an|the) )?(?:(?:later|another) (?:build|release|image)|(?:build|image|nightly) of"
    r"|release later than|[\w.]+,? or (?:a )?later)"
)
"""Remedies that say so of what came out since."""
_SPOILS: Final = re.compile(
    r"\bgarbage\b|\bgibberish\b|\bgarbled\b|\bnonsense\b|\brepeated words\b|\bexclamation marks\b|\bwrong answers\b"
)
_OPEN: Final = re.compile(r"\b(?:reports?|changes?(?: for it)?|threads?) (?:is|are) open\b")
_HEDGED: Final = re.compile(
    r"\b(?:may|can|might|sometimes|some|by (?:a|one|two|three) reports?|where the package|and one without|or under load"
    r"|of the unquantised|adapters trained)\b"
)
"""Words of a report that does not hold for each command that agrees with it."""


class KnownReport(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was seen with `engines`, from release `since` on and before release `until`, where all that is named holds.

    Regular expressions match whole values, `models`, `image`, `text` and `no_text` parts, in any case. `message` and
    `remedy` may use `{model}`, `{device}` and `{version}`.
    """

    engines: tuple[str, ...]
    forks: Mapping[str, str] = field(default_factory=dict)
    """Engines of the same source with numbers of their own → the first of their releases that was read and has it, or
    the first and the last: `0.5.3 to 0.7.0`."""
    since: str = ""
    until: str = ""
    """The first release that does not have it; "": none is known."""
    until_day: str = ""
    """The first day on which a build of the main branch may have what mended it: `2026-08-11`. Of builds between two
    releases that are of that day or later, nothing is said."""
    last: str = ""
    """The last release in which it was seen, where none is known to mend it and later ones are not said to have it."""
    ends: bool = False
    """The start ends, or every answer is wrong, where its message does not have one of the usual words for that."""
    of_some: bool = False
    """It spoils requests of one kind alone (with penalties, say), so that an option whose absence mends it as well as a
    later release does stays in a corrected command."""
    usual: bool = False
    """It holds for nearly every command of those releases, so it is a note."""
    complained_of: bool = False
    """A text with a complaint in the line that has `text`, a package's release or a load, complains of just this."""
    also_unnamed: bool = False
    """Worth a note where no release is named."""
    on_unnamed: bool = False
    """Worth a note where no devices are named, since many have those that it is about."""
    fork: str = ""
    """It is of this fork of the engine, by its title, and of no other build."""
    image: str = ""
    """Of the container, or named in the text where there is none."""
    text: str = ""
    """In one line of the text: a key of a file of options that stands in it."""
    no_text: str = ""
    """In no line of the text."""
    on_one_machine: bool = False
    """Of ranks of one group of tensor parallelism that share a machine."""
    models: str = ""
    """Of the checkpoint's name without its publisher, or of the last part of the path that is written."""
    weights: tuple[str, ...] = ()
    """Schemes of the checkpoint, `int4`."""
    devices: tuple[str, ...] = ()
    """Labels (`MI355X`), platforms (`rocm`) or compute capabilities (`9.0`, `gfx950`), one of which it is; or a bound
    alone, `<8.0`: devices of NVIDIA of a lower capability."""
    other_devices: tuple[str, ...] = ()
    """The same, none of which it is, where the devices are known."""
    attention: tuple[str, ...] = ()
    """As of `MendedFault`: parts of names of attention backends, one of which runs."""
    aiter: bool = False
    """As of `MendedFault`: it is in AMD's AITER."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Flags that are given → what their values are; "" for a switch, or any value. Of `--one or --other` one is."""
    lacks: tuple[str, ...] = ()
    """Flags that are not given."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables that are set → what their values are; "" for any."""
    unset: tuple[str, ...] = ()
    """Variables that are not set."""
    not_roles: tuple[str, ...] = ()
    """It does not hold for servers of these roles: `decode`, which computes no prompts."""
    message: Text
    remedy: Text
    provenance: Provenance

    @property
    def flags(self) -> frozenset[str]:
        """All that `options` names."""
        return frozenset(name for flag in self.options for name in any_of(flag))

    @property
    def ends_it(self) -> bool:
        """Whether a command that has it serves nothing of use as it is."""
        if self.ends or _ENDS.search(self.message) is not None:
            return True
        return _ENDS_UNHEDGED.search(self.message) is not None and _HEDGED.search(self.message) is None

    def ended_before(self, release: str) -> bool:
        """Whether it was mended in or before this release: by its end, or since it was last seen before it, and its
        remedy names what came out since."""
        if self.until:
            return order(self.until) <= order(release)
        return bool(self.last) and order(self.last) < order(release) and _LATER_MENDS.search(self.remedy) is not None

    def last_seen_before(self, release: str) -> bool:
        """Whether it was seen in releases before this one alone, and its thread is not said to be open still."""
        if self.until or not self.last or self.counted or order(self.last) >= order(release):
            return False
        return _OPEN.search(self.message) is None

    @property
    def spoils_answers(self) -> bool:
        """Whether all that goes wrong is what the answers say."""
        return _SPOILS.search(self.message) is not None and not self.ends_start

    @property
    def counted(self) -> bool:
        """Whether it is about builds that a program counts, `b9840`."""
        return any(release.startswith("b") for release in (self.since, self.until, self.last))

    @property
    def ends_start(self) -> bool:
        """Whether its message says that the start itself ends, which a log of a server that runs speaks against."""
        return any(each.search(self.message) is not None for each in (_ENDS, _ENDS_UNHEDGED, _ENDS_ITS))

    def is_concluded(self, version: str) -> bool:
        """Whether it was seen in a later release, and that this one had it too is concluded from the dates alone."""
        if not (version and self.last) or self.since or self.provenance.standing != "estimated":
            return False
        return order(release_of(version) or version) < order(self.last)

    @property
    def particular(self) -> bool:
        """So much has to agree that it is worth a note where no release is named: two settings, or one with the
        model, or the model and the devices; all three where it holds for nearly every command of its releases."""
        settings = len(self.options) + len(self.variables) + bool(self.text) + bool(self.weights)
        named = bool(self.models)
        if self.usual:
            return named and settings > 0 and settings + bool(self.devices) >= 2
        return (named and bool(self.devices)) or (settings > 0 and settings + named >= 2)


@cache
def known_reports() -> Mapping[str, KnownReport]:
    """All of them by their keys. Raises ValueError where a key comes twice."""
    named = [pair for file in (FILE, *OWN.values(), *{*SHARED.values()}) for pair in _of_file(file).items()]
    unique(FILE, (key for key, _ in named))
    return dict(named)


@cache
def reports_of(engine: str) -> tuple[KnownReport, ...]:
    """Those that are about this engine."""
    candidates = (row for file in report_files(engine) for row in _of_file(file).values())
    return tuple(row for row in candidates if engine in (*row.engines, *row.forks))


def report_files(engine: str) -> tuple[str, ...]:
    """Those of the catalogue that have reports about this engine."""
    own = (OWN[name] for name in (engine, FORKED.get(engine, "")) if name in OWN)
    return (FILE, *own, *(SHARED[name] for name in (engine,) if name in SHARED))


def report_of(engine: str, key: str) -> KnownReport | None:
    """One of those about this engine; None where none has the key."""
    files = [FILE, *(OWN[name] for name in (engine, FORKED.get(engine, "")) if name in OWN)]
    return next((found for file in files if (found := _of_file(file).get(key)) is not None), None)


@cache
def _of_file(file: str) -> Mapping[str, KnownReport]:
    def built() -> Mapping[str, KnownReport]:
        return {key: row.build(KnownReport) for key, row in rows(file, "reports")}

    return table((file,), dict[str, KnownReport], built)
