"""What each release of vLLM-Ascend adds to vLLM: src/…/data/vllm-ascend.json, -names.json and -config-keys.json.

    python -m scripts.record_options.ascend FOLDER

FOLDER holds a folder for each release, named by its version, with `vllm_ascend/` and `Dockerfile` out of the source
distribution of PyPI (or out of the tag of that name). All is read from the syntax tree, nothing is imported.
A new release is one more folder and one run; of its parser's choices see `MORE_CHOICES`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from packaging.version import Version

from scripts.record_options.compact import collect, ranges, written
from scripts.record_options.plugin_keys import Keys, read_keys, source_of, text_of

DATA: Final = Path(__file__).parents[2] / "src" / "moonpad" / "catalog" / "options" / "data"
PROGRAM: Final = "vllm-ascend"
OPTION: Final = "--additional-config"
CHECKED: Final = "2026-11-27"
"""When the newest of the releases was looked for."""
MORE_CHOICES: Final = ({"name": "--kv-cache-dtype", "choices": ["int8", "mxfp8"], "since": "0.30.0rc1"},)
"""What platform.py appends to the choices of the parser, by hand: its code does so in another way each time."""
PARSERS: Final = {"kimi_k3": ("0.26.0rc1", "0.26.0rc1")}
"""Parsers of tool calls and of reasoning that the plugin registers itself, by hand: patch/platform/, before the engine
that it builds upon has them."""
OWN: Final = ("VLLM_", "EXPERT_MAP_RECORD", "DYNAMIC_EPLB", "ASCEND_TRANSFER_TIMEOUT", "ASCEND_ENABLE_USE_FABRIC_MEM")
"""Beginnings of variables that are the plugin's own: what else it reads belongs to libraries, which read it too."""
READ_BY: Final = ("os.getenv", "getenv", "os.environ.get", "environ.get")


def base_version(folder: Path) -> str:
    """The vLLM that the image of the release is built with; of a candidate (0.11.0rc3) the release, which the documents
    name."""
    text = (folder / "Dockerfile").read_text(encoding="utf-8")
    found = re.search(r"^ARG VLLM_TAG=v(\S+)", text, re.MULTILINE)
    if found is None:
        raise SystemExit(f"{folder}: the Dockerfile names no VLLM_TAG")
    return Version(found[1]).base_version


def declared(folder: Path) -> set[str]:
    """The variables of envs.py, and those of the plugin's own that its other files read."""
    package = folder / "vllm_ascend"
    tree = ast.parse(source_of(package / "envs.py"))
    names = {text_of(key) for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys}
    for path in sorted(package.rglob("*.py")):
        text = source_of(path)
        if "getenv" in text or "environ" in text:
            names.update(name for name in variables(ast.parse(text)) if name.startswith(OWN))
    return names - {""}


def variables(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and ast.unparse(node.func) in READ_BY:
            yield text_of(node.args[0])
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            yield text_of(node.slice) if ast.unparse(node.value) == "os.environ" else ""
        elif isinstance(node, ast.Compare) and ast.unparse(node.comparators[0]) == "os.environ":
            yield text_of(node.left)


def registered(folder: Path, function: str) -> set[str]:
    """The first arguments of all calls of a function, names of constants resolved."""
    constants, names = dict[str, str](), set[str]()
    texts = [source_of(path) for path in sorted((folder / "vllm_ascend").rglob("*.py"))]
    trees = [ast.parse(text) for text in texts if function in text]
    for text in texts:
        constants.update(re.findall(r"""^([A-Z_0-9]+) *= *["']([^"']+)["']""", text, re.MULTILINE))
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args and ast.unparse(node.func).rpartition(".")[2] == function:
                first = node.args[0]
                names.add(constants.get(first.id, "") if isinstance(first, ast.Name) else text_of(first))
    return names - {""}


def write_options(root: Path, versions: list[str], about: dict[str, str]) -> None:
    last = len(versions) - 1
    more = [
        {"name": row["name"], "choices": row["choices"], "in": [[versions.index(str(row["since"])), last]]}
        for row in MORE_CHOICES
    ]
    bases = [base_version(root / version) for version in versions]
    table = {"program": PROGRAM, **about, "versions": versions, "base_versions": bases, "more_choices": more}
    write("vllm-ascend", table)


def write_names(root: Path, versions: list[str], about: dict[str, str], read: list[Keys]) -> None:
    kinds = {"quantization": "register_quantization_config", "kv_connector": "register_connector"}
    every = [[0, len(versions) - 1]]
    values = {}
    for kind, function in kinds.items():
        values[kind] = {"asked": every, "names": collect(registered(root / name, function) for name in versions)}
    for kind in ("tool_call_parser", "reasoning_parser"):
        runs = {name: [[versions.index(first), versions.index(last)]] for name, (first, last) in PARSERS.items()}
        values[kind] = {"asked": every, "names": runs}
    environment: dict[str, Any] = {"asked": every, "names": collect(declared(root / name) for name in versions)}
    environment["keys"] = {name: flag(path) for keys in read for name, path in sorted(keys.variables.items())}
    table = {"program": PROGRAM, **about, "versions": versions, "values": values, "environment": environment}
    write("vllm-ascend-names", table)


def write_keys(versions: list[str], about: dict[str, str], read: list[Keys]) -> None:
    tables = sorted({table for keys in read for table in keys.tables})
    rows = {flag(table): collect(read_of(keys, table) for keys in read) for table in tables}
    refusing = {flag(table): ranges(at for at, keys in enumerate(read) if table in keys.refusing) for table in tables}
    refusing = {table: runs for table, runs in refusing.items() if runs}
    rows = {table: keys for table, keys in rows.items() if keys}
    table = {"program": PROGRAM, **about, "versions": versions, "refusing": refusing, "tables": rows}
    write("vllm-ascend-config-keys", table)
    print(f"{len(versions)} releases, {len(rows)} tables, {sum(map(len, rows.values()))} keys")


def read_of(keys: Keys, table: str) -> set[str]:
    return set() if table in keys.open else keys.tables.get(table, set())


def flag(table: str) -> str:
    return f"{OPTION}.{table}" if table else OPTION


def write(name: str, table: dict[str, Any]) -> None:
    (DATA / f"{name}.json").write_text(written(table), encoding="utf-8")


def main(root: Path) -> None:
    versions = sorted((path.name for path in root.iterdir() if (path / "vllm_ascend").is_dir()), key=Version)
    source = "PyPI source distributions of vllm-ascend and the tags of the same names, vllm_ascend, read and not run"
    about = {"source": source, "checked": CHECKED, "standing": "reported"}
    write_options(root, versions, about)
    read = [read_keys(root / version / "vllm_ascend", "ascend_config.py") for version in versions]
    write_names(root, versions, about, read)
    write_keys(versions, about, read)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
