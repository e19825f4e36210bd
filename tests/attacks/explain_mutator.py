# ruff: noqa: E501 - rows of fragments
"""Real inputs of `moonpad explain`, and what spoils them: a seeded mutator of scripts, guides and manifests."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
LIMIT: Final = 1_000_000
"""Bytes of the largest input that is read."""

COMPOSE: Final = """\
services:
  kimi: &kimi
    image: vllm/vllm-openai:v0.11.0
    command: ["--model", "moonshotai/Kimi-K2-Thinking", "--tensor-parallel-size", "8", "--max-model-len", "${LEN:-65536}"]
    environment: {VLLM_USE_V1: "1", HF_HOME: /models}
    ports: ["8000:8000"]
    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 8, capabilities: [gpu]}]}}}
"""
KUBERNETES: Final = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: kimi}
spec:
  leaderWorkerTemplate:
    size: 2
    workerTemplate:
      spec:
        containers:
        - name: sglang
          image: lmsysorg/sglang:v0.5.2
          command: [python3, -m, sglang.launch_server, --model-path, moonshotai/Kimi-K2-Instruct, --tp, "16"]
          args: [--nnodes, $(LWS_GROUP_SIZE), --node-rank, $(LWS_WORKER_INDEX)]
          env: [{name: A, value: b}, {name: C, value: $(A)/c}]
          resources: {limits: {nvidia.com/gpu: "8"}}
"""
SCRIPT: Final = """\
#!/bin/bash
# node 0: 2x8xH800
set -euo pipefail
export VLLM_USE_V1=1 NCCL_IB_DISABLE=${NCCL_IB_DISABLE:-0}
ARGS=(--tensor-parallel-size "$((4 * 2))" --pipeline-parallel-size 2 --trust-remote-code)
for part in a b; do ARGS+=(--served-model-name "kimi-$part"); done
launch() { docker run --gpus all -e HF_TOKEN="$HF_TOKEN" -v /data:/data -p 8000:8000 vllm/vllm-openai:v0.11.0 "$@"; }
cat > extra.yaml <<EOF
kv_cache_config: {dtype: fp8, free_gpu_memory_fraction: 0.9}
EOF
if [ -n "${DEBUG:-}" ]; then ARGS+=(--enforce-eager); else echo "quiet"; fi
launch --model moonshotai/Kimi-K2-Instruct "${ARGS[@]}" --max-model-len 131072
mpirun -np 16 -H a:8,b:8 trtllm-llmapi-launch trtllm-serve moonshotai/Kimi-K2-Thinking --extra_llm_api_options extra.yaml
ssh worker "bash -c 'python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 8 --kv-cache-dtype fp8_e4m3'"
llama-server -hf unsloth/Kimi-K2-Instruct-GGUF -ot ".ffn_.*_exps.=CPU" --n-gpu-layers 99 -c 16384
"""
LINES: Final = """\
vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --reasoning-parser kimi_k2 --compilation-config '{"level": 3}'
kt run m --gpu-experts 8 --port 8000
python3 -W ignore -X utf8 -X dev -m sglang.launch_server --kt-method RAWINT4 --model moonshotai/Kimi-K2-Instruct --tp 8
uv run --with a python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --enable-deepep-moe --dp 2
python ktransformers/server/main.py --model_path moonshotai/Kimi-K2-Instruct --cache_lens 32768
vllm bench serve --model moonshotai/Kimi-K2-Thinking --random-input-len 1000 --num-prompts 64
"""


def seeds() -> list[str]:
    """The repository's scripts, guides and documents, and a manifest of each kind."""
    folders = ("tests/seeds/*", "examples/*.sh", "docs/seeds.md", "README.md", "CONTRIBUTING.md")
    paths = sorted(path for folder in folders for path in ROOT.glob(folder) if path.is_file())
    return [COMPOSE, KUBERNETES, SCRIPT, LINES, *(path.read_text() for path in paths)]


