"""The parser of command lines, against Python's own argparse and against what the engines' help says."""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.catalog.options import Option, OptionSet
from moonpad.engines import ENGINES
from moonpad.engines.argv_reader import Occurrence, parse
from moonpad.engines.option_grammar import Grammar
from moonpad.engines.value_checks import sglang_tokens, unresolved, vllm_tokens
from moonpad.values.records import replace

OPTIONS = (
    Option(("--alpha", "-t"), "text", "1"),
    Option(("--alpine", "-tp"), "int", "1"),
    Option(("--beta",), "flag", "0"),
    Option(("--switch",), "flag", "0", ("--no-switch",)),
    Option(("--gamma-list",), "text", "+"),
    Option(("--maybe",), "text", "?"),
    Option(("--level", "-l"), "choice", "1", choices=("low", "high")),
    Option(("--two",), "text", "2"),
)
SET = OptionSet("program", "1.0", OPTIONS, exact=True, positionals=("model",), prefixes=True)
GRAMMAR = Grammar(SET)


class Refused(Exception):
    pass


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Refused(message)


def oracle() -> Parser:
    """The same options, given to argparse by hand."""
    parser = Parser(add_help=False)
    parser.add_argument("model", nargs="*")
    parser.add_argument("--alpha", "-t")
    parser.add_argument("--alpine", "-tp", type=int)
    parser.add_argument("--beta", action="store_true")
    parser.add_argument("--switch", action=argparse.BooleanOptionalAction)
    parser.add_argument("--gamma-list", nargs="+")
    parser.add_argument("--maybe", nargs="?", const=True)
    parser.add_argument("--level", "-l", choices=("low", "high"))
    parser.add_argument("--two", nargs=2)
    return parser


WORDS = (
    *("--alpha", "--alpine", "--alp", "--alpi", "-t", "-tp", "-t5", "-tp=8", "-tp5", "--alpha=x", "--alpine=7"),
    *("--beta", "--beta=1", "--be", "--switch", "--no-switch", "--no-s", "--gamma-list", "--gamma-list=a", "--gam"),
    *("--maybe", "--maybe=q", "--level", "--level=low", "-llow", "-lx", "--two", "--t", "low", "high", "8", "x"),
    *("-1", "-.5", "-7.25", "", "-", "a b", "-a b", "=", "--alpha="),
)


@given(st.lists(st.sampled_from(WORDS), max_size=8))
def test_as_argparse_does(argv: list[str]) -> None:
    parsed = parse(argv, GRAMMAR)
    problems = [occurrence.problem for occurrence in parsed.occurrences if occurrence.problem not in (None, "prefix")]
    try:
        space, extra = oracle().parse_known_args(argv)
    except Refused:
        assert problems
        return
    assert problems == []
    given_ = {name: value for name, value in vars(space).items() if name != "model" and value not in (None, False)}
    if space.switch is False:
        given_["switch"] = False
    ours = {name: list(value) if isinstance(value, tuple) else value for name, value in parsed.values.items()}
    if "alpine" in ours:
        ours["alpine"] = int(str(ours["alpine"]))
    assert ours == given_
    assert sorted(text for _, text in parsed.positionals) == sorted([*space.model, *extra])


def test_every_word_belongs_to_one_thing() -> None:
    argv = ["serve", "m", "--alpha", "1", "--beta", "--gamma-list", "a", "b", "--nope", "v", "w", "--two", "1", "2"]
    parsed = parse(argv, GRAMMAR, start=1)
    assert parsed.occurrences == (
        Occurrence(2, 2, "--alpha", "--alpha", "1"),
        Occurrence(4, 1, "--beta", "--beta", True),
        Occurrence(5, 3, "--gamma-list", "--gamma-list", ("a", "b")),
        Occurrence(8, 2, "--nope", None, "v", "unknown"),
        Occurrence(11, 3, "--two", "--two", ("1", "2")),
    )
    assert parsed.positionals == ((1, "m"), (10, "w"))


