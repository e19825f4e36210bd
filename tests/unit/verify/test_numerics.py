"""`moonpad verify --numerics`: what is far and what is noise, and that each is said."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.cli.command_line import run
from moonpad.load.openai_schema import Malformed
from moonpad.values.records import replace
from moonpad.verify.numerics.compare import (
    LEAST_MEAN,
    TIMES_FLOOR,
    Distance,
    Scored,
    TokenPlace,
    beyond,
    distance,
    limits_of,
    tokens_differ,
)
from moonpad.verify.numerics.recording import Recording
from moonpad.verify.numerics.scoring_client import read_scored
from moonpad.verify.numerics.texts import TEXTS
from tests.unit.verify.fake_endpoint import Fake, served

ONE = Scored(("a", "b", "c"), (-1.0, -2.0), ("b", "x"))
NOTHING = Distance(2, 0.0, 0.0, 0.0, TokenPlace("t", 1), None)


# --- distances -------------------------------------------------------------------------------------------------------


def test_by_hand() -> None:
    other = {"t": replace(ONE, logprobs=(-1.5, -2.25), likeliest=("b", "c"))}
    measured = distance({"t": ONE}, other)
    assert measured == Distance(2, 0.375, 0.5, 0.5, TokenPlace("t", 1), TokenPlace("t", 2))
    assert distance({"t": ONE}, {"t": ONE}) == NOTHING


@given(st.lists(st.tuples(st.floats(-30, 0), st.floats(-30, 0)), min_size=1, max_size=30))
def test_either_way_it_is_as_far(pairs: list[tuple[float, float]]) -> None:
    tokens = tuple("t" * (len(pairs) + 1))
    ours, theirs = ({"t": Scored(tokens, tuple(side), tokens[1:])} for side in zip(*pairs, strict=True))
    there, back = distance(ours, theirs), distance(theirs, ours)
    assert (there.mean, there.largest) == (back.mean, back.largest)
    assert there.mean <= there.largest + 1e-9


@pytest.mark.parametrize(
    ("tokens", "place"),
    [(("a", "b", "c"), None), (("a", "z", "c"), 1), (("a", "b"), 2), (("a", "b", "c", "d"), 3)],
)
def test_other_tokens(tokens: tuple[str, ...], place: int | None) -> None:
    other = Scored(tokens, (-1.0,) * (len(tokens) - 1), tokens[1:])
    assert tokens_differ({"t": ONE}, {"t": other}) == (None if place is None else TokenPlace("t", place))


def test_noise_is_a_multiple_of_how_far_an_engine_is_from_itself() -> None:
    least = limits_of([])
    assert least.mean == LEAST_MEAN
    assert limits_of([NOTHING]) == least, "an engine that is exact by itself may still be rounded another way"
    noisy = replace(NOTHING, mean=0.3, largest=2.0, changed=0.1)
    assert limits_of([NOTHING, noisy]).mean == pytest.approx(TIMES_FLOOR * 0.3)
    assert limits_of([NOTHING, noisy]).changed == pytest.approx(TIMES_FLOOR * 0.1)


@pytest.mark.parametrize(("field", "word"), [("mean", "on average"), ("largest", "at token"), ("changed", "likeliest")])
def test_each_that_is_beyond_is_said(field: str, word: str) -> None:
    limits = limits_of([])
    assert beyond(NOTHING, limits, "it") == []
    assert beyond(replace(NOTHING, **{field: getattr(limits, field)}), limits, "it") == []
    (sentence,) = beyond(replace(NOTHING, **{field: getattr(limits, field) * 1.01}), limits, "it")
    assert word in sentence


# --- what is read ----------------------------------------------------------------------------------------------------


def echo(**changes: Any) -> dict[str, Any]:
    logprobs = {
        "tokens": ["a", "b", "c", "generated"],
        "token_logprobs": [None, -1.0, -2.0, -0.1],
        "top_logprobs": [None, {"b": -1.0}, {"c": -2.0, "x": -0.5}, {"generated": -0.1}],
        **changes,
    }
    return {"choices": [{"logprobs": logprobs}], "usage": {"prompt_tokens": 3}}


def test_the_prompt_alone_is_read() -> None:
    assert read_scored(echo()) == ONE


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {},
        {"choices": []},
        {"choices": [{"logprobs": None}], "usage": {"prompt_tokens": 3}},
        echo(token_logprobs=[None, -1.0]),
        echo(token_logprobs=[None, None, None, None]),
        echo(top_logprobs=[None, {}, {}, {}]),
        echo(tokens=["a"]),
    ],
)
def test_what_is_no_scoring(answer: object) -> None:
    assert isinstance(read_scored(answer), Malformed)


def test_a_recording_comes_back() -> None:
    floor = Distance(2, 0.1, 0.2, 0.5, TokenPlace("t", 1), TokenPlace("t", 2))
    for own_floor in (None, floor, replace(floor, first_changed=None)):
        recording = Recording("m", "an engine", "today", {"t": ONE}, own_floor)
        assert msgspec.convert(json.loads(json.dumps(msgspec.to_builtins(recording))), Recording) == recording


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2},
        {"texts": {}},
        {"texts": {"t": {"tokens": ["a"], "logprobs": [1.0], "likeliest": []}}},
        {"floor": 1},
    ],
)
def test_what_is_no_recording(change: dict[str, Any]) -> None:
    document = msgspec.to_builtins(Recording("m", "an engine", "today", {"t": ONE}, None))
    with pytest.raises(ValueError, match=r"."):
        msgspec.convert({**document, **change}, Recording)


# --- the command -----------------------------------------------------------------------------------------------------


def scored(text: str, error: float = 0.0) -> Scored:
    """Of an endpoint whose tokens are the words, with one log-probability in eight off by eight times the error."""
    tokens = tuple(text.split())
    logprobs = tuple(-0.5 - (8 * error if place % 8 == 0 else 0.0) for place in range(len(tokens) - 1))
    return Scored(tokens, logprobs, tokens[1:])


def recorded(path: Path, error: float = 0.0, names: Mapping[str, str] = TEXTS) -> Path:
    recording = Recording(
        "kimi-k2", "a test", "today", {name: scored(text, error) for name, text in names.items()}, None
    )
    path.write_text(json.dumps(msgspec.to_builtins(recording)))
    return path


def test_recorded_and_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "trusted.json"
    with served(Fake()) as url:
        assert run(["verify", "--url", url, "--numerics", "--record", str(file)]) == 0
        assert "it differs from itself by 0.0000" in capsys.readouterr().out
        assert run(["verify", "--url", url, "--numerics", "--against", str(file)]) == 0
        assert capsys.readouterr().err.startswith("Next: moonpad bench")


@pytest.mark.parametrize(("error", "code"), [(0.01, 0), (0.2, 5)])
def test_an_engine_that_is_a_little_or_far_off(
    error: float, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = recorded(tmp_path / "trusted.json", error)
    with served(Fake()) as url:
        assert run(["verify", "--url", url, "--numerics", "--against", str(file), "--json"]) == code
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert document["passed"] is (code == 0)
    assert document["distance"]["mean"] == pytest.approx(error, rel=0.2)
    assert ("does not compute what was recorded" in captured.err) is (code == 5)


def test_another_tokenizer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = recorded(tmp_path / "trusted.json")
    document = json.loads(file.read_text())
    document["texts"]["prose-1"]["tokens"][4] = "other"
    file.write_text(json.dumps(document))
    with served(Fake()) as url:
        assert run(["verify", "--url", url, "--numerics", "--against", str(file)]) == 5
    assert "token 4 of prose-1 is 'northern', recorded was 'other'" in capsys.readouterr().err


def test_noise_of_the_trusted_endpoint_is_taken_into_account(tmp_path: Path) -> None:
    file = tmp_path / "trusted.json"
    with served(Fake(faults=frozenset({"noisy logprobs"}))) as url:
        assert run(["verify", "--url", url, "--numerics", "--record", str(file)]) == 0
        assert run(["verify", "--url", url, "--numerics", "--against", str(file)]) == 0
    with served(Fake()) as url:
        assert run(["verify", "--url", url, "--numerics", "--against", str(file)]) == 0


def test_an_engine_that_is_far_from_itself_is_caught(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As the eager-mode trap is (benchmarks/results/numerics.json): its own noise must not widen what is allowed."""
    file = recorded(tmp_path / "trusted.json")
    with served(Fake(faults=frozenset({"noisy logprobs"}))) as url:
        assert run(["verify", "--url", url, "--numerics", "--against", str(file)]) == 5
    shown = capsys.readouterr().out
    assert "its own second answer" in shown
    assert "[" not in shown, "markup is off: it would be printed"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--record", "a", "--against", "b"), 2),
        (("--only", "health"), 2),
        (("--against", "/nowhere/x.json"), 2),
        (("--record", "/proc/nowhere/y.json"), 2),
        ((), 2),
    ],
)
def test_wrong_words(words: tuple[str, ...], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    with served(Fake()) as url:
        assert run(["verify", "--url", url, "--numerics", *words]) == code
    assert "Traceback" not in capsys.readouterr().err


def test_an_endpoint_that_scores_no_prompts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = recorded(tmp_path / "trusted.json")
    with served(Fake(faults=frozenset({"no echo"}))) as url:
        assert run(["verify", "--url", url, "--numerics", "--against", str(file)]) == 5
    assert "echo" in capsys.readouterr().err


def test_the_shipped_recording_is_of_these_texts() -> None:
    path = Path(__file__).parents[3] / "src" / "moonpad" / "catalog" / "kimi-k2-tiny-logprobs.json"
    shipped = msgspec.convert(json.loads(path.read_text()), Recording)
    assert set(shipped.texts) == set(TEXTS)
    assert sum(len(scored.logprobs) for scored in shipped.texts.values()) > 1500


def test_a_recording_is_made_in_an_engines_environment() -> None:
    """The oracle runs there (tests/oracle/record.py), where little of what moonpad needs is installed."""
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('orjson', 'aiohttp', 'pydantic', 'rich', 'cyclopts'))); "
        "from moonpad.verify.numerics import compare, recording, texts"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
