"""A single file of the weights where the folder is wanted, and a range where a list of devices is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.nodes.visible_devices import CUDA
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_PART: Final = re.compile(r"(?P<folder>.*)/[\w.-]+\.(?:safetensors|bin|pt|pth)", re.ASCII)
_RANGE: Final = re.compile(r"(?P<first>\d{1,2})-(?P<last>\d{1,2})")
_LONGEST: Final = 300


def file_as_model(case: Case) -> Iterator[Remark]:
    """`/models/k2/model-00001-of-00062.safetensors`."""
    if case.engine.facts.gguf_only:
        return
    for number, (command, reading) in enumerate(zip(case.commands, case.readings, strict=True)):
        model = reading.model.strip("'\"")[:_LONGEST]
        part = _PART.fullmatch(model)
        at = next((at for at, word in enumerate(command.argv) if model and model in word.text), None)
        if part is None or "://" in model or is_fragment(command) or at is None:
            continue
        message = f"{shortened(model, 80)} is one file of the weights: the engine wants the folder, with config.json "
        message += "and the tokenizer in it"
        remedy = f"write {part['folder']}"
        remark = make_remark(Severity.WARNING, Code.MODEL_NAME, shortened(model, 60), message, remedy, at=at)
        yield replace(remark, command=number)


def range_of_devices(case: Case) -> Iterator[Remark]:
    """`CUDA_VISIBLE_DEVICES=0-7`: CUDA reads numbers with commas, and stops at what is none."""
    written = case.variable(CUDA)
    match = _RANGE.fullmatch(written)
    if match is None or int(match["first"]) >= int(match["last"]):
        return
    message = f"{written} is no list: CUDA takes numbers with commas between, and passes over what it cannot read"
    listed = ",".join(map(str, range(int(match["first"]), int(match["last"]) + 1)))
    yield make_remark(Severity.WARNING, Code.INVALID_VALUE, CUDA, message, f"write {shortened(listed, 60)}")
