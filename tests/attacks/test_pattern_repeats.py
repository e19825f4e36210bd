"""Patterns backtrack in 2^n nowhere: each that a module of the program compiles is tried."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.attacks.ambiguous_repeats import ambiguous

RECORDER = """
import importlib, json, pkgutil, re, sys
import re._compiler as compiler

patterns, plain = {}, compiler.compile

def record(pattern, flags=0):
    frame = sys._getframe(1)
    while frame.f_back is not None and not frame.f_globals.get("__name__", "").startswith("moonpad"):
        frame = frame.f_back
    name = frame.f_globals.get("__name__", "")
    if isinstance(pattern, str) and name.startswith("moonpad"):
        patterns.setdefault((pattern, int(flags)), f"{name} line {frame.f_lineno}")
    return plain(pattern, flags)

compiler.compile = record
re._compiler.compile = record
import moonpad
for module in pkgutil.walk_packages(moonpad.__path__, "moonpad."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
json.dump([[*key, where] for key, where in patterns.items()], open(sys.argv[1], "w"))
"""


def test_patterns_are_read_in_one_way(tmp_path: Path) -> None:
    kept = tmp_path / "patterns"
    subprocess.run([sys.executable, "-c", RECORDER, str(kept)], check=True, timeout=300)
    patterns: list[tuple[str, int, str]] = json.loads(kept.read_text())
    assert len(patterns) > 2_000
    draw = random.Random(11)
    slow = {where: text for pattern, flags, where in patterns if (text := ambiguous(pattern, flags, draw))}
    assert not slow


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:[ ]+[^\n]*\n?)+",
        r"-([a-z]\w*(?:[-_]\w+)*)(?:=.*)?",
        r"(?:[\w./]|\$[A-Za-z_]\w*)+",
        r"(?:(?:#|//)[^\n]*\s*)*[}\]]",
        r"(?:[A-Za-z_]\w*=[^\s;&|]*[ \t]*){1,40}",
    ],
)
def test_patterns_of_two_ways_are_seen(pattern: str) -> None:
    """The forms that the program had."""
    assert ambiguous(pattern + "$", 0, random.Random(11))
