"""Fault 50: the limit of open files is known before the first request."""

from __future__ import annotations

import resource
from collections.abc import Callable

import pytest

from moonpad.load.descriptors import RESERVE, ensure_descriptors
from moonpad.values.errors import PreflightRefused

INFINITE = resource.RLIM_INFINITY


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], list[tuple[int, int]]]:
    """What the limits are set to, given what they are."""

    def these(soft: int, hard: int) -> list[tuple[int, int]]:
        done: list[tuple[int, int]] = []
        monkeypatch.setattr(resource, "getrlimit", lambda which: (soft, hard))
        monkeypatch.setattr(resource, "setrlimit", lambda which, pair: done.append(pair))
        return done

    return these


@pytest.mark.parametrize(
    ("soft", "hard", "connections", "at_most", "set_to"),
    [
        (1024, 4096, 100, None, []),
        (256, 4096, 1000, None, [(1000 + RESERVE, 4096)]),
        (256, INFINITE, 1000, None, [(1000 + RESERVE, INFINITE)]),
        (INFINITE, INFINITE, 9999, None, []),
        (256, 4096, 16, 9999, [(4096, 4096)]),
        (256, 4096, 16, 500, [(500 + RESERVE, 4096)]),
    ],
)
def test_the_limit_is_raised_as_far_as_it_may(
    limits: Callable[[int, int], list[tuple[int, int]]],
    soft: int,
    hard: int,
    connections: int,
    at_most: int | None,
    set_to: list[tuple[int, int]],
) -> None:
    done = limits(soft, hard)
    ensure_descriptors(connections, at_most)
    assert done == set_to


def test_fewer_than_needed_are_refused_with_the_numbers(limits: Callable[[int, int], list[tuple[int, int]]]) -> None:
    done = limits(256, 256)
    with pytest.raises(PreflightRefused, match=rf"1000 .* need {1000 + RESERVE} file descriptors.* limit .* is 256"):
        ensure_descriptors(1000)
    assert done == []
