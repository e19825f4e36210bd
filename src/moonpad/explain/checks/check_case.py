"""What the checks of a command line look at: one deployment with all that is known of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from moonpad.catalog.cached_names import repository_of
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.base import Engine, Reading
from moonpad.engines.surrounding_names import PLATFORM_OPTIONS
from moonpad.engines.value_checks import unresolved, whole
from moonpad.explain.commands import Command, Script
from moonpad.explain.flag_lists import LAYOUT
from moonpad.explain.results import Remark
from moonpad.explain.suggestions import Subject
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster

_PLATFORM_FLAGS: Final = tuple(dict.fromkeys(flag for flag, _ in PLATFORM_OPTIONS))


class Case(Struct, frozen=True):
    """One deployment. `unknown` are our names of what its command lines leave open of layout, context and memory."""

    commands: Sequence[Command]
    readings: Sequence[Reading]
    engine: Engine
    version: str
    checkpoint: Checkpoint | None
    cluster: Cluster | None
    script: Script
    unknown: frozenset[str] = frozenset()
    devices_asked: bool = False
    """The person who asks has named the devices."""
    open_ended: bool = False
    """There are words that may become more options, so none can be called missing."""
    subject: Subject | None = None
    """What is judged of it, where model and devices are known."""
    again: bool = False
    """It is a correction of what was judged: notes about releases are not asked for once more."""
    taken_for: str = ""
    """What the text calls the model where no command does, and which of its weights are meant is not said."""
    earliest: str = ""
    """The first release that may be meant, where `version` is the last of them."""

    @property
    def first(self) -> Reading:
        return self.readings[0]

    @property
    def model_named(self) -> str:
        """The checkpoint as the first command names it, and of a folder in a cache the repository that it holds."""
        return repository_of(self.first.model)

    @property
    def first_meant(self) -> str:
        """The first release that may be meant: the one that is judged, unless that is a guess."""
        return self.earliest or self.version

    @property
    def serves_already(self) -> bool:
        """Whether the text shows it serving, by a release that is not named: what ends the start in another is not
        met."""
        return self.commands[0].serves and (not self.version or bool(self.earliest))

    @property
    def whole(self) -> bool:
        return not self.unknown

    @property
    def laid_out(self) -> bool:
        """Whether the whole layout is known."""
        return not self.unknown & {*LAYOUT}

    @property
    def base(self) -> str:
        build = self.engine.command_line.build
        return build.of if build else self.engine.name

    @property
    def base_version(self) -> str:
        """The release of the base, "" where it is not known."""
        build = self.engine.command_line.build
        return "" if build is not None and build.own_releases else self.version

    @property
    def platform(self) -> str:
        """Of the devices, or by the options that are for one platform alone; "" where neither says it."""
        if self.cluster is not None:
            return str(self.cluster.device.platform)
        told = ((flag, self.text(flag).strip("'\"")) for flag in _PLATFORM_FLAGS)
        return next((PLATFORM_OPTIONS[each] for each in told if each in PLATFORM_OPTIONS), "")

    def option(self, *flags: str) -> Occurrence | None:
        return next((place for flag in flags if (place := self.first.parsed.occurrence(flag)) is not None), None)

    def text(self, *flags: str) -> str:
        place = self.option(*flags)
        return place.value if place is not None and isinstance(place.value, str) else ""

    def variable(self, name: str) -> str:
        word = self.commands[0].env.get(name)
        return word.text.removeprefix(f"{name}=").strip("'\"") if word else ""

    def size(self, *flags: str) -> int:
        """A whole number behind the first of these options that is there; 1 where none is, or it cannot be read."""
        text = self.text(*flags)
        return 1 if unresolved(text) else whole(text) or 1


Check = Callable[[Case], Iterator[Remark]]
"""Looks at one deployment, and says what it finds."""
