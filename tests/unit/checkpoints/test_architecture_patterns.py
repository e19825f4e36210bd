"""Names that a quantiser leaves out. The oracle for regular expressions is `re` itself, on short ones."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.checkpoints.patterns import Patterns
from moonpad.values.errors import CheckpointError

ATTENTION = "model.layers.12.self_attn.q_a_proj"
DENSE = "model.layers.0.mlp.gate_proj"
EXPERT = "model.layers.3.mlp.experts.0.gate_proj"


@pytest.mark.parametrize(
    ("pattern", "meant", "not_meant"),
    [
        ("lm_head", "lm_head", "lm_heads"),
        ("model.layers.12.self_attn", ATTENTION, "model.layers.12.self_attn2.x"),
        ("language_model.model.layers.1.self_attn*", "language_model.model.layers.1.self_attn.o_proj", ATTENTION),
        ("language_model.model.layers.0*", "language_model.model.layers.0.mlp", "language_model.model.layers.1.mlp"),
        ("*self_attn*", ATTENTION, DENSE),
        ("model.layers.?.mlp.gate_proj", DENSE, ATTENTION),
        ("re:.*self_attn.*", ATTENTION, DENSE),
        ("re:.*mlp\\.(gate|up|gate_up|down)_proj.*", DENSE, EXPERT),
        ("re:.*mlp.gate$", "model.layers.3.mlp.gate", DENSE),
        ("re:model.layers.\\d+.self_attn", ATTENTION, "model.layers.x.self_attn"),
        ("re:^model\\.layers\\.[0-9]+\\.self_attn\\.q_a_proj$", ATTENTION, "model.layers.1.self_attn.q_b_proj"),
        ("re:self_attn", "self_attn.x", ATTENTION),  # re.match begins at the start
    ],
)
def test_what_a_pattern_means(pattern: str, meant: str, not_meant: str) -> None:
    patterns = Patterns([pattern])
    assert patterns.match((meant,))
    assert not patterns.match((not_meant,))
    assert patterns.match((not_meant, meant)), "one spelling of a module is enough"


def test_none_and_nothing_mean_nothing() -> None:
    for empty in (None, []):
        assert not Patterns(empty).match((ATTENTION,))


@pytest.mark.parametrize(
    "wrong",
    [
        "lm_head",
        {},
        [""],
        [1],
        [None],
        ["x" * 301],
        ["re:(a*)*b"],
        ["re:(a+)+"],
        ["re:a{1,9}"],
        ["re:\\w"],
        ["re:[a-z]"],
    ],
)
def test_what_is_refused(wrong: object) -> None:
    with pytest.raises(CheckpointError):
        Patterns(wrong)


def test_bombs_are_refused() -> None:
    for bomb in (["x"] * 20_001, ["re:" + "(a|b)" * 20], [f"*{number}*x" for number in range(1001)]):
        with pytest.raises(CheckpointError):
            Patterns(bomb)


def test_many_wildcards_take_no_time() -> None:
    """A backtracking matcher would need longer than the sun has."""
    assert not Patterns(["re:" + ".*a" * 90 + "b$"]).match(("a" * 200,))


PIECES = st.lists(st.sampled_from([".*", "a", "b", "\\.", ".", "(a|ab)", "c"]), min_size=1, max_size=6)


@given(PIECES, st.booleans(), st.text(alphabet="abc.", max_size=10))
def test_an_understood_expression_means_what_it_means_to_python(pieces: list[str], closed: bool, name: str) -> None:
    expression = "".join(pieces) + ("$" if closed else "")
    assert Patterns([f"re:{expression}"]).match((name,)) is bool(re.match(expression, name))
