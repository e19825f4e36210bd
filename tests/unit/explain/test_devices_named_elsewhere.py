"""Devices that a text names for something else are not those of a command in another place."""

from __future__ import annotations

from tests.unit.explain.judging import ask, devices

START = "```bash\npython3 -m sglang.launch_server --model-path {} --tp-size 8 {}\n```\n"
V3 = "deepseek-ai/DeepSeek-V3"


def asked(text: str) -> list[str]:
    return [devices(each) for each in ask(text)]


def test_an_example_of_a_generation_is_for_the_command_right_below_it_alone() -> None:
    flashmla = f"- FlashMLA\n{START.format(V3, '--attention-backend flashmla')}\n"
    trtllm = f"- TRTLLM MLA (for the Blackwell architecture, e.g., B200)\n{START.format(V3, '--page-size 64')}"
    assert asked(f"# Backends\n\nOne of these:\n\n{flashmla}{trtllm}") == ["", "8xB200"]


def test_an_example_without_a_generation_is_a_proposal() -> None:
    start = START.format(V3, "--page-size 64")
    assert asked(f"# V3\n\nOn one machine (e.g., H200).\n\nThis is how.\n\n\n\n\n\n\n{start}") == ["8xH200"]


def test_what_another_page_measured() -> None:
    figure = "## Gain\n\n*Benchmark from [the old post](https://example.org/post), long prefixes, 8x A100 80GB GPUs*\n"
    start = f"# Data parallelism\n\n## Start\n\n{START.format(V3, '--dp-size 8 --enable-dp-attention')}\n"
    assert asked(start + figure) == [""]


def test_a_speed_that_is_compared() -> None:
    compared = "## Speed\n\nWith long inputs it is slower than FA3 on H100: about -12% at 4K.\n"
    assert asked(f"# Start\n\n{START.format(V3, '--page-size 64')}\n{compared}") == [""]


def test_the_machine_of_a_smaller_model() -> None:
    measured = "## Speed\n\n- Hardware: 8x NVIDIA A100 80GB\n- Model: Example/Llama-3.1-70B\n- Ranks: 8\n"
    large = f"# Start\n\n{START.format('Example/Llama-3.1-405B-Instruct', '')}\n"
    own = f"# Start\n\n{START.format('Example/Llama-3.1-70B-Instruct', '')}\n"
    assert asked(large + measured) == [""]
    assert asked(own + measured) == ["8xA100"]
