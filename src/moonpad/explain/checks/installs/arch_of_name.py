"""A script that is called after one kind of device, and builds kernels for others alone: copies of another one's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.device_mentions import capability_of
from moonpad.explain.documents.spoken_capabilities import sm_of
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_VARIABLE: Final = "TORCH_CUDA_ARCH_LIST"
_NAME: Final = re.compile(
    r"(?:^|[\s/`\"'])[\w./-]*[_-](?P<kind>[ahb][123]00|g[bh][23]00|l40s|l4|h20)[_.-][\w.-]*?\.?(?:sh|slurm|ya?ml)\b",
    re.IGNORECASE,
)
_ARCH: Final = re.compile(r"(?P<arch>\d{1,2}\.\d)[af]?(?P<more>\+PTX)?")


def arch_of_name(case: Case) -> Iterator[Remark]:
    """`TORCH_CUDA_ARCH_LIST=10.0` in `serve_fp8_h200.sh`, where the text names both kinds."""
    value = case.variable(_VARIABLE)
    if not value or unresolved(value) or case.cluster is not None:
        return  # with devices that are known a report says it
    named = {int(match["arch"].replace(".", "")) for match in _ARCH.finditer(value)}
    if not named or "+PTX" in value:
        return
    line = case.commands[0].line
    texts = [case.script.file_name, case.script.place(line)[0]]
    texts += [text for _, text in numbered(case.script, 1, line - 1)]
    kinds = {match["kind"].upper() for text in texts for match in _NAME.finditer(text or "")}
    if len(kinds) != 1:
        return
    kind = kinds.pop()
    capability = capability_of(kind) or ""
    own = sm_of(capability)
    if own is None or any(arch == own or (arch // 10 == own // 10 and arch <= own) for arch in named):
        return
    message = (
        f"the script is called after {kind} (compute capability {capability}), and {_VARIABLE} has {value} alone: "
    )
    message += "what is compiled at the start does not run there"
    remedy = f"write {_VARIABLE}={capability}, or leave it out"
    remark = make_remark(Severity.WARNING, Code.CONFLICT, _VARIABLE, message, remedy)
    yield replace(remark, variable=_VARIABLE)
