"""Nothing that leaves the program holds a key, or a character that a terminal obeys; whoever sends it.

Each command is a process of its own with an empty home. What it prints and every file that it writes is searched for
the key in each of its spellings.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.conftest import ROOT
from tests.faults.hostile_server import CODES, hostile, spellings

KEYS = {"plain": "sk-CanAry-93b1f0c7d2e84a56", "signs": "k~Q7\"<c>&'y/+%9=zQ7\\n8"}
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)
MODES = ("answers", "error401", "error404", "error429", "error500", "sse-error", "broken", "cut")


@dataclass
class Canary:
    home: Path
    key: str
    leaks: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)

    def __call__(self, *argv: str, typed: str = "") -> subprocess.CompletedProcess[bytes]:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "CANARY_KEY": self.key,
            **self.env,
        }
        done = subprocess.run(
            (sys.executable, "-m", "moonpad", *argv),
            env=env,
            cwd=self.home,
            input=typed.encode(),
            capture_output=True,
            timeout=120,
            check=False,
        )
        name = " ".join(argv)[:60]
        for stream, data in (("stdout", done.stdout), ("stderr", done.stderr)):
            self.look(f"{stream} of {name}", data)
            if hidden := FORBIDDEN.findall(data.decode("utf-8", "surrogateescape")):
                self.leaks.append(f"{sorted(set(map(ascii, hidden)))} in {stream} of {name}")
        assert b"Traceback" not in done.stderr, done.stderr.decode(errors="replace")
        if "--json" in argv and done.stdout:
            json.loads(done.stdout, parse_constant=pytest.fail)
        return done

    def look(self, where: str, data: bytes) -> None:
        text = data.decode("utf-8", "surrogateescape").casefold()
        self.leaks += [f"{how} in {where}" for how, form in spellings(self.key).items() if form.casefold() in text]

    def files(self, *exceptions: str) -> list[Path]:
        """Looks into every file that was written; the files of these names hold the key by purpose."""
        files = [path for path in self.home.rglob("*") if path.is_file() and path.name not in exceptions]
        for path in files:
            self.look(
                str(path.relative_to(self.home)), path.read_bytes() + str(path).encode("utf-8", "surrogateescape")
            )
            if path.suffix == ".xml":
                ET.parse(path)  # noqa: S314 - of our own
            elif path.suffix == ".json":
                json.loads(path.read_bytes())
            elif path.suffix == ".jsonl":
                [json.loads(line) for line in path.read_bytes().splitlines()]
        return files


@pytest.fixture(params=KEYS)
def canary(request: pytest.FixtureRequest, tmp_path: Path) -> Canary:
    return Canary(tmp_path, KEYS[request.param])


def asked(canary: Canary, url: str, *, wide: bool) -> None:
    """The verbs that ask an endpoint, and those that read what they wrote."""
    at = ("--url", url, "--key-env", "CANARY_KEY")
    few = ("--input-tokens", "8", "--output-tokens", "4", "--requests", "2")
    canary("chat", *at, "--once", "hello")
    canary("verify", *at, "--only", "health", "chat", "--out", "verdict", "--junit", "junit.xml")
    canary("bench", *at, *few, "--warmup", "1", "--out", "a")
    canary("report", "a")
    if not wide:
        return
    canary("chat", *at, "--demo-tool", typed="one\n/nonsense\ntwo\n")
    canary("verify", *at, "--out", "all")
    canary("verify", *at, "--json", "--repeat", "2")
    canary("verify", *at, "--vendor", "own", "--out", "vendor.jsonl")
    canary("verify", *at, "--loop", "--out", "loop")
    canary("verify", *at, "--numerics")
    canary("verify", *at, "--numerics", "--record", "recording.json")
    canary("bench", *at, *few, "--json", "--out", "b")
    canary("bench", *at, "--resume", "b")
    canary("bench", *at, *few, "--sweep", "concurrency=1,2", "--out", "sweep")
    canary("bench", *at, *few, "--sweep", "concurrency=1,2", "--out", "sweep")
    canary("bench", *at, *few, "--repeat", "2", "--out", "repeat")
    for verb in (
        ("compare", "a", "b"),
        ("compare", "a", "b", "--json"),
        ("report", "sweep"),
        ("runs", "."),
        ("runs", ".", "--json"),
    ):
        canary(*verb)


@pytest.mark.parametrize("mode", ["answers", "error401"])
def test_an_endpoint_that_sends_the_key_back(canary: Canary, mode: str) -> None:
    if (canary.key, mode) == (KEYS["plain"], "error401"):
        pytest.skip("the wide test has it")
    with hostile(mode, canary.key) as url:
        asked(canary, url, wide=False)
    assert canary.files()
    assert canary.leaks == []


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_every_verb_at_every_fault(canary: Canary, mode: str) -> None:
    with hostile(mode, canary.key) as url:
        asked(canary, url, wide=True)
    assert canary.files()
    assert canary.leaks == []
