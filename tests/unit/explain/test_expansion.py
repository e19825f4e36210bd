"""Arithmetic against Python's own, and the words of variables that bash cannot be asked about."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from moonpad.explain.script import read_script
from moonpad.explain.shell.arithmetic import evaluate

NUMBERS = st.integers(0, 9999).map(str)
SUMS = st.recursive(
    NUMBERS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(" ".join), inner.map("({})".format), inner.map("-{}".format)
    ),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None)
@given(SUMS)
def test_sums(text: str) -> None:
    """Python and bash agree on + - * and brackets; division and remainders are in the tests against bash.

    `--5` is a decrement for bash and twice a sign for Python: both give 5 here.
    """
    value = evaluate(text, {}.get)
    expected = eval(text, {})  # noqa: S307 - made above of digits, operators and brackets
    assert value == (expected if abs(expected) < 2**63 and len(text) <= 200 else value)


def test_what_is_not_evaluated() -> None:
    known = {"A": "8", "BAD": "x", "OCTAL": "010", "NEGATIVE": "-3"}
    assert evaluate("A * $A + ${A}", known.get) == 72
    assert evaluate("NEGATIVE * 2", known.get) == -6
    for text in (
        "",
        "A *",
        "A = 3",
        "i++",
        "BAD",
        "OCTAL",
        "010",
        "NONE",
        "1 / 0",
        "(1",
        "1)",
        "1 2",
    ):
        assert evaluate(text, known.get) is None, text
    assert evaluate("9" * 18 + "*" + "9" * 18, known.get) is None
    assert evaluate("(" * 80 + "1" + ")" * 80, known.get) is None


def words(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(word.text, word.unresolved) for word in read_script(text).commands[-1].argv]


def test_unresolved_words() -> None:
    assert words('vllm serve $A "${B}" x${C}y ${D:?set D} $1 "$*" ${E[2]} <MODEL> http://<HOST 1>:1 $$ ${#F}\n') == [
        ("$A", ("A",)),
        ("${B}", ("B",)),
        ("x${C}y", ("C",)),
        ("${D}", ("D",)),
        ("$1", ("1",)),
        ("$*", ("*",)),
        ("${E[2]}", ("E",)),
        ("<MODEL>", ("<MODEL>",)),
        ("http://", ()),
        ("$$", ("$",)),
        ("${#F}", ("${#F}",)),
    ]


def test_names_travel_through_variables() -> None:
    assert words('IP=$(hostname)\nURL=http://$IP:$PORT\nFLAGS="--url $URL --n 1"\nvllm serve $FLAGS\n') == [
        ("--url", ()),
        ("http://$(hostname):$PORT", ("$(hostname)", "PORT")),
        ("--n", ()),
        ("1", ()),
    ]


def test_placeholders_are_no_redirections() -> None:
    assert words("vllm serve <YOUR_MODEL_DIR> -H <HOST1>:8,<HOST2>:8 < in > out 2>&1 <in>out\n") == [
        ("<YOUR_MODEL_DIR>", ("<YOUR_MODEL_DIR>",)),
        ("-H", ()),
        ("<HOST1>:8,<HOST2>:8", ("<HOST1>", "<HOST2>")),
        ("<in>out", ("<in>",)),
    ]


def test_a_subscript_that_only_looks_like_a_number() -> None:
    assert words("A=(x y)\nA[²]=z\nvllm serve ${A[²]:-none} ${A[1]}\n") == [("none", ()), ("${A[1]}", ("A",))]
    assert words("A=(x y)\nvllm serve ${A[²]}\n") == [("${A[²]}", ("A",))]
