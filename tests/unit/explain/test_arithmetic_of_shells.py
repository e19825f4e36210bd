"""`$((26 << 30))` as bash computes it; what is not known stays open, and is never left out of the memory."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from moonpad.explain.shell.arithmetic import evaluate
from tests.unit.explain.judging import ask_one

KNOWN = {"N": "6", "NEGATIVE": "-3", "ZERO": "0"}
"""Variables of the sums below."""
SUMS = (
    "26 << 30", "1 << 3", "1<<16", "256 >> 2", "-9 >> 1", "2 ** 10", "2 ** 3 ** 2", "-2 ** 2", "7 % 3", "-7 % 3",
    "-7 / 2", "12 & 10", "12 | 3", "12 ^ 10", "~5", "!0", "!7", "- -5", "3 < 4", "4 <= 3", "4 > 3", "3 >= 4",
    "3 == 3", "3 != 3",
    "1 && 0", "0 || 5", "1 ? 10 : 20", "0 ? 1 / 0 : 8", "0 && 1 / 0", "N > 4 ? 2 : 1", "$N * 1024 + 1", "${N} << 2",
    "1 + 2 << 3", "1 | 2 ^ 3 & 4", "1 < 2 == 1", "0x10 + 1", "(1 + 2) * (3 - N)", "NEGATIVE - 1", "1 ? 0 ? 2 : 3 : 4",
    "10 - 2 - 3", "100 / 5 / 2", "1 << 2 << 3", "ZERO || ZERO", "5 - NEGATIVE", "${OTHER:-4} * 2",
)  # fmt: skip
OPEN = (
    *("OTHER << 3", "N++", "--N", "N = 4", "N += 1", "N <<= 1", "1 << 64", "1 << -1", "2 ** -1", "2 ** 63", "1 / 0"),
    *("08 + 1", "16#ff", "1,2", "1 +", "(1", "1 ? 2", "1 2", "", "9" * 18 + " * 100", "(" * 60 + "1" + ")" * 60),
)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_it_computes_what_bash_does() -> None:
    script = "\n".join([*(f"{name}={value}" for name, value in KNOWN.items()), *(f"echo $(({each}))" for each in SUMS)])
    printed = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, env={})
    assert [evaluate(each, KNOWN.get) for each in SUMS] == [int(line) for line in printed.stdout.split()]


@pytest.mark.parametrize("inside", OPEN)
def test_what_is_not_known_or_changes_a_variable_is_left_as_it_is(inside: str) -> None:
    assert evaluate(inside, KNOWN.get) is None


SERVE = "# 8x H200\nvllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --max-model-len 65536 --trust-remote-code"


def test_the_cache_is_the_one_that_a_shift_gives() -> None:
    shifted, written = (
        ask_one(f"{SERVE} --kv-cache-memory-bytes {value}", on="") for value in ('"$((26 << 30))"', str(26 * 2**30))
    )
    assert shifted.memory == written.memory
    assert shifted.memory is not None
    assert shifted.memory.kv_bytes.value == 26 * 2**30


@pytest.mark.parametrize(
    "option",
    [
        *("--kv-cache-memory-bytes $BYTES", '--kv-cache-memory-bytes "$((GB << 30))"', "--cpu-offload-gb $RAM"),
        *("--max-num-batched-tokens $TOKENS", "--max-num-seqs ${SEQS}", "--gpu-memory-utilization $SHARE"),
    ],
)
def test_the_memory_is_not_judged_without_what_it_depends_on(option: str) -> None:
    judged = ask_one(f"{SERVE} {option}", on="")
    assert judged.memory is None
    written = option.replace('"', "")
    assert judged.unjudged.startswith(f"{written} is not known here: --set ")


def test_weights_that_are_too_large_are_so_with_any_number_of_sequences() -> None:
    judged = ask_one(f"{SERVE.replace('8x', '2x').replace('size 8', 'size 2')} --max-num-seqs $SEQS", on="")
    assert judged.memory is not None
    assert not judged.memory.fits
