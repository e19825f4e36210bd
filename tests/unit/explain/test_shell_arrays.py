"""The bare name of an array: told where several elements were meant, else nothing."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

FILL = 'hcas=()\nfor each in mlx5_0 mlx5_1; do\n  hcas+=("$each:1")\ndone\n'
SERVE = "vllm serve Qwen/Qwen3-8B"


def told(text: str) -> bool:
    return any("is its first element alone" in finding.message for judged in ask(text) for finding in judged.findings)


@pytest.mark.parametrize(
    "text",
    [
        FILL + f"export UCX_NET_DEVICES=${{UCX_NET_DEVICES:-${{hcas}}}}\n{SERVE}\n",
        FILL + f'export UCX_NET_DEVICES="$hcas"\n{SERVE}\n',
        f"ARGS=(--trust-remote-code --enable-prefix-caching)\n{SERVE} $ARGS\n",
    ],
)
def test_the_first_element_alone(text: str) -> None:
    assert told(text)


@pytest.mark.parametrize(
    "text",
    [
        FILL + f'export UCX_NET_DEVICES=$(IFS=,; echo "${{hcas[*]}}")\n{SERVE}\n',
        FILL + f"export UCX_NET_DEVICES=${{hcas[0]}}\n{SERVE}\n",
        FILL + f"export MASTER_ADDR=$hcas\n{SERVE}\n",
        FILL + f'hcas="mlx5_0,mlx5_1"\nexport UCX_NET_DEVICES=$hcas\n{SERVE}\n',
        FILL + f'for hcas in a b; do echo; done\nexport UCX_NET_DEVICES="$hcas"\n{SERVE}\n',
        f"ARGS=(--trust-remote-code --enable-prefix-caching)\n{SERVE} ${{ARGS[@]}}\n",
        f"ARGS=(--trust-remote-code)\n{SERVE} $ARGS\n",
        f"#!/bin/zsh\nARGS=(--trust-remote-code --enable-prefix-caching)\n{SERVE} $ARGS\n",
        f"ARGS=(--trust-remote-code --enable-prefix-caching)\n{SERVE} $ARGS_MORE\n",
    ],
)
def test_what_is_meant_so(text: str) -> None:
    assert not told(text)
