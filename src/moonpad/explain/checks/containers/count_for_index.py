"""Options of `docker run` that do not mean what was meant, or do not go together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.explain.commands import Wrapper
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_FLAG: Final = "--gpus"
_NONE: Final = ("0", "count=0")


def count_for_index(wrapper: Wrapper) -> Iterator[Remark]:
    """`docker run --gpus 0` is a count: the container is not given device 0, nor with `--gpus 1` device 1.

    A bare number is the count, and a count of 0 leaves NVIDIA_VISIBLE_DEVICES as the image has it:
    https://github.com/docker/cli/blob/master/opts/gpus.go, moby/moby daemon/nvidia_linux.go. Two servers of one guide
    were put on two devices that way: https://github.com/NVIDIA/NeMo-Agent-Toolkit/pull/1398
    """
    for option in wrapper.given(_FLAG) if wrapper.kind == "docker run" and wrapper.words else ():
        if (option.value or "").strip("'\"") in _NONE:
            message = "--gpus takes a count, not an index: 0 chooses no device, and what the container sees is what "
            message += "its image says, all devices or none; --gpus 1 is likewise one device, the first"
            remedy = f"write {_FLAG} '\"device=0\"' for the first device"
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, _FLAG, message, remedy, word=option.words[-1])
            return


def removed_and_restarted(wrapper: Wrapper) -> Iterator[Remark]:
    """Docker refuses both: what is removed when it ends cannot be started again (docker/cli,
    cli/command/container/opts.go: conflicting options: can't use --restart and --rm; podman refuses them too)."""
    given = [option for option in wrapper.given("--restart") if (option.value or "").strip("'\"") not in ("", "no")]
    if wrapper.kind != "docker run" or not given or not wrapper.has("--rm"):
        return
    message = "--rm and --restart do not go together, and the container is not started"
    yield make_remark(
        Severity.ERROR, Code.CONFLICT, "--restart", message, "leave one of them out", word=given[-1].words[-1]
    )
