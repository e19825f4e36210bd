"""Options read from Python source, for engines that cannot be run here: click decorators and `add_argument` calls.

Nothing is imported or run. A value that the source computes is written as "computed", a choice list so made as None.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any


def read_click(path: Path, command: str) -> dict[str, Any]:
    """The options of the function that `@click.command("command")`, or its own name, calls `command`."""
    return read_click_text(path.read_text(), command, str(path))


def read_click_text(text: str, command: str, where: str) -> dict[str, Any]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            calls = [call for call in node.decorator_list if isinstance(call, ast.Call)]
            names = {literal(call.args[0]) for call in calls if called(call) == "command" and call.args} | {node.name}
            if command in names and any(called(call) == "option" for call in calls):
                return answer(
                    [click_action(call) for call in calls if called(call) == "option"],
                    [str(literal(call.args[0])) for call in calls if called(call) == "argument"],
                )
    raise SystemExit(f"{where} has no click command {command}")


def read_argparse(path: Path) -> dict[str, Any]:
    """All `add_argument` calls of a file, in its order."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    calls = sorted((call for call in calls if called(call) == "add_argument"), key=lambda call: call.lineno)
    return answer([argparse_action(call) for call in calls], []) | {"prefixes": True}


def answer(actions: list[dict[str, Any]], positionals: list[str]) -> dict[str, Any]:
    return {
        "prefixes": False,  # click takes no shortened names
        "positionals": positionals,
        "actions": actions,
        "values": {},
        "environment": [],
    }


def called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def literal(node: ast.expr | None) -> Any:
    if node is None:
        return None
    try:
        return ast.literal_eval(node)
    except ValueError:
        return "computed"


def keywords(call: ast.Call) -> dict[str, ast.expr]:
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}


def flags(call: ast.Call) -> list[str]:
    return [name for name in map(literal, call.args) if isinstance(name, str) and name.startswith("-")]


def click_action(call: ast.Call) -> dict[str, Any]:
    given = keywords(call)
    names = flags(call)
    kind = given.get("type")
    choices = literal(kind.args[0]) if isinstance(kind, ast.Call) and called(kind).startswith("Choice") else None
    if isinstance(choices, list) and isinstance(kind, ast.Call) and len(kind.args) > 1:
        choices += [name for name in literal(kind.args[1]) if name not in choices]  # other names of the same choices
    return action(
        names,
        nargs=0 if literal(given.get("is_flag")) else None,
        kind=getattr(kind, "id", "") or ("choice" if isinstance(choices, list) else "text"),
        choices=choices if isinstance(choices, list) else None,
        default=None if literal(given.get("multiple")) else literal(given.get("default")),
    )


def argparse_action(call: ast.Call) -> dict[str, Any]:
    given = keywords(call)
    how = given.get("action")
    switch = isinstance(how, ast.Attribute) and how.attr == "BooleanOptionalAction"
    choices = literal(given.get("choices"))
    names = flags(call)
    return action(
        names,
        nargs=0 if switch or str(literal(how)).startswith("store_") else literal(given.get("nargs")),
        kind=getattr(given.get("type"), "id", ""),
        choices=choices if isinstance(choices, list) else None,
        default=literal(given.get("default")),
        negations=["--no-" + name.removeprefix("--") for name in names] if switch else [],
    )


def action(
    names: list[str], nargs: Any, kind: str, choices: list[str] | None, default: Any, negations: list[str] | None = None
) -> dict[str, Any]:
    return {
        "names": names,
        "negations": negations or [],
        "dest": next((name for name in names if name.startswith("--")), names[0]).lstrip("-").replace("-", "_"),
        "nargs": nargs,
        "type": kind if kind in ("int", "float") else "text",
        "choices": choices,
        "default": default,
        "hidden": False,
        "deprecated": False,
    }
