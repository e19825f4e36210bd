"""Schemas of strangers: a verdict with a sentence each time, and no request to anyone."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.load.openai_schema import Message, ToolCall
from moonpad.verify.json_schema import schema_fault
from moonpad.verify.probe import Status
from moonpad.verify.probes.structured import wrong_form
from moonpad.verify.vendor import calls_problem
from moonpad.verify.vendor_set import TOOLS

TREE = {
    "$defs": {"node": {"type": "object", "properties": {"left": {"$ref": "#/$defs/node"}}, "required": ["name"]}},
    "$ref": "#/$defs/node",
}
NESTED = {"properties": {"a": {"items": {"anyOf": [{"$ref": "#/definitions/missing"}]}}}}
DRAFT_7 = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "items": [{"type": "string"}],
    "additionalItems": False,
}


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise AssertionError(f"a schema was fetched: {args}")

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (TREE, {"name": "a", "left": {"name": "b", "left": {"name": "c"}}}),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, {"type": "object"}),
        ({"$id": "https://a.test/x", "$defs": {"n": {"type": "integer"}}, "$ref": "#/$defs/n"}, 3),
        ({"$defs": {"n": {"$anchor": "number", "type": "integer"}}, "$ref": "#number"}, 3),
        (DRAFT_7, ["a"]),
        (True, 1),
        (NESTED, {"a": []}),
    ],
)
def test_valid(schema: Any, value: Any) -> None:
    assert schema_fault(value, schema) == ""


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "string"}, 3, "3 is not of type 'string'"),
        (TREE, {"name": "a", "left": {"left": {}}}, "'name' is a required property"),
        (DRAFT_7, ["a", "b"], "Additional items are not allowed ('b' was unexpected)"),
        (False, 1, "False schema"),
        (NESTED, {"a": [1]}, "'/definitions/missing', which is not part of it"),
        ({"$ref": "#/nowhere"}, 1, "'/nowhere', which is not part of it"),
        ({"$ref": "http://192.0.2.1/schema.json"}, 1, "'http://192.0.2.1/schema.json', which is not part of it"),
        ({"properties": {"a": {"$ref": "https://a.test/b.json#/c"}}}, {"a": 1}, "moonpad fetches no schema"),
        ({"$ref": "file:///etc/passwd"}, 1, "not part of it"),
        ({"$id": "https://a.test/x", "$ref": "other.json"}, 1, "not part of it"),
        ({"$dynamicRef": "#nowhere"}, 1, "not part of it"),
        ({"$ref": "#"}, 1, "refers to itself without end"),
        ({"allOf": [{"$ref": "#/allOf/0"}]}, 1, "refers to itself without end"),
        ({"type": "text"}, 1, "the schema itself is not valid"),
        ({"pattern": "("}, "a", "the schema itself is not valid"),
        ({"$schema": []}, 1, "the schema"),
        ({"$id": "http://[", "$ref": "a"}, 1, "the schema"),
        ("a text", 1, "the schema"),
        (None, 1, "the schema"),
    ],
)
def test_what_is_wrong_is_one_sentence(schema: Any, value: Any, expected: str) -> None:
    assert expected in schema_fault(value, schema)


def test_a_value_that_is_nested_too_deeply() -> None:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    assert "nested too deeply" in schema_fault(value, {"items": {"$ref": "#"}})


WORDS = st.sampled_from(
    ["$ref", "$id", "$schema", "$anchor", "$dynamicRef", "$defs", "items", "allOf", "type", "pattern"]
)
LEAVES = st.sampled_from(["#", "#/a", "http://[", "urn:x", "https://a.test/", "object", "(", 1, None, True, []])
SCHEMAS = st.recursive(LEAVES, lambda inner: st.dictionaries(WORDS, inner, max_size=4) | st.lists(inner, max_size=2))


@given(SCHEMAS)
def test_no_schema_raises(schema: Any) -> None:
    assert isinstance(schema_fault({"a": [1]}, schema), str)


def test_a_call_that_cannot_be_judged_is_not_valid_and_says_why() -> None:
    tool, _ = TOOLS["weather"]
    parameters = {"type": "object", "properties": {"city": {"$ref": "https://a.test/city.json"}}}
    remote = {"type": "function", "function": {**tool["function"], "parameters": parameters}}
    answer = Message(tool_calls=(ToolCall("functions.get_weather:0", "get_weather", json.dumps({"city": "Paris"})),))
    assert calls_problem(answer, [tool]) == ""
    assert calls_problem(answer, [remote]) == (
        "get_weather: the schema refers to 'https://a.test/city.json', which is not part of it "
        "(moonpad fetches no schema)"
    )
    assert "was not offered" in calls_problem(answer, [])


def test_an_answer_that_ends_in_its_thinking_may_be_the_models_fault() -> None:
    """A form begins after the thinking: where that never ends, a model too small to judge may be why."""
    thinking = wrong_form(
        Message(reasoning="The user asks", finish_reason="stop"), "JSON by a schema", "response_format"
    )
    empty = wrong_form(Message(finish_reason="stop"), "JSON by a schema", "response_format")
    assert (thinking.status, thinking.model_may_be_why) == (Status.FAIL, True)
    assert (empty.status, empty.model_may_be_why) == (Status.FAIL, False)
