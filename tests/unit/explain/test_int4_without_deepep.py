"""What serves INT4 experts in the place of DeepEP keeps them on as many ranks."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from tests.unit.explain.judging import ask

START = "# SGLang {}, 8x H200\npython -m sglang.launch_server --model moonshotai/Kimi-K2.5 --trust-remote-code {}\n"
NODE = "--tp 16 --nnodes 2 --dist-init-addr 10.0.0.1:5000 --moe-a2a-backend deepep --node-rank"
EP = ("--ep-size", "--ep")


def judged_by(options: str, release: str = "0.5.10") -> Judged:
    return ask(START.format(release, options))[0]


@pytest.mark.parametrize(
    "options",
    [
        "--tp 8 --moe-a2a-backend deepep",
        "--tp 8 --ep-size 8 --moe-a2a-backend deepep",
        "--tp 8 --ep 8 --moe-a2a-backend=deepep --deepep-mode auto",
        "--tp 8 --dp 8 --enable-dp-attention --moe-a2a-backend deepep --deepep-mode low_latency",
    ],
)
def test_the_layout_stays(options: str) -> None:
    judged = judged_by(options)
    (line,) = judged.corrected
    assert judged.layout is not None
    assert judged.layout.ep == 8
    assert not [word for word in line.argv if "deepep" in word]
    assert [line.argv[at + 1] for at, word in enumerate(line.argv) if word in EP] == ["8"]
    again = ask(f"# SGLang 0.5.10, 8x H200\n{' '.join(line.argv)}\n")[0]
    assert again.layout == judged.layout


def test_each_machine_of_two_is_mended() -> None:
    text = "# SGLang 0.5.10, 2x 8x H200\n" + "".join(
        f"python -m sglang.launch_server --model moonshotai/Kimi-K2.5 --trust-remote-code {NODE} {rank}\n"
        for rank in (0, 1)
    )
    (judged,) = ask(text)
    assert [line.argv.count("--ep-size") for line in judged.corrected] == [1, 1]
    assert not [word for line in judged.corrected for word in line.argv if "deepep" in word]


@pytest.mark.parametrize(
    ("options", "release"),
    [
        ("--tp 8 --ep 4 --moe-a2a-backend deepep", "0.5.10"),  # another number of ranks is asked for
        ("--tp 8 --moe-a2a-backend deepep", "0.5.5"),  # which cannot spread INT4 experts
        ("--tp $TP --moe-a2a-backend deepep", "0.5.10"),
    ],
)
def test_nothing_is_written_where_that_is_not_sure(options: str, release: str) -> None:
    (finding,) = [each for each in judged_by(options, release).findings if "do not take DeepEP" in each.message]
    assert finding.remedy.startswith("leave it out, or serve")
