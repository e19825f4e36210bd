import asyncio
from collections.abc import Mapping

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.load.endpoint_url import target_of
from moonpad.load.prompt_calibration import GROUP, PromptCalibration, _TooMany, weigh, words_for
from moonpad.load.prompts import FIRST, WORDS, random_prompt
from moonpad.load.record import LoadRequest
from moonpad.load.request_builder import RequestBuilder
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import UsageError
from moonpad.values.secret import Secret

TARGET = target_of(Endpoint("http://127.0.0.1:8000/v1", "kimi-k2", Secret("sk-canary")))


def request(seed: int, index: int) -> LoadRequest:
    return LoadRequest(index, RequestBuilder(TARGET, "kimi-k2").stream(random_prompt(seed, index, 30), 8), 40, 8)


def test_the_same_seed_gives_the_same_requests() -> None:
    assert [request(7, index) for index in range(20)] == [request(7, index) for index in range(20)]


def test_prompts_do_not_share_a_beginning() -> None:
    beginnings = {" ".join(random_prompt(seed, index, 30).split()[:4]) for seed in range(5) for index in range(40)}
    assert len(beginnings) == 200


def test_this_prompt_never_changes() -> None:
    """Runs of different versions and machines are compared: what a seed means is a promise."""
    assert random_prompt(0, 0, 8) == "comb steam machine dance fowl tray fog step"


def test_the_request_on_the_wire() -> None:
    head, _, body = request(0, 0).wire.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /v1/chat/completions HTTP/1.1"
    assert "Host: 127.0.0.1:8000" in lines
    assert "Authorization: Bearer sk-canary" in lines
    assert f"Content-Length: {len(body)}" in lines
    document = orjson.loads(body)
    assert (document["model"], document["max_tokens"], document["stream"]) == ("kimi-k2", 8, True)
    assert document["stream_options"] == {"include_usage": True}
    assert "ignore_eos" not in document


def test_the_key_is_not_shown() -> None:
    assert "canary" not in repr(TARGET)


@pytest.mark.parametrize("key", ["sk\r\nX-Evil: 1", "schlüssel", "two words"])
def test_a_key_that_would_write_a_header_is_refused(key: str) -> None:
    with pytest.raises(UsageError, match="the key"):
        target_of(Endpoint("http://127.0.0.1/v1", "m", Secret(key)))


@pytest.mark.parametrize("url", ["ftp://host/v1", "http:///v1", "http://host:99999/v1", "http://host/v1\r\nX: 1", "v1"])
def test_a_url_that_cannot_be_used(url: str) -> None:
    with pytest.raises(UsageError):
        target_of(Endpoint(url, "m"))


def test_ipv6_and_default_ports() -> None:
    assert (target_of(Endpoint("http://[::1]:81/v1", "m")).host, target_of(Endpoint("https://h/v1", "m")).port) == (
        "::1",
        443,
    )


@pytest.mark.parametrize(("per_word", "template"), [(1.0, 9), (1.37, 30), (3.2, 4)])
@pytest.mark.parametrize("wanted", [64, 128, 1000, 8000])
def test_calibration_meets_the_length_within_a_word(per_word: float, template: int, wanted: int) -> None:
    requested: list[int] = []

    async def count(index: int, words: int) -> int:
        requested.append(words)
        return template + round(per_word * words)

    words, tokens, _ = asyncio.run(words_for(wanted, count))
    assert tokens == template + round(per_word * words)
    assert abs(tokens - wanted) <= per_word
    assert len(requested) <= 7


def test_calibration_of_less_than_the_template_sends_one_word() -> None:
    async def count(index: int, words: int) -> int:
        return 100 + words

    assert asyncio.run(words_for(16, count))[:2] == (1, 101)


def tokens_of(text: str, odd: Mapping[str, int], template: int = 7) -> int:
    """A tokenizer of one token a word and some for an odd one; whatever comes first has three."""
    _, *others = text.split(" ")
    return template + 3 + sum(odd.get(word, 1) for word in others)


@given(
    st.dictionaries(st.sampled_from(WORDS), st.integers(2, 5), max_size=len(WORDS) - 1),
    st.integers(10, 400),
    st.integers(0, 9),
)
def test_prompts_of_weighed_words_have_exactly_the_length(odd: dict[str, int], wanted: int, seed: int) -> None:
    requested = 0

    async def count(text: str) -> int:
        nonlocal requested
        requested += 1
        return tokens_of(text, odd)

    alone, weights = asyncio.run(weigh(count))
    assert alone == 7 + 3
    assert dict(zip(WORDS, weights, strict=True)) == {word: odd.get(word, 1) for word in WORDS}
    assert requested <= 1 + len(WORDS) / GROUP + 1 + 10 * len(odd)
    calibration = PromptCalibration(90, 100, "/tokenize", 1.0, weights, alone)
    assert {tokens_of(calibration.prompt(seed, index, wanted), odd) for index in range(10)} == {wanted}
    shared = calibration.text("shared", 25)
    assert tokens_of(calibration.prompt(seed, 0, wanted, shared), odd) == wanted + 25
    assert tokens_of(f"{FIRST} {shared} {calibration.text('more', 31)}", odd) == alone + 25 + 31


@given(st.integers(0, 60))
def test_weighing_takes_no_more_requests_than_it_may(most: int) -> None:
    requested = running = at_once = 0

    async def count(text: str) -> int:
        nonlocal requested, running, at_once
        requested, running = requested + 1, running + 1
        at_once = max(at_once, running)
        await asyncio.sleep(0)
        running -= 1
        return tokens_of(text, dict.fromkeys(WORDS[::2], 2))

    with pytest.raises(_TooMany):
        asyncio.run(weigh(count, most))
    assert requested <= max(1, most)
    assert most < 3 or at_once > 1


def test_a_shorter_text_of_a_name_begins_as_the_longer_one() -> None:
    """Blocks of a trace that are cut are shared as far as they go."""
    calibration = PromptCalibration(90, 100, "/tokenize", 1.0, (1,) * len(WORDS), 10)
    long = calibration.text("block 1", 100)
    assert long.startswith(calibration.text("block 1", 60))
    assert not long.startswith(calibration.text("block 2", 10))


def test_words_of_other_lengths() -> None:
    """A template of 10 tokens and 1.5 tokens a word: 90 words are 145 tokens, and 100 more are 66.7 words more."""
    calibration = PromptCalibration(90, 145, "/tokenize", 1.5)
    assert [calibration.words_of(tokens) for tokens in (145, 245, 10, 1)] == [90, 157, 1, 1]
