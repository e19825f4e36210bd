"""TensorRT-LLM: options of `trtllm-serve` and keys of its YAML, compacted from what was read of each release.

    python -m scripts.record_options.trtllm [--read VERSION LLM_ARGS_PY]

Nothing of it is on PyPI but stubs, and its repository is too large to be brought here whole: trtllm_options.toml and
trtllm_keys.json hold what its published reference and single files of its source say. `--read` reads the classes of
one llm_args.py into trtllm_keys.json. `X.dev0` is the main branch on its way to X, by tensorrt_llm/version.py.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packaging.version import Version

from scripts.record_options import compact, pydantic_keys
from scripts.record_options.read_source import action

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "src" / "moonpad" / "catalog" / "options" / "data"
KEYS = HERE / "trtllm_keys.json"
ROOT = "TorchLlmArgs"
CHECKED = "2026-11-27"
PROGRAMS = {"serve": ("trtllm-serve", ["model"]), "disaggregated": ("trtllm-disaggregated", [])}
KINDS = ("int", "float", "flag")
REFERENCE = (
    "GitHub NVIDIA/TensorRT-LLM, its reference of the commands at 1.0.0 (ae8270b), 1.1.0 (48b7b5d), 1.2.1 (376f7e1), "
    "1.3.0rc14 (93cb651); tests/unittest/api_stability/references/trtllm_serve_cli.yaml at 029e223d (1.4 candidates)"
)
CLASSES = (
    "tensorrt_llm/llmapi/llm_args.py: TorchLlmArgs and its classes, read and not run: of August 2025, of version.py "
    "1.1.0rc6 and 1.3.0rc3, of autumn 2026 (00043967, with llm_args_golden_manifest.json); MoeConfig of 1.3.0rc27 in "
    "its documentation"
)


def option(line: str) -> dict[str, Any]:
    """The action of a line of trtllm_options.toml."""
    line, _, default = line.partition(" = ")
    words = line.split()
    names = [word for word in words if word.startswith("-")]
    (takes,) = [word for word in words if not word.startswith("-")] or ["text"]
    choices = takes.split("|") if takes not in (*KINDS, "text") else None
    return action(names, 0 if takes == "flag" else None, takes, choices, default or None)


def options_table(command: str, by_version: Mapping[str, list[str]]) -> dict[str, Any]:
    program, positionals = PROGRAMS[command]
    records = {
        version: {"prefixes": False, "positionals": positionals, "actions": [option(line) for line in lines]}
        for version, lines in by_version.items()
    }
    about: dict[str, Any] = {"source": REFERENCE, "checked": CHECKED, "standing": "reported"}
    # A state of the main branch speaks for no release, and not for a command whose release is not known.
    about["approximate"] = [version for version in records if Version(version).is_devrelease]
    return compact.table(program, records, about)


def keys_table(records: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The tables and the words of all records, with runs of indexes into the versions."""
    versions = sorted(records, key=Version)
    found: dict[str, dict[str, dict[str, list[int]]]] = {"tables": {}, "values": {}}
    for at, version in enumerate(versions):
        for kind, of_kind in found.items():
            for name, keys in records[version].get(kind, {}).items():
                for key in keys:
                    of_kind.setdefault(name, {}).setdefault(key, []).append(at)
    about = {"source": f"GitHub NVIDIA/TensorRT-LLM, {CLASSES}", "checked": CHECKED, "standing": "reported"}
    runs = {
        kind: {
            name: {key: compact.ranges(places) for key, places in sorted(keys.items())}
            for name, keys in sorted(of_kind.items())
        }
        for kind, of_kind in found.items()
    }
    return {**about, "versions": versions, **runs}


def read(version: str, path: Path) -> None:
    records = json.loads(KEYS.read_text(encoding="utf-8"))
    keys = pydantic_keys.tables(path.read_text(encoding="utf-8"), ROOT)
    records[version] = {
        "tables": {name: sorted(of_table) for name, of_table in sorted(keys.keys.items())},
        "values": {name: sorted(words) for name, words in sorted(keys.values.items())},
    }
    KEYS.write_text(_lines(records), encoding="utf-8")


def _lines(value: Mapping[str, Any]) -> str:
    text = json.dumps(value, separators=(", ", ": "))
    return re.sub(r"(?<=[\]}]), (?=\")", ",\n", text) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--read", nargs=2, metavar=("VERSION", "LLM_ARGS_PY"))
    given = parser.parse_args()
    if given.read:
        read(given.read[0], Path(given.read[1]))
    for command, by_version in tomllib.loads((HERE / "trtllm_options.toml").read_text(encoding="utf-8")).items():
        table = options_table(command, by_version)
        (DATA / f"{table['program']}.json").write_text(compact.written(table), encoding="utf-8")
    table = keys_table(json.loads(KEYS.read_text(encoding="utf-8")))
    (DATA / "trtllm-config-keys.json").write_text(_lines(table), encoding="utf-8")


if __name__ == "__main__":
    main()
