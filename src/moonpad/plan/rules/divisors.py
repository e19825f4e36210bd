"""Arithmetic of the remedies."""


def largest_divisor(number: int, limit: int) -> int:
    """The largest divisor of `number` that is at most `limit` and at most 4096: a remedy is for machines that exist."""
    return next((count for count in range(min(number, limit, 4096), 0, -1) if number % count == 0), 1)
