"""Which recorded options and changes a command is judged by."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from moonpad.catalog.options import Change, OptionSet, changes, newest, option_set, versions
from moonpad.engines.base import Engine
from moonpad.explain.commands import Command
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.mended_lines import program_words
from moonpad.explain.programs import program_named, program_table
from moonpad.explain.target_detection import Version
from moonpad.values.versions import order, since


class Rulebook(Struct, frozen=True):
    """The options of one program in one version, and what changed.

    `now` are the changes that hold in this version, `later` those of newer ones. Where `options.exact` is False, the
    version is not recorded: the options are those of the nearest older one and `following` those of the next one, so
    that nothing can be called unknown for sure.
    """

    program: str
    label: str
    """`vLLM 0.32.0`, for people."""
    options: OptionSet
    now: tuple[Change, ...]
    later: tuple[Change, ...]
    following: OptionSet | None = None
    named: bool = True
    """Whether the release is known: else it is judged by the newest, and an older one may be meant."""
    before_all: bool = False
    """Whether the release is older than all that are recorded: its options may have fewer choices than these."""
    meant: str = ""
    """`TensorRT-LLM 1.0.0rc2`, where `label` is of the nearest recorded release."""

    @property
    def is_between(self) -> bool:
        """Whether it is a build between two recorded releases, `0.5.1.post2`: what neither has nor any other ever had,
        it has not."""
        return self.following is not None and bool(self.meant) and not self.before_all

    def has_until(self, change: Change, what: str) -> str:
        """That this release has what a later one changed: of a candidate the options of the final one are recorded,
        which may be changed already."""
        release = self.meant if since(self.options.version, change.since) else self.label
        return f"{release} has {what}; from {change.since} on: {change.message}"


def program_of(command: Command, engine: Engine) -> str:
    """The program whose options are recorded for this command: its own, or that of the build which it starts."""
    own = program_table().engines.get(command.program) == engine.name
    return command.program if own else engine.program


def rulebook(program: str, version: Version, command: Command | None = None) -> Rulebook | None:
    """The options and changes of that version; None where nothing of the program is recorded."""
    options = option_set(program, version.text or None)
    if options is None:
        return None
    known: Sequence[Change] = changes(program)
    started = program_named(command.program) if command is not None else None
    # How a list of flags is started is not known: an image may hand it to `api_server`, which takes --model.
    words = () if command is None or is_fragment(command) else program_words(command)[-1:]
    if command and started and started.positional_model not in ("", *words):
        known = [change for change in known if change.flag != "--model"]
    at = version.text or newest(program)
    named = program_named(program)
    title = (named.label if named else "") or program
    return Rulebook(
        program,
        f"{title} {options.version}",
        options,
        tuple(change for change in known if change.holds_in(at)),
        tuple(change for change in known if not since(at, change.since)),
        None if options.exact else following(program, options.version),
        bool(version.text),
        not options.exact and bool(version.text) and order(version.text) < order(options.version),
        f"{title} {at}",
    )


def following(program: str, version: str) -> OptionSet | None:
    """The options of the first recorded version behind this one."""
    known = versions(program)
    later = known[known.index(version) + 1 :] if version in known else ()
    return option_set(program, later[0]) if later else None
