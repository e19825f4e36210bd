"""What a person has read of one command of a text is only named at the next ones."""

from __future__ import annotations

from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view
from tests.unit.explain.judging import ask

GUIDE = """# Two ways

```bash
vllm serve moonshotai/Kimi-K2-Thinking --trust-remote-code -tp 8 --port 8000
```

The other:

```bash
vllm serve moonshotai/Kimi-K2-Thinking --trust-remote-code -tp 8 -pp 2 --port 8001 {more}
```
"""
THINKS = "thinks aloud"


def shown(more: str = "", *, verbose: bool = False) -> str:
    script = read_script(GUIDE.format(more=more))
    return explain_view(ask(script, "2x8xH200", "0.17.0"), script, 120, verbose=verbose).plain


def test_a_warning_and_known_faults_are_said_once() -> None:
    view = shown()
    assert view.count(THINKS) == 1
    first, second = view.split("As said of an earlier command: ")
    assert "Mended after 0.17.0" in first
    named = second.partition("GiB on")[0]
    assert "--reasoning-parser" in named
    assert "known faults" in named


def test_whoever_asks_for_all_reads_it_at_each() -> None:
    view = shown(verbose=True)
    assert view.count(THINKS) == 2
    assert "As said" not in view


def test_an_error_is_said_of_each_command() -> None:
    wrong = GUIDE.replace("--port 8000", "--port 8000 --no-such-option").format(more="--no-such-option")
    script = read_script(wrong)
    assert explain_view(ask(script, "2x8xH200", "0.17.0"), script, 120).plain.count("error: vLLM 0.17.0 has no") == 2


def test_what_only_a_later_command_has_is_said_there() -> None:
    first, _, second = shown("--load-format compressed-tensors").partition("line 10")
    assert "--load-format" not in first.partition("line 4")[2].partition("Error")[0]
    assert "error: --load-format" in second or "warning: --load-format" in second
