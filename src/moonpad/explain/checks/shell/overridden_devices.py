"""A variable that tells ROCm that the device is one of another family than it is, or than the build has kernels for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity
from moonpad.values.platform import Platform
from moonpad.values.records import replace

_VARIABLE: Final = "HSA_OVERRIDE_GFX_VERSION"
_VALUE: Final = re.compile(r"(?P<major>\d{1,2})\.(?P<minor>\d)\.(?P<step>\d{1,2})")
_NAME: Final = re.compile(r"gfx(?P<major>\d{1,2})[0-9a-f]{2}")
_TARGETS: Final = re.compile(
    r"(?:-D|\b)(?:AMDGPU_TARGETS|GPU_TARGETS|CMAKE_HIP_ARCHITECTURES|PYTORCH_ROCM_ARCH|GPU_ARCHS)[ ]?[=:][ ]?[\"']?"
    r"(?P<names>gfx[0-9a-f]{3,4}(?:[;, ]{1,2}gfx[0-9a-f]{3,4}){0,30})"
)
_LONGEST: Final = 1000


def overridden_device(case: Case) -> Iterator[Remark]:
    """`HSA_OVERRIDE_GFX_VERSION=11.0.0` on an MI300X (gfx942): code for gfx1100 is asked for, and does not run there.
    Within a family (10.3.0 for gfx1031) it is what people need."""
    match = _VALUE.fullmatch(case.variable(_VARIABLE))
    if match is None:
        return
    claimed = f"gfx{int(match['major'])}{match['minor']}{int(match['step']):x}"
    reason = _of_device(case, match["major"]) or _of_build(case, claimed)
    if not reason:
        return
    message = (
        f"{match[0]} makes ROCm take the device for {claimed}, and {reason}: no kernel runs (invalid device function)"
    )
    remedy = f"leave {_VARIABLE} out"
    remark = make_remark(Severity.WARNING, Code.CONFLICT, _VARIABLE, message, remedy)
    yield replace(remark, stops=True)


def built_for_another_device(case: Case) -> Iterator[Remark]:
    """`PYTORCH_ROCM_ARCH=gfx90a` in the build of what is to run on MI300X, which is gfx942."""
    script, cluster = case.script, case.cluster
    if cluster is None or cluster.device.platform is not Platform.ROCM or not is_first_server(case.commands, script):
        return
    if any(_VARIABLE in line for line in script.lines):
        return  # the device may be taken for one of these
    script.budget.work(len(script.lines) // 4, "the text around its engine commands")
    places = [
        (number, match)
        for number, line in enumerate(script.lines, 1)
        if "gfx" in line and not line.lstrip().startswith(("#", "//"))
        for match in _TARGETS.finditer(line[:_LONGEST])
    ]
    targets = sorted({name for _, match in places for name in re.split(r"[;, ]+", match["names"])})
    own = cluster.device.capability
    if not targets or own in targets or _NAME.fullmatch(own) is None:
        return
    number, match = places[0]
    kind = cluster.name.rpartition("x")[2]
    message = f"{script.where(number)}: the build has code for {', '.join(targets)} alone, and {kind} is {own}: no "
    message += "kernel runs (invalid device function)"
    written = re.split(r"[ ]?[=:]", match[0].removeprefix("-D"), maxsplit=1)[0]
    remark = make_remark(Severity.WARNING, Code.CONFLICT, written, message, f"write {written}={own}")
    yield replace(remark, command=None, stops=True)


def _of_device(case: Case, major: str) -> str:
    """Of another family, "" where it is the same or not known."""
    cluster = case.cluster
    if cluster is None or cluster.device.platform is not Platform.ROCM:
        return ""
    own = _NAME.fullmatch(cluster.device.capability)
    if own is None or int(own["major"]) == int(major):
        return ""
    return f"{cluster.name.rpartition('x')[2]} is {cluster.device.capability}"


def _of_build(case: Case, claimed: str) -> str:
    """What the text builds for, where that is known and something else."""
    lines = case.script.lines
    case.script.budget.work(len(lines) // 4, "the text around its engine commands")
    named = (match["names"] for line in lines if "gfx" in line for match in _TARGETS.finditer(line[:_LONGEST]))
    targets = sorted({name for names in named for name in re.split(r"[;, ]+", names)})
    if not targets or claimed in targets or len(targets) > 4:
        return ""
    majors = {match["major"] for name in targets if (match := _NAME.fullmatch(name))}
    family = _NAME.fullmatch(claimed)
    return f"the text builds for {', '.join(targets)} alone" if family and family["major"] not in majors else ""
