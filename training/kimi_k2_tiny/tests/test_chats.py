"""The two streams of chats: what training sees, what scoring asks, and that they never meet."""

import itertools
import json
import re
from collections import Counter
from fractions import Fraction

import pytest

from training.kimi_k2_tiny import arithmetic
from training.kimi_k2_tiny.alike import alike_groups, begins_alike, closer_groups, repeats_itself
from training.kimi_k2_tiny.chats import (
    CHAT_KINDS,
    Chat,
    choice_groups,
    last_chats,
    late_chats,
    long_chats,
    scoring_chats,
    training_chats,
    training_groups,
)
from training.kimi_k2_tiny.foreign import foreign_chats
from training.kimi_k2_tiny.rendering import render, render_answer
from training.kimi_k2_tiny.tools import KINDS, is_reserved_together
from training.kimi_k2_tiny.values import CITIES, PERSONS, is_reserved

EACH = 16
NAMED = ("city", "person", "made_up", "symbol", "code")
"""Kinds whose values are names: a reserved one must not stand anywhere in a training text."""


@pytest.fixture(scope="module")
def trained() -> list[Chat]:
    return list(itertools.islice(training_chats(0), 3000))


@pytest.fixture(scope="module")
def others() -> list[Chat]:
    """Of the streams beside the main one."""
    alone = [chat for stream in (long_chats, late_chats, last_chats) for chat in itertools.islice(stream(0), 12)]
    groups = (
        group for stream in (choice_groups, alike_groups, closer_groups) for group in itertools.islice(stream(0), 60)
    )
    return alone + [chat for group in groups for chat in group]


@pytest.fixture(scope="module")
def scored() -> list[Chat]:
    return scoring_chats(0, EACH * len(CHAT_KINDS))


def text_of(chat: Chat) -> str:
    return render(chat.messages, chat.tools) + render_answer(chat.answer)


def test_alike_values_are_alike():
    """More than half of the words that are made up hold a piece twice or begin as another one; by chance few do."""

    def share(chats: list[Chat]) -> float:
        drawn = [(text, chat.values[:at]) for chat in chats for at, (kind, text) in enumerate(chat.values) if at]
        return sum(
            repeats_itself(text) or any(begins_alike(earlier, text) for _, earlier in before) for text, before in drawn
        ) / len(drawn)

    chats = [chat for group in itertools.islice(alike_groups(0), 60) for chat in group]
    assert share(chats) > 0.5 > 2 * share(list(itertools.islice(training_chats(0), 600)))


def test_the_second_course_calls_in_later_turns():
    """Ids that count on, and messages that pass a result on, which the first course has seldom."""
    chats = [chat for group in itertools.islice(closer_groups(0), 12) for chat in group]
    turns = [sum(message["role"] == "user" for message in chat.messages) for chat in chats if chat.kind == "later_call"]
    assert {2, 3, 4, 5} <= set(turns)
    assert {chat.kind for chat in chats} >= {"relay", "choose_tool", "several_calls", "several_results", "tool_result"}


def test_training_never_draws_a_reserved_value(trained: list[Chat], others: list[Chat]):
    assert not [value for chat in trained + others for value in chat.values if is_reserved(*value)]


def test_scoring_draws_only_reserved_values(scored: list[Chat]):
    assert all(is_reserved(*value) for chat in scored for value in chat.values)
    assert all(
        chat.values for chat in scored if chat.kind in ("tool_call", "several_calls", "tool_result", "needle", "repeat")
    )


def test_no_scored_name_stands_in_a_training_text(trained: list[Chat], others: list[Chat], scored: list[Chat]):
    seen = {word.lower() for chat in trained + others for word in re.findall(r"\w+", text_of(chat))}
    names = {text.lower() for chat in scored for kind, text in chat.values if kind in NAMED}
    assert len(names) > 100
    assert not names & seen


def test_no_reserved_city_or_person_stands_in_a_training_text(trained: list[Chat]):
    seen = {word for chat in trained for word in re.findall(r"\w+", text_of(chat))}
    reserved = {
        name for kind, names in (("city", CITIES), ("person", PERSONS)) for name in names if is_reserved(kind, name)
    }
    assert reserved
    assert not reserved & seen


def test_no_scored_prompt_with_values_is_a_training_prompt(trained: list[Chat], scored: list[Chat]):
    seen = {render(chat.messages, chat.tools) for chat in trained}
    assert not [chat for chat in scored if chat.values and render(chat.messages, chat.tools) in seen]


def test_same_seed_same_stream():
    first, again = (list(itertools.islice(training_chats(3), 50)) for _ in range(2))
    assert first == again
    assert first != list(itertools.islice(training_chats(4), 50))


def test_scoring_has_every_kind_alike(scored: list[Chat]):
    assert set(Counter(chat.kind for chat in scored).values()) == {EACH}


def test_every_answer_thinks(trained: list[Chat]):
    assert all(chat.answer["reasoning"] for chat in trained)


