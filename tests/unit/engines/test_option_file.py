"""Option files in YAML: read as the engines read them, and harmless whatever they hold."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.engines import ENGINES
from moonpad.engines.option_file import flat_options, option_file
from tests.processor import in_time

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 10)
)


def test_a_comment_behind_a_quoted_value() -> None:
    files = {
        "trtllm.yaml": 'kv_cache_config:\n  dtype: "fp8"  # halves the KV cache\n  tokens_per_block: 64 # tokens\n'
    }
    argv = ("trtllm-serve", "m", "--config", "/etc/trtllm.yaml")
    settings = ENGINES["tensorrt-llm"].read(argv, {}, files=files).settings
    assert (settings.kv_cache_dtype, settings.block_size) == ("fp8", 64)


def test_tables_and_scalars() -> None:
    text = 'a: 1\nb:\n  c: "x # y"\n  d:\n    e: z # note\nf: null\ng: ~\nh:\n- i: 1\nj: {k: yes}\n'
    assert flat_options(text) == {
        "a": "1",
        "b": "",
        "b.c": "x # y",
        "b.d": "",
        "b.d.e": "z",
        "f": "null",
        "g": "null",
        "h": "[{'i': 1}]",
        "j": "",
        "j.k": "true",
    }
    assert flat_options('{"a": {"b": true}, "c": null, "d": [1]}') == {"a": "", "a.b": "true", "c": "null", "d": "[1]"}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("off", "false"),
        ("1:30", "90"),
        ("1_024", "1024"),
        ("017", "15"),
        ("1e3", "1e3"),
        ("'on'", "on"),
        ("$TP", "$TP"),
    ],
)
def test_scalars_are_those_of_yaml_1_1(written: str, value: str) -> None:
    """As `yaml.safe_load` gives them, by which TensorRT-LLM and SGLang read their files."""
    assert flat_options(f"a: {written}\n") == {"a": value}


def test_aliases() -> None:
    assert flat_options("a: &a {b: 1}\nc: *a\n") == {"a": "", "a.b": "1", "c": "", "c.b": "1"}
    assert flat_options("a: &a\n  b: *a\n").keys() >= {"a", "a.b"}


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        "[" * 100_000,
        "{a: " * 5_000,
        "a: 1\n" * 1_000_000,
        "\n".join(" " * level + "a:" for level in range(1_000)),
        "a: [1, 2\n",
        "a: !!python/object/apply:os.system [echo]\n",
        "a: 2024-13-45\n",
        '!!int "": 1\n',
        f"a: {'9' * 5_000}\n",
        f"a: 0x{'9' * 5_000}\n",
        "? [a, b]\n: 1\n",
        "- 1\n",
        "",
    ],
    ids=range(14),
)
def test_what_an_engine_could_not_read_is_empty(text: str) -> None:
    begun = time.process_time()
    assert flat_options(text) == {}
    assert in_time(time.process_time() - begun, 5.0)


@given(
    st.text()
    | st.lists(
        st.sampled_from(["a: &x", "b: *x", " c: !!python/object", "\t", "{", "a:", "  ", "!!bool x: 1", "d: !!int ''"])
    ).map("\n".join)
)
def test_no_file_raises(text: str) -> None:
    assert all(isinstance(value, str) for value in flat_options(text).values())


def test_the_file_is_found_by_path_or_name() -> None:
    files = {"/etc/a.yaml": "x: 1", "b.yaml": "x: 2"}
    assert option_file("/etc/a.yaml", files) == {"x": "1"}
    assert option_file("/other/b.yaml", files) == {"x": "2"}
    assert option_file("/other/c.yaml", files) == {}
    assert option_file(None, files) == {}
    assert option_file("b.yaml", None) == {}
