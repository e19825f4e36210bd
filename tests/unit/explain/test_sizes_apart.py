"""Lines of one command below comments on sizes of memory are alternatives, and a list of flags is no shell's."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

LLAMA = "llama-server -m Kimi-K2-Thinking-UD-Q2_K_XL-00001-of-00008.gguf -ngl 99 \\\n"
SGLANG = "python -m sglang.launch_server --model moonshotai/Kimi-K2-Thinking --tp 8 --trust-remote-code \\\n"
MARKS = [
    ("# 24 GB VRAM:", "# 48 GB VRAM:"),
    ("# For 24GB", "# For 48GB"),
    ("# if you have 24 GB of VRAM", "# if you have 48 GB of VRAM"),
    ("# 80 GB (H100)", "# 141 GB (H200)"),
    ("# H100:", "# H200:"),
    ("# 8x H100", "# 8x H200"),
]


@pytest.mark.parametrize(("first", "second"), MARKS)
def test_each_size_has_its_own_values(first: str, second: str) -> None:
    text = f"{LLAMA}  {first}\n  --n-cpu-moe 60 -c 16384 \\\n  {second}\n  --n-cpu-moe 45 -c 32768"
    (judged,) = ask(text)
    (other,) = judged.alternatives
    for one, kept, left in ((judged, ("60", "16384"), ("45", "32768")), (other, ("45", "32768"), ("60", "16384"))):
        words = [word.text for word in one.sources[0].words]
        assert set(kept) <= set(words)
        assert not set(left) & set(words)
    assert not [each for each in judged.findings if "given twice" in each.message]


def test_a_shell_fault_is_told_once() -> None:
    script = read_script(f"{SGLANG}  # 80GB\n  --mem-fraction-static 0.95 \\\n  # 141GB\n  --mem-fraction-static 0.85")
    assert [(each.code, each.line, each.remedy) for each in script.problems] == [
        ("comment-in-command", 2, "move the comments above the command")
    ]


@pytest.mark.parametrize(
    "text",
    [
        f"{SGLANG}  # memory\n  --mem-fraction-static 0.95 \\\n  # context\n  --context-length 8192",
        f"{SGLANG}  # 80 GB\n  --mem-fraction-static 0.95 \\\n  # 141 GB\n  --context-length 8192",  # nothing in both
        f"{SGLANG}  # 80 GB\n  --mem-fraction-static 0.95 \\\n  # 80 GB\n  --mem-fraction-static 0.9",
        f"{SGLANG}  # needs 24 GB more\n  --mem-fraction-static 0.95 \\\n  # 2\n  --mem-fraction-static 0.9",
    ],
)
def test_other_comments_set_nothing_apart(text: str) -> None:
    (judged,) = ask(text)
    assert judged.alternatives == ()


@pytest.mark.parametrize("intro", ["For 24 GB VRAM:", "Flags that I use:", "- **48 GB**:"])
def test_a_list_of_flags_needs_no_backslash(intro: str) -> None:
    script = read_script(f"{intro}\n--n-gpu-layers 99\n--n-cpu-moe 60\n--ctx-size 16384\n")
    assert [each.code for each in script.problems] == []


def test_a_command_needs_it() -> None:
    script = read_script("Start it so:\nllama-server -m a.gguf\n--n-gpu-layers 99\n--n-cpu-moe 60\n--ctx-size 16384\n")
    assert [each.code for each in script.problems] == ["missing-backslash"]
