"""The template against texts written by hand from the family's format."""

import pytest

from training.kimi_k2_tiny.chats import training_chats
from training.kimi_k2_tiny.rendering import render, render_answer

DEFAULT = "<|im_system|>system<|im_middle|>You are Kimi, an AI assistant created by Moonshot AI.<|im_end|>"
HI = "<|im_user|>user<|im_middle|>Hi<|im_end|>"
OPEN = "<|im_assistant|>assistant<|im_middle|>"
USER = {"role": "user", "content": "Hi"}


def call(name: str, arguments: object, id: str | None = None) -> dict[str, object]:
    made = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return made if id is None else {"id": id, **made}


def chain(*calls: dict[str, object], **more: object) -> dict[str, object]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


def test_missing_system_message_is_filled():
    assert render([USER]) == DEFAULT + HI + OPEN


def test_given_system_message_stands_alone():
    text = render([{"role": "system", "content": "Be brief."}, USER])
    assert text == "<|im_system|>system<|im_middle|>Be brief.<|im_end|>" + HI + OPEN


def test_generation_prompt_only_on_request():
    assert render([USER], generation_prompt=False) == DEFAULT + HI


def test_tools_come_first_as_compact_json():
    tools = [{"type": "function", "function": {"name": "now", "description": "Zürich <b>"}}]
    declared = '[{"type":"function","function":{"name":"now","description":"Zürich <b>"}}]'
    assert render([USER], tools) == f"<|im_system|>tool_declare<|im_middle|>{declared}<|im_end|>" + DEFAULT + HI + OPEN


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_thinking_is_kept_in_the_current_chain(field: str):
    text = render([USER, chain(call("now", "{}", "functions.now:0"), **{field: "I look."})])
    calls = (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|tool_call_end|>"
        "<|tool_calls_section_end|>"
    )
    assert text == DEFAULT + HI + OPEN + f"<think>I look.</think>{calls}<|im_end|>" + OPEN


def test_thinking_is_emptied_in_earlier_turns():
    history = [USER, {"role": "assistant", "reasoning": "A greeting.", "content": "Hello."}, USER]
    assert render(history) == DEFAULT + HI + OPEN + "<think></think>Hello.<|im_end|>" + HI + OPEN


def test_plain_answer_ends_the_chain_before_it():
    text = render(
        [
            USER,
            chain(call("now", "{}", "functions.now:0"), reasoning="Old."),
            {"role": "tool", "tool_call_id": "functions.now:0", "content": "12:00"},
            {"role": "assistant", "reasoning": "Old too.", "content": "Noon."},
            USER,
            chain(call("now", "{}", "functions.now:1"), reasoning="New."),
        ]
    )
    assert "Old" not in text
    assert "<think>New.</think>" in text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Hi", "Hi"),
        ("", ""),
        (None, ""),
        ([], ""),
        ([{"type": "text", "text": "H"}, {"type": "text", "text": "i"}], "Hi"),
        (["H", "i"], "Hi"),
    ],
)
def test_content_may_be_text_nothing_or_parts(content: object, text: str):
    assert render([{"role": "user", "content": content}]) == DEFAULT + HI.replace("Hi", text) + OPEN


def test_message_without_content_is_empty():
    assert render([{"role": "assistant"}], generation_prompt=False) == DEFAULT + OPEN + "<think></think><|im_end|>"


def test_arguments_may_be_text_or_values():
    text = render([chain(call("f", '{"a":1}', "functions.f:0"), call("f", {"a": "ü"}, "functions.f:1"))])
    assert 'functions.f:0<|tool_call_argument_begin|>{"a":1}<|tool_call_end|>' in text
    assert 'functions.f:1<|tool_call_argument_begin|>{"a": "ü"}<|tool_call_end|>' in text


def test_result_goes_back_under_its_id():
    text = render([{"role": "tool", "tool_call_id": "functions.now:3", "content": "12:00"}])
    assert "<|im_system|>tool<|im_middle|>## Return of functions.now:3\n12:00<|im_end|>" in text


def test_names_replace_roles():
    text = render([{"role": "user", "name": "Ada", "content": "Hi"}])
    assert text == DEFAULT + "<|im_user|>Ada<|im_middle|>Hi<|im_end|>" + OPEN


def test_foreign_and_missing_ids_are_counted_over_the_conversation():
    text = render(
        [
            USER,
            chain(call("a", "{}", "call_x"), call("b", "{}")),
            {"role": "tool", "tool_call_id": "call_x", "content": "1"},
            chain(call("a", "{}", "call_y")),
            {"role": "tool", "tool_call_id": "call_y", "content": "2"},
        ]
    )
    for id in ("functions.a:0", "functions.b:1", "functions.a:2"):
        assert f"<|tool_call_begin|>{id}<|tool_call_argument_begin|>" in text
    assert "## Return of functions.a:0\n1<|im_end|>" in text
    assert "## Return of functions.a:2\n2<|im_end|>" in text
    assert "call_" not in text.replace("tool_call_", "")


def test_answer_is_what_the_rendered_chat_shows():
    """A tool call stands in the transcript exactly as the model had to write it."""
    chats = training_chats(5)
    seen = 0
    while seen < 50:
        chat = next(chats)
        if chat.answer.get("tool_calls"):
            seen += 1
            whole = render([*chat.messages, chat.answer], chat.tools, generation_prompt=False)
            assert whole == render(chat.messages, chat.tools) + render_answer(chat.answer)


def test_plain_answer_keeps_its_thinking():
    answer = {"role": "assistant", "reasoning": "A greeting.", "content": "Hello."}
    assert render_answer(answer) == "<think>A greeting.</think>Hello.<|im_end|>"
