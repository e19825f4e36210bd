"""Specs that are no TOML, too deep, too long or random bytes: a spec error each, with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.spec.loader import MAX_SPEC_BYTES, LoadedSpec, load_spec
from moonpad.spec.schema import Spec
from moonpad.values.errors import SpecError
from tests.unit.spec.test_loader import TOP, parse, refused, written


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (TOP + "[layout]\ntp = 022\n", 4),
        (TOP + "[endpoint]\nexpose = no\n", 4),
        (TOP + "[layout]\ntp = 1\ntp = 2\npp = 1\n", 5),
        (TOP + "[layout]\ntp = 1\ntp = 2\n", 5),
        (TOP + '[settings]\nextra_args = [\n  "--seed",\n\n\n', 4),
        (TOP + 'name = """\n\n\n', 3),
        (TOP + f"[layout]\ntp = {'9' * 5000}\n", 4),
    ],
    ids=["022", "no", "twice", "twice-at-the-end", "unclosed-list", "unclosed-text", "huge-number"],
)
def test_what_is_no_toml_has_its_line(text: str, line: int) -> None:
    error = refused(text)
    assert error.line == line
    assert error.message.startswith(f"moonpad.toml:{line}: this is not TOML: ")
    assert "sys." not in error.message


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 5000 + "]" * 5000,
        "a = " + "{a = " * 5000 + "1" + "}" * 5000,
        "a = [" + "[]," * 100_000,
    ],
    ids=["lists", "tables", "wide"],
)
def test_deep_nesting_is_refused(text: str) -> None:
    """Fault 53."""
    refused(text)


@pytest.mark.parametrize(
    "text",
    [
        ".".join("a" * 5000) + " = 1",
        ".".join(["'a b'"] * 5000) + " = 1",
        "[" + " . ".join("a" * 100_000) + "]",
    ],
    ids=["dotted", "quoted", "header"],
)
def test_a_long_key_never_reaches_the_parser(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fault 53. tomllib takes over a second for 8000 parts of a key, and all memory for 100,000."""
    monkeypatch.setattr("tomllib.loads", lambda text: pytest.fail("it was parsed"))
    assert "more than 16 parts" in refused(text).message


def test_a_file_too_large(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="larger than 100,000 bytes: it has 100,001"):
        load_spec(written(tmp_path, b"#" * (MAX_SPEC_BYTES + 1)))


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="there is no") as caught:
        load_spec(tmp_path / "none.toml")
    assert "examples/tiny.toml" in caught.value.remedy


@pytest.mark.parametrize("path", ["", "a\0b", "moonpad.toml/x"])
def test_paths_that_are_no_file(path: str, tmp_path: Path) -> None:
    written(tmp_path, TOP)
    with pytest.raises(SpecError):
        load_spec(tmp_path / path)


def test_not_utf8_has_its_line(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r":3: not UTF-8: byte 0xff") as caught:
        load_spec(written(tmp_path, TOP.encode() + b'name = "\xff"\n'))
    assert caught.value.line == 3


def test_a_spec_from_windows(tmp_path: Path) -> None:
    loaded = load_spec(written(tmp_path, TOP.replace("\n", "\r\n")))
    assert loaded.spec.model == "kimi-k2-tiny"
    assert isinstance(loaded, LoadedSpec)
    assert refused((TOP + "[layout]\ntp = 0\n").replace("\n", "\r\n")).line == 4


SCALARS = st.one_of(st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.dates(), st.times())
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)

KEYS = st.sampled_from([*Spec.model_fields, "x", "Model", "tensor_parallel"])
WORDS = st.sampled_from(
    [
        "model",
        "engine",
        "layout",
        "tp",
        "[",
        "]",
        "[[",
        "{",
        "}",
        "=",
        ".",
        ",",
        '"',
        "'",
        '"""',
        "\n",
        "1",
        "x",
        "é",
        "\\",
        "#",
    ]
)


@given(st.one_of(st.binary(max_size=300), st.lists(WORDS, max_size=60).map(lambda words: "".join(words).encode())))
def test_any_bytes_give_a_spec_or_a_spec_error(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    path = written(tmp_path_factory.getbasetemp(), raw)
    try:
        load_spec(path)
    except SpecError as error:
        assert error.message


@given(
    st.dictionaries(
        KEYS, st.one_of(VALUES, st.dictionaries(st.sampled_from(["tp", "port", "name", "extra_args"]), VALUES))
    )
)
def test_any_document_gives_a_spec_or_a_spec_error(document: dict[str, object]) -> None:
    text = "".join(f"{key} = {_toml(value)}\n" for key, value in document.items())
    try:
        parse(text)
    except SpecError as error:
        assert "this is not TOML" not in error.message
        assert error.line is None or 1 <= error.line <= len(document)


def _toml(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value)
        case str():
            return '"' + "".join(f"\\U{ord(char):08X}" for char in value if not 0xD800 <= ord(char) < 0xE000) + '"'
        case list():
            return "[" + ", ".join(map(_toml, value)) + "]"
        case dict():
            pairs = {_toml(key): _toml(each) for key, each in value.items()}
            return "{" + ", ".join(f"{key} = {each}" for key, each in pairs.items()) + "}"
    return str(value)
