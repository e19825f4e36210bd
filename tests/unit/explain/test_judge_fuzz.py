"""Nothing that anybody can write makes the judge fail: it answers, or refuses with an error of ours."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from moonpad.catalog.calibrations import calibrations
from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.options import Option, option_set, versions
from moonpad.explain.commands import Script
from moonpad.explain.judge import judge
from moonpad.explain.script import read_command, read_script
from moonpad.explain.target_detection import Question
from moonpad.report.explain_json import explain_json
from moonpad.report.explain_view import explain_view
from moonpad.values.errors import MoonpadError
from tests.drawn import of_the_day, seed_of_the_day
from tests.unit.explain.judging import NAMES, SEEDS

HEADS = {
    "vllm serve": ("vllm", "serve"),
    "vllm bench serve": ("vllm", "bench", "serve"),
    "sglang": ("python", "-m", "sglang.launch_server"),
    "sglang-router": ("sglang-router", "launch"),
    "sglang-kt": ("python", "-m", "sglang.launch_server", "--kt-method", "RAWINT4"),
    "kt run": ("kt", "run"),
    "trtllm-serve": ("trtllm-serve",),
    "ktransformers-legacy": ("python", "ktransformers/server/main.py"),
}
AROUND = (
    (),
    (
        "docker",
        "run",
        "--privileged",
        "-v",
        "/:/w",
        "-p",
        "8000:8000",
        "-e",
        "VLLM_USE_V1=1",
        "vllm/vllm-openai:v0.11.0",
    ),
    ("docker", "exec", "-it", "name"),
    ("mpirun", "-np", "16", "-H", "a:8,b:8"),
    ("srun", "-N", "2"),
    ("ssh", "host"),
    ("sudo",),
    ("env", "HCCL_BUFFSIZE=1024"),
)
JUNK = (
    *(
        "",
        "-",
        "--",
        "=",
        "' '",
        "a\nb",
        "\x1b[31m",
        "\x00",
        "\u202e",
        "é",
        "–tp",
        "99999999999999999999",
        "1e309",
        "nan",
    ),
    *("{}", '{"a":', '{"a":{"b":1}}', "[]", "$X", "${Y}$:1", "$(nproc)", "<A>", "auto", "fp8", "fp8_e4m3", "kimi_k2"),
    *(
        "-1",
        "0",
        "1",
        "2",
        "8",
        "16",
        "256",
        "12288",
        "131072",
        "0.85",
        "1k",
        "true",
        "ray",
        "0.0.0.0",
        "-tp",
        "-tp8",
        "-O3",
    ),
    *("--tp", "--a.b.c", "--compilation-config.x", "/models/x", "moonshotai/Kimi-K2-Thinking"),
    *("moonshotai/Kimi-K2-Instruct", "moonshotai/Kimi-K3"),
)
SCRIPT_JUNK = (
    *JUNK,
    "\n",
    "\\",
    "`",
    "'",
    '"',
    "```",
    "#",
    "\t",
    "(",
    ")",
    "|",
    "&&",
    "EOF",
    "\\\n",
    "for i in 1 2; do ",
)
ON = ("", "8xH200", "2x8xH800", "8xH100", "16xA3", "8xMI300X", "cpu", "12x8xH200", "2xRTX4090-48G", "H100")
# Most options say nothing of layout or memory; these do.
TELLING = ("parallel", "size", "len", "num", "cache", "memory", "host", "parser", "model", "rank", "node", "dp", "ep")


def options() -> dict[str, tuple[Sequence[Option], Sequence[Option]]]:
    options = {}
    for program in HEADS:
        known = option_set(program)
        assert known is not None
        telling = [option for option in known.options if any(word in option.dest for word in TELLING)]
        options[program] = (known.options, telling)
    return options


OPTIONS = options()
VERSIONS = ("", "", *versions("vllm serve")[::3], "0.11.1rc6", "0.4.9", "0.5.23", "1.2", "99", "0.11")


def random_argv(dice: random.Random) -> list[str]:
    program = dice.choice(list(HEADS))
    argv = [*dice.choice(AROUND), *HEADS[program]]
    if dice.random() < 0.6:
        argv.append(dice.choice(("moonshotai/Kimi-K2-Thinking", "moonshotai/Kimi-K2-Instruct", "x")))
    for _ in range(dice.randrange(14)):
        if dice.random() < 0.3:
            argv.append(dice.choice(JUNK))
            continue
        option = dice.choice(dice.choice(OPTIONS[program]))
        name = dice.choice((*option.names, *option.negations))
        argv.append(name if dice.random() < 0.9 else name[: dice.randrange(1, len(name) + 1)])
        if dice.random() < 0.8:
            value = dice.choice((*option.choices, *JUNK))
            if dice.random() < 0.2:
                argv[-1] += f"={value}"
            else:
                argv.append(value)
    return argv


def mutated(dice: random.Random, texts: Sequence[str]) -> str:
    text = dice.choice(texts)
    for _ in range(dice.randrange(1, 12)):
        at = dice.randrange(len(text) + 1)
        kind = dice.random()
        if kind < 0.3:
            text = text[:at] + dice.choice(SCRIPT_JUNK) + text[at:]
        elif kind < 0.6:
            text = text[:at] + text[at + dice.randrange(1, 60) :]
        elif kind < 0.8:
            lines = text.split("\n")
            lines.insert(dice.randrange(len(lines)), lines.pop(dice.randrange(len(lines))))
            text = "\n".join(lines)
        elif digits := [place for place, char in enumerate(text) if char.isdigit()]:
            place = dice.choice(digits)
            text = text[:place] + dice.choice("0123456789") + text[place + 1 :]
    return text


def answered(script: Script, dice: random.Random) -> bool:
    """Everything that `moonpad explain` does with it. Whether there was a memory to speak of."""
    on = dice.choice(ON)
    question = Question(cluster=parse_cluster(on) if on else None, version=dice.choice(VERSIONS))
    judged = judge(script, question, calibrations())
    explain_json(judged, script)
    view = explain_view(judged, script, dice.choice((40, 80, 200)), ascii_only=dice.random() < 0.5)
    assert all(char.isprintable() or char in "\n\t" for char in view.plain)
    for finding in (finding for judgement in judged for finding in judgement.findings):
        assert (finding.where + finding.message + finding.remedy).isprintable()
    return any(judgement.memory is not None for judgement in judged)


def drawn(name: str, count: int) -> tuple[random.Random, int]:
    """A short run is the same each time, a long one another each day."""
    return (random.Random(seed_of_the_day(name)), of_the_day(count)) if count >= 1_000 else (random.Random(name), count)


@pytest.mark.parametrize("count", [400, pytest.param(10_000, marks=pytest.mark.slow)])
def test_random_arguments(count: int) -> None:
    dice, count = drawn(f"argv {count}", count)
    reached = 0
    for _ in range(count):
        argv = random_argv(dice)
        try:
            reached += answered(read_command(argv), dice)
        except MoonpadError:
            continue
        except Exception as error:
            raise AssertionError(argv) from error
    assert reached > count / 20  # it is no test if the judge gives up at the first word


@pytest.mark.parametrize("count", [40, pytest.param(1_000, marks=pytest.mark.slow)])
def test_mutated_scripts(count: int) -> None:
    dice, count = drawn(f"scripts {count}", count)
    texts = [(SEEDS / name).read_text() for name in NAMES]
    reached = 0
    for _ in range(count):
        text = mutated(dice, texts)
        try:
            reached += answered(read_script(text), dice)
        except MoonpadError:
            continue
        except Exception as error:
            raise AssertionError(text) from error
    assert reached > count / 5  # so few of the small sample as a draw may give
