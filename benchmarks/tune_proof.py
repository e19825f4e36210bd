"""The proof that `moonpad tune` asks of a winner, on the real vLLM on this processor: one setting that must pass, one
that must not.

    python -m benchmarks.tune_proof --out benchmarks/results/tune_proof.json

The default's log-probabilities are recorded. Then `--async-scheduling`, which changes no arithmetic, is proved as a
winner is: the probes of `moonpad verify` and the log-probabilities. Of a start whose experts are weighted by 1.5, and
not by the checkpoint's own factor, only the log-probabilities are asked.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from pathlib import Path
from typing import Any

from benchmarks.stage import about, write
from moonpad.bench.config import Slo
from moonpad.cli.tune_run import rounding_of
from moonpad.cli.verify_recording import shipped_recording
from moonpad.run.prepare import prepare
from moonpad.spec.loader import load_spec
from moonpad.tune.answers import Answers
from moonpad.tune.candidate import UNCHANGED, Candidate, Change
from moonpad.tune.candidate_run import free_port, start
from moonpad.tune.halving import Prove
from moonpad.tune.journal import TuneFolder
from moonpad.tune.load import TuneLoad
from moonpad.tune.measurer import DeploymentMeasurer
from moonpad.tune.order import Judged
from moonpad.tune.search import Search
from moonpad.tune.subject import Subject
from moonpad.values.workload import Lengths, Workload

SOUND = Candidate((Change("async_scheduling", True, flag="--async-scheduling", negated="--no-async-scheduling"),))
WRONG = Candidate((Change("experts", '{"routed_scaling_factor": 1.5}', flag="--hf-overrides"),))


def apart(subject: Subject, answers: Answers, candidate: Candidate, *, record: bool = False) -> tuple[str, ...]:
    """What the log-probabilities of one start say; with `record` they are those that others are held against."""
    run = start(prepare(subject.spec_of(candidate, free_port())), lambda: None)
    try:
        if record:
            answers.record(run.endpoint, math.inf)
            return ()
        return answers.numerics_apart(run.endpoint)
    finally:
        run.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=Path("/tmp/tune-proof"))  # noqa: S108
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    args.home.mkdir(parents=True, exist_ok=True)
    os.environ["XDG_STATE_HOME"] = str(args.home / "state")
    spec = args.home / "tiny.toml"
    spec.write_text('model = "kimi-k2-tiny"\nengine = "vllm-cpu"\n')
    load = TuneLoad(Workload(Lengths.fixed(64), Lengths.fixed(8), concurrency=1), "64:8", "throughput", Slo(), 8)
    subject, folder = Subject.of(load_spec(spec), load), TuneFolder(args.home / "tune")
    answers = Answers(folder, shipped_recording, rounding_of)
    record: dict[str, Any] = about("the proof of a tuned setting, vLLM on a processor")
    apart(subject, answers, UNCHANGED, record=True)
    record["wrong"] = {"change": WRONG.id, "apart": apart(subject, answers, WRONG)}
    print(record["wrong"], flush=True)
    write(args.out, record)
    begun = time.monotonic()
    search = Search("throughput")
    search.judged[SOUND.id] = Judged(SOUND)
    visit = DeploymentMeasurer(subject, folder, answers).prove(search, Prove(SOUND.id), lambda seconds: None)
    record["sound"] = {"change": SOUND.id, "against": visit.answers, "problem": visit.problem}
    record["sound"]["took_s"] = round(time.monotonic() - begun, 1)
    print(record["sound"], flush=True)
    write(args.out, record)


if __name__ == "__main__":
    main()
