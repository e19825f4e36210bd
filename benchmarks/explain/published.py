"""What `explain` says of files that projects publish: `python -m benchmarks.explain.published --out OUT NAME=FOLDER …`.

What a project publishes mostly runs, so each error is read by a person: a false one is a mistake of ours. FOLDER is a
checkout of the repository NAME, or a part of it; files that name no server's command are left out. OUT holds how many
files and deployments there were, and each error with its file.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.stage import about, write
from moonpad.catalog.calibrations import calibrations
from moonpad.explain.judge import judge
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question
from moonpad.values.errors import MoonpadError
from moonpad.values.finding import Severity

SERVES = re.compile(
    r"vllm serve|sglang[. ]launch_server|sglang serve|trtllm-serve|llama-server|vllm\.entrypoints|launch_server"
)
ENDINGS = {".md", ".mdx", ".rst", ".yaml", ".yml", ".sh", ".sbatch", ".toml"}
LARGEST = 900_000


def files_of(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in ENDINGS and path.is_file() and path.stat().st_size <= LARGEST:
            text = path.read_text(errors="replace")
            if SERVES.search(text):
                yield str(path.relative_to(folder)), text


def judged(folder: Path) -> dict[str, Any]:
    row: dict[str, Any] = {"files": 0, "deployments": 0, "not_read": [], "errors": []}
    for name, text in files_of(folder):
        row["files"] += 1
        try:
            answers = judge(read_files([(Path(name).name, text)]), Question(), calibrations())
        except MoonpadError as error:
            row["not_read"].append({"file": name, "because": str(error)})
            continue
        for answer in (each for one in answers for each in (one, *one.alternatives)):
            row["deployments"] += 1
            for finding in answer.findings:
                error = {"file": name, "code": finding.code.value, "where": finding.where, "message": finding.message}
                if finding.severity is Severity.ERROR and error not in row["errors"]:
                    row["errors"].append(error)
    return row


def commit_of(folder: Path) -> str:
    """Of the checkout, or as a file `COMMIT` beside the files says."""
    if (folder / "COMMIT").is_file():
        return (folder / "COMMIT").read_text().strip()
    command = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("folders", nargs="+", metavar="NAME=FOLDER")
    arguments = parser.parse_args()
    repositories = {}
    for each in arguments.folders:
        name, _, folder = each.partition("=")
        repositories[name] = {"commit": commit_of(Path(folder)), **judged(Path(folder))}
        row = repositories[name]
        print(
            f"{name}: {row['files']} files, {row['deployments']} deployments, {len(row['errors'])} errors", flush=True
        )
    write(arguments.out, {**about("explain of what projects publish"), "repositories": repositories})


if __name__ == "__main__":
    main()