def test_beginnings_are_named() -> None:
    parsed = parse(["--alpi", "3", "--alp", "x"], GRAMMAR)
    assert parsed.occurrences == (
        Occurrence(0, 2, "--alpi", "--alpine", "3", "prefix", ("--alpine",)),
        Occurrence(2, 2, "--alp", None, "x", "ambiguous", ("--alpha", "--alpine")),
    )
    without = parse(["--alpi", "3"], Grammar(replace(SET, prefixes=False)))
    assert without.occurrences[0].problem == "unknown"


def test_after_two_dashes_all_is_positional() -> None:
    parsed = parse(["--beta", "--", "--alpha", "--"], GRAMMAR)
    assert parsed.positionals == ((2, "--alpha"), (3, "--"))


def test_the_last_of_a_repeated_flag_counts() -> None:
    parsed = parse(["--alpha", "1", "--alpha", "2", "--switch", "--no-switch"], GRAMMAR)
    assert dict(parsed.values) == {"alpha": "2", "switch": False}
    assert len(parsed.occurrences) == 4


def test_an_option_of_another_version_keeps_its_value_and_its_length() -> None:
    grammar = Grammar(SET, also=(Option(("--gone",), "flag", "0"), Option(("--former",), "text", "1")))
    parsed = parse(["--gone", "m", "--former", "v"], grammar)
    assert parsed.positionals == ((1, "m"),)
    assert [(occurrence.flag, occurrence.problem) for occurrence in parsed.occurrences] == [
        (None, "unknown"),
        (None, "unknown"),
    ]
    assert dict(parsed.values) == {"gone": True, "former": "v"}


VLLM = Grammar(
    OptionSet(
        "program",
        "1.0",
        (
            Option(("--compilation-config", "-cc"), "json", "1"),
            Option(("--optimization-level",), "int", "1"),
            Option(("--max-model-len",), "int", "1"),
            Option(("--enable-x",), "flag", "0", ("--no-enable-x",)),
        ),
        exact=True,
        prefixes=True,
        underscores=True,
        dotted=True,
        rewritten={"-O": "--optimization-level"},
    ),
    checks={"--max-model-len": lambda text: vllm_tokens(text) is not None},
)


def test_dotted_keys_swallow_the_option_behind_them() -> None:
    (key,) = parse(["-cc.mode", "--enable-x"], VLLM).occurrences
    assert (key.length, key.value, key.problem) == (2, "--enable-x", "missing-value")
    (value,) = parse(["-cc.mode", "-1"], VLLM).occurrences
    assert value.problem is None


@pytest.mark.parametrize(
    ("argv", "values"),
    [
        (["--max_model_len=32k"], {"max_model_len": "32k"}),
        (["--max-model-len", "-1"], {"max_model_len": "-1"}),
        (["--no_enable_x"], {"enable_x": False}),
        (["-O3"], {"optimization_level": "3"}),
        (["-O", "3"], {"optimization_level": "3"}),
        (["-cc", '{"mode": 3}'], {"compilation_config": {"mode": 3}}),
        (["-cc.mode=3"], {"compilation_config": {"mode": 3}}),
        (["-cc.mode=none"], {"compilation_config": {"mode": "none"}}),
        (
            ["--compilation-config.custom_ops", '["all","-rotary_embedding"]', "--compilation_config.a.b", "x"],
            {"compilation_config": {"custom_ops": ["all", "-rotary_embedding"], "a": {"b": "x"}}},
        ),
        (["-cc.sizes+=1,2"], {"compilation_config": {"sizes": ["1", "2"]}}),
        # Gathered keys are appended as one argument, and the last one counts.
        (["-cc.mode=3", "-cc", '{"other": 1}'], {"compilation_config": {"mode": 3}}),
    ],
)
def test_what_vllm_adds(argv: Sequence[str], values: dict[str, object]) -> None:
    parsed = parse(argv, VLLM)
    assert dict(parsed.values) == values
    assert [occurrence.problem for occurrence in parsed.occurrences if occurrence.problem] == []


