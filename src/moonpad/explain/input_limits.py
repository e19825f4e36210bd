"""Limits on what a script may cost to read, so that a hostile one costs no more than a long one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from moonpad.values.errors import UsageError

TEXT_BYTES: Final = 1_000_000
NESTING: Final = 50
"""Depth of blocks, quotes in substitutions, and function calls."""
SHELLS: Final = 8
"""How deep `bash -c "ssh host 'bash -c …'"` is followed. Each level reads its text again."""
WORDS: Final = 10_000
"""Words that come out of variables, or out of statements that are read a second time."""
WORDS_OF_MORE_FILES: Final = 1_000
"""What each further file of a deployment over many machines adds to that, of a hundred at the most."""
CHARACTERS: Final = 1_000_000
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
NODES: Final = 50_000
"""Values in YAML, those behind aliases as often as they are named."""
ALIASES: Final = 200
FAILURES: Final = 20
"""Unclosed quotes and brackets, each of which costs one scan to the end of the text."""


@dataclass(slots=True)
class Budget:
    """What expansion has used up. Text that stands in the script is free the first time that it is read."""

    words: int = 0
    characters: int = 0
    commands: int = 0
    other_commands: int = 0
    files: int = 1

    def spend(self, words: int, characters: int) -> None:
        """Raises UsageError when the script expands to more than a person would write."""
        self.words += words
        self.characters += characters
        most = WORDS + WORDS_OF_MORE_FILES * min(self.files - 1, 100)
        if self.words > most or self.characters > CHARACTERS:
            message = (
                f"the script's variables, loops and functions expand to more than {most:,} words or "
                f"{CHARACTERS:,} characters"
            )
            raise UsageError(message, remedy="put the command itself after `moonpad explain --`")

    def count(self, known: bool) -> None:
        self.commands += known
        self.other_commands += not known
        if self.commands > COMMANDS or self.other_commands > OTHER_COMMANDS:
            message = f"the script has more than {COMMANDS} commands of engines or {OTHER_COMMANDS:,} others"
            raise UsageError(message, remedy="split it into one file per deployment")


def too_deep(what: str) -> UsageError:
    return UsageError(f"{what} nested more than {NESTING} deep", remedy="pass the command itself instead of the script")
