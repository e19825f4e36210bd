"""`moonpad compare`: how much the second run differs from the first, and how sure that is."""

from __future__ import annotations

import math
from typing import Annotated

from cyclopts import Parameter

from moonpad.bench.compare import THROUGHPUTS, Comparison
from moonpad.bench.compare import compare as compared
from moonpad.bench.saved_results import PUBLISHED, SavedRun, read_run
from moonpad.cli.eval_compare import compare_evals, evals_of
from moonpad.cli.output import Json, emit, next_command, note
from moonpad.cli.run_argument import measured_path
from moonpad.report.compare_table import compare_notes, compare_table
from moonpad.report.run_phrases import client_bound_words
from moonpad.values.errors import CheckFailed, UsageError

EXAMPLE = "--min-ratio output_throughput=0.95"


def compare(
    run_a: str,
    run_b: str,
    *,
    min_ratio: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    max_ratio: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    accept_client_bound: bool = False,
    json: Json = False,
) -> None:
    """Compare two measured runs, or evaluations. Exit 5 if a ratio misses its limit, or a client was at its limit.

    Parameters
    ----------
    run_a
        A run's name or folder, last or last-1 (moonpad runs lists them), a file of vllm bench serve --save-result, or
        published:ID of the catalogue; or the folder of an evaluation (moonpad eval).
    run_b
        The other one; changes are from A to B.
    min_ratio
        The least B / A of a figure: output_throughput=0.95. Refused for throughputs if the answers differ in length.
    max_ratio
        The largest B / A of a figure: p99_ttft_ms=1.1.
    accept_client_bound
        Compare runs all the same whose latencies may be the client's own.
    """
    if evals_of(run_a, run_b):
        if min_ratio or max_ratio:
            raise UsageError(
                "--min-ratio and --max-ratio are of measured runs", remedy="moonpad eval --against … --gate"
            )
        compare_evals(run_a, run_b, json=json)
        return
    limits = [(*_limit(text), True) for text in min_ratio or ()] + [(*_limit(text), False) for text in max_ratio or ()]
    runs = _run(run_a), _run(run_b)
    bound = [f"{run.name} was {text}" for run in runs if (text := client_bound_words(run.document))]
    if bound and not accept_client_bound:
        raise CheckFailed(". ".join(bound), remedy="measure again, or add --accept-client-bound")
    comparison = compared(*runs)
    if not comparison.rows:
        raise UsageError("the two runs have no figure in common", remedy="measure one with moonpad bench --out FOLDER")
    broken = [why for name, limit, least in limits if (why := _broken(comparison, name, limit, least=least))]
    emit(compare_table(comparison), {**comparison.as_json(), "broken": broken}, json=json)
    for line in () if json else [*bound, *compare_notes(comparison)]:
        note(line)
    if broken:
        raise CheckFailed("; ".join(broken))
    next_command("moonpad bench --out FOLDER  repeats it: a change seen in both repeats is unlikely to be noise")


def _run(named: str) -> SavedRun:
    return read_run(named if named.startswith(PUBLISHED) else str(measured_path(named)))


def _limit(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        limit = float(value)
    except ValueError:
        limit = math.nan
    if not limit > 0 or not name:
        raise UsageError(f"{text!r} is not a limit for a ratio", remedy=f"write {EXAMPLE}")
    return name, limit


def _broken(comparison: Comparison, name: str, limit: float, *, least: bool) -> str:
    """How a limit is missed; "" where it is met."""
    row = comparison.row(name)
    if row is None:
        raise UsageError(
            f"the runs have no {name} in common", remedy=f"use one of {', '.join(row.name for row in comparison.rows)}"
        )
    if name in THROUGHPUTS and not comparison.same_length:
        return f"{name} cannot be compared: B's answers have {comparison.tokens_ratio:.2f} times A's tokens"
    if least and row.ratio.value < limit:
        return f"{name} is {row.ratio.value:.3f} × A's; the limit is at least {limit:g}"
    if not least and row.ratio.value > limit:
        return f"{name} is {row.ratio.value:.3f} × A's; the limit is at most {limit:g}"
    return ""
