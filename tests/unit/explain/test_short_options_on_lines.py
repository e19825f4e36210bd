"""Options of one dash that stand on lines of their own, and what the names of a fork say of memory and of a cache."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, ask_one, at, found

_MODEL = "-m /models/Kimi-K2-Thinking-UD-Q2_K_XL.gguf"


def _words(text: str) -> list[str]:
    (judged,) = ask(text)
    return [word.text for word in judged.sources[0].argv]


@pytest.mark.parametrize("short", ["-muge", "-fa", "-ngl 99", "-tp 8"])
def test_a_list_without_backslashes_goes_on_over_short_options(short: str) -> None:
    words = _words(f"```\n./llama-server\n  --model a.gguf\n  {short}\n  --jinja\n  --override-tensor exps=CPU\n```\n")
    assert words[-3:] == ["--jinja", "--override-tensor", "exps=CPU"]
    assert short.split()[0] in words


def test_the_first_option_may_be_the_short_one() -> None:
    words = _words(f"```\n./llama-server\n{_MODEL}\n-c 4096\n-ngl 99\n```\n")
    assert words[-4:] == ["-c", "4096", "-ngl", "99"]


def test_an_item_of_a_list_below_a_command_is_not_joined() -> None:
    text = f"./llama-server {_MODEL} -c 4096\n- the first remark\n- another -x one\n"
    assert "remark" not in _words(text)


def test_a_pattern_of_case_is_not_joined() -> None:
    text = f'./llama-server {_MODEL} \\\n  -c 4096\ncase "$1" in\n  --x)\n  true\n  ;;\n  -h|--help)\n  true ;;\nesac\n'
    assert _words(text)[-2:] == ["-c", "4096"]


def test_a_fork_has_formats_of_its_own() -> None:
    text = f"~/ik_llama.cpp/build/bin/llama-server {_MODEL} -c 4096 --cache-type-k q6_0"
    assert not at(ask_one(text), "invalid-value")
    assert found(text, "options are not recorded")


def test_llama_cpp_itself_names_its_formats() -> None:
    (finding,) = found(f"./llama-server {_MODEL} -c 4096 --cache-type-k q6_0", "q6_0")
    assert "auto" not in finding.remedy
    assert "q8_0" in finding.remedy
