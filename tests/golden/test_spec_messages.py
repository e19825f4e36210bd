"""Fault 54: what is said to 40 wrong specs. Each case is the file's text; the golden file holds the whole message."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from moonpad.spec.loader import parse_spec
from moonpad.values.errors import SpecError

TOP = 'model = "kimi-k2-tiny"\nengine = "vllm-cpu"\n'

WRONG = {
    "unknown-key-typo": 'modle = "kimi-k2-tiny"\n' + TOP,
    "unknown-key-synonym": TOP + "[layout]\ntensor_parallel = 2\n",
    "unknown-key-flag": TOP + "[layout]\ntensor-parallel-size = 2\n",
    "unknown-key-far": TOP + "[layout]\nzzzzzz = 2\n",
    "key-in-the-wrong-table": TOP + "[layout]\nmax_model_len = 4096\n",
    "key-below-a-table": 'engine = "vllm-cpu"\n[layout]\ntp = 1\nmodel = "kimi-k2-tiny"\n',
    "unknown-table": TOP + "[layuot]\ntp = 1\n",
    "unknown-deep-table": TOP + "[layout.tp.x]\ny = 1\n",
    "array-of-tables": TOP + "[[layout]]\ntp = 1\n",
    "dotted-key": TOP + "layout.tq = 1\n",
    "inline-table": TOP + "layout = { tp = 1, qq = 2 }\n",
    "no-model": 'engine = "vllm-cpu"\n',
    "no-engine": 'model = "kimi-k2-tiny"\n',
    "empty": "",
    "engine-typo": 'model = "kimi-k2-tiny"\nengine = "vlm-cpu"\n',
    "engine-unknown": 'model = "kimi-k2-tiny"\nengine = "ollama"\n',
    "engine-number": 'model = "kimi-k2-tiny"\nengine = 1\n',
    "engine-nameless": 'model = "kimi-k2-tiny"\n[engine]\npython = "/venv/bin/python"\n',
    "engine-two-places": f'model = "m"\n[engine]\nname = "vllm-cpu"\npython = "p"\nimage = "i@sha256:{"0" * 64}"\n',
    "image-by-tag": 'model = "m"\n[engine]\nname = "vllm-cpu"\nimage = "vllm/vllm-openai:latest"\n',
    "model-option": 'model = "--help"\nengine = "vllm-cpu"\n',
    "model-empty": 'model = ""\nengine = "vllm-cpu"\n',
    "model-list": 'model = ["a"]\nengine = "vllm-cpu"\n',
    "served-name-newline": TOP + 'served_name = "a\\nb"\n',
    "name-not-a-label": TOP + 'name = "My Endpoint"\n',
    "port-text": TOP + '[endpoint]\nport = "8000"\n',
    "port-too-large": TOP + "[endpoint]\nport = 70000\n",
    "port-time": TOP + "[endpoint]\nport = 12:30:00\n",
    "expose-number": TOP + "[endpoint]\nexpose = 1\n",
    "expose-text": TOP + '[endpoint]\nexpose = "no"\n',
    "key-in-the-spec": TOP + '[endpoint]\napi_key = "sk-canary"\n',
    "key-as-variable": TOP + '[endpoint]\napi_key_env = "sk-canary 1"\n',
    "two-keys": TOP + '[endpoint]\napi_key_env = "A"\napi_key_file = "b"\n',
    "tp-zero": TOP + "[layout]\ntp = 0\n",
    "tp-true": TOP + "[layout]\ntp = true\n",
    "tp-float": TOP + "[layout]\ntp = 2.0\n",
    "memory-fraction": TOP + "[settings]\ngpu_memory_utilization = 1.1\n",
    "memory-nan": TOP + "[settings]\ngpu_memory_utilization = nan\n",
    "extra-args-text": TOP + '[settings]\nextra_args = "--seed 1"\n',
    "extra-args-number": TOP + '[settings]\nextra_args = [\n  "--seed",\n  1,\n]\n',
    "extra-args-key": TOP + '[settings]\nextra_args = ["--api_key=sk-canary"]\n',
    "extra-args-host": TOP + '[settings]\nextra_args = ["--host", "0.0.0.0"]\n',
    "extra-args-short": TOP + '[settings]\nextra_args = ["-tp", "2"]\n',
    "timeout-number": TOP + "[launch]\nstart_timeout = 15\n",
    "timeout-unit": TOP + '[launch]\nstart_timeout = "15 minutes"\n',
    "three-at-once": 'model = "-x"\nengine = "vllm-cpu"\n[layout]\ntp = -1\n[settings]\nmax_seqs = 3\n',
}


def test_messages(golden: Callable[[str, str], None]) -> None:
    messages = []
    for name, text in WRONG.items():
        with pytest.raises(SpecError) as caught:
            parse_spec(text, name="moonpad")
        messages.append(f"# {name}\n{caught.value.message}\n")
    assert not any("canary" in message for message in messages)
    golden("spec_messages.txt", "\n".join(messages))
