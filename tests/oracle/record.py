"""Records what the oracle says of the texts of `moonpad verify --numerics`.

    PYTHONPATH=src:. PYTHON -m tests.oracle.record CHECKPOINT OUT.json

`PYTHON` is one with NumPy and tokenizers: that of the engine's environment has both.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import msgspec
import numpy as np
from tokenizers import Tokenizer

from moonpad.verify.numerics.compare import Scored, distance
from moonpad.verify.numerics.recording import Recording
from moonpad.verify.numerics.texts import TEXTS
from tests.oracle.model import Model, bfloat16


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    exact, rounded = Model.of(args.checkpoint), Model.of(args.checkpoint, keep=bfloat16)
    tokenizer = Tokenizer.from_file(str(args.checkpoint / "tokenizer.json"))
    texts, as_rounded = {}, {}
    for name, text in TEXTS.items():
        tokens = tokenizer.encode(text).ids
        texts[name], as_rounded[name] = score(exact, tokens), score(rounded, tokens)
        print(name, len(tokens), flush=True)
    floor = distance(texts, as_rounded)
    print(floor)
    made_by = "the oracle of tests/oracle in float64; floor: with each result rounded to bfloat16"
    recording = Recording(args.checkpoint.name, made_by, "", texts, floor)
    args.out.write_text(json.dumps(msgspec.to_builtins(recording)) + "\n")


def score(model: Model, tokens: list[int]) -> Scored:
    logprobs = model.logprobs(tokens)[:-1]
    own = logprobs[np.arange(len(tokens) - 1), tokens[1:]]
    return Scored(
        tuple(f"token_id:{token}" for token in tokens),
        tuple(round(float(logprob), 6) for logprob in own),
        tuple(f"token_id:{token}" for token in logprobs.argmax(axis=-1)),
    )


if __name__ == "__main__":
    main()
