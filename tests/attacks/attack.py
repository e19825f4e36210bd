"""One attack, and what many of them begin with: a folder of good files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.attacks.hostile_specs import HEAD, ON
from tests.attacks.runner import REFUSALS

NOWHERE = "http://127.0.0.1:9/v1"
"""Refuses every connection: a verb that gets as far as asking ends with exit 6."""
ANY = frozenset({0, *REFUSALS, 4, 6})
"""Where a file may be passed over as if it were not there."""

URL = ("--url", NOWHERE, "--model", "m")

Prepare = Callable[[Path], object]


@dataclass(frozen=True, slots=True)
class Attack:
    """`prepare` gets the folder in which the command runs."""

    name: str
    words: tuple[str | bytes, ...]
    prepare: Prepare = lambda folder: None
    codes: frozenset[int] = REFUSALS
    env: Mapping[str, str | bytes] = field(default_factory=dict)


def at(name: str, make: Prepare) -> Prepare:
    def prepare(folder: Path) -> None:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        make(place)

    return prepare


def both(*steps: Prepare) -> Prepare:
    return lambda folder: [step(folder) for step in steps]


GOOD_SCRIPT = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8\n"


def good_files(folder: Path) -> None:
    (folder / "good.sh").write_text(GOOD_SCRIPT)
    (folder / "good.toml").write_text(HEAD + ON)


def good_run(folder: Path) -> None:
    """A measured run of a few requests, as `moonpad bench --out run` leaves it, cut to its figures."""
    folder.mkdir(parents=True, exist_ok=True)
    document = {
        "date": "2026-01-01", "model_id": "m", "num_prompts": 1, "max_concurrency": 1, "request_rate": None,
        "completed": 1, "failed": 0, "duration": 1.0, "output_throughput": 1.0, "total_output_tokens": 1,
        "moonpad": {"base_url": "http://x", "partial": False, "workload": {"said": "random"}},
    }  # fmt: skip
    (folder / "result.json").write_text(json.dumps(document))
