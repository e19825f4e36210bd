"""A program that starts an engine and has options of its own may set others of the engine by itself."""

import pytest

from .judging import found


@pytest.mark.parametrize(
    ("start", "told"),
    [
        ("sglang.launch_server --model-path", True),
        ("infera.engine.sglang --model-path", True),
        ("infera.engine.sglang --infera-kvd-socket /tmp/kvd.sock --model-path", False),
    ],
)
def test_nothing_is_without_effect_that_its_starter_may_switch_on(start: str, told: bool) -> None:
    text = f"python3 -m {start} zai-org/GLM-5.2-FP8 --tp-size 8 --hicache-size 32\n"
    assert bool(found(text, "no effect")) is told
