"""What an image's server gets as its arguments, and refuses, is the first line: whatever else is not known."""

import pytest

from moonpad.report.explain_verdict import verdict
from tests.unit.explain.judging import ask

DOCKERFILE = """FROM ghcr.io/ggml-org/llama.cpp:server-cuda
ENV LLAMA_ARGS="--ctx-size 98304 --n-gpu-layers 999 -m /models/Kimi-K2-Thinking-UD-Q2_K_XL-00001-of-00006.gguf"
COPY handler.py .
{}
"""


def first_lines(text: str) -> list[str]:
    return [verdict(judged)[0] for judged in ask(text)]


def test_program_behind_the_entrypoint_comes_first() -> None:
    (line,) = first_lines(DOCKERFILE.format('CMD ["python", "-u", "handler.py"]'))
    assert line.startswith("Will likely fail: CMD: line 4: ghcr.io/ggml-org/llama.cpp:server-cuda has an entrypoint")


@pytest.mark.parametrize(
    "end", ['ENTRYPOINT ["python", "-u", "handler.py"]', 'ENTRYPOINT []\nCMD ["python", "-u", "handler.py"]']
)
def test_program_in_place_of_the_entrypoint_is_none_of_its_arguments(end: str) -> None:
    assert not any("entrypoint" in line for line in first_lines(DOCKERFILE.format(end)))
