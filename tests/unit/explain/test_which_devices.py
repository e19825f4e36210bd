"""Which of the devices that a text names are those of its command."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question

SERVE = "\n```bash\nvllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8{}\n```\n"


def devices(text: str) -> list[str]:
    found = judge(read_script(text), Question())
    return [judged.cluster.name if judged.cluster is not None else "" for judged in found]


@pytest.mark.parametrize("named", ["8xb200s", "8 B200s", "8x B200"])
def test_several_may_have_an_s(named: str) -> None:
    assert devices(f"# Kimi\n\nOn {named} it is slow:\n{SERVE.format('')}") == ["8xB200"]


def test_an_s_may_be_the_name() -> None:
    text = f"# Kimi\n\nOn 8 L40S it is slow:\n{SERVE.format('')}"
    assert devices(text) == ["8xL40S"]


ROWS = "| Box | 2x8 B200, TP8 + PP2 |\n| Hopper | 16xH200, TP16 |\n"


def test_a_row_with_another_layout_is_of_another_command() -> None:
    text = f"# Kimi\n\n| What | Value |\n|---|---|\n{ROWS}{SERVE.format(' --pipeline-parallel-size 2 --nnodes 2')}"
    assert devices(text) == ["2x8xB200"]


def test_rows_without_a_layout_say_nothing_of_it() -> None:
    rows = "| Box | 2x8 B200 |\n| Hopper | 16xH200 |\n"
    text = f"# Kimi\n\n| What | Value |\n|---|---|\n{rows}{SERVE.format(' --pipeline-parallel-size 2 --nnodes 2')}"
    assert devices(text) == [""]


@pytest.mark.parametrize(
    "line",
    [
        "At least 8x H200 (we have 8x H100-80GB)",
        "Our machine has 8x H100; recommended are 8x H200",
        "最低 8x H200，我们有 8x H100",
    ],
)
def test_what_is_there_goes_before_what_is_wanted(line: str) -> None:
    assert devices(f"# Kimi\n\n{line}\n{SERVE.format('')}") == ["8xH100"]


def test_what_is_wanted_counts_where_nothing_else_is_said() -> None:
    assert devices(f"# Kimi\n\nAt least: 8x H200\n{SERVE.format('')}") == ["8xH200"]


COMPOSE = """services:
  kimi:
    image: vllm/vllm-openai:v0.11.0
    command: --model moonshotai/Kimi-K2-Instruct --trust-remote-code
    deploy:
      resources:
        reservations:
          devices:
            - driver: nvidia
              {}  # the RTX 5090
              capabilities: [gpu]
"""


@pytest.mark.parametrize(("given", "found"), [('device_ids: ["1"]', "1xRTX5090"), ("count: all", "")])
def test_one_device_that_a_container_is_given_is_no_guess(given: str, found: str) -> None:
    assert devices(COMPOSE.format(given)) == [found]


def test_a_loop_of_one_round_is_known() -> None:
    text = (
        "import subprocess\n"
        'VARIANTS = {"full": ["--max-model-len", "4096"]}\n'
        "for name, more in VARIANTS.items():\n"
        '    process = subprocess.Popen(["vllm", "serve", "org/m", "--tensor-parallel-size", "8", *more])\n'
        "    print(name)\n    process.wait()\n"
    )
    (command,) = (each for each in read_script(text).commands if each.program == "vllm serve")
    assert [word.text for word in command.argv][-2:] == ["--max-model-len", "4096"]


@pytest.mark.parametrize(
    ("title", "named"),
    [
        ("# A draft for Kimi-K2.6 on H20-3e", ["8xH20-141G"]),
        ("# A draft for Kimi-K2.6", ["8xH20"]),
        # A line that names both tells them apart.
        ("# A draft for Kimi-K2.6 on H20-3e\n\nH20 and H20-3e differ.", ["8xH20"]),
    ],
)
def test_a_title_with_the_whole_name_says_which_of_two_sizes_is_meant(title: str, named: list[str]) -> None:
    assert devices(f"{title}\n\nWe use 8x NVIDIA H20.\n\n{SERVE.format('')}") == named
