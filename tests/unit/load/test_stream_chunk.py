from contextlib import suppress

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.load.failure import FailureKind, RequestFailed
from moonpad.load.openai_schema import Usage
from moonpad.load.stream_chunk import parse_chunk


@pytest.mark.parametrize(
    ("delta", "kinds"),
    [
        ('{"role":"assistant","content":""}', (False, False, False)),
        ('{"content":null}', (False, False, False)),
        ('{"content":"a"}', (False, True, False)),
        ('{"reasoning":"a"}', (True, False, False)),
        ('{"reasoning_content":"a"}', (True, False, False)),
        ('{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}', (False, False, True)),
        ('{"reasoning":"a","content":"b"}', (True, True, False)),
        ("null", (False, False, False)),
    ],
)
def test_kinds_of_tokens(delta: str, kinds: tuple[bool, bool, bool]) -> None:
    chunk = parse_chunk(f'{{"choices":[{{"delta":{delta}}}]}}'.encode())
    assert (chunk.reasoning, chunk.content, chunk.tool_calls) == kinds
    assert chunk.bears_tokens is any(kinds)


def test_text_completions_bear_tokens() -> None:
    assert parse_chunk(b'{"choices":[{"text":"a","finish_reason":"length"}]}').content


def test_usage_with_and_without_details() -> None:
    usage = b'{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3%s}}'
    assert parse_chunk(usage % b"").usage == Usage(7, 3)
    details = b',"completion_tokens_details":{"reasoning_tokens":2}'
    assert parse_chunk(usage % details).usage == Usage(7, 3, reasoning_tokens=2)


def test_counts_that_are_no_counts_are_not_reported() -> None:
    usage = parse_chunk(b'{"usage":{"prompt_tokens":"7","completion_tokens":-1}}').usage
    assert usage == Usage()


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        (b'{"error":{"message":"out of memory","code":500}}', "out of memory"),
        (b'{"error":"out of memory"}', "out of memory"),
        (b'{"object":"error","message":"out of memory"}', "out of memory"),
    ],
)
def test_an_error_inside_the_stream(payload: bytes, text: str) -> None:
    with pytest.raises(RequestFailed) as caught:
        parse_chunk(payload)
    assert (caught.value.failure.kind, caught.value.failure.text) == (FailureKind.STREAM_ERROR, text)


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        (b'{"choices":[', FailureKind.INVALID_JSON),
        (b"[1]", FailureKind.INVALID_JSON),
        (b'{"choices":[1]}', FailureKind.INVALID_JSON),
        (b'{"choices":3}', FailureKind.INVALID_JSON),
        (b'{"choices":[{"delta":"a"}]}', FailureKind.INVALID_JSON),
        (b'{"usage":7}', FailureKind.INVALID_JSON),
        (b'{"choices":[{"delta":{"content":"\xe6\x9c"}}]}', FailureKind.INVALID_UTF8),
    ],
)
def test_what_is_no_chunk(payload: bytes, kind: FailureKind) -> None:
    with pytest.raises(RequestFailed) as caught:
        parse_chunk(payload)
    assert caught.value.failure.kind is kind


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["choices", "delta", "usage", "content", "error", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_a_chunk_or_a_failed_request(document: object) -> None:
    with suppress(RequestFailed):
        parse_chunk(orjson.dumps(document))
