"""Every row of every data file: where it comes from, when that was checked, how sure it is; no name twice."""

from __future__ import annotations

import tomllib
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from moonpad.catalog.calibrations import calibrations
from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.hardware import devices, hardware
from moonpad.catalog.models import find_model, models
from moonpad.catalog.parts import architectures, quantizations
from moonpad.catalog.published import published
from moonpad.catalog.rows import Row, unique

DATA = Path(str(files("moonpad.catalog") / "data"))
PARTS_OF_ROWS = ("quantizations.toml:formats",)
"""Sections whose standing is that of the rows that use them."""


def tables() -> list[tuple[str, dict[str, Any], Any]]:
    """(file:section:key, table, day at the head of the file) of every row in every file."""
    found = []
    for path in sorted(DATA.glob("*.toml")):
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        for section, rows in document.items():
            if isinstance(rows, dict) and f"{path.name}:{section}" not in PARTS_OF_ROWS:
                for key, table in rows.items():
                    found.append((f"{path.name}:{section}:{key}", table, document.get("checked")))
    return found


def keys(prefix: str) -> list[str]:
    return [where.removeprefix(prefix) for where, _, _ in tables() if where.startswith(prefix)]


@pytest.mark.parametrize(("where", "table", "checked"), tables(), ids=[where for where, _, _ in tables()])
def test_every_row_says_where_it_comes_from(where: str, table: dict[str, Any], checked: Any) -> None:
    assert len(table["source"]) > 8
    assert table["standing"] in ("verified", "reported", "estimated")
    day = table.get("checked", checked)
    assert isinstance(day, date)
    assert date(2026, 1, 1) <= day <= date(2027, 12, 31)


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
        assert run.device in devices()
        model = models()[run.model]
        assert model.quantization is not None
        assert run.scheme == model.quantization.scheme
    for one in published():
        assert find_model(one.model) is not None
        assert parse_cluster(one.cluster).name == one.cluster


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"source": "x", "standing": "reported"}, "checked is missing"),
        ({"source": "x", "standing": "sure", "checked": date(2026, 11, 20)}, "standing is 'sure'"),
        ({"source": "", "standing": "reported", "checked": date(2026, 11, 20)}, "source is empty"),
        ({"source": "x", "standing": "reported", "checked": "2026-11-20"}, "checked is '2026-11-20'"),
        ({"standing": "reported", "checked": date(2026, 11, 20)}, "source is missing"),
    ],
)
def test_a_row_without_provenance_is_refused(table: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=rf"models\.toml: x: {said}"):
        Row("models.toml: x", table).provenance()


def test_slips_are_named() -> None:
    row = Row("f.toml: x", {"size": True, "span": [3, 1], "names": ["a", 1], "left": 1})
    with pytest.raises(ValueError, match="size is True"):
        row.whole("size")
    with pytest.raises(ValueError, match=r"span is \[3, 1\]"):
        row.span("span")
    with pytest.raises(ValueError, match="names is"):
        row.texts("names")
    with pytest.raises(ValueError, match="nobody reads left"):
        row.done()
    with pytest.raises(ValueError, match="a comes twice"):
        unique("f.toml", iter(("a", "b", "a")))
