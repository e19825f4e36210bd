"""A folder of GGUF files: their sizes alone. A GGUF mixes formats tensor by tensor, and its header is not read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from moonpad.checkpoints.files import open_inside
from moonpad.values.errors import CheckpointError

_PART: Final = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf")
MAX_NAMED: Final = 5


def gguf_bytes(folder: Path) -> int | None:
    """What the GGUF files of the folder take together; None where there is none.

    Raises:
        CheckpointError: parts of a split file are missing, the folder holds several models, or a file is elsewhere.
    """
    names = sorted(path.name for path in folder.glob("*.gguf") if not path.name.startswith("mmproj"))
    if not names:
        return None
    stems = {part["stem"] if (part := _PART.fullmatch(name)) else name for name in names}
    if len(stems) > 1:
        raise CheckpointError(
            f"holds {len(stems)} GGUF models: {', '.join(sorted(stems)[:MAX_NAMED])}",
            remedy="give each a folder of its own",
        )
    missing = _missing_parts(names)
    if missing:
        raise CheckpointError(f"is missing {len(missing)} parts of a GGUF file: {', '.join(missing[:MAX_NAMED])}")
    total = 0
    for name in names:
        try:
            file, size_bytes = open_inside(folder, name)
        except FileNotFoundError:
            raise CheckpointError(f"has {name}, a dangling link") from None
        except CheckpointError as error:
            raise CheckpointError(f"has {name}, which {error.message}") from None
        file.close()
        total += size_bytes
    return total


def _missing_parts(names: list[str]) -> list[str]:
    first = _PART.fullmatch(names[0])
    if first is None:
        return []
    present = set(names)
    count = int(first["count"])
    expected = (f"{first['stem']}-{number:05d}-of-{first['count']}.gguf" for number in range(1, count + 1))
    return [name for name in expected if name not in present]
