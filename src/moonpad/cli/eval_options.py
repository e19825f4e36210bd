"""The options of `moonpad eval`. Their texts are what --help shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cyclopts import Parameter


@Parameter(name="*", group="The evaluation")
@dataclass(frozen=True, slots=True, kw_only=True)
class EvalOptions:
    task: str = "gsm8k"
    """gsm8k, tools (requests that offer tools), or a JSONL file of yours: a question and its answer or regex a line."""
    protocol: str | None = None
    """Of gsm8k: chat (with the template, 2048 tokens), completions (raw, 32 at once) or completions-serial."""
    data: Path | None = None
    """For gsm8k the folder with train.jsonl and test.jsonl, which are downloaded without it; for tools a file of
    requests instead of moonpad's 500."""
    limit: int | None = None
    """Ask only the first so many questions."""
    again: int = 0
    """Ask the first so many a second time: how much the endpoint differs from itself (A/A)."""
    concurrency: int | None = None
    """Requests at once, if not the protocol's. No published result is compared then."""
    max_tokens: int | None = None
    """The longest answer, if not the protocol's. No published result is compared then."""
    against: Path | None = None
    """An earlier evaluation to compare with, question by question."""
