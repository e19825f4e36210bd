"""docs/seeds.md claims nothing that no test shows, and its counts are those of its rows."""

from __future__ import annotations

import ast
import re
import shlex
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "seeds.md"
PARSERS = ("e2e/test_seed_flags.py", "engines/test_seed_sglang.py")
STATES = ("works here", "parser-checked", "documented", "not yet")
SHOWN = ("works here", "parser-checked")
KINDS = {"command", "flag", "file", "table", "step", "env", "figure", "claim"}
NAMED_TEST = re.compile(r"`(?P<path>[\w/]+\.py)::(?P<function>test_\w+)(?:\[(?P<parameter>[^\]]+)\])?`")


@dataclass(frozen=True)
class Row:
    """One item of a seed. `tests` are (path below tests/, function, parameter or "")."""

    id: str
    item: str
    kind: str
    state: str
    tests: tuple[tuple[str, str, str], ...]
    rest: str
    """What the test cell holds besides named tests."""
    note: str

    @property
    def seed(self) -> str:
        return self.id.partition(".")[0]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def rows_of(page: str) -> list[Row]:
    """Every table row whose first cell is an id such as 3.14."""
    rows = []
    for line in page.splitlines():
        if not re.match(r"\| \d+\.", line):
            continue
        number, item, kind, state, test, note = cells(line)
        tests = tuple((m["path"], m["function"], m["parameter"] or "") for m in NAMED_TEST.finditer(test))
        rows.append(Row(number, item, kind, state, tests, NAMED_TEST.sub("", test).strip(" ,"), note))
    return rows


def functions_in(path: Path) -> set[str]:
    """The test functions of a file, in classes too, found without importing it."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kinds)}


def parsed_commands() -> dict[str, str]:
    """COMMANDS of the tests that ask the engines' parsers: a key begins with the seed's number."""
    commands: dict[str, str] = {}
    for path in PARSERS:
        assigned = (
            node for node in ast.parse((ROOT / "tests" / path).read_text()).body if isinstance(node, ast.Assign)
        )
        (assigned_commands,) = (
            ast.literal_eval(node.value) for node in assigned if getattr(node.targets[0], "id", "") == "COMMANDS"
        )
        commands.update(assigned_commands)
    return commands


ROWS = rows_of(PAGE.read_text())


def test_every_line_of_a_section_is_read() -> None:
    """So that a misspelt row cannot drop out of all the tests below."""
    sections = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[2:]
    assert [section.partition(":")[0] for section in sections] == ["Seed 0", "Seed 1", "Seed 2", "Seed 3", "Seed 4"]
    for seed, section in enumerate(sections):
        lines = [line for line in section.splitlines() if line.startswith("|")][2:]
        assert len(lines) == sum(row.seed == str(seed) for row in ROWS)


def test_ids_are_unique_and_count_up() -> None:
    assert len(ROWS) > 300
    for row, next_row in pairwise(ROWS):
        expected = (int(row.seed), int(row.id.split(".")[1]) + 1)
        assert next_row.id in ("{}.{}".format(*expected), f"{int(row.seed) + 1}.1")


def test_items_stand_once_in_a_seed() -> None:
    twice = [key for key, count in Counter((row.seed, row.kind, row.item) for row in ROWS).items() if count > 1]
    assert not twice


def test_states_and_kinds_are_of_the_closed_sets() -> None:
    assert {row.state for row in ROWS} <= set(STATES)
    assert {row.kind for row in ROWS} <= KINDS
    assert all(row.item for row in ROWS)


def test_what_is_shown_names_tests_that_exist() -> None:
    """And what is not shown names none."""
    functions: dict[str, set[str]] = {}
    for row in ROWS:
        assert bool(row.tests) == (row.state in SHOWN), row
        assert not row.rest, row
        for path, function, _ in row.tests:
            if path not in functions:
                functions[path] = functions_in(ROOT / "tests" / path)
            assert function in functions[path], row


def test_what_works_was_run_and_not_parsed_alone() -> None:
    for row in ROWS:
        if row.state == "works here":
            assert all(path not in PARSERS for path, _, _ in row.tests), row
        assert "candidate" not in row.note, row


def test_parser_checked_rows_are_asked_of_the_parser() -> None:
    """A flag stands in a command line of its seed, with its value; a command is named by its key there."""
    commands = parsed_commands()
    words = {seed: [shlex.split(command) for key, command in commands.items() if key[0] == seed] for seed in "01234"}
    for row in ROWS:
        if row.state != "parser-checked":
            continue
        assert row.tests[0][0] in PARSERS, row
        if row.kind == "command":
            parameter = row.tests[0][2]
            assert parameter in commands, row
            assert parameter[0] == row.seed, row
        else:
            flag = shlex.split(row.item.strip("`"))
            assert any(stands_in(flag, command) for command in words[row.seed]), row


def stands_in(few: list[str], many: list[str]) -> bool:
    return any(many[start : start + len(few)] == few for start in range(len(many)))


def test_summary_counts_the_rows() -> None:
    counts = Counter((row.seed, row.state) for row in ROWS)
    seeds = sorted({row.seed for row in ROWS})
    expected = {}
    for seed in seeds:
        by_state = [counts[seed, state] for state in STATES]
        expected[seed] = [*by_state, sum(by_state)]
    expected["all"] = [sum(column) for column in zip(*expected.values(), strict=True)]
    summary = PAGE.read_text().partition("## Summary")[2].partition("## Seed 0")[0]
    lines = [cells(line) for line in summary.splitlines() if line.startswith("|")]
    assert lines[0] == ["seed", *(f"{state}" for state in STATES), "all"]
    assert {line[0]: [int(number) for number in line[1:]] for line in lines[2:]} == expected
