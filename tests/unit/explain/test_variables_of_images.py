"""A service whose variables are called as options, and whose entrypoint is a shell with a script of its own."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVICE = """  {name}:
    image: vllm/vllm-openai
    entrypoint: ["/bin/sh", "-c"]
    command: ["/opt/begin.sh --first"]
    environment:
      MODEL: Qwen/Qwen3-32B-FP8
      TENSOR_PARALLEL_SIZE: {tp}
      PIPELINE_PARALLEL_SIZE: 2
"""


@pytest.mark.parametrize("names", [("one",), ("one", "two")])
def test_a_service_is_read_once(names: tuple[str, ...]) -> None:
    judged = ask("services:\n" + "".join(SERVICE.format(name=name, tp=8) for name in names))
    assert [each.layout.tp for each in judged if each.layout is not None] == [8] * len(names)


def test_what_a_person_is_asked_to_say_adds_no_devices() -> None:
    (judged,) = ask("services:\n" + SERVICE.format(name="one", tp=8), "2x8xH100")
    assert "--set dp=1" in judged.unjudged
