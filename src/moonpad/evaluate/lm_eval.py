"""lm-eval as a child process in its own environment: it builds the requests, and scores the answers.

The child is catalog/plugins/moonpad_lm_eval.py; its results are files.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import msgspec

from moonpad.catalog.evaluations import Protocol
from moonpad.evaluate.sample import Sample
from moonpad.evaluate.score import Score, read_scores
from moonpad.values.errors import CheckFailed

DEADLINE_S: Final = 1800.0
CHILD: Final = files("moonpad.catalog") / "plugins" / "moonpad_lm_eval.py"
KEPT: Final = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TZ")
"""Of our environment: no key of the user reaches the child, and no setting of another Python."""


class Scored(msgspec.Struct, frozen=True):
    """What lm-eval prints: `results` by its names (`exact_match,strict-match`), and the version of its task."""

    lm_eval: str
    results: dict[str, float]
    task_version: float | int | str


@dataclass(frozen=True, slots=True)
class LmEval:
    """`python` is that of its environment; `data` are the files of the task, by the names of their splits."""

    python: Path
    protocol: Protocol
    model: str
    data: Mapping[str, Path]

    def build(self, requests: Path, limit: int | None) -> str:
        """Writes the questions, in the order in which lm-eval sends them. The version of lm-eval.

        Raises:
            CheckFailed: it failed.
        """
        done = self._run({"do": "build", "requests": str(requests), "limit": limit})
        return str(done["lm_eval"])

    def score(self, samples: Sequence[Sample]) -> tuple[list[Score], Scored]:
        """Scores of the samples, one a question and filter; there is at least one that did not fail.

        Raises:
            CheckFailed: it failed.
        """
        with tempfile.TemporaryDirectory(prefix="moonpad-eval-") as folder:
            answers, scores = Path(folder) / "answers.jsonl", Path(folder) / "scores.jsonl"
            rows = ({"doc_id": each.doc_id, "outputs": each.outputs(self.protocol.path)} for each in samples)
            answers.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            done = self._run({"do": "score", "answers": str(answers), "scores": str(scores)})
            return read_scores(scores), msgspec.convert(done, Scored)

    def _run(self, job: Mapping[str, object]) -> dict[str, Any]:
        protocol = self.protocol
        whole = {
            **job,
            "model_type": protocol.model_type,
            "model_args": {
                "model": self.model,
                "tokenized_requests": False,
                "tokenizer_backend": "none",
                "num_concurrent": protocol.concurrency,
            },
            "fewshot": protocol.fewshot,
            "chat_template": protocol.chat_template,
            "multiturn": protocol.multiturn,
            "gen_kwargs": dict(protocol.gen_kwargs),
            "data": {split: str(path) for split, path in self.data.items()},
        }
        with tempfile.TemporaryDirectory(prefix="moonpad-lm-eval-") as home:
            kept = {name: os.environ[name] for name in KEPT if name in os.environ}
            offline = {"HF_HOME": home, "HOME": home, "HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1"}
            try:
                done = subprocess.run(
                    (str(self.python), "-I", str(CHILD)),
                    input=json.dumps(whole),
                    capture_output=True,
                    text=True,
                    env={**kept, **offline, "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"},
                    timeout=DEADLINE_S,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                raise _failed(str(error)) from error
        lines = [line for line in done.stdout.splitlines() if line.startswith('{"ok"')]
        if done.returncode or not lines:
            problem = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "it printed nothing")
            raise _failed(problem.strip()[:500])
        document = json.loads(lines[-1])
        assert isinstance(document, dict)  # noqa: S101 - the line begins with a brace
        return document


def _failed(problem: str) -> CheckFailed:
    remedy = "moonpad engine remove lm-eval, then moonpad engine install lm-eval; --resume goes on with the answers"
    return CheckFailed(f"lm-eval failed: {problem}", remedy=remedy)
