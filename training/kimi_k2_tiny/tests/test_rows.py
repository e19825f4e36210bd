"""Rows of the training: what shares a beginning stands there once, and distances can be stretched."""

import random
import re
from types import SimpleNamespace

import pytest

from training.kimi_k2_tiny.rows import Row, find_choices, find_names, find_numbers, join_branches, jump


def test_one_chat_is_one_plain_row():
    assert join_branches([([5, 6, 7], [0.1, 1.0, 1.0])]) == Row([5, 6, 7], [0.1, 1.0, 1.0], [0, 1, 2], [0, 0, 0])


def test_branches_begin_with_the_last_token_that_they_share():
    row = join_branches([([1, 2, 3, 8, 9], [0.1, 0.1, 0.1, 1.0, 1.0]), ([1, 2, 3, 7], [0.1, 0.1, 0.1, 0.5])])
    assert row.ids == [1, 2, 3, 8, 9, 3, 7]
    assert row.positions == [0, 1, 2, 3, 4, 2, 3]
    assert row.branches == [0, 0, 1, 1, 1, 2, 2]
    assert row.weights == [0.1, 0.1, 0.0, 1.0, 1.0, 0.0, 0.5], "nothing predicts the first token of a branch"


@pytest.mark.parametrize("seed", range(20))
def test_a_jump_moves_what_follows_a_place_and_keeps_the_order(seed: int):
    row = Row([4, 4, 9, 4, 4, 4], [1.0] * 6, [0, 1, 2, 3, 4, 5], [0] * 6)
    jump(row, {9}, random.Random(seed))
    gap = row.positions[3] - 3
    assert gap >= 8
    assert row.positions == [0, 1, 2, 3 + gap, 4 + gap, 5 + gap]


def test_no_jump_beyond_the_context():
    row = Row([9, 4], [1.0] * 2, [0, 31_999], [0, 0])
    jump(row, {9}, random.Random(0))
    assert row.positions == [0, 31_999]


def test_the_numbers_of_the_ids_that_the_model_writes():
    """`50` ends a number, and digits are 1 and 2; what is not written is somebody else's id."""
    ids = [9, 1, 2, 50, 9, 2, 50, 1, 9, 50]
    assert find_numbers(ids, [True] * 10, {1, 2}, 50) == [(1, 4), (5, 7), (9, 10)]
    assert find_numbers(ids, [False] * 4 + [True] * 6, {1, 2}, 50) == [(5, 7), (9, 10)]


class Letters:
    """A tokenizer with a token for each text that the rows ask about, and for each other letter."""

    KNOWN = (" (", ")", "):", '{"', '":', '",', ' "')

    def encode(self, text: str, add_special_tokens: bool):
        assert not add_special_tokens
        pieces = re.findall("|".join(map(re.escape, sorted(self.KNOWN, key=len, reverse=True))) + "|.", text)
        return SimpleNamespace(ids=[self.KNOWN.index(one) if one in self.KNOWN else ord(one) for one in pieces])


def test_names_and_keys_that_the_model_writes():
    text = 'look (a_b) for x (c): y {"k": "v", "l": "w"}'
    ids = Letters().encode(text, add_special_tokens=False).ids
    found = find_names(ids, [True] * len(ids), Letters())
    assert "".join(chr(ids[place]) for place in found) == "a_bckl"
    assert "".join(chr(ids[place]) for place in find_choices(ids, [True] * len(ids), Letters())) == "ac"
    assert find_names(ids, [False] * len(ids), Letters()) == []
