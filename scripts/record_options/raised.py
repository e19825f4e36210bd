"""What each release of vLLM-Ascend raises at start, to write rows of start_refusals.toml by: one line a message.

    python -m scripts.record_options.raised FOLDER [FILE ...]

FOLDER is that of ascend.py. Each line has the file, the runs of releases that raise it, and the message without what is
filled in. Under which condition it is raised is for a reader to find; a message that was reworded has two lines.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from packaging.version import Version

from scripts.record_options.compact import ranges
from scripts.record_options.plugin_keys import source_of

FILES: Final = ("ascend_config.py", "platform.py", "utils.py", "core/schedule_config.py")
LONGEST: Final = 230


def raised(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(source_of(path))):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            yield f"{ast.unparse(node.exc.func)}: {text(node.exc)}"
        elif isinstance(node, ast.Assert):
            yield f"assert: {text(node.msg) or ast.unparse(node.test)}"


def text(node: ast.expr | None) -> str:
    """All that a message has in quotes."""
    nodes = ast.walk(node) if node is not None else ()
    parts = [each.value for each in nodes if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return re.sub(r"\s+", " ", " ".join(parts)).strip()[:LONGEST]


def main(root: Path, files: tuple[str, ...]) -> None:
    versions = sorted((path.name for path in root.iterdir() if (path / "vllm_ascend").is_dir()), key=Version)
    found: dict[tuple[str, str], set[int]] = {}
    for at, version in enumerate(versions):
        for file in files:
            for path in sorted((root / version / "vllm_ascend").glob(file)):
                for message in raised(path):
                    found.setdefault((path.name, message), set()).add(at)
    for (file, message), places in sorted(found.items(), key=lambda row: (row[0][0], min(row[1]))):
        runs = ", ".join(f"{versions[first]} to {versions[last]}" for first, last in ranges(sorted(places)))
        print(file, "|", runs, "|", message)


if __name__ == "__main__":
    main(Path(sys.argv[1]), tuple(sys.argv[2:]) or FILES)
