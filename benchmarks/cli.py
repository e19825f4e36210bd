"""How long the commands take that a person waits for: whole processes, median of ten; of the corpus each once.

    python benchmarks/cli.py --out benchmarks/results/cli.json

Machines differ by a factor of two: the interpreter alone, on the same machine, stands beside them.
`status` is asked twice: without any run, and (`--spec`, when that spec is up) with a run that it asks for its health.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MOONPAD = str(Path(sys.executable).parent / "moonpad")
SCRIPT = str(Path(__file__).parents[1] / "examples" / "somebody-elses.sh")
CORPUS = Path(__file__).parents[1] / "tests" / "explain_corpus"


def seconds(argv: tuple[str, ...], env: dict[str, str], runs: int) -> list[float]:
    taken = []
    for _ in range(runs + 1):  # the first one warms the file cache and is left out
        begun = time.monotonic()
        done = subprocess.run(argv, env=env, capture_output=True, check=False)
        assert done.returncode in (0, 2, 3), done.stderr  # 3: explain has found errors, 2: it could not read the input
        taken.append(round(time.monotonic() - begun, 3))
    return taken[1:]


def inputs(count: int) -> list[Path]:
    """One file of each of so many folders of the corpus."""
    folders = sorted(path for path in CORPUS.iterdir() if path.is_dir())
    files = [file for folder in folders for file in sorted(folder.iterdir()) if file.stem == "input" and file.is_file()]
    return files[:: max(1, len(files) // count)][:count]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--inputs", type=int, default=60, help="so many inputs of the corpus, evenly taken")
    parser.add_argument("--up", help="a spec that is up: its status is timed too")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    rows = {}
    with tempfile.TemporaryDirectory() as empty:
        # As on the machine of a user: the bytecode of modules, and what patterns are compiled to, are kept.
        alone = {**os.environ, "XDG_STATE_HOME": empty, "XDG_CACHE_HOME": empty, "PYTHONDONTWRITEBYTECODE": ""}
        rows["python -c pass"] = seconds((sys.executable, "-c", "pass"), alone, args.runs)
        rows["moonpad --help"] = seconds((MOONPAD, "--help"), alone, args.runs)
        rows["moonpad explain, one script"] = seconds((MOONPAD, "explain", "--file", SCRIPT), alone, args.runs)
        rows["moonpad explain, inputs of the corpus, once each"] = [
            seconds((MOONPAD, "explain", "--file", str(path)), alone, 1)[0] for path in inputs(args.inputs)
        ]
        rows["moonpad status, no run"] = seconds((MOONPAD, "status"), alone, args.runs)
    if args.up:
        rows["moonpad status, one run up"] = seconds((MOONPAD, "status", args.up), dict(os.environ), args.runs)
    result = {
        "what": "whole commands, seconds",
        "at": time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        "load_1_min": os.getloadavg()[0],
        "runs": rows,
        "median": {name: statistics.median(taken) for name, taken in rows.items()},
        "mean": {name: round(statistics.mean(taken), 3) for name, taken in rows.items()},
    }
    print(json.dumps({name: result[name] for name in ("median", "mean")}, indent=1))
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
