"""The model's own text is read as the model card writes it."""

from __future__ import annotations

import pytest

from moonpad.load.openai_schema import Message, ToolCall
from moonpad.verify.own_text.kimi_text import OwnAnswer, as_kimi_text, read_kimi_text, renumbered

CALL = '<|tool_call_begin|>functions.look:{n}<|tool_call_argument_begin|>{{"at": {n}}}<|tool_call_end|>'
SECTION = "<|tool_calls_section_begin|>{}<|tool_calls_section_end|>"
TWO = SECTION.format(CALL.format(n=0) + CALL.format(n=1))


def parts(answer: OwnAnswer) -> tuple[str, str, tuple[str, ...], str]:
    return answer.reasoning, answer.content, tuple(call.id for call in answer.calls), answer.finish_reason


@pytest.mark.parametrize(
    ("text", "finish", "expected"),
    [
        ("<think>why</think>because", "stop", ("why", "because", (), "stop")),
        ("<think></think>because<|im_end|>", "stop", ("", "because", (), "stop")),
        ("because[EOS]", "stop", ("", "because", (), "stop")),
        (f"<think>why</think>{TWO}", "stop", ("why", "", ("functions.look:0", "functions.look:1"), "tool_calls")),
        (f"<think>why{TWO}", "stop", ("why", "", ("functions.look:0", "functions.look:1"), "tool_calls")),
        ("<think>why not", "length", ("why not", "", (), "length")),
        ("because of", "length", ("", "because of", (), "length")),
        ("why</think>because", "stop", ("why", "because", (), "stop")),
    ],
)
def test_a_text_has_its_parts(text: str, finish: str, expected: tuple[str, str, tuple[str, ...], str]) -> None:
    assert parts(read_kimi_text(text, finish)) == expected


def test_an_engine_may_count_the_calls_itself() -> None:
    """SGLang: by those of the conversation's turns, whatever the model writes."""
    later = SECTION.format(CALL.format(n=7) + CALL.format(n=9))
    turns = [{"role": "user", "content": "?"}, {"role": "assistant", "tool_calls": [{}, {}]}, {"role": "tool"}]
    answer = renumbered(read_kimi_text(later, "stop"), turns)
    assert [(call.id, call.arguments) for call in answer.calls] == [
        ("functions.look:2", '{"at": 7}'),
        ("functions.look:3", '{"at": 9}'),
    ]
    assert [call.id for call in renumbered(read_kimi_text(TWO, "stop"), turns[:1]).calls] == [
        "functions.look:0",
        "functions.look:1",
    ]


def test_a_prompt_may_have_opened_the_thinking() -> None:
    assert read_kimi_text("why not", "length", thinking=True).reasoning == "why not"
    assert read_kimi_text("why not", "length").content == "why not"


def test_a_call_that_is_cut_is_not_whole() -> None:
    text = f"<think>why</think>{TWO}"
    cut = read_kimi_text(text[: text.index('{"at": 1') + 4], "length")
    assert [call.id for call in cut.whole_calls] == ["functions.look:0"]
    assert cut.problem
    assert cut.finish_reason == "length"


def test_an_answer_is_written_as_the_model_writes_it() -> None:
    calls = tuple(ToolCall(f"functions.look:{n}", "look", f'{{"at": {n}}}') for n in (0, 1))
    assert as_kimi_text(Message(reasoning="why", tool_calls=calls), opened=True) == f"<think>why</think>{TWO}"
    assert as_kimi_text(Message(content="because"), opened=False) == "because"
