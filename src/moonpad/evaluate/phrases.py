"""What a difference of two accuracies means, in words. Pure."""

from __future__ import annotations

from moonpad.stats.proportion import Difference


def points(share: float) -> str:
    """A difference of shares in percentage points, with its sign."""
    return f"{100 * share:+.1f}".replace("-", "−")


def difference_words(difference: Difference) -> str:
    return f"{points(difference.value)} points (95 %: {points(difference.low)} to {points(difference.high)})"


def verdict_words(difference: Difference, detectable: float | None, what: str) -> str:
    """`what` is compared with what came before, "B" or "this endpoint"."""
    if difference.shown:
        side = "more" if difference.value > 0 else "less"
        return f"{what} is {side} accurate: {difference_words(difference)}, {p_words(difference.p_value)}"
    if detectable is None:
        smallest = "so few changes show no difference, however large"
    else:
        smallest = f"a difference below {100 * detectable:.1f} points would often not show"
    return f"no evidence of a difference: {difference_words(difference)}, {p_words(difference.p_value)}; {smallest}"


def p_words(p_value: float) -> str:
    if p_value < 0.0001:
        return "p < 0.0001"
    return f"p = {p_value:.2g}" if p_value < 0.1 else f"p = {p_value:.2f}"
