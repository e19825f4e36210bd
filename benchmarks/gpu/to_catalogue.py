"""Put the times of benchmarks/results/gpu_kernels.jsonl into the catalogue.

python -m benchmarks.gpu.to_catalogue     # writes src/moonpad/catalog/data/kernels.toml
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

MEASURED = Path("benchmarks/results/gpu_kernels.jsonl")
CATALOGUE = Path("src/moonpad/catalog/data/kernels.toml")
SOURCE = (
    "benchmarks/results/gpu_kernels.jsonl: medians of 12 replays of a CUDA graph, inputs rotated "
    "(benchmarks/gpu/kernels.py)"
)
HEAD = """\
# Written by benchmarks/gpu/to_catalogue.py from benchmarks/results/gpu_kernels.jsonl.
# Points are [size, length, seconds]: tokens, or sequences that decode and the context of each. Experts are chosen at
# random, eight of 384 for each token; texts choose less evenly. Copies, reads and products have bytes or operations as
# their size.
checked = 2026-11-26
"""
PARTS = {
    "mla decode": "decode attention",
    "mla prompt": "prompt attention",
    "dense": "dense",
    "copy": "copy",
    "read": "read",
}


def series_of(row: dict[str, Any]) -> tuple[str, dict[str, Any], list[float]]:
    """Key, fields and the point of one line."""
    what, seconds = row["what"], float(f"{row['s']:.4g}")
    first, _, last = what.partition(" ")
    if first == "experts":
        key = f"{what} {row['kernel']} {row['width']}"
        fields = {"part": "experts", "kernel": row["kernel"], "format": last, "width": row["width"]}
        return key, fields, [row["tokens"], 0, seconds]
    if first == "mla":
        fields = {"part": PARTS[what], "kernel": row["kernel"], "format": "bf16", "heads": row["heads"]}
        size = [row["batch"], row["length"]] if last == "decode" else [row["length"], 0]
        return f"{what} {row['kernel']} {row['heads']}", fields, [*size, seconds]
    if what == "dense":
        fields = {"part": "dense", "kernel": "torch", "format": "bf16", "name": row["name"]}
        return f"dense {row['name']}", fields, [row["tokens"], 0, seconds]
    if last == "product":
        return what, {"part": "product", "kernel": "torch", "format": first}, [row["operations"], 0, seconds]
    return what, {"part": PARTS[what], "kernel": "torch", "format": "bf16"}, [row["bytes"], 0, seconds]


def main() -> None:
    head, *rows = (json.loads(line) for line in MEASURED.read_text().splitlines())
    fields: dict[str, dict[str, Any]] = {}
    points: dict[str, list[list[float]]] = defaultdict(list)
    for row in rows:
        if "failed" not in row:
            key, of, point = series_of(row)
            fields[key] = of
            points[key].append(point)
    common = {"device": "h200-sxm", "engine": "vllm", "engine_version": head["vllm"], "torch": head["torch"]}
    tables = [HEAD]
    for key, of in fields.items():
        lines = [f'[kernels."h200-sxm {key}"]']
        lines += [f"{name} = {json.dumps(value)}" for name, value in (of | common).items()]
        lines += ["points = [", *(f"    {json.dumps(point)}," for point in points[key]), "]"]
        lines += [f"source = {json.dumps(SOURCE)}", 'standing = "verified"']
        tables.append("\n".join(lines) + "\n")
    CATALOGUE.write_text("\n".join(tables))


if __name__ == "__main__":
    main()
