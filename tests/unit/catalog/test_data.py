"""Every row of every data file: where it comes from, when that was checked, how sure it is; no name twice."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from moonpad.catalog.calibrations import calibrations
from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.hardware import hardware
from moonpad.catalog.model_row import architectures, quantizations
from moonpad.catalog.models import find_model, models
from moonpad.catalog.published import published
from moonpad.catalog.toml_rows import Amount, Provenance, Row, Span, unique
from moonpad.values.plan import Layout

DEVICES = {row.id: row.device for row in hardware().values() if row.device is not None}

DATA = Path(str(files("moonpad.catalog") / "data"))
PARTS_OF_ROWS = ("quantizations.toml:formats",)
"""Sections whose standing is that of the rows that use them."""


@cache
def tables() -> list[tuple[str, dict[str, Any], Any]]:
    """(file:section:key, table, day at the head of the file) of every row in every file."""
    entries = []
    for path in sorted(DATA.glob("*.toml")):
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        for section, rows in document.items():
            if isinstance(rows, dict) and f"{path.name}:{section}" not in PARTS_OF_ROWS:
                for key, table in rows.items():
                    entries.append((f"{path.name}:{section}:{key}", table, document.get("checked")))
    return entries


def keys(prefix: str) -> list[str]:
    return [where.removeprefix(prefix) for where, _, _ in tables() if where.startswith(prefix)]


@cache
def of_pull_requests() -> frozenset[str]:
    """Files whose rows come from the pull request that is their key, of the repository at the head."""
    texts = (
        (path.name, tomllib.loads(path.read_text(encoding="utf-8"))) for path in sorted(DATA.glob("mended_*.toml"))
    )
    texts = ((name, document["repository"]) for name, document in texts)
    return frozenset(name for name, repository in texts if re.fullmatch(r"[\w-]+/[\w-]+", repository))


def says_where_it_comes_from(where: str, table: dict[str, Any], checked: Any) -> bool:
    file, _, key = where.split(":")
    day = table.get("checked", checked)
    known = isinstance(day, date) and date(2026, 1, 1) <= day <= date(2027, 12, 31)
    if file in of_pull_requests():
        return known and re.fullmatch(r"\d+[a-z]?", key) is not None
    return known and len(table["source"]) > 8 and table["standing"] in ("verified", "reported", "estimated")


def test_every_row_says_where_it_comes_from() -> None:
    """One test for all: there are ten thousand."""
    assert [row[0] for row in tables() if not says_where_it_comes_from(*row)] == []


def test_loaders_see_every_row() -> None:
    assert list(architectures()) == keys("architectures.toml:architectures:")
    assert list(quantizations()) == keys("quantizations.toml:schemes:")
    assert list(hardware()) == keys("hardware.toml:devices:")
    assert [run.id for run in calibrations()] == keys("calibrations.toml:runs:")
    assert len(published()) == len(keys("published.toml:results:"))
    files_of = {where: table["files"] for where, table, _ in tables() if where.startswith("models.toml:gguf:")}
    ggufs = [f"{where.split(':')[2]}:{name}" for where, names in files_of.items() for name in names]
    assert list(models()) == keys("models.toml:models:") + ggufs


def test_no_path_of_a_machine_in_the_data() -> None:
    for path in DATA.glob("*.toml"):
        text = path.read_text(encoding="utf-8")
        assert "/tmp/" not in text
        assert "/home/" not in text
        assert "\t" not in text


def test_no_name_means_two_things() -> None:
    """Not by the loaders' own check: names are collected again from the raw files."""
    names: list[str] = []
    for where, table, _ in tables():
        if where.startswith("models.toml"):
            names += [where.split(":")[2].lower(), *(alias.lower() for alias in table.get("aliases", []))]
    assert len(names) == len(set(names))
    names = []
    for where, table, _ in tables():
        if where.startswith("hardware.toml"):
            own = {where.split(":")[2], table["label"], *table.get("aliases", [])}
            names += {name.lower().replace(" ", "-") for name in own}
    assert len(names) == len(set(names))


def test_references_between_files_lead_somewhere() -> None:
    for run in calibrations():
        assert run.device in DEVICES
        model = models()[run.model]
        assert model.quantization is not None
        assert run.scheme == model.quantization.scheme
    for result in published():
        assert find_model(result.model) is not None
        assert parse_cluster(result.cluster).name == result.cluster


@dataclass(frozen=True)
class Figures:
    """What a data file might hold."""

    provenance: Provenance
    count: int
    rates: Span | None = None
    names: tuple[str, ...] = ()
    at_least_bytes: Amount = 0
    note: str = ""


DAY = date(2026, 11, 20)
GOOD = {"source": "x", "standing": "reported", "checked": DAY, "count": 1}


def test_a_row_is_built() -> None:
    row = Row("f.toml: x", {**GOOD, "names": ["a"], "at_least_gib": 2}, None)
    provenance = Provenance("x", "2026-11-20", "reported")
    assert row.build(Figures, rates=(1.0, 2.0)) == Figures(provenance, 1, (1.0, 2.0), ("a",), 2 * 2**30)
    head = {key: value for key, value in GOOD.items() if key != "checked"}
    assert Row("f.toml: x", head, DAY).build(Figures).provenance == provenance


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"checked": None}, "checked is None, not a date"),
        ({"checked": "2026-11-20"}, "checked is '2026-11-20', not a date"),
        ({"standing": "sure"}, r"Invalid enum value 'sure' - at `\$\.provenance\.standing`"),
        ({"source": ""}, r"Expected `str` of length >= 1 - at `\$\.provenance\.source`"),
        ({"count": True}, r"Expected `int`, got `bool` - at `\$\.count`"),
        ({"count": "8"}, r"Expected `int`, got `str` - at `\$\.count`"),
        ({"names": ["a", 1]}, r"Expected `str`, got `int` - at `\$\.names\[1\]`"),
        ({"at_least_gib": -1}, r"Expected `float` >= 0.0 - at `\$\.at_least_bytes`"),
        ({"at_least_tib": 1, "left": 1}, "unknown keys: at_least_tib, left"),
    ],
)
def test_a_slip_is_named_with_its_file_row_and_key(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=rf"^f\.toml: x: {problem}"):
        Row("f.toml: x", {**GOOD, **change}).build(Figures)


def test_what_is_missing_is_named() -> None:
    for key, problem in (("source", "source is missing"), ("count", "required field `count`")):
        row = Row("f.toml: x", {name: value for name, value in GOOD.items() if name != key})
        with pytest.raises(ValueError, match=rf"^f\.toml: x: .*{problem}"):
            row.build(Figures)
    with pytest.raises(ValueError, match=r"^f\.toml: x\.part: unknown keys: tpp"):
        Row("f.toml: x", {"part": {"tpp": 8}}).part("part", Layout)


def test_spans() -> None:
    row = Row("f.toml: x", {"one": 3, "two": [1, 2.5], "turned": [3, 1], "text": "a", "three": [1, 2, 3], "flag": True})
    assert (row.span("one", 2), row.span("two"), row.span("none")) == ((6, 6), (1, 2.5), None)
    for key in ("turned", "text", "three", "flag"):
        with pytest.raises(ValueError, match=rf"^f\.toml: x: {key}"):
            row.span(key)


def test_a_name_that_comes_twice() -> None:
    with pytest.raises(ValueError, match="a comes twice"):
        unique("f.toml", iter(("a", "b", "a")))


def test_blocks_of_scales_hold_something() -> None:
    for scheme in quantizations().values():
        assert all(min(format_.block or (1, 1)) >= 1 for format_ in scheme.value.formats.values())
