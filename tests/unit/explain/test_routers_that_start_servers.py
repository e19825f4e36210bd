"""`sglang_router.launch_server` takes the options of SGLang's server; those of its router begin with --router-."""

from __future__ import annotations

from tests.unit.explain.judging import ask_one, refused, summary

COMMAND = (
    "python3 -m sglang_router.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp {more} "
    "--trust-remote-code --host 127.0.0.1"
)


def test_its_dp_is_that_of_the_server() -> None:
    judged = ask_one(COMMAND.format(more="4 --dp 2 --router-policy cache_aware"), "8xB300", "0.5.23")
    assert judged.engine == "sglang"
    assert judged.layout is not None
    assert judged.layout.tp == 4
    assert not refused(judged)
    assert not [each for each in judged.findings if "router" in each.where or "aware" in each.remedy]


def test_options_of_the_router_without_the_prefix_are_refused() -> None:
    judged = ask_one(COMMAND.format(more="8 --policy cache_aware"), "8xH200", "0.5.23")
    assert ("error", "unknown-flag", "--policy") in summary(judged)
