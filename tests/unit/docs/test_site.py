"""The site without building it: its reference, its navigation, its locked packages, and the check of what was built."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from cyclopts import App

from moonpad.cli.command_line import app
from moonpad.spec.schema import TABLES, fields_of
from scripts.site.check import faults
from scripts.site.cli_reference import commands_page
from scripts.site.exit_codes import exit_codes_page
from scripts.site.outside_files import outside_links, with_links_inside
from scripts.site.spec_reference import spec_page
from tests.conftest import ROOT

LOADER = type("LOADER", (yaml.SafeLoader,), {})
LOADER.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: suffix)
CONFIG: dict[str, Any] = yaml.load((ROOT / "mkdocs.yml").read_text(), Loader=LOADER)  # noqa: S506 - it is a SafeLoader


def every_command(command: App, name: str = "moonpad") -> dict[str, App]:
    below = {f"{name} {verb}": command[verb] for verb in command if not verb.startswith("-")}
    for deeper in [every_command(each, title) for title, each in below.items()]:
        below |= deeper
    return below


def test_the_reference_has_every_verb_with_all_its_options() -> None:
    page = commands_page()
    sections = dict(zip(*[iter(re.split(r"(?m)^#{2,3} (moonpad .+)$", page)[1:])] * 2, strict=True))
    commands = every_command(app)
    assert sections.keys() == commands.keys()
    for name, command in commands.items():
        if command.default_command and not name.endswith("catalog"):
            shown = set(re.findall(r"(?m)^`([^`]+)`$", sections[name]))
            for argument in command.assemble_argument_collection(parse_docstring=True):
                if argument.show:
                    assert any(argument.names[0] in terms for terms in shown), f"{name}: {argument.names}"
    assert "[default: False]" not in page


def test_the_reference_has_every_key_of_a_spec_with_its_meaning() -> None:
    page = spec_page()
    assert not re.search(r"(?m)^:   $", page), "a key without a meaning"
    for name, table in TABLES.items():
        title = rf"\[+{re.escape(name)}\]+" if name else "At the top"
        (section,) = re.findall(rf"(?ms)^## [^\n]*{title}[^\n]*\n(.*?)(?=^## |\Z)", page)
        keys = {key for key in fields_of(table) if key == "engine" or f"{name}.{key}".lstrip(".") not in TABLES}
        assert set(re.findall(r"(?m)^`(\w+)`$", section)) == keys


def test_the_reference_has_the_exit_codes_of_the_readme() -> None:
    named = re.search(r"Exit codes: (.*?)\.\s", (ROOT / "README.md").read_text(), re.DOTALL)
    assert named
    assert re.findall(r"(?m)^\| (\d+) \|", exit_codes_page()) == re.findall(r"\b\d+\b", named[1])


def test_the_navigation_has_every_page_once() -> None:
    def paths(entries: list[Any]) -> list[str]:
        found = []
        for entry in entries:
            ((_, below),) = entry.items()
            found += paths(below) if isinstance(below, list) else [below]
        return found

    listed = [path for path in paths(CONFIG["nav"]) if not path.startswith("reference/")]
    there = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert len(listed) == len(set(listed))
    assert set(listed) - {"tune.md"} == there - {"tune.md"}  # hooks.py leaves tune.md out where it is missing


def test_nothing_of_the_site_gets_into_moonpad() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert not [package for package in project["dependencies"] if "mkdocs" in package]
    assert "mkdocs" not in (ROOT / "requirements" / "dev.txt").read_text()
    locked = (ROOT / "requirements" / "site.txt").read_text()
    assert re.search(r"(?m)^mkdocs-material==\S+ \\$\n +--hash=sha256:", locked)
    pinned = re.compile(r"(?m)^([\w.-]+==\S+)")
    ours = {line.partition("==")[0]: line for line in pinned.findall((ROOT / "requirements" / "dev.txt").read_text())}
    shared = [line for line in pinned.findall(locked) if line.partition("==")[0] in ours]
    assert len(shared) > 30
    assert [line for line in shared if line != ours[line.partition("==")[0]]] == []


def test_links_to_the_repository_lead_to_copies() -> None:
    text = "[a](../benchmarks/plan.py) [b](memory.md) [c](../README.md#x)"
    assert outside_links(text) == ["benchmarks/plan.py", "README.md"]
    inside = with_links_inside(text, "plan.md")
    assert inside == "[a](repository/benchmarks/plan.py) [b](memory.md) [c](repository/README.md#x)"


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ('<script src="https://cdn.example/x.js"></script>', "another host"),
        ('<link rel="stylesheet" href="//fonts.example/x.css">', "another host"),
        ('<img src="no.png">', "no such file"),
        ('<a href="b.html">', "no such file"),
        ('<a href="#no">', "no such heading"),
        ('<a href="a.html#no">', "no such heading"),
        ('<a href="ftp:x">', "scheme"),
        ('<h2 id="one"></h2><a href="a.html#one"></a><a href="https://example.org/x#y"></a><a href="#one"></a>', ""),
    ],
)
def test_the_check_of_what_was_built(tmp_path: Path, html: str, fault: str) -> None:
    (tmp_path / "a.html").write_text(html)
    found = faults(tmp_path)
    assert len(found) == bool(fault)
    assert all(fault in line for line in found)


def test_the_check_of_styles(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("")
    (tmp_path / "a.css").write_text("@font-face { src: url(https://fonts.example/x.woff2) }")
    assert faults(tmp_path) == ["a.css: takes a file of another host"]
    assert faults(tmp_path / "none") != []
