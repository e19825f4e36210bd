"""An evaluation in the terminal: the accuracy first, then what stands behind it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.evaluate.compare import EvalComparison
from moonpad.evaluate.limitations import Limitation
from moonpad.evaluate.references import Against
from moonpad.evaluate.result import EvalResult, FilterResult, Floor
from moonpad.report.plain_text import aligned, shown
from moonpad.stats.proportion import Proportion, detectable_unpaired

HEAD: Final = ("filter", "accuracy", "95 %", "std. error", "right", "of answers neither cut nor empty")
SHOWN_CHANGES: Final = 20
MOST_POINTS: Final = 100.0


def eval_block(result: EvalResult, against: Sequence[Against], why_none: str) -> str:
    """Without colours or rules: a pipe reads it as a person does."""
    return "\n".join(_lines(result, against, why_none))


def _lines(result: EvalResult, against: Sequence[Against], why_none: str) -> Iterator[str]:
    if result.filters:
        rows = aligned([HEAD, *map(_cells, result.filters)], (0,))
        yield from ("  ".join(row).rstrip() for row in rows)
    else:
        yield "no answer, so no accuracy"
    yield counts_words(result)
    if result.filters and result.cut + result.empty:
        yield "wrong because cut or empty: " + "; ".join(_wrong(each) for each in result.filters)
    if result.failed:
        low, high = _bounds(result)
        yield f"{result.failed} requests failed and count in no accuracy: with them it would be {low:.4f} to {high:.4f}"
    if result.tokens:
        at = dict(result.tokens.percentiles)
        yield f"tokens of an answer: {result.tokens.mean:.0f} on average, {at[50.0]:.0f} P50, {at[99.0]:.0f} P99"
    if result.floor:
        yield from _floor(result.floor)
    if result.filters:
        yield detectable_words(result.filters[0].all)
    for each in against:
        yield f"{each.filter} against {each.value:.4f} ({each.reference.where}): {each.words}"
    if why_none:
        yield why_none


def counts_words(result: EvalResult) -> str:
    share = f" ({result.cut_share:.1%})" if result.answered else ""
    parts = [f"{result.answered:,} of {result.planned:,} questions answered", f"{result.cut:,} cut{share}"]
    parts += [f"{result.empty:,} empty", f"{result.failed:,} failed"]
    return ", ".join(parts) + (f", {result.missing:,} not asked yet" if result.missing else "")


def detectable_words(share: Proportion) -> str:
    points = 100 * detectable_unpaired(share.shrunk, share.count)
    if points >= MOST_POINTS:
        return f"{share.count:,} answers are too few to show a difference to another such sample"
    return (
        f"{share.count:,} answers show a difference of {points:.1f} points or more to another such sample (80 % power)"
    )


def _cells(each: FilterResult) -> tuple[str, ...]:
    low, high = each.all.interval()
    error = "–" if each.all.standard_error is None else f"{each.all.standard_error:.4f}"
    usable = "–" if each.usable is None else f"{each.usable.value:.4f} ({each.usable.count:,})"
    right = f"{each.all.correct:,} of {each.all.count:,}"
    return (each.name, f"{each.all.value:.4f}", f"{low:.4f} to {high:.4f}", error, right, usable)


def _wrong(each: FilterResult) -> str:
    wrong = each.all.count - each.all.correct
    return f"{each.name} {each.wrong_cut + each.wrong_empty:,} of {wrong:,} wrong ones"


def _bounds(result: EvalResult) -> tuple[float, float]:
    """Of the first filter, were all failed questions answered wrongly, or rightly."""
    correct = result.filters[0].all.correct if result.filters else 0
    count = result.answered + result.failed
    return correct / count, (correct + result.failed) / count


def _floor(floor: Floor) -> Iterator[str]:
    yield f"asked again (A/A): {floor.texts:,} of {floor.questions:,} texts differ"
    for name, pairs in floor.verdicts.items():
        share = Proportion(pairs.discordant, pairs.count)
        low, high = share.interval()
        figure = f"{share.value:.1%} of its verdicts ({low:.1%} to {high:.1%})"
        yield f"  {name}: the endpoint differs from itself in {figure}, {pairs.discordant} of {pairs.count}"


def limitation_lines(rows: Sequence[Limitation]) -> list[str]:
    return [f"{'refused' if each.refuses else 'note'}: {each.text}{_remedy(each)}" for each in rows]


def _remedy(each: Limitation) -> str:
    return f"\n    {each.remedy}" if each.remedy else ""


def compare_block(comparison: EvalComparison) -> str:
    head = ("filter", "A", "B", "questions", "only A right", "only B right", "p (exact McNemar)")
    rows = [
        (
            each.name,
            f"{each.pairs.first.value:.4f}",
            f"{each.pairs.second.value:.4f}",
            f"{each.pairs.count:,}",
            f"{each.pairs.only_first:,}",
            f"{each.pairs.only_second:,}",
            f"{each.difference.p_value:.3g}",
        )
        for each in comparison.filters
    ]
    lines = ["  ".join(row).rstrip() for row in aligned([head, *rows], (0,))]
    lines += [f"{each.name}: {each.words}" for each in comparison.filters]
    return "\n".join(lines)


def compare_notes(comparison: EvalComparison) -> list[str]:
    """What a reader must know before trusting the table."""
    notes = [f"A: {comparison.first.folder}, {shown(comparison.first.model)}"]
    notes.append(f"B: {comparison.second.folder}, {shown(comparison.second.model)}")
    if comparison.left_out:
        notes.append(f"{comparison.left_out:,} questions have an answer on one side alone, and are left out")
    concurrency = [side.setup.protocol.concurrency for side in (comparison.first, comparison.second)]
    if concurrency[0] != concurrency[1]:
        notes.append(f"A asked {concurrency[0]} at once, B {concurrency[1]}: other batches change greedy answers too")
    for each in comparison.filters:
        share = each.pairs.discordant / each.pairs.count
        floor = "not measured (--again 100)" if each.floor is None else f"{each.floor:.1%}"
        notes.append(f"{each.name}: {share:.1%} of the verdicts changed; asked twice, an endpoint changes {floor}")
    for changed in comparison.changed[:SHOWN_CHANGES]:
        a, b = (shown(text[:40]) for text in changed.extracted)
        side = "A" if changed.right[0] else "B"
        notes.append(f"question {changed.question.doc_id}, {changed.filter}: {side} is right; A {a!r}, B {b!r}")
    if (more := len(comparison.changed) - SHOWN_CHANGES) > 0:
        notes.append(f"… and {more:,} more; --json lists them all")
    return notes
