# ruff: noqa: E501 - answers are as long as they are
"""Answers by which a server refuses a request: told as those of a request, where people paste what they got."""

from __future__ import annotations

import pytest

from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code{}\n\n"
ERROR = "openai.BadRequestError: Error code: 400 - {'error': {'message': "
ANSWERS = {
    ERROR + '"This model\'s maximum context length is 32768 tokens. However, your request has 41873 input tokens."}}': (
        "longer than the context of 32768 tokens"
    ),
    ERROR + "'max_tokens=65536 cannot be greater than max_model_len=32768. Please request fewer output tokens.'}}": (
        "more than the context that the server has (65536)"
    ),
    "I get {'error': {'message': 'The model `kimi` does not exist.', 'type': 'NotFoundError'}}": "asks for the model kimi",
    "{\"object\":\"error\",\"message\":\"[{'type': 'json_invalid', 'loc': ('body', 1)}]\"}": "is no JSON",
    "TypeError: Completions.create() got an unexpected keyword argument 'min_p'": "no argument of OpenAI's library",
    '{"error":{"message":"At most 1 image(s) may be provided in one prompt.","code":400}}': "more than the 1 of its image",
    ERROR + "'tool_choice=\"required\" requires --tool-call-parser to be set'}}": "forces a tool",
    '{"error":"Unauthorized"}': "has none or another",
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_is_told_as_that_of_a_request(answer: str) -> None:
    (judged,) = ask(SERVE.format("") + answer + "\n", "", "")
    (finding,) = [each for each in judged.findings if each.code is Code.LOGGED_FAILURE]
    assert finding.severity is Severity.WARNING
    assert finding.message.startswith("a request failed: ")
    assert ANSWERS[answer] in finding.message
    assert verdict(judged)[0].startswith("A request failed (line 3): ")


def test_a_refused_request_keeps_the_corrected_command() -> None:
    answer = ERROR + "'\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'}}\n"
    (judged,) = ask(SERVE.format("") + answer, "", "")
    assert judged.corrected


def test_what_stopped_the_engine_comes_first() -> None:
    answer = ERROR + "'The model `kimi` does not exist.'}}\n\n"
    log = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.31 GiB. GPU 3 has a total capacity of 79 GiB\n"
    )
    (judged,) = ask(SERVE.format("") + answer + log, "", "")
    assert verdict(judged)[0].startswith("Stopped (line 5): ")


@pytest.mark.parametrize(
    "talk",
    [
        "If you see Error code: 400 - {'error': {'message': 'The model `x` does not exist.'}}, check the name.",
        "The server may answer {'error': {'message': 'JSON decode error'}} when quotes are lost.",
        'The server returns {"error": {"message": "The model `x` does not exist."}} for names that it does not know.',
        "A prompt must not be longer than the maximum context length.",
    ],
)
def test_talk_about_answers_is_none(talk: str) -> None:
    (judged,) = ask(SERVE.format("") + talk + "\n", "", "")
    assert not [each for each in judged.findings if each.code is Code.LOGGED_FAILURE]


def test_no_text_in_a_part_of_a_stream() -> None:
    text = SERVE.format(" --reasoning-parser kimi_k2")
    error = 'TypeError: can only concatenate str (not "NoneType") to str\n'
    parts = "    print(len(chunk.choices[0].delta.content))\n\n"
    assert "content is None" in str(ask(text + parts + error, "", "")[0].findings)
    assert "content is None" not in str(ask(text + "    count(chunk)\n\n" + error, "", "")[0].findings)


def test_an_error_whose_words_begin_below_its_class() -> None:
    error = "RuntimeError:\n        An attempt has been made to start a new process before the\n        current process has\n"
    (judged,) = ask(SERVE.format("") + error, "", "")
    assert "starts itself again in each worker" in verdict(judged)[0]
