"""Marks of Markdown in posts that have no fences of their own: a shell would take them for its own."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.mended_marks import with_marks_mended
from moonpad.explain.script import read_script

SERVER = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 16"


def servers(text: str) -> list[list[str]]:
    return [[word.text for word in each.argv] for each in read_script(text).commands if each.program != "other"]


def test_a_backslash_above_a_fence_that_opens_does_not_take_the_fence_in() -> None:
    text = f"It fails:\n\n{SERVER} \\\n    --port 8000 \\\n```text\nYour output here\n```\n"
    assert servers(text) == [[*SERVER.split()[2:], "--port", "8000"]]
    assert not read_script(text).problems


@pytest.mark.parametrize("fence", ["```text", "~~~", "  ```"])
def test_of_any_kind(fence: str) -> None:
    assert servers(f"{SERVER} \\\n{fence}\nshown\n{fence[:5].strip()}\n") == [SERVER.split()[2:]]


def test_code_over_several_lines_of_a_sentence_is_no_substitution() -> None:
    text = f"I get this:\n`the_loader: tensor (old) has no rows\nthe_loader: it gave up`\nafter\n\n{SERVER}\n"
    assert not read_script(text).problems
    assert servers(text) == [SERVER.split()[2:]]


def test_code_whose_end_is_not_there_is_none_either() -> None:
    assert not read_script(f"I get this:\n`tensor (old) has no rows\n\n{SERVER}\n").problems


@pytest.mark.parametrize(
    "text",
    [
        f"```bash\n{SERVER} \\\n```\n",
        f"A=`nproc`\n{SERVER}\n",
        f"A=`cat \\\n  ranks`\n{SERVER}\n",
        "a `b` c\n",
        "no marks \\\n",
    ],
)
def test_what_is_closed_stays_as_it_is(text: str) -> None:
    assert with_marks_mended(text) == text


def test_all_characters_keep_their_places() -> None:
    text = f"`one\ntwo`\n{SERVER} \\\n```\nx\n```\n"
    mended = with_marks_mended(text)
    assert len(mended) == len(text)
    assert [at for at, sign in enumerate(text) if sign == "\n"] == [
        at for at, sign in enumerate(mended) if sign == "\n"
    ]
