"""`moonpad compare`: is the second run another one than the first, and how sure is that?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moonpad.cli.output import emit_json, next_command, note, out
from moonpad.values.errors import CheckFailed, UsageError

if TYPE_CHECKING:
    from moonpad.bench.compare import Comparison
    from moonpad.bench.saved import SavedRun

EXAMPLE = "--min-ratio output_throughput=0.95"


def compare(
    run_a: str,
    run_b: str,
    *,
    min_ratio: Annotated[list[str] | None, Parameter(consume_multiple=True, negative=())] = None,
    max_ratio: Annotated[list[str] | None, Parameter(consume_multiple=True, negative=())] = None,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Compare two measured runs, figure by figure. Exit 5 where a ratio that you ask for is not kept.

    Parameters
    ----------
    run_a
        A run's name or folder, last or last-1 (moonpad runs lists them), a file of vllm bench serve --save-result, or
        published:ID of the catalogue.
    run_b
        The other one: a change is from A to B.
    min_ratio
        The least B / A of figures: output_throughput=0.95. Throughputs of answers of other lengths are refused.
    max_ratio
        The largest: p99_ttft_ms=1.1.
    json
        Print one JSON document on stdout.
    """
    from moonpad.bench.compare import compare as compared

    limits = [(*_limit(text), True) for text in min_ratio or ()] + [(*_limit(text), False) for text in max_ratio or ()]
    found = compared(_run(run_a), _run(run_b))
    if not found.rows:
        raise UsageError("the two runs have no figure in common", remedy="moonpad bench --out FOLDER makes one")
    broken = [why for name, limit, least in limits if (why := _broken(found, name, limit, least=least))]
    if json:
        emit_json({**found.as_json(), "broken": broken})
    else:
        from moonpad.report.compare_table import compare_notes, compare_table

        out().print(compare_table(found))
        for line in compare_notes(found):
            note(line)
    if broken:
        raise CheckFailed("; ".join(broken))
    next_command("moonpad bench --out FOLDER  for a third one: what holds twice is no chance")


def _run(named: str) -> SavedRun:
    from moonpad.bench.saved import PUBLISHED, read_run
    from moonpad.cli.measured import measured_path

    return read_run(named if named.startswith(PUBLISHED) else str(measured_path(named)))


def _limit(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        limit = float(value)
    except ValueError:
        limit = math.nan
    if not limit > 0 or not name:
        raise UsageError(f"{text!r} is no limit of a ratio", remedy=EXAMPLE)
    return name, limit


def _broken(found: Comparison, name: str, limit: float, *, least: bool) -> str:
    """Why a limit is not kept; "" where it is."""
    from moonpad.bench.compare import THROUGHPUTS

    row = found.row(name)
    if row is None:
        raise UsageError(
            f"the runs have no {name} in common", remedy=f"one of {', '.join(one.name for one in found.rows)}"
        )
    if name in THROUGHPUTS and not found.same_length:
        return f"{name} cannot be judged: the answers of one run have {found.tokens_ratio:.2f} times the other's tokens"
    if least and row.ratio.value < limit:
        return f"{name} is {row.ratio.value:.3f} of A's, at least {limit:g} was asked for"
    if not least and row.ratio.value > limit:
        return f"{name} is {row.ratio.value:.3f} of A's, at most {limit:g} was asked for"
    return ""
