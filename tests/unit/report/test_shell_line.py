"""Lines to copy: bash reads them as the words that they were made of."""

from __future__ import annotations

import os
import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st

from moonpad.explain.results import Line
from moonpad.report.shell_line import quoted, typed_lines


def by_bash(words: list[str], **env: str) -> list[str]:
    """The arguments as bash passes them on."""
    script = "printf '%s\\0' " + " ".join(words)
    done = subprocess.run(
        ("bash", "-c", script),
        capture_output=True,
        check=True,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **env},
    )
    return done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]


TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=20)


@settings(max_examples=50, deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=30))
def test_words_come_out_as_they_went_in(words: list[str]) -> None:
    assert by_bash([quoted(word) for word in words], HOME="~") == words


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.text("$\"`\\ a:{}()'", max_size=8), st.text("$\"`\\ b:'", max_size=8)), max_size=20))
def test_variables_are_left_to_the_shell_and_nothing_else_is(pairs: list[tuple[str, str]]) -> None:
    words = [f"{before}${{HOST}}{after}" for before, after in pairs if not before.endswith(("$", "\\"))]
    expected = [word.replace("${HOST}", "10.0.0.1") for word in words]
    assert by_bash([quoted(word, {"HOST"}) for word in words], HOST="10.0.0.1") == expected if words else True


def test_what_only_the_shell_knows() -> None:
    assert quoted("$MASTER_IP:50000", {"MASTER_IP"}) == '"$MASTER_IP:50000"'
    assert quoted("$MASTER_IP:50000") == "'$MASTER_IP:50000'"
    assert quoted("$(nproc)", {"$(nproc)"}) == '"$(nproc)"'
    assert quoted("${A:-x y}$", {"A"}) == '"${A:-x y}\\$"'
    assert quoted("~/models/a b") == "~/'models/a b'"  # in quotes it would be a folder called ~
    assert quoted("~/") == "~/"
    assert quoted("~/$NAME", {"NAME"}) == '~/"$NAME"'
    assert quoted("~") == "'~'"
    assert quoted("<HOST1>:8", {"<HOST1>"}) == "'<HOST1>:8'"  # a shell would take it for a redirection
    assert quoted("\x1b[31m") == "$'\\x1b[31m'"
    assert by_bash([quoted("\x1b[31m\u202e'\\")]) == ["\x1b[31m\u202e'\\"]


def test_one_flag_a_line() -> None:
    line = Line({"A": "1", "B": "x y"}, ("python", "-m", "sglang.launch_server", "--tp-size", "8", "-mca", "a", "-p 2"))
    assert list(typed_lines(line)) == [
        "A=1 \\",
        "B='x y' \\",
        "python -m sglang.launch_server \\",
        "  --tp-size 8 \\",
        "  -mca a '-p 2'",
    ]


def test_json_over_several_lines_is_written_on_one() -> None:
    assert quoted('{"a": 1,\n      "b": [1,\n 2]}') == """'{"a": 1, "b": [1, 2]}'"""
    assert quoted("{a\nb}") == "$'{a\\nb}'"
    assert quoted('{"a": "x\n y"}') == '$\'{"a": "x\\n y"}\''
