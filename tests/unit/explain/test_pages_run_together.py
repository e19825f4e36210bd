"""Pages whose lines a copy has run together, `# Start it: vllm serve … # Call it: curl … --data '{`."""

from __future__ import annotations

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask, first_line

PAGE = '# Install: pip install vllm # Start the server: vllm serve "moonshotai/Kimi-VL-A3B-Instruct" '
CUT = '# Call the server: curl http://localhost:8000/v1/chat/completions --data \'{ "model": "mess'


def test_a_quote_of_the_request_behind_the_start_is_no_slip_of_the_start() -> None:
    text = f"How to use it with vLLM:\n{PAGE}{CUT}\n"
    (judged,) = ask(text)
    assert judged.model_written == "moonshotai/Kimi-VL-A3B-Instruct"
    assert not read_script(text).problems
    assert first_line(text).startswith("No error")


def test_a_quote_of_the_start_itself_is_told() -> None:
    start = PAGE.removesuffix('" ')
    text = f"How to use it with vLLM:\n{start}\n"
    assert [each.message for each in read_script(text).problems] == ['this " is never closed']


def test_in_a_script_every_quote_counts() -> None:
    text = 'vllm serve moonshotai/Kimi-VL-A3B-Instruct & curl http://localhost:8000/v1 --data \'{ "model"\n'
    assert [each.message for each in read_script(text).problems] == ["this ' is never closed"]
