"""Every file of recorded options is well formed, and the rows of changes.toml agree with what the parsers gave."""

from __future__ import annotations

import json
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from moonpad.catalog.options import (
    Change,
    changes,
    known_environment,
    programs,
    values_of,
    versions,
)
from moonpad.values.versions import order, parse, since
from tests.unit.catalog.resolution import options, resolve

DATA = Path(str(files("moonpad.catalog.options") / "data"))
JSON_FILES = sorted(set(DATA.glob("*.json")) - {DATA / "programs.json"})
ALL_CHANGES = tuple(dict.fromkeys(change for program in programs() for change in changes(program)))


def runs_in(value: Any) -> list[list[int]]:
    """All [first, last] runs of a table, wherever they stand."""
    if isinstance(value, dict):
        return [run for key, inner in value.items() if key != "choices" for run in runs_in(inner)]
    if isinstance(value, list):
        if len(value) == 2 and all(isinstance(item, int) for item in value):
            return [value]
        return [run for inner in value for run in runs_in(inner)]
    return []


@pytest.mark.parametrize("path", JSON_FILES, ids=lambda path: path.name)
def test_file(path: Path) -> None:
    table = json.loads(path.read_text(encoding="utf-8"))
    assert len(table["source"]) > 8
    assert table["checked"].startswith("2026-")
    assert table["standing"] in ("verified", "reported")
    assert path.stat().st_size < 150_000
    assert all(parse(version) is not None for version in table["versions"])
    for older, newer in pairwise(table["versions"]):
        assert order(older) < order(newer)
    for first, last in runs_in(table):
        assert 0 <= first <= last < len(table["versions"])


@pytest.mark.parametrize(("program", "version"), [(name, version) for name in programs() for version in versions(name)])
def test_option_set(program: str, version: str) -> None:
    known_options = options(program, version)
    assert known_options.version == version
    spelt = [name for option in known_options.options for name in (*option.names, *option.negations)]
    assert len(spelt) == len(set(spelt)) == len(known_options.by_name)
    for option in known_options.options:
        assert all(name.startswith("-") and "=" not in name and " " not in name for name in spelt)
        assert option.kind in ("flag", "int", "float", "text", "json", "choice")
        assert option.nargs in ("?", "*", "+") or option.nargs.isdecimal()
        assert (option.kind == "flag") == (option.nargs == "0")
        assert (option.kind == "choice") == bool(option.choices)
        assert not option.negations or option.kind == "flag"
        if option.kind == "int" and option.default and option.nargs == "1":
            assert float(option.default).is_integer(), option


def test_no_help_text_is_kept() -> None:
    """Facts only: the engines' own sentences are theirs."""
    for path in JSON_FILES:
        for row in json.loads(path.read_text(encoding="utf-8")).get("options", []):
            assert set(row) <= {
                *("names", "kind", "nargs", "negations", "choices", "default", "dest", "deprecated", "hidden", "in")
            }


def inside(change: Change) -> list[str]:
    return [version for version in versions(change.program) if change.holds_in(version)]


def before(change: Change) -> list[str]:
    return [version for version in versions(change.program) if not since(version, change.since)]


@pytest.mark.parametrize("change", ALL_CHANGES, ids=lambda change: change.id)
def test_change_is_well_formed(change: Change) -> None:
    assert change.program in programs()
    assert change.message.endswith(".")
    assert change.remedy.endswith(".")
    assert change.bracket
    assert change.standing in ("verified", "reported")
    for version in (change.since, change.until):
        assert not version or parse(version) is not None
    for flag in change.to:
        known = [v for v in inside(change) if flag.startswith("--") and not options(change.program, v).named(flag)]
        assert known == [], f"{flag} is no option of {known}"


@pytest.mark.parametrize("change", ALL_CHANGES, ids=lambda change: change.id)
def test_change_agrees_with_the_parsers(change: Change) -> None:
    """Written by hand, checked against what was recorded: a wrong `since` shows here."""
    sets = [options(change.program, version) for version in inside(change)]
    older = [options(change.program, version) for version in before(change)]
    how = [resolve(release, change.flag).how for release in sets]
    if change.kind == "removed" and change.flag.startswith("--"):
        # 0.5.3, 0.5.3.post3 and 0.5.4 know the option in order to refuse it.
        refused_by_name = 3 if change.id == "sglang-deepep-moe" else 0
        assert [each for each in how if each != "unknown"] == ["exact"] * refused_by_name
        assert all(release.named(change.flag) for release in older[-1:])
    elif change.kind == "deprecated" and change.flag not in ("--model", "--enable-deepep-moe"):  # these warn elsewhere
        assert all((release.named(change.flag) or pytest.fail(release.version)).deprecated for release in sets)
        assert not any((release.named(change.flag) or pytest.fail(release.version)).deprecated for release in older)
    elif change.kind == "prefix":
        assert {resolve(release, change.flag).name for release in sets} == set(change.to)
        assert set(how) == {"prefix"}
    elif change.kind == "ambiguous":
        assert {resolve(release, change.flag).candidates for release in sets} == {change.to}
        assert all(release.named(change.flag) for release in older[-1:])
    elif change.kind == "invalid-value":
        dest = change.flag.lstrip("-").replace("-", "_")
        for version in inside(change):
            known = values_of(change.program, version, dest)
            assert known
            assert change.value not in known
            assert set(change.to) <= set(known)
    elif change.kind == "unchecked-value":
        assert all(not (release.named(change.flag) or pytest.fail(release.version)).choices for release in sets)
        assert all((release.named(change.flag) or pytest.fail(release.version)).choices for release in older)
    elif change.kind == "dead-env":
        assert not [v for v in inside(change) if change.flag in known_environment(change.program, v)]
        assert all(change.flag in known_environment(change.program, v) for v in before(change))


def test_every_change_id_comes_once() -> None:
    ids = [change.id for change in ALL_CHANGES]
    assert len(ids) == len(set(ids)) > 30


def test_a_plugin_has_the_changes_of_its_base() -> None:
    assert set(changes("vllm serve")) <= set(changes("vllm-ascend"))
