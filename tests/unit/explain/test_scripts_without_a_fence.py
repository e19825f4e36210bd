"""Scripts in a document that has fences elsewhere: what begins with `#!`, and what a shell gets in quotes."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script

FRONT = "# Notes\n\n```bash\npip list\n```\n\n"
SBATCH = """\
# ---- jobs/serve.sbatch ----
#!/bin/bash
#SBATCH --nodes=2

export NAME=moonshotai/Kimi-K2-Base

srun -l bash -c 'set -e;
    [ "$SLURM_PROCID" -eq 0 ] && MORE="" || MORE="--headless --data-parallel-start-rank 4";
vllm serve $NAME \\
    $MORE \\
    --port 8021 \\
    --data-parallel-size 8'
"""
SECOND = """\

# ---- jobs/other.sbatch ----
#!/usr/bin/env bash
export NAME=moonshotai/Kimi-K2-Base

srun bash -c 'set -x; python -m sglang.launch_server \\
    --model-path $NAME \\
    --tp 16 --port 8022'
"""


def starts(text: str) -> list[list[str]]:
    script = read_script(text)
    assert not script.problems
    return [[word.text for word in each.argv] for each in script.commands if each.program not in ("other", "docker")]


def test_a_script_behind_a_fenced_block_is_read_whole() -> None:
    (first, *_) = starts(FRONT + SBATCH)
    assert first[0] == "moonshotai/Kimi-K2-Base"
    assert first[-2:] == ["--data-parallel-size", "8"]


def test_so_is_each_of_several() -> None:
    assert starts(FRONT + SBATCH + SECOND) == [*starts(SBATCH), *starts(SECOND[SECOND.index("#!") :])]


@pytest.mark.parametrize(
    "behind",
    ["\nIt doesn't start, and I think that's the disk.\n", "\n## What I've tried\n\n- nothing\n", "```\nit's\n```\n"],
)
def test_it_ends_where_the_text_goes_on(behind: str) -> None:
    text = "#!/bin/bash\nPORT=8023\nvllm serve moonshotai/Kimi-K2-Base --port $PORT\n"
    assert starts(FRONT + text + behind) == [["moonshotai/Kimi-K2-Base", "--port", "8023"]]


def test_what_a_script_writes_to_a_file_is_no_end() -> None:
    text = "#!/bin/sh\ncat > note <<EOF\n\nThis is a note, don't read it.\nEOF\nP=8024\nvllm serve m/n --port $P\n"
    assert starts(FRONT + text) == [["m/n", "--port", "8024"]]


@pytest.mark.parametrize("quote", ["'", '"'])
def test_what_a_shell_gets_in_quotes_is_read_as_one(quote: str) -> None:
    text = f"docker exec box bash -lc {quote}export A=/data;\nvllm serve m/n --port 8025 \\\n  --seed 1{quote}\n"
    assert starts(f"On the host:\n\n{text}\nThat's it.\n\n```\nlog\n```\n") == [
        ["m/n", "--port", "8025", "--seed", "1"]
    ]


def test_a_script_that_starts_nothing_is_left_alone() -> None:
    text = "#!/bin/bash\necho 'it is not closed\n\n"
    assert not starts(FRONT + text)


MANIFEST = """\
apiVersion: v1
kind: Pod
metadata: {name: one}
spec:
  containers:
  - name: server
    image: vllm/vllm-openai:v0.26.0
    args: [--model, m/n, --port, '8027']
"""
COMPOSE = "services:\n  one:\n    image: vllm/vllm-openai:v0.26.0\n    command: --model m/n --port 8027\n"


@pytest.mark.parametrize("text", [MANIFEST, COMPOSE, f"{MANIFEST}\n# ---- notes.md ----\n\n- **It** isn't up\n"])
@pytest.mark.parametrize("behind", ["", "\nIt doesn't start yet.\n", "\nError: it doesn't start\n"])
def test_a_manifest_without_a_fence(text: str, behind: str) -> None:
    script = read_script(f"What's below is a draft.\n\n{text}{behind}\n```bash\nkubectl get pods\n```\n")
    (command,) = [each for each in script.commands if each.argv and each.argv[-1].text == "8027"]
    assert command.container is not None
    assert not script.problems


def test_a_script_in_a_value_of_another_file_is_no_script_of_its_own() -> None:
    text = "jobs:\n  one:\n    run: |\n      #!/bin/bash\n      vllm serve m/n --port 8028\n\n```\nlog\n```\n"
    assert [words[-1] for words in starts(text)] == ["8028"]
