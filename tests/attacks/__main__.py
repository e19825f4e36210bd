"""Runs the attacks whose names match: `python -m tests.attacks 'spec-*' 'state-status-*'`; without a pattern, all."""

from __future__ import annotations

import fnmatch
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.attacks.attack import Attack
from tests.attacks.corpus import attacks
from tests.attacks.runner import Outcome, run_verb


def outcome_of(attack: Attack) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="attack-") as name:
        attack.prepare(Path(name))
        return run_verb(attack.words, Path(name), attack.env)


def main(patterns: Sequence[str]) -> int:
    chosen = [attack for attack in attacks() if any(fnmatch.fnmatch(attack.name, pattern) for pattern in patterns)]
    codes: Counter[int | None] = Counter()
    slowest, largest, broken = (0.0, ""), (0.0, ""), 0
    with ThreadPoolExecutor(2) as pool:
        for attack, outcome in zip(chosen, pool.map(outcome_of, chosen), strict=True):
            codes[outcome.code] += 1
            slowest, largest = max(slowest, (outcome.cpu_s, attack.name)), max(largest, (outcome.peak_mb, attack.name))
            if problems := outcome.problems(attack.codes):
                broken += 1
                print(attack.name, problems, outcome.err.strip()[:300], sep="\n    ")
    print(f"{broken} of {len(chosen)} attacks succeed; exit codes {dict(codes)}")
    print(f"most processor time {slowest[0]:.2f} s ({slowest[1]}), most memory {largest[0]:.0f} MB ({largest[1]})")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["*"]))
