"""Keys that a text takes from a variable stay its name in what is shown, and what stands for a key is shown."""

from __future__ import annotations

import pytest

from moonpad.values.redaction import forget_all, redact, remember_labelled
from tests.unit.explain.judging import ask

_SERVE = "vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code -tp 16 --swap-space 0"


@pytest.mark.parametrize(
    ("above", "written", "shown"),
    [
        ("export K=abcd1234", "--api-key $K", ("--api-key", "$K")),
        ("export VLLM_API_KEY='abcd1234'", '--api-key "${VLLM_API_KEY}"', ("--api-key", "$VLLM_API_KEY")),
        ("K=abcd1234", "--api-key=$K", ("--api-key=$K",)),
        ("K=abcd1234", "--api-key abcd1234", ("--api-key", "abcd1234")),  # as it is written
    ],
)
def test_the_key_stays_a_variable(above: str, written: str, shown: tuple[str, ...]) -> None:
    (judged,) = ask(f"{above}\n{_SERVE} {written}\n")
    (line,) = judged.corrected
    assert "--swap-space" not in line.argv
    at = next(place for place, text in enumerate(line.argv) if text.startswith("--api-key"))
    assert line.argv[at : at + len(shown)] == shown
    if "$" in shown[-1]:
        assert not any("abcd1234" in text for text in (*line.argv, *line.env.values()))


def test_another_option_keeps_its_value() -> None:
    (judged,) = ask(f"export NAME=kimi TOKEN=kimi\n{_SERVE} --served-model-name $NAME --api-key $TOKEN\n")
    (line,) = judged.corrected
    assert line.argv[line.argv.index("--served-model-name") + 1] == "kimi"


@pytest.mark.parametrize(("port", "count"), [("800X", 0), ("8000", 1)])
def test_nothing_is_corrected_in_a_command_with_a_place_to_fill_in(port: str, count: int) -> None:
    (judged,) = ask(f"{_SERVE} --port {port}\n")
    assert len(judged.corrected) == count


@pytest.mark.parametrize(
    ("key", "is_shown"),
    [
        ("YOUR_API_KEY_HERE", True),
        ("your-api-key", True),
        ("INSERT_TOKEN_HERE", True),
        ("changeme", True),
        ("your-9f8e7d6c-key", False),
        ("sk-live-abcdef", False),
        ("hunter2here", False),
    ],
)
def test_what_stands_for_a_key_is_shown(key: str, is_shown: bool) -> None:
    forget_all()
    text = f"vllm serve m --api-key {key}"
    remember_labelled(text)
    assert (redact(text) == text) is is_shown
    forget_all()
