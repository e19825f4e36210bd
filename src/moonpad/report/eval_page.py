"""An evaluation as one page: the accuracy, what stands behind it, what changed, which answers were wrong. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup

from moonpad.evaluate.compare import Changed, EvalComparison
from moonpad.evaluate.references import Against
from moonpad.evaluate.result import EvalResult, FilterResult
from moonpad.evaluate.sample import Sample
from moonpad.evaluate.saved import SavedEval
from moonpad.report.eval_charts import Bar, Lengths, accuracy_chart, lengths_chart
from moonpad.report.eval_table import compare_notes, detectable_words
from moonpad.report.html_page import page
from moonpad.stats.proportion import Proportion

MOST_ROWS: Final = 100
"""Questions of one kind that the page shows."""
TEXT: Final = 4000
NO_CONTENT: Final = "(no content)"


@dataclass(frozen=True, slots=True)
class Shown:
    """One question on the page: what was asked, what is right, and each answer with what was taken from it."""

    number: int
    question: str
    target: str
    answers: tuple[tuple[str, str, str], ...]
    """(whose, what was taken from it, the text)."""
    remark: str = ""


def eval_page(
    saved: SavedEval,
    against: Sequence[Against],
    why_none: str,
    gate: tuple[str, ...] | None = None,
    comparison: EvalComparison | None = None,
) -> str:
    """`gate`: why the thresholds of the spec are not passed; None without --gate."""
    result = saved.result
    protocol = saved.setup.protocol
    return page(
        "eval.html",
        model=saved.model,
        task=saved.head.get("task"),
        endpoint=saved.head.get("base_url"),
        began=saved.head.get("started_at"),
        protocol=protocol,
        changed=saved.setup.changed,
        result=result,
        tiles=list(_tiles(result)),
        gate=gate,
        warnings=list(_warnings(result)),
        filters=[_row(each) for each in result.filters],
        accuracies=_accuracies(result, against),
        lengths=_lengths(saved),
        detectable=detectable_words(result.filters[0].all) if result.filters else "",
        against=against,
        why_none=why_none,
        floor=list(_floor(result)),
        notes=compare_notes(comparison)[:2] if comparison else (),
        comparison=comparison,
        changes=[_changed(each) for each in comparison.changed[:MOST_ROWS]] if comparison else [],
        wrong=list(_wrong(saved))[:MOST_ROWS],
        failed=[each for each in saved.samples if each.failed and each.round == 1][:MOST_ROWS],
        settings=list(_settings(saved)),
        most=MOST_ROWS,
    )


def _tiles(result: EvalResult) -> Iterator[tuple[str, str, str]]:
    for each in result.filters:
        low, high = each.all.interval()
        yield f"accuracy, {each.name}", f"{each.all.value:.2%}", f"95 %: {low:.2%} to {high:.2%}"
    yield "answered", f"{result.answered:,}", f"of {result.planned:,} questions"
    yield "cut by the token limit", f"{result.cut_share:.1%}", f"{result.cut:,} answers"
    yield "empty", f"{result.empty:,}", "answers without content"
    yield "failed", f"{result.failed:,}", "in no accuracy"
    if result.tokens:
        at = dict(result.tokens.percentiles)
        yield "tokens of an answer", f"{result.tokens.mean:,.0f}", f"P50 {at[50.0]:,.0f}, P99 {at[99.0]:,.0f}"


def _warnings(result: EvalResult) -> Iterator[tuple[str, str]]:
    if result.failed or result.missing:
        yield "fail", f"{result.failed + result.missing:,} of {result.planned:,} questions have no answer."
    for each in result.filters:
        if each.wrong_cut + each.wrong_empty:
            wrong = each.all.count - each.all.correct
            text = f"{each.wrong_cut + each.wrong_empty:,} of {wrong:,} wrong answers by {each.name} were cut or empty."
            yield "skip", text


def _row(each: FilterResult) -> dict[str, Any]:
    low, high = each.all.interval()
    return {
        "name": each.name,
        "accuracy": f"{each.all.value:.4f}",
        "interval": f"{low:.4f} to {high:.4f}",
        "error": "–" if each.all.standard_error is None else f"{each.all.standard_error:.4f}",
        "right": f"{each.all.correct:,} of {each.all.count:,}",
        "usable": "–" if each.usable is None else f"{each.usable.value:.4f} of {each.usable.count:,}",
        "cut": f"{each.wrong_cut:,}",
        "empty": f"{each.wrong_empty:,}",
    }


def _accuracies(result: EvalResult, against: Sequence[Against]) -> Markup | None:
    bars = []
    for each in result.filters:
        bars.append(Bar(each.name, each.all.value, *each.all.interval(), ours=True))
        for other in against:
            if other.filter == each.name:
                share = Proportion(other.reference.filters[each.name].correct, other.reference.questions)
                bars.append(Bar(other.reference.where, share.value, *share.interval(), ours=False))
    return accuracy_chart(bars) if bars else None


def _lengths(saved: SavedEval) -> Markup | None:
    name = next((score.filter for score in saved.scores), "")
    right = {score.doc_id for score in saved.scores if score.filter == name and score.round == 1 and score.correct}
    rows: tuple[list[int], list[int], list[int]] = ([], [], [])
    for sample in saved.samples:
        if sample.round == 1 and not sample.failed and sample.completion_tokens is not None:
            rows[2 if sample.cut else 0 if sample.doc_id in right else 1].append(sample.completion_tokens)
    lengths = Lengths(*rows)
    return lengths_chart(lengths) if lengths.all else None


def _floor(result: EvalResult) -> Iterator[tuple[str, str]]:
    if result.floor is None:
        return
    yield "texts that differ", f"{result.floor.texts:,} of {result.floor.questions:,}"
    for name, pairs in result.floor.verdicts.items():
        low, high = Proportion(pairs.discordant, pairs.count).interval()
        yield f"verdicts that differ, {name}", f"{pairs.discordant:,} of {pairs.count:,} ({low:.1%} to {high:.1%})"


def _wrong(saved: SavedEval) -> Iterator[Shown]:
    """Questions that some filter has as wrong, those that were cut or empty with that remark."""
    samples = {sample.doc_id: sample for sample in saved.samples if sample.round == 1}
    taken: dict[int, list[str]] = {}
    for score in saved.scores:
        if score.round == 1 and not score.correct:
            taken.setdefault(score.doc_id, []).append(f"{score.filter}: {score.extracted[:200]}")
    for question in sorted(saved.questions, key=lambda each: each.doc_id):
        if question.doc_id in taken and question.doc_id in samples:
            sample = samples[question.doc_id]
            remark = "cut" if sample.cut else "empty" if sample.empty else ""
            answers = (("answer", "; ".join(taken[question.doc_id]), _text(sample)),)
            yield Shown(question.doc_id, question.question[:TEXT], question.target[:TEXT], answers, remark)


def _changed(each: Changed) -> Shown:
    sides = zip(("A", "B"), each.extracted, each.samples, each.right, strict=True)
    answers = tuple(
        (f"{name}, {'right' if right else 'wrong'}", taken[:200], _text(sample)) for name, taken, sample, right in sides
    )
    return Shown(each.question.doc_id, each.question.question[:TEXT], each.question.target[:TEXT], answers, each.filter)


def _text(sample: Sample) -> str:
    content = sample.content or NO_CONTENT
    text = f"[thinking] {sample.reasoning}\n[answer] {content}" if sample.reasoning else content
    return text if len(text) <= TEXT else text[:TEXT] + " …"


def _settings(saved: SavedEval) -> Iterator[tuple[str, object]]:
    protocol, head = saved.setup.protocol, saved.head
    yield "protocol", f"{protocol.name}: {protocol.title}"
    yield "from", protocol.source
    yield "API", f"/v1{protocol.path}"
    yield "few-shot examples", protocol.fewshot
    yield "requests at once", protocol.concurrency
    yield "longest answer", f"{protocol.max_tokens:,} tokens"
    yield "changed", "; ".join(saved.setup.changed) or "nothing"
    data = head.get("data")
    for name, value in data.items() if isinstance(data, dict) else ():
        yield name, ", ".join(f"{key} {text}" for key, text in value.items()) if isinstance(value, dict) else value
    for name in ("lm_eval", "task_version", "moonpad"):
        if name in head:
            yield name.replace("_", "-"), head[name]
