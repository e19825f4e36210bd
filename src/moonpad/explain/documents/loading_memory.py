"""Memory that ran out while the weights were loaded: what is taken at run time comes later, and lowering it is vain."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from moonpad.explain.documents.told_generally import FENCE, HEADING

LOADING: Final = "out of memory while the weights were loaded"
KEYS: Final = frozenset({"oom", "npu-memory"})
"""Of the rows that say no more than that memory ran out."""
_LONGEST: Final = 400
_ABOVE: Final = 150
"""Lines of a traceback."""
_BESIDE: Final = 8
"""Lines around an error in which its author says when it came."""
_BELOW: Final = 4
"""Lines over which the error itself may be broken."""
_MOSTLY: Final = 0.75
"""Of a device: where less of it is PyTorch's own, another process holds the rest."""
_FRAME: Final = re.compile(
    r"\bin (?:create_weights|make_layers|_?initialize_model|load_model|load_weights|weight_loader|default_weight_loader"
    r"|process_weights_after_loading)\b"
)
_PROGRESS: Final = re.compile(
    r"Loading (?:\w+ )?checkpoint shards:? {1,6}(?P<percent>\d{1,3})%|(?P<begun>Load weight begin)|Load weight end"
    r"|Loading weights took|Model loading took|Loading model weights took"
)
"""How far the weights are: that they begin to be loaded, how many files are, and that all are."""
_BEGINS: Final = re.compile(r"Traceback \(most recent call last\)")
_SAID: Final = re.compile(
    r"\bcreate_weights\b|\bbefore\W{1,3}Model loading took|\b(?:while|when|during|in) (?:the )?"
    r"(?:loading (?:of )?(?:the )?(?:model(?:'s)? )?weights|weights? (?:are|were|is) (?:being )?loaded"
    r"|weight[- ]load(?:ing)?)\b"
    r"|加载(?:模型)?权重(?:时|阶段|过程)",
    re.IGNORECASE,
)
_HELD: Final = re.compile(r"(?P<gib>\d{1,4}(?:\.\d+)?) GiB (?:is |memory )?(?:already )?allocated(?: by PyTorch)?")
_CAPACITY: Final = re.compile(r"total capacity of (?P<gib>\d{1,4}(?:\.\d+)?) GiB|(?P<all>\d{1,4}(?:\.\d+)?) GiB total")


def is_of_loading(number: int, lines: Sequence[str]) -> bool:
    """Whether the error in that line, counted from 1, came so, by its traceback or by the words beside it."""
    if not _is_full(lines[number - 1 : number - 1 + _BELOW]):
        return False
    above = lines[max(0, number - 1 - _ABOVE) : number]
    progress = next((match for line in reversed(above) if (match := _PROGRESS.search(line[:_LONGEST]))), None)
    if progress is not None and (progress["begun"] or int(progress["percent"] or 100) < 100):
        return True
    for line in reversed(above):
        if _FRAME.search(line[:_LONGEST]):
            return True
        if _BEGINS.search(line[:_LONGEST]):
            break
    return any(_SAID.search(line) for line in _beside(number, lines))


def remedy_for(options: Mapping[str, str]) -> str:
    """With the engine's own option for weights in host RAM, where it has one."""
    offload = options.get("cpu_offload_gib")
    more = f", or weights in host RAM ({offload})" if offload else ""
    return (
        f"take more devices that share the weights, or a checkpoint of fewer bits{more}: what is lowered for the run "
        "comes after the weights, and does not help"
    )


def _is_full(lines: Sequence[str]) -> bool:
    text = " ".join(line[:_LONGEST] for line in lines)
    held, capacity = _HELD.search(text), _CAPACITY.search(text)
    if held is None or capacity is None:
        return True
    return float(held["gib"]) >= _MOSTLY * float(capacity["gib"] or capacity["all"])


def _beside(number: int, lines: Sequence[str]) -> list[str]:
    """Of the same part of a text, without the blocks of code that stand there."""
    above, below = [], []
    for line in reversed(lines[max(0, number - 1 - _BESIDE) : number - 1]):
        above.append(line[:_LONGEST])
        if HEADING.match(line[:_LONGEST]):
            break
    for line in lines[number : number + _BESIDE]:
        if HEADING.match(line[:_LONGEST]):
            break
        below.append(line[:_LONGEST])
    return [line for line in (*above, lines[number - 1][:_LONGEST], *below) if not FENCE.match(line)]
