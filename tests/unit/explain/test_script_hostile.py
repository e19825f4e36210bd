"""Hostile scripts: mutated guides, random trouble, and the limits, each with our own error or a result."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonpad.explain.commands import Script
from moonpad.explain.grouping import group
from moonpad.explain.script import read_command, read_script
from moonpad.values.errors import MoonpadError, UsageError

SEEDS = sorted((Path(__file__).resolve().parents[2] / "seeds").glob("*.md"))


def check_places(script: Script) -> None:
    """Every place is one of the text, and no line would move the cursor of a terminal."""
    words = [word for command in script.commands for word in (*command.words, *command.env.values())]
    for word in words:
        assert 1 <= word.line <= word.end_line <= len(script.lines), word
        assert 0 <= word.column <= len(script.lines[word.line - 1]), word
        assert word.column <= word.end_column or word.line < word.end_line, word
        assert word.end_column <= len(script.lines[word.end_line - 1]), word
    for problem in script.problems:
        assert 1 <= problem.line <= len(script.lines)
        assert problem.column < problem.end_column
    assert not any("\ud800" <= character <= "\udfff" for line in script.lines for character in line)
    assert not any(set(line) & set("\x00\x08\x0b\x0c\r\x1b\x7f\x85\x9b\u202e") for line in script.lines)


TROUBLE = [
    *"'\"`$\\#(){}[]<>|&;!\n\t \0\r\x1b=~*?",
    *("$(", "${", "$((", "))", "${A:-", "<<EOF\n", "\nEOF\n", "<<-'E'\n", "$'", "\\\n", "\\ \n", "&&", "||", ";;"),
    *(" if ", " then ", " fi\n", " for i in 1 2; do ", "\ndone\n", " case x in ", " esac ", "f() { ", "\n}\n"),
    *("A=$A$A ", "A+=(x) ", "${A[@]}", "$@", "eval ", "bash -c ", "ssh h ", "docker run i ", "exec ", "sudo "),
    *(
        "\n```\n",
        "\n```bash\n",
        "\n- `--x`\n",
        "\n# node 1\n",
        "\x1b[31m",
        "\u202e",
        "\ud800",
        "\u00a0",
        "é",
        "\U0001f600",
    ),
]


def mutated(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 12)):
        at, to = sorted((chance.randint(0, len(text)), chance.randint(0, len(text))))
        match chance.randint(0, 4):
            case 0:
                text = text[:at] + text[at + chance.randint(1, 40) :]
            case 1:
                text = text[:at] + chance.choice(TROUBLE) + text[at:]
            case 2:
                text = text[:at] + chance.choice(TROUBLE) + text[at + 1 :]
            case 3:
                text = text[:at] + text[at : at + 300] + text[at:]
            case _:
                text = text[:at] + text[to:] + text[at:to]
    return text


@pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.stem)
def test_mutated_seeds(path: Path) -> None:
    """1,000 over the five seeds, half as documents, half as scripts: a result or an error of ours."""
    chance = random.Random(path.stem)
    whole = path.read_text()
    blocks = "\n".join(whole.split("```")[1::2])
    for number in range(200):
        text = mutated(blocks if number % 2 else whole, chance)
        try:
            script = read_script(text)
        except MoonpadError:
            continue
        check_places(script)
        group(script.commands)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(TROUBLE), st.sampled_from(["vllm serve", "A", "1", "--x"])), max_size=40))
def test_any_trouble(parts: list[str]) -> None:
    try:
        script = read_script("".join(parts))
    except MoonpadError:
        return
    check_places(script)
    group(script.commands)


DEEP = 20_000
HOSTILE = {
    "a text of more than 1 MB": "x" * 1_000_001,
    "doubling": "A=xxxxxxxxxx\n" + "A=$A$A\n" * 60 + "vllm serve $A\n",
    "doubling words": 'A="a b c d"\n' + 'A="$A $A"\n' * 60 + "vllm serve $A\n",
    "doubling arrays": "A=(a b)\n" + 'A=("${A[@]}" "${A[@]}")\n' * 60 + 'vllm serve "${A[@]}"\n',
    "functions that call one another twice": "f0() { vllm serve; }\n"
    + "".join(f"f{n}() {{ f{n - 1}; f{n - 1}; }}\n" for n in range(1, 45))
    + "f44\n",
    "loops in loops": "for i in 1 2 3 4 5 6 7 8; do " * 12 + "x $i; " + "done; " * 12,
    "loops in functions": "f() { for i in 1 2 3 4 5 6 7 8; do g $i; done; }\n"
    "g() { for i in 1 2 3 4 5 6 7 8; do h $i; done; }\n"
    "h() { for i in 1 2 3 4 5 6 7 8; do k $i; done; }\n"
    "k() { for i in 1 2 3 4 5 6 7 8; do l $i; done; }\n"
    "l() { for i in 1 2 3 4 5 6 7 8; do echo $i; done; }\nf\n",
    "substitutions": "vllm serve " + "$(" * DEEP,
    "closed substitutions": "vllm serve " + "$(" * DEEP + ")" * DEEP,
    "defaults": "vllm serve " + "${A:-" * DEEP + "}" * DEEP,
    "quotes in substitutions": "vllm serve " + '"$(' * DEEP,
    "brackets": "(" * DEEP,
    "braces": "{ " * DEEP,
    "conditions": "if " * DEEP,
    "functions": "f() " * DEEP,
    "docker in docker": "docker run i " * DEEP,
    "sudo": "sudo " * DEEP + "vllm serve",
    "shells": "bash -c " * DEEP,
    "inner shells": "bash -c 'ssh h \"bash -c " * 30,
    "arithmetic": "vllm serve $((" + "(" * 60 + "1" + ")" * 60 + "))",
    "large numbers": "A=999999999999999999\nvllm serve $((A * A)) $((A / 0)) $((08)) $((1 / (1 - 1)))\n",
    "open quotes": "vllm serve " + "' \"\n" * DEEP,
    "open heredocs": "cat <<E\n" * DEEP,
    "a heredoc that ends with an empty line": "cat <<''\n" + " " * 900_000 + "x\n",
    "many heredocs": "".join(f"cat <<E{n}\nE{n}\n" for n in range(DEEP)),
    "blanks": " " * 900_000 + "```",
    "fences": "```bash\n" * DEEP,
    "exports": "".join(f"export A{n}=1\n" for n in range(2_000)) + "vllm serve\n",
    "arrays": "A+=(x)\n" * DEEP,
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_scripts(name: str) -> None:
    try:
        script = read_script(HOSTILE[name])
    except UsageError as error:
        assert error.remedy
        return
    check_places(script)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x" * 1_000_001, "1,000,001 bytes"),
        ("A=xxxxxxxxxx\n" + "A=$A$A\n" * 60, "2,000,000 characters"),
        ("( " * 100, "50 deep"),
        ("for i in 1 2 3 4 5 6 7 8 9 10 11 12; do x " + "a " * 6000 + "; done", "60,000 words"),
        ("vllm serve m\n" * 501, "500 commands"),
    ],
)
def test_limits_are_said(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        read_script(text)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=12), max_size=12))
def test_any_command_line(words: list[str]) -> None:
    try:
        script = read_command(words)
    except MoonpadError:
        return
    check_places(script)
