"""Two keys of JSON that are gone are of one time: the release is the last that has both, as with two options.

vLLM's pass_config has enable_fi_allreduce_fusion through 0.12.0 (vllm/config/compilation.py of the tags), and
compilation_config has level through 0.17.1.
"""

from __future__ import annotations

from tests.unit.explain.judging import ask_one

SERVE = "vllm serve moonshotai/Kimi-K2-Instruct -tp 16 --compilation-config '{}'"
BOTH = SERVE.format('{"pass_config": {"enable_fi_allreduce_fusion": true}, "level": 3}')
ONE = SERVE.format('{"level": 3}')
NEVER = SERVE.format('{"pass_config": {"enable_such_fusion": true}, "levels": 3}')


def failing(text: str) -> list[str]:
    return [each.message for each in ask_one(text, "2x8xH200").findings if "fails at once" in each.message]


def test_two_keys_of_one_time_tell_the_release() -> None:
    assert ask_one(BOTH, "2x8xH200").version == "0.12.0"
    assert failing(BOTH) == []


def test_one_key_may_be_a_mistake() -> None:
    assert ask_one(ONE, "2x8xH200").version_because.endswith("the newest")
    assert len(failing(ONE)) == 1


def test_keys_that_no_release_has_tell_nothing() -> None:
    assert ask_one(NEVER, "2x8xH200").version_because.endswith("the newest")


def test_a_release_that_is_named_counts_whatever_the_keys_are() -> None:
    assert len(failing(f"# vllm==0.20.0\n{BOTH}")) == 2
