"""Commands outside of fences in a text with fences: quoted ones, and those behind a fence whose end is left out."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

MANIFEST = """```
containers:
  - image: vllm/vllm-openai:v0.20.0
    args: [moonshotai/Kimi-K2.6, --tensor-parallel-size, "4"]
```
"""
CUT = MANIFEST.removesuffix("```\n")
COMMAND = "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --port 9000"


def starts(text: str) -> list[list[str]]:
    return [
        [word.text for word in command.argv]
        for command in read_script(text).commands
        if command.program == "vllm serve"
    ]


OWN = ["moonshotai/Kimi-K2.6", "--tensor-parallel-size", "8", "--port", "9000"]


@pytest.mark.parametrize(
    "quoted",
    [
        f"> {COMMAND}",
        f">{COMMAND}",
        f"> > {COMMAND}",
        "> vllm serve moonshotai/Kimi-K2.6 \\\n>   --tensor-parallel-size 8 \\\n> --port 9000",
    ],
)
def test_a_quoted_command_beside_a_manifest(quoted: str) -> None:
    found = starts(f"{MANIFEST}\nuser · comment\n> try this:\n>\n{quoted}\n\nI see.\n")
    assert OWN in found
    assert len(found) == 2


def test_a_quoted_sentence_is_no_command() -> None:
    assert len(starts(f"{MANIFEST}\n> vllm serve with more than one rank does not work here.\n")) == 1


@pytest.mark.parametrize("mark", ["[...]", "[…]  "])
@pytest.mark.parametrize("behind", ["user · comment · 2026-05-19", "We start it on another machine like this:"])
@pytest.mark.parametrize("closed", [True, False])
def test_a_command_behind_a_fence_whose_end_is_left_out(mark: str, behind: str, closed: bool) -> None:
    last = "\nIt is the same here with another one:\n" + MANIFEST.replace('"4"', '"2"') if closed else ""
    found = starts(f"Ours:\n\n{CUT}\n{mark}\n\n{behind}\n\n{COMMAND}\n{last}")
    assert OWN in found
    assert [words[-1] for words in found if words != OWN] == (["4", "2"] if closed else ["4"])


@pytest.mark.parametrize(
    "inside", ["[...]\n\nexport A=1", "\n[...]\n\nexport A=1", "\n[...]\n\n# then the server of the day."]
)
def test_a_fence_goes_on_behind_what_its_author_leaves_out(inside: str) -> None:
    assert starts(f"We run:\n\n```bash\ncd /opt\n{inside}\n{COMMAND}\n```\n") == [OWN]


LIST = """Ours:

```
containers:
  - image: vllm/vllm-openai:v0.20.0
    args:
      - moonshotai/Kimi-K2.6
      - --tensor-parallel-size
      - "4"
      - --enable-auto-tool-choice
"""
BEHIND = "\n[...]\n\nuser · comment · 2026-05-19\nIt is the same here.\n"


@pytest.mark.parametrize("last", ["", "      - --max-model-len\n"])
def test_a_list_that_is_left_out_may_have_more(last: str) -> None:
    (judged,) = ask(LIST + last + BEHIND)
    assert judged.unjudged.startswith("the rest of the list, which the text leaves out, is not known here")
    assert judged.layout is not None
    assert judged.layout.tp == 4
    assert not any("--tool-call-parser" in each.message or "needs a value" in each.message for each in judged.findings)


def test_a_list_in_a_closed_fence_is_whole() -> None:
    (judged,) = ask(f"{LIST}```\n{BEHIND}")
    assert "leaves out" not in judged.unjudged
    assert any("--tool-call-parser" in each.message for each in judged.findings)


FENCED = "It works:\n```\nvllm serve moonshotai/Kimi-K2.5 --port 9000\n```\n\nThis fails:\n\n"


@pytest.mark.parametrize(
    "command",
    [
        "python3 -m sglang.launch_server \\\n  --model-path m/k \\\n  --tp 16",
        "python3 -m sglang.launch_server --model-path m/k \\\n  --tp 16",
        "> python -m sglang.launch_server --model-path m/k --tp 16",
        "nohup python3 -m sglang.launch_server --model-path m/k --tp 16 &",
        "A=1 sudo python3 -m sglang.launch_server --model-path m/k --tp 16",
        "docker run --gpus all --ipc=host \\\n  lmsysorg/sglang:v0.5.9 \\\n"
        "  python3 -m sglang.launch_server --model-path m/k --tp 16",
        "I start it by python3 -m sglang.launch_server \\ --model-path m/k \\ --tp 16",
    ],
)
def test_an_unfenced_command_of_any_form(command: str) -> None:
    found = [each for each in read_script(f"{FENCED}{command}\n\nThanks!\n").commands if each.program == "sglang"]
    assert [[word.text for word in each.argv] for each in found] == [["--model-path", "m/k", "--tp", "16"]]


@pytest.mark.parametrize(
    "sentence",
    [
        "python3 -m sglang.launch_server does not start here.",
        "docker run is not what we use.",
        "vllm serve with more options ends.",
        "sudo is needed for vllm serve here.",
    ],
)
def test_sentences_beside_a_fence_start_nothing(sentence: str) -> None:
    assert len([each for each in read_script(f"{FENCED}{sentence}\n").commands if each.program != "other"]) == 1
