"""Moonlight and Kimi-VL: their memory is judged, and no parser is advised that they do not need."""

import pytest

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask_one

SMALL = ["moonshotai/Moonlight-16B-A3B-Instruct", "moonshotai/Kimi-VL-A3B-Instruct"]


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("serve", ["vllm serve {}", "python -m sglang.launch_server --model-path {}"])
def test_their_memory_is_judged(name: str, serve: str) -> None:
    judged = ask_one(serve.format(name) + " --trust-remote-code", "1xH100")
    assert judged.memory is not None
    assert judged.memory.fits
    # 27 layers of 512 + 64 values of two bytes.
    assert 0.98 < judged.memory.kv_bytes.value / judged.memory.kv_tokens.value / 31_104 < 1.02
    assert not [each for each in judged.findings if each.code is Code.MISSING_FLAG and "parser" in each.where]


@pytest.mark.parametrize("name", SMALL)
def test_weights_of_32_gb_do_not_go_into_24(name: str) -> None:
    judged = ask_one(f"vllm serve {name} --trust-remote-code", "1xRTX4090")
    assert Code.DOES_NOT_FIT in {each.code for each in judged.findings}


def test_an_engine_without_a_class_for_it_is_a_doubt() -> None:
    judged = ask_one("vllm serve moonshotai/Kimi-VL-A3B-Instruct --trust-remote-code -tp 16", "16xA3")
    (told,) = [each for each in judged.findings if "not known to serve kimi_vl" in each.message]
    assert told.severity is Severity.WARNING


@pytest.mark.parametrize("release", ["0.5.9", "0.5.10"])
def test_their_tokenizer_is_code(release: str) -> None:
    server = f"docker run lmsysorg/sglang:v{release} python3 -m sglang.launch_server --ipc=host --model-path"
    judged = ask_one(f"{server} {SMALL[1]}")
    assert any("brings a tokenizer in Python" in each.message for each in judged.findings)
