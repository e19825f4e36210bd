"""What UCX may move a cache with, where it lies in the memory of devices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import surrounding_names as around
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_VARIABLE: Final = "UCX_TLS"
_BY_SGLANG: Final = "--disaggregation-transfer-backend"
_OF_DEVICE: Final = re.compile(r"\ball\b|\^|cuda|gpu|gdr|rocm|hip|ze_|ascend|[$`{<]")
_ON_HOST: Final = re.compile(r"kv_buffer_device[\"']?[ ]*:[ ]*[\"']?cpu")


def device_transports(case: Case) -> Iterator[Remark]:
    """`UCX_TLS=tcp` of a server whose NIXL hands over what lies on its GPU: only what is listed is used."""
    for number, command in enumerate(case.commands):
        word = command.env.get(_VARIABLE)
        if word is None or word.unresolved:
            continue
        value = word.text.removeprefix(f"{_VARIABLE}=").strip("'\"")
        words = " ".join(each.text for each in command.argv)
        by_nixl = any(name in words for name in around.SIDE_CHANNELS) or re.search(rf"{_BY_SGLANG}[ =]nixl\b", words)
        if not value or not by_nixl or _OF_DEVICE.search(value) or _ON_HOST.search(words):
            continue
        if case.platform not in ("", "cuda"):
            continue
        message = (
            f"UCX uses only what {_VARIABLE} lists, and {shortened(value, 40)} moves host memory alone: the cache on "
        )
        message += "the GPU is not registered, or not handed over"
        remedy = f"write {_VARIABLE}={shortened(value, 40)},cuda_copy,cuda_ipc, or leave it out"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, _VARIABLE, message, remedy)
        yield replace(remark, command=number, variable=_VARIABLE)
