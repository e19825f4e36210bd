"""Requests with the answer that refused them: told why where the author asks, left where he shows it on purpose."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code --served-model-name k2{}\n\n"
CURL = 'curl http://localhost:8000/v1/chat/completions {}-d \'{{"model": "k2", "messages": {}}}\'\n\n'
TYPE = '-H "Content-Type: application/json" '
HI = '[{"role": "user", "content": "hi"}]'
KEY = SERVE.format(" --api-key sk-1") + CURL.format(TYPE + '-H "Authorization: Bearer EMPTY" ', HI)
FORM = SERVE.format("") + CURL.format("", HI)
LIST = SERVE.format("") + CURL.format(TYPE, '"hi"')
TOP_K = SERVE.format("") + 'client.chat.completions.create(model="k2", messages=messages, top_k=20)\n\n'


def told(text: str) -> str:
    return "\n".join(finding.message for each in ask(text, "", "") for finding in each.findings)


@pytest.mark.parametrize(
    ("text", "answer", "why"),
    [
        (KEY, 'gives {"error":"Unauthorized"}', "the request has the key EMPTY"),
        (
            FORM,
            '{"error":{"message":"Unsupported Media Type: Only \'application/json\' is allowed","code":400}}',
            "curl sends -d as a form, and",
        ),
        (LIST, "400: [{'type': 'list_type', 'loc': ('body', 'messages')}]", "messages is a text"),
    ],
)
def test_the_request_above_a_pasted_answer(text: str, answer: str, why: str) -> None:
    assert why in told(f"{text}{answer}\n")
    on_purpose = f"{text}The server should answer:\n{answer}\n"
    assert why not in told(on_purpose)
    assert why not in told(f"{text}This is rejected with 401.\n")


def test_an_argument_that_the_library_refused() -> None:
    error = "TypeError: Completions.create() got an unexpected keyword argument 'top_k'\n"
    assert "has no argument top_k" in told(TOP_K + error)


def test_json_in_single_quotes() -> None:
    head = SERVE.format("") + f"curl http://localhost:8000/v1/chat/completions {TYPE}-d "
    assert "which is no JSON" in told(head + "\"{'model': 'k2', 'messages': []}\"\n")
    assert "which is no JSON" not in told(head + '\'{"model": "k2", "messages": []}\'\n')


@pytest.mark.parametrize("refused", ["curl: (7) Failed to connect to localhost port 8000: Connection refused", ""])
def test_a_port_that_only_its_refusal_names_again(refused: str) -> None:
    serve = "sglang serve --model-path moonshotai/Kimi-K2-Thinking --tp 8 --trust-remote-code\n\n"
    text = f"{serve}curl http://localhost:8000/v1/models\n{refused}\n"
    assert "goes to port 8000, and the server listens on 30000" in told(text)
    assert "goes to port" not in told(f"{text}The gateway has port 8000.\n")
    assert "goes to port" not in told(f"{text}ports: 8000 is mapped to 30000\n")
