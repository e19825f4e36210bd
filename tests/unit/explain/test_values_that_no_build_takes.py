"""A value that no release takes and no plugin can add is an error with a release named and without, for a model of the
catalogue and for any other."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask_one

CATALOGUED = "vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code -tp 16 "
OTHER = "vllm serve /models/qwen3 -tp 1 "


def severities(text: str, flag: str, version: str = "") -> list[Severity]:
    judged = ask_one(text, on="2x8xH200", version=version)
    return [each.severity for each in judged.findings if each.where == flag and each.severity is not Severity.NOTE]


@pytest.mark.parametrize("start", [CATALOGUED, OTHER], ids=["catalogued", "other"])
@pytest.mark.parametrize("version", ["", "0.10.0", "0.19.1", "0.32.0", "0.33.0"])
@pytest.mark.parametrize("value", ["fp16", "half"])
def test_a_cache_of_a_type_that_no_release_names(start: str, version: str, value: str) -> None:
    found = severities(f"{start}--kv-cache-dtype {value}", "--kv-cache-dtype", version)
    assert Severity.ERROR in found


@pytest.mark.parametrize("start", [CATALOGUED, OTHER], ids=["catalogued", "other"])
@pytest.mark.parametrize("value", ["auto", "bfloat16", "fp8"])
def test_what_each_of_them_takes(start: str, value: str) -> None:
    assert not severities(f"{start}--kv-cache-dtype {value}", "--kv-cache-dtype", "0.33.0")


def test_the_corrected_command_has_a_name_that_all_of_them_take() -> None:
    judged = ask_one(f"{OTHER}--kv-cache-dtype fp16")
    assert "--kv-cache-dtype auto" in " ".join(word for line in judged.corrected for word in line.argv)


def test_a_name_that_a_package_may_add_is_not_an_error_in_a_build_of_ones_own() -> None:
    text = "docker run me/vllm-with-mine:1 --model /models/qwen3 --kv-cache-dtype mine_4bit"
    assert Severity.ERROR not in severities(text, "--kv-cache-dtype")


@pytest.mark.parametrize("version", ["", "0.12.0", "0.33.0"])
@pytest.mark.parametrize("start", [CATALOGUED, OTHER], ids=["catalogued", "other"])
def test_weights_are_not_made_int4_by_the_type(start: str, version: str) -> None:
    assert severities(f"{start}--dtype int4", "--dtype", version) == [Severity.ERROR]


def test_a_type_of_sglang_too() -> None:
    text = "python -m sglang.launch_server --model-path /models/qwen3 --dtype int4"
    assert severities(text, "--dtype") == [Severity.ERROR]


def test_a_method_that_a_plugin_may_bring_stays_a_warning() -> None:
    text = "vllm serve /models/qwen3 --load-format bananas"
    assert severities(text, "--load-format", "0.33.0") == [Severity.WARNING]
