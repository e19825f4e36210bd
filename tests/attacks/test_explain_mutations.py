"""Whatever is put to `moonpad explain`, it answers in time: a judgement, or that the input is too large.

The oracle is outside of the program: the exit code, the clock of the processor, the kernel's account of memory, and
Python's JSON parser made strict.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from moonpad.cli.command_line import run
from moonpad.explain import input_limits
from moonpad.values.redaction import forget_all
from tests.attacks.explain_attacks import ATTACKS, REFUSED
from tests.attacks.explain_mutator import ROOT, mutant, seeds
from tests.attacks.runner import MEASURE
from tests.drawn import of_the_day, seed_of_the_day, some
from tests.processor import in_time

MOST_SECONDS: Final = 5.0
"""Of processor time, so that a busy machine fails nothing that is right."""
MOST_BYTES: Final = 500 * 2**20
CODES: Final = {0, 2, 3}
CLUSTERS: Final = ((), (), ("--on", "8xH100"), ("--on", "2x8xH800"), ("--on", "cpu"), ("--on", "1024x8xH200"))


@dataclass
class Tally:
    """What a run of many inputs has shown."""

    codes: Counter[int] = field(default_factory=Counter)
    refusals: int = 0
    worst_s: float = 0.0

    def __str__(self) -> str:
        count, codes = sum(self.codes.values()), dict(self.codes)
        return f"{count} inputs, exit codes {codes}, {self.refusals} too large, worst {self.worst_s:.2f} s"


def no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def check_answer(code: int, stdout: str, stderr: str, as_json: bool) -> dict[str, Any]:
    """The document of an answer, {} for text."""
    assert code in CODES, (code, stderr[-2000:])
    assert "Traceback" not in stderr, stderr[-2000:]
    assert (code == 0) == ("moonpad: " not in stderr)
    if not as_json:
        return {}
    document: dict[str, Any] = json.loads(stdout, parse_constant=no_constant)
    assert ("error" in document) == (code == 2)
    assert bool(document["deployments"]) == (code != 2), "a judgement is whole, or there is none"
    return document


ORDINARY = b"vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8\n"


def explain(content: bytes, path: Path, *, as_json: bool = True, on: tuple[str, ...] = ()) -> tuple[int, str, float]:
    """Exit code, what was said on stderr, and seconds of processor time, in this process."""
    path.write_bytes(content)
    forget_all()  # a process of its own knows no key of the input before it
    stdout, stderr = io.StringIO(), io.StringIO()
    started = time.process_time()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        code = run(["explain", "--file", str(path), *on, *(["--json"] if as_json else [])])
    seconds = time.process_time() - started
    check_answer(code, stdout.getvalue(), stderr.getvalue(), as_json)
    return code, stderr.getvalue(), seconds


@pytest.fixture(autouse=True)
def _no_measured_starts_of_this_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def mutants(seed: object, count: int) -> Iterator[tuple[bytes, bool, tuple[str, ...]]]:
    dice, texts = random.Random(f"explain {seed}"), seeds()
    for number in range(count):
        yield mutant(dice, texts), number % 3 > 0, dice.choice(CLUSTERS)


def put_to_explain(seed: object, count: int, folder: Path) -> Tally:
    """Puts that many mutants to it. The one that fails stays in the folder, and the failure names it."""
    tally, path = Tally(), folder / "input"
    explain(ORDINARY, path)  # loads the program and its catalogue, which is not the price of a mutant
    for number, (content, as_json, on) in enumerate(mutants(seed, count)):
        try:
            code, said, seconds = explain(content, path, as_json=as_json, on=on)
            assert in_time(seconds, MOST_SECONDS)
        except BaseException as error:
            kept = folder / f"mutant-{seed}-{number}"
            kept.write_bytes(content)
            raise AssertionError(
                f"mutant {number} of seed {seed}, kept as {kept}, {on=} {as_json=}: {error!r}"
            ) from error
        tally.codes[code] += 1
        tally.refusals += "too large to judge" in said
        tally.worst_s = max(tally.worst_s, seconds)
    print(f"\nseed {seed}: {tally}")
    return tally


def test_a_sample_of_mutants(tmp_path: Path) -> None:
    tally = put_to_explain("sample", 15, tmp_path)
    assert tally.codes[3] > 2, "it is no test of the judge if nothing is judged"


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("seed", some(["drawn", 1, 2, 3, 4]))
def test_ten_thousand_mutants(seed: int | str, tmp_path: Path) -> None:
    drawn = random.SystemRandom().getrandbits(32) if seed == "drawn" else seed
    print(f"\nseed {drawn}")
    put_to_explain(drawn, 2_000, tmp_path)


@pytest.mark.parametrize("share", [20, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ATTACKS)
def test_named_attacks(name: str, share: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By default with a twentieth of the budget, so that the refusal comes after a twentieth of the time."""
    monkeypatch.setattr(input_limits, "STEPS", input_limits.STEPS // share)
    content = ATTACKS[name]().encode("utf-8", "surrogatepass")[:1_000_000]
    code, said, seconds = explain(content, tmp_path / "input")
    assert in_time(seconds, MOST_SECONDS)
    if name in REFUSED:
        assert code == 2
        assert "too large to judge" in said


def measured(arguments: list[str], folder: Path) -> tuple[int, float, int]:
    """Exit code, seconds of processor time and peak bytes of a process of its own; its answer is checked."""
    stdout, stderr = folder / "stdout", folder / "stderr"
    with stdout.open("wb") as out, stderr.open("wb") as err:
        read, write = os.pipe()
        # A child's peak counts what this process held when it was forked: so a small one stands between.
        command = [sys.executable, "-I", "-S", MEASURE, str(write), sys.executable, "-m", "moonpad", "explain"]
        subprocess.run([*command, "--json", *arguments], stdout=out, stderr=err, pass_fds=(write,), check=False)
        os.close(write)
        with os.fdopen(read) as result:
            row = json.load(result)
    check_answer(row["code"], stdout.read_text(), stderr.read_text(), True)
    return row["code"], row["cpu_s"], row["peak_kb"] * 1024


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_memory_of_mutants_and_attacks(tmp_path: Path) -> None:
    path = tmp_path / "input"
    contents = [content for content, _, _ in mutants(seed_of_the_day("memory"), of_the_day(200))]
    contents += [attack().encode("utf-8", "surrogatepass")[:1_000_000] for attack in ATTACKS.values()]
    worst_s, worst_bytes = 0.0, 0
    for content in contents:
        path.write_bytes(content)
        _, seconds, peak = measured(["--file", str(path)], tmp_path)
        worst_s, worst_bytes = max(worst_s, seconds), max(worst_bytes, peak)
    print(f"\n{len(contents)} processes, worst {worst_s:.2f} s and {worst_bytes / 2**20:.0f} MiB")
    assert in_time(worst_s, MOST_SECONDS)
    assert worst_bytes < MOST_BYTES


def test_memory_of_the_largest(tmp_path: Path) -> None:
    """The attack that made most of memory."""
    path = tmp_path / "input"
    path.write_text(ATTACKS["a list of YAML"]())
    _, seconds, peak = measured(["--file", str(path)], tmp_path)
    assert in_time(seconds, MOST_SECONDS)
    assert peak < MOST_BYTES


@pytest.mark.parametrize("words", [4_900, 60_000])
def test_long_command_lines(words: int) -> None:
    stdout, stderr = io.StringIO(), io.StringIO()
    started = time.process_time()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        code = run(["explain", "--", "vllm", "serve", "m", *["x"] * words])
    seconds = time.process_time() - started
    assert code in CODES
    assert in_time(seconds, MOST_SECONDS)
    assert "Traceback" not in stderr.getvalue()


@pytest.mark.parametrize("on", ["8xH200", "8xH100"])
@pytest.mark.parametrize("guide", sorted((ROOT / "tests" / "seeds").iterdir()), ids=lambda path: path.name)
def test_half_of_the_budget_is_enough_for_a_guide(
    guide: Path, on: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_limits, "STEPS", input_limits.STEPS // 2)
    code, _, _ = explain(guide.read_bytes(), tmp_path / "input", on=("--on", on))
    assert code in (0, 3)
