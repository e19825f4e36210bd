"""Why no memory is judged of a server that holds a part of the model, or of flags for a part of the machines."""

from __future__ import annotations

from typing import Final

from moonpad.engines.base import Reading
from moonpad.explain.commands import Command
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.started_ranks import ranks_of
from moonpad.values.cluster import Cluster

_ENCODER: Final = ("--encoder-only", "--mm-encoder-only")
"""Of SGLang and of vLLM: the server reads pictures for others, and generates no text."""
_SHARES: Final = "--tensor-split"
"""A share for each device of the machine, 0 for those that get nothing."""


def encoder_alone(reading: Reading) -> str:
    """Why the memory of a server that only reads pictures is not judged; "" of any other."""
    flag = next((flag for flag in _ENCODER if reading.parsed.occurrence(flag) is not None), "")
    return f"with {flag} it serves the part that reads pictures, whose memory is not recorded" if flag else ""


def part_of_machines(command: Command, first: Reading, cluster: Cluster | None) -> str:
    """Why the memory is not judged where a list of flags uses a part of the machines that are named: the rest of the
    layout may stand elsewhere. "" where it uses them all, or says itself which have a share."""
    ranks = ranks_of(first)
    if first.parsed.occurrence(_SHARES) is not None:
        return ""
    if cluster is None or not is_fragment(command) or not 1 < ranks < cluster.devices:
        return ""
    return f"the list of flags is for {ranks} of {cluster.name}: what the others do is not said"
