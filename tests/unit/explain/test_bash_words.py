"""Words that bash reads otherwise than they look, and here-documents that are filled in too early."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

VLLM = "vllm serve /models/Kimi-K2.5 -tp 8 -pp 2 --nnodes 2 --trust-remote-code"
SGLANG = "python3 -m sglang.launch_server --model-path /nfs/Kimi-K2-Instruct --tp 16 --nnodes 2 --trust-remote-code"


def told(text: str, words: str) -> int:
    return sum(words in finding.message for judged in ask(text) for finding in judged.findings)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('MODEL="~/models/Moonlight-16B-A3B-Instruct"\nvllm serve "$MODEL"\n', 1),
        ("vllm serve '~/models/Moonlight-16B-A3B-Instruct'\n", 1),
        ("python3 -m sglang.launch_server --model-path=~/models/Moonlight-16B-A3B-Instruct\n", 1),
        ("MODEL=~/models/Moonlight-16B-A3B-Instruct\nvllm serve $MODEL\n", 0),
        ("vllm serve ~/models/Moonlight-16B-A3B-Instruct\n", 0),
        ('vllm serve "$HOME/models/Moonlight-16B-A3B-Instruct"\n', 0),
    ],
)
def test_a_tilde_that_is_not_expanded(text: str, expected: int) -> None:
    assert told(text, "is not the home folder") == expected


@pytest.mark.parametrize(
    ("word", "first", "expected"),
    [
        ("$NODES[1]", "", 1),
        ("$NODES[$i]", "", 1),
        ("${NODES[1]}", "", 0),
        ("$NODES[1]", "#!/bin/zsh\n", 0),
        ("'$NODES[1]'", "", 0),
        ("$OTHER[1]", "", 0),
    ],
)
def test_an_index_without_braces(word: str, first: str, expected: int) -> None:
    text = f"{first}NODES=(gpu-01 gpu-02)\necho {word}\n{VLLM} --node-rank 0 --master-addr 10.0.0.1\n"
    assert told(text, "as the first element with") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"#!/bin/sh\nsource /v/bin/activate\n{VLLM}\n", 1),
        (f"#!/bin/sh\nN=(a b)\n{VLLM} --master-addr ${{N[0]}}\n", 1),
        (f"#!/bin/sh\nif [[ -n $X ]]; then echo; fi\n{VLLM}\n", 1),
        (f'#!/bin/sh\n. /v/bin/activate\nif [ -n "$X" ]; then echo; fi\n{VLLM}\n', 0),
        (f"#!/bin/bash\nsource /v/bin/activate\n{VLLM}\n", 0),
        (f"#!/bin/sh\n# run it by bash\nsource /v/bin/activate\n{VLLM}\n", 0),
    ],
)
def test_words_of_bash_in_sh(text: str, expected: int) -> None:
    assert told(text, "and line 1 names sh") == expected


@pytest.mark.parametrize(
    ("mark", "rank", "call", "expected"),
    [
        ("EOF", "$1", "bash /nfs/run.sh 0", 1),
        ("EOF", "${1}", "/nfs/run.sh 0", 1),
        ("'EOF'", "$1", "bash /nfs/run.sh 0", 0),
        ("EOF", "\\$1", "bash /nfs/run.sh 0", 0),
        ("EOF", "$1", "bash /nfs/run.sh", 0),
        ("EOF", "$1", "bash /nfs/run.sh 0\necho $1", 0),
    ],
)
def test_an_argument_that_is_filled_in_too_early(mark: str, rank: str, call: str, expected: int) -> None:
    text = (
        f"cat > /nfs/run.sh <<{mark}\n{SGLANG} --node-rank {rank} --dist-init-addr 10.1.0.1:5000\nEOF\nssh n1 {call}\n"
    )
    assert told(text, "is filled in while run.sh is written") == expected


@pytest.mark.parametrize(("rank", "expected"), [("$RANK", 1), ("\\$RANK", 0)])
def test_a_variable_of_an_argument_in_a_here_document(rank: str, expected: int) -> None:
    text = (
        "cat > /nfs/run.sh <<EOF\n#!/bin/bash\nRANK=\\$1\n"
        f"{SGLANG} --node-rank {rank} --dist-init-addr 10.1.0.1:5000\nEOF\nssh n1 /nfs/run.sh 0\n"
    )
    assert told(text, "the shell around fills in $RANK") == expected


def test_conda_without_its_function_has_a_cause() -> None:
    log = "CondaError: Run 'conda init' before 'conda activate'"
    assert told(f"conda activate kimi\n{VLLM} --node-rank 0 --master-addr h\n\n{log}\n", "conda activate does nothing")
