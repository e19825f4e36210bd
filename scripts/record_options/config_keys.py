"""Which keys the configurations have that `vllm serve` takes as JSON, by release: src/…/data/vllm-config-keys.json.

    python -m scripts.record_options.config_keys FOLDER

FOLDER holds a folder for each release, named by its version, with `vllm/config/` (or `vllm/config.py`) out of the
source distribution of PyPI. The fields are read from the classes' annotations, nothing is imported. An option
`--attention-config` takes the keys of the class `AttentionConfig`; a field that is such a class itself is a table.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from packaging.version import Version

from moonpad.catalog.options import option_set

TARGET = Path(__file__).parents[2] / "src" / "moonpad" / "catalog" / "options" / "data" / "vllm-config-keys.json"
CHECKED = "2026-11-25"
"""When the newest of the releases was looked for."""


def classes(folder: Path) -> dict[str, tuple[list[str], dict[str, str]]]:
    """Of each class its bases and its own fields."""
    found: dict[str, tuple[list[str], dict[str, str]]] = {}
    for path in sorted((folder / "vllm").rglob("*.py")):
        if "config" not in str(path.relative_to(folder)):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
                fields = {
                    item.target.id: ast.unparse(item.annotation)
                    for item in node.body
                    if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
                    if "ClassVar" not in ast.unparse(item.annotation)
                }
                found[node.name] = (bases, fields)
    return found


def fields_of(name: str, known: Mapping[str, tuple[list[str], dict[str, str]]]) -> dict[str, str]:
    bases, own = known[name]
    inherited = {key: kind for base in bases if base in known for key, kind in fields_of(base, known).items()}
    return {**inherited, **own}


def tables(version: str, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """`--compilation-config` and `--compilation-config.pass_config` with their keys."""
    known = classes(folder)
    by_option = {name.removesuffix("Config").casefold(): name for name in known if name.endswith("Config")}
    options = option_set("vllm serve", version)
    for option in options.options if options is not None else ():
        flag = next((name for name in option.names if name.endswith("-config")), "")
        name = by_option.get(flag.removeprefix("--").removesuffix("-config").replace("-", ""))
        if option.kind != "json" or not flag or name is None:
            continue
        fields = fields_of(name, known)
        yield flag, sorted(key for key in fields if not key.startswith("_"))
        for key, kind in fields.items():
            inner = next((word for word in re.findall(r"\w+Config\b", kind) if word in known), None)
            # What speculation resolves to is filled in by the engine, and written by nobody.
            if inner is not None and not key.startswith("_") and flag != "--speculative-config":
                yield f"{flag}.{key}", sorted(fields_of(inner, known))


def runs(places: list[int]) -> list[list[int]]:
    """Neighbours together, both ends in."""
    joined: list[list[int]] = []
    for place in places:
        if joined and joined[-1][1] == place - 1:
            joined[-1][1] = place
        else:
            joined.append([place, place])
    return joined


def main(root: Path) -> None:
    versions = sorted((path.name for path in root.iterdir() if (path / "vllm").is_dir()), key=Version)
    found: dict[str, dict[str, list[int]]] = {}
    for at, version in enumerate(versions):
        for table, keys in tables(version, root / version):
            for key in keys:
                found.setdefault(table, {}).setdefault(key, []).append(at)
    rows = {table: {key: runs(places) for key, places in keys.items()} for table, keys in sorted(found.items())}
    head = {"source": "PyPI vllm, source distributions, vllm/config", "checked": CHECKED, "standing": "verified"}
    text = json.dumps({**head, "versions": versions, "tables": rows})
    TARGET.write_text(text.replace('}, "', '},\n"') + "\n", encoding="utf-8")
    print(f"{len(versions)} releases, {len(rows)} tables, {sum(map(len, rows.values()))} keys")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