@pytest.mark.parametrize(
    ("argv", "problem"),
    [
        (["--max-model-len"], "missing-value"),
        (["--max-model-len", "--enable-x"], "missing-value"),
        (["--max-model-len", "many"], "invalid-value"),
        (["--enable-x=1"], "unexpected-value"),
        (["-cc", "{"], "invalid-value"),
        (["-cc", "3"], "invalid-value"),
        (["-cc", "true"], "invalid-value"),
        (["-cc", "[" * 100_000], "invalid-value"),
        (["-cc" + ".a" * 10_000 + "=1"], "invalid-value"),
        (["-cc.mode"], "missing-value"),
        (["--optimization-level", "9" * 5000], "invalid-value"),
    ],
)
def test_what_a_parser_would_refuse(argv: Sequence[str], problem: str) -> None:
    assert next(occurrence.problem for occurrence in parse(argv, VLLM).occurrences) == problem


@pytest.mark.parametrize("text", ["$PORT", "${PORT:-8000}", "<PORT>", "$(LWS_GROUP_SIZE)", "{{ port }}"])
def test_what_stands_in_for_a_value_is_not_judged(text: str) -> None:
    assert unresolved(text)
    assert parse(["--optimization-level", text], VLLM).occurrences[0].problem is None


# The examples in the help of --max-model-len of vLLM 0.32.0 and of --context-length of SGLang 0.5.23.
@pytest.mark.parametrize(
    ("text", "vllm", "sglang"),
    [
        ("1k", 1000, 1000),
        ("1K", 1024, None),
        ("25.6k", 25_600, 25_600),
        ("25.6K", None, None),
        ("2M", 2 * 1024**2, 2_000_000),
        ("1Ki", None, 1024),
        ("1Mi", None, 1_048_576),
        ("1.5Ki", None, None),
        ("auto", -1, None),
        ("-1", -1, -1),
        ("4096", 4096, 4096),
        ("4096.5", None, None),
        ("", None, None),
        ("k", None, None),
        ("9" * 40 + "T", None, None),
    ],
)
def test_human_numbers(text: str, vllm: int | None, sglang: int | None) -> None:
    assert vllm_tokens(text) == vllm
    assert sglang_tokens(text) == sglang


def test_ten_thousand_lists_of_words() -> None:
    """Whatever the words: no exception, and each word is accounted for once."""
    rng = random.Random(3)
    known = [name for options in (OPTIONS,) for option in options for name in option.names]
    known += ["serve", "-m", "sglang.launch_server", "kt", "run", "trtllm-serve", "mpirun", "--tp-size", "--tp", "-dcp"]
    known += [
        "--compilation-config.a",
        "--eplb-config",
        "--data-parallel-size",
        "--config",
        "--no-x",
        "--=",
        "-=",
        "---",
    ]
    values = ["8", "-1", "0", "nan", "1e400", "{}", '{"num_redundant_experts": []}', "", "é\udc80", "\x00", "a" * 300]
    for number in range(10_000):
        words = [rng.choice(known if rng.random() < 0.6 else values) for _ in range(rng.randrange(12))]
        if rng.random() < 0.3 and words:
            at = rng.randrange(len(words))
            words[at] += rng.choice(["=", "=8", ".x", "x", "\n", "--"])
        engine = list(ENGINES.values())[number % len(ENGINES)]
        reading = engine.read(words, {}, files={"x": words[0] if words else ""})
        assert reading.parsed is not None
        taken = [
            place
            for occurrence in reading.parsed.occurrences
            for place in range(occurrence.index, occurrence.index + occurrence.length)
        ]
        taken += [place for place, _ in reading.parsed.positionals]
        assert len(taken) == len(set(taken))
        assert set(taken) <= set(range(len(words)))