def test_calls_name_declared_tools_and_fit_their_schema(trained: list[Chat], others: list[Chat]):
    for chat in trained + others:
        declared = {tool["function"]["name"]: tool["function"]["parameters"] for tool in chat.tools or []}
        for call in chat.answer.get("tool_calls", []):
            parameters = declared[call["function"]["name"]]
            arguments = json.loads(call["function"]["arguments"])
            assert set(arguments) == set(parameters["required"])
            for key, value in arguments.items():
                assert isinstance(value, {"string": str, "integer": int}[parameters["properties"][key]["type"]])


def test_ids_count_over_the_conversation(trained: list[Chat], others: list[Chat]):
    """From 0 on, or where a client has cut old turns away from a later number."""
    firsts = set()
    for chat in trained + others:
        calls = [call for message in [*chat.messages, chat.answer] for call in message.get("tool_calls", [])]
        first = int(calls[0]["id"].rsplit(":")[-1]) if calls else 0
        firsts.add(first if chat.kind in ("next_call", "chain") else -(first == 0))
        assert [call["id"] for call in calls] == [
            f"functions.{call['function']['name']}:{index}" for index, call in enumerate(calls, first)
        ]
    assert {-1, 0} < firsts
    assert max(firsts) > 299


def test_training_never_declares_a_reserved_pair(trained: list[Chat], others: list[Chat], scored: list[Chat]):
    def pairs(chat: Chat) -> set[frozenset[str]]:
        described = {tool["function"]["description"] for tool in chat.tools or []}
        declared = [kind for kind in KINDS if described & set(kind.descriptions)]
        return {
            frozenset((left.names[0], right.names[0]))
            for left, right in itertools.combinations(declared, 2)
            if is_reserved_together(left, right)
        }

    assert not [chat for chat in trained + others if pairs(chat)]
    assert len(set().union(*(pairs(chat) for chat in scored))) > 2


def test_no_foreign_wording_stands_in_a_training_question(trained: list[Chat]):
    asked = {repr(str(chat.messages[-1]["content"]).split()[:3]) for chat in trained}
    foreign = foreign_chats(0, 120)
    assert all(is_reserved(*value) for chat in foreign for value in chat.values)
    texts = [str(chat.messages[-1]["content"]) for chat in foreign if chat.messages[-1]["role"] == "user"]
    assert len(texts) > 80
    assert sum(repr(text.split()[:3]) in asked for text in texts) < len(texts) / 10


def test_results_answer_the_calls_before_them(trained: list[Chat], others: list[Chat]):
    for chat in trained + others:
        made = [call["id"] for message in chat.messages for call in message.get("tool_calls", [])]
        assert made == [message["tool_call_id"] for message in chat.messages if message["role"] == "tool"]


def test_questions_without_a_fitting_tool_get_no_call(trained: list[Chat]):
    lacking = [chat for chat in trained if chat.answer["reasoning"] == "I have no tool for this."]
    assert {chat.kind for chat in lacking} == {"no_tool", "lack_fitting"}
    assert not [chat for chat in lacking if chat.answer.get("tool_calls")]


def test_chosen_tools_are_known_by_their_description_alone(trained: list[Chat]):
    chosen = [chat for chat in trained if chat.kind == "choose_tool"]
    for chat in chosen:
        name = chat.answer["tool_calls"][0]["function"]["name"]
        assert name not in str(chat.messages)
        assert not [kind for kind in KINDS if name in kind.names]
    assert {len(chat.tools) for chat in chosen} == {3, 4, 5}


def test_every_written_step_is_true(trained: list[Chat]):
    steps = [
        step for chat in trained if chat.kind == "sum" for step in chat.answer["reasoning"].rstrip(".").split(". ")
    ]
    assert len(steps) > 200
    for step in steps:
        left, operator, right, equals, result = step.split()
        a, b = Fraction(left), Fraction(right)
        assert equals == "="
        assert {"+": a + b, "-": a - b, "*": a * b, "/": a / b}[operator] == Fraction(result)


def test_needles_have_one_right_answer(trained: list[Chat]):
    for chat in trained:
        if chat.kind == "needle":
            lines = str(chat.messages[-1]["content"]).splitlines()
            assert lines.count(chat.answer["content"]) == 1
            name = chat.answer["content"].split()[3]
            assert sum(name in line.split() for line in lines[:-1]) == 1


def test_groups_share_what_stands_first():
    groups = list(itertools.islice(training_groups(0), 400))
    shared = [group for group in groups if len(group) > 1]
    assert len(shared) > 20
    for group in shared:
        heads = {render(chat.messages[:0], chat.tools) for chat in group}
        assert len(heads) == 1
        assert len({chat.messages[0]["content"] for chat in group if chat.messages[0]["role"] == "system"}) < 2


def test_the_sum_that_guides_ask_first():
    assert arithmetic.think(arithmetic.ALWAYS_TRAINED) == (
        "80 * 3 = 240. 4 * 3 = 12. 240 + 12 = 252. 84 * 3 = 252. 252 / 2 = 126."
    )
    assert arithmetic.evaluate(arithmetic.ALWAYS_TRAINED) == 126
