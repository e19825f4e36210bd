"""AISBench's configuration file: its form, and that no name breaks out of it.

AISBench itself read the file of kimi-k2-tiny's spec and evaluated with it (benchmarks/results/aisbench.json).
"""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.render.aisbench import FILE, render_aisbench
from moonpad.spec.loader import parse_spec

HEAD = 'model = "{model}"\nengine = "vllm-cpu"\nserved_name = "{name}"\n'


def settings_of(text: str) -> dict[str, Any]:
    """The one model of the file, with what is not a literal left out."""
    tree = ast.parse(text)
    value = next(node.value for node in tree.body if isinstance(node, ast.Assign) and _is(node, "models"))
    assert isinstance(value, ast.List)
    (call,) = value.elts
    assert isinstance(call, ast.Call)
    return {
        word.arg or "": ast.literal_eval(word.value)
        for word in call.keywords
        if not isinstance(word.value, ast.Name | ast.Call)
    }


def _is(node: ast.Assign, name: str) -> bool:
    (target,) = node.targets
    return isinstance(target, ast.Name) and target.id == name


def test_it_asks_the_endpoint_of_the_spec() -> None:
    """By the settings of the guide's reference configuration: greedy, top_p 1, 2048 tokens, one at a time."""
    spec = parse_spec(HEAD.format(model="kimi-k2-tiny", name="kimi") + "[endpoint]\nport = 9123\n", name="a")
    text = render_aisbench(spec)[FILE].text
    settings = settings_of(text)
    assert (settings["host_ip"], settings["host_port"], settings["model"]) == ("127.0.0.1", 9123, "kimi")
    assert (settings["max_out_len"], settings["batch_size"], settings["api_key"]) == (2048, 1, "")
    assert settings["path"] == ""
    assert "dict(temperature=0.0, top_p=1.0)" in text
    assert "import os" not in text


def test_a_folder_is_named_and_a_key_is_not() -> None:
    head = HEAD.format(model="/models/k2", name="kimi")
    spec = parse_spec(f'{head}[endpoint]\napi_key_env = "MY_KEY"\n', name="a")
    text = render_aisbench(spec)[FILE].text
    assert settings_of(text)["path"] == "/models/k2"
    assert "os.environ.get('OPENAI_API_KEY', '')" in text


@given(st.text(min_size=1, max_size=60))
@pytest.mark.parametrize("place", ["served_name"])
def test_no_name_breaks_out(place: str, name: str) -> None:
    spec = parse_spec(HEAD.format(model="kimi-k2-tiny", name="kimi"), name="a")
    text = render_aisbench(spec.model_copy(update={place: name}))[FILE].text
    assert text.isascii()
    assert settings_of(text)["model"] == name
    assert len(ast.parse(text).body) == 6