FRAGMENTS: Final = (
    *("'", '"', "`", "\\", "$", "${", "$(", "$((", "${A:-", "<<", "<<E\n", "<<-'E'\n", "<<<", "{", "}", "(", ")", "[[", "]]"),
    *("\0", "\r", "\x1b[31m", "\x1b]0;", "\u202e", "\u200b", "\ufeff", "\ud800", "\u00a0", "\u2013\u2013tp", "\u201cx\u201d", "\xff\xfe"),
    *('A=("${A[@]}" "${A[@]}")\n', "A=$A$A\n", "A+=$A\n", "export A=$A$A\n", "{1..999999}", "{a,b}{c,d}", "$(seq 1 999999)"),
    *("f() { f; f; }\nf\n", "for i in 1 2 3 4 5 6 7 8; do ", "done\n", "while :; do ", "case x in ", "esac\n", "if x; then ", "fi\n"),
    *("eval ", "bash -c '", "ssh h ", "docker run ", "docker exec a ", "sudo ", "env ", "mpirun -H a,b ", "exec "),
    *("\n```\n", "\n```bash\n", "\n~~~\n", "\n- `--x`\n", "\n# node 1\n", "\n| a | b |\n", "\n## 8xH200\n", "> "),
    *("&a ", "*a", "<<: *a\n", "[" * 60, "{a: " * 60, "- - - - ", "? ", "!!binary ", "--- \n", "services:\n", "apiVersion: v1\n"),
    *("NaN", "Infinity", "-inf", "1e999", "nan", "9" * 40, "-1", "2147483647", "18446744073709551616", "0x10", "\u0663"),
    *('{"a": NaN}', '{"a":' * 80, "'{\"num_speculative_tokens\": Infinity}'", "--", "--x=", "-" * 50, "--tp", "-O3", "--a.b.c 1"),
    *("-ot '(.|.)(.|.)(.|.)x=CPU'", "-ot '.*.*.*.*.*x=CPU'", "--config extra.yaml", "x" * 5_000, "x " * 1_000, "$x" * 500),
)  # fmt: skip
_TOKEN: Final = re.compile(r"\S+|\n")


def mutant(dice: random.Random, texts: Sequence[str]) -> bytes:
    """One input: one to eight changes to one of the texts; each twentieth then grows to the limit of what is read."""
    text = dice.choice(texts)
    for _ in range(dice.randint(1, 8)):
        text = dice.choice(_CHANGES)(text, dice, texts)
    if dice.random() < 0.05:
        text = _grown(text, dice)
    raw = bytearray(text.encode("utf-8", "surrogatepass")[:LIMIT])
    for _ in range(dice.choice((0, 0, 1, 20)) if raw else 0):
        raw[dice.randrange(len(raw))] ^= 1 << dice.randrange(8)
    return bytes(raw)


def _span(text: str, dice: random.Random, most: int = 400) -> tuple[int, int]:
    at = dice.randint(0, len(text))
    return at, min(len(text), at + dice.randint(1, most))


def _deleted(text: str, dice: random.Random, _: Sequence[str]) -> str:
    first, last = _span(text, dice)
    return text[:first] + text[last:]


def _doubled(text: str, dice: random.Random, _: Sequence[str]) -> str:
    first, last = _span(text, dice)
    return text[:last] + text[first:last] * dice.choice((1, 2, 50)) + text[last:]


def _moved(text: str, dice: random.Random, _: Sequence[str]) -> str:
    first, last = _span(text, dice)
    rest = text[:first] + text[last:]
    at = dice.randint(0, len(rest))
    return rest[:at] + text[first:last] + rest[at:]


def _spliced(text: str, dice: random.Random, texts: Sequence[str]) -> str:
    """A token of this text becomes one of another."""
    tokens, others = list(_TOKEN.finditer(text)), _TOKEN.findall(dice.choice(texts))
    if not tokens or not others:
        return text
    token = dice.choice(tokens)
    return text[: token.start()] + dice.choice(others) + text[token.end() :]


def _joined(text: str, dice: random.Random, texts: Sequence[str]) -> str:
    """The beginning of this text and the end of another."""
    other = dice.choice(texts)
    return text[: dice.randint(0, len(text))] + other[dice.randint(0, len(other)) :]


def _hostile(text: str, dice: random.Random, _: Sequence[str]) -> str:
    at = dice.randint(0, len(text))
    return text[:at] + dice.choice(FRAGMENTS) * dice.choice((1, 1, 1, 2, 30)) + text[at:]


def _value(text: str, dice: random.Random, _: Sequence[str]) -> str:
    """A number becomes a hostile word."""
    numbers = list(re.finditer(r"\d+", text))
    if not numbers:
        return text
    number = dice.choice(numbers)
    return text[: number.start()] + dice.choice(FRAGMENTS) + text[number.end() :]


def _grown(text: str, dice: random.Random) -> str:
    """A part of it, or a hostile fragment, over and over."""
    first, last = _span(text, dice, dice.choice((3, 60, 2_000)))
    part = dice.choice((text[first:last], dice.choice(FRAGMENTS), dice.choice(FRAGMENTS) + text[first:last])) or "x"
    size = dice.choice((LIMIT // 20, LIMIT // 4, LIMIT))
    return (
        text[:first] + part * (max(0, size - len(text)) // max(1, len(part.encode("utf-8", "replace")))) + text[last:]
    )


_CHANGES: Final[tuple[Callable[[str, random.Random, Sequence[str]], str], ...]] = (
    _deleted, _doubled, _moved, _spliced, _spliced, _joined, _hostile, _hostile, _value,
)  # fmt: skip
