"""What one input may cost to judge: a hostile one costs no more than a long one.

Work is counted, not timed, so that the same input has the same answer on every machine. Everything that reads, expands,
judges or shows an input draws on the one `Budget` that belongs to it, and what would exceed it is refused as a whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from moonpad.values.errors import UsageError

TEXT_BYTES: Final = 1_000_000
STEPS: Final = 1_200_000
"""Steps of work, each one to four microseconds of one processor: five seconds in all. Of 694 texts that people pasted
the largest takes 315,000, with the judging of all that it starts; a script of 330 lines that starts twelve servers in
branches took 1,010,000.
"""
FILES_THAT_ADD: Final = 100
STEPS_OF_MORE_FILES: Final = 45_000
"""What each further file of a deployment over many machines adds to that, of a hundred at the most. The 192 that are
written for 64 machines take 4,810,000."""
OPTION_FILE: Final = 65_536
"""Characters of a file that an engine is started with. It is read again for each command."""
NESTING: Final = 50
"""Depth of blocks, of quotes in substitutions, and of blocks, function calls and shells together."""
SHELLS: Final = 8
"""How deep `bash -c "ssh host 'bash -c …'"` is followed. Each level reads its text again."""
WORDS: Final = 60_000
"""Words that come out of variables, or out of statements that are read a second time."""
WORDS_OF_MORE_FILES: Final = 1_000
"""What each further file of a deployment over many machines adds to that, of a hundred at the most."""
CHARACTERS: Final = 2_000_000
"""Characters that expansion makes: the memory that it takes."""
COMMANDS: Final = 500
"""Commands of engines."""
OTHER_COMMANDS: Final = 20_000
EXPORTED: Final = 1_000
LOOP_VALUES: Final = 32
LOOP_PASSES: Final = 64
"""Passes through a body, nested loops multiplied. A loop with more is read once, its variable left unresolved."""
NAMES: Final = 20
"""Unresolved names kept for each word."""
PROBLEMS: Final = 200
LINE_SHOWN: Final = 4000
"""Characters of one line of the input that are shown."""
ALIASES: Final = 200
"""In one YAML text."""
FAILURES: Final = 20
"""Unclosed quotes and brackets, each of which costs one scan to the end of the text."""


class Budget:
    """What one input has used up. Text that stands in the script is free of `spend` the first time that it is read."""

    def __init__(self, files: int = 1) -> None:
        self.files = files
        self.words = self.characters = self.commands = self.other_commands = self.depth = 0
        self.steps = 0
        self.shares: Counter[str] = Counter()
        """The steps of each kind of work."""
        self._done: set[str] = set()
        self.nearest: dict[tuple[str, str, float], str | None] = {}
        """What has been looked for already among the names of a program: ranks repeat each other's words."""

    def work(self, steps: int, what: str) -> None:
        """Raises UsageError when the input takes more than `STEPS` of work; `what` names this work in a sentence."""
        self.steps += steps
        self.shares[what] += steps
        most = STEPS + STEPS_OF_MORE_FILES * min(self.files - 1, FILES_THAT_ADD)
        if self.steps > most:
            largest, share = self.shares.most_common(1)[0]
            message = f"the input takes more than {most:,} steps of work, {share:,} of them for {largest}"
            raise too_large(message, "pass only the part with the command")

    def once(self, name: str, steps: int, what: str) -> None:
        """As `work`, of what is done for the first deployment of the text and kept for the others: `name` says which
        it is."""
        if name not in self._done:
            self._done.add(name)
            self.work(steps, what)

    def spend(self, words: int, characters: int) -> None:
        """Raises UsageError when the script expands to more than a person would write."""
        self.words += words
        self.characters += characters
        self.work(6 * words + characters // 20, "what its variables, loops and functions expand to")
        most = WORDS + WORDS_OF_MORE_FILES * min(self.files - 1, FILES_THAT_ADD)
        if self.words > most or self.characters > CHARACTERS:
            message = (
                f"the script's variables, loops and functions expand to more than {most:,} words or "
                f"{CHARACTERS:,} characters"
            )
            raise too_large(message, "put the command itself after `moonpad explain --`")

    def count(self, known: bool) -> None:
        """One more command. Raises UsageError when there are too many."""
        self.commands += known
        self.other_commands += not known
        if self.commands > COMMANDS or self.other_commands > OTHER_COMMANDS:
            message = f"the script has more than {COMMANDS} commands of engines or {OTHER_COMMANDS:,} others"
            raise too_large(message, "split it into one file per deployment")

    @contextmanager
    def level(self, what: str) -> Iterator[None]:
        """One level deeper. Raises UsageError beyond the limit, long before Python's own."""
        if self.depth >= NESTING:
            raise too_deep(what)
        self.depth += 1
        yield
        self.depth -= 1


def too_large(message: str, remedy: str) -> UsageError:
    return UsageError(f"too large to judge: {message}", remedy=remedy)


def too_deep(what: str) -> UsageError:
    return too_large(f"{what} nested more than {NESTING} deep", "pass the command itself instead of the script")
