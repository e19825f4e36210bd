"""RDMA devices that a command names, and its container does not get."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_FLAGS: Final = ("--disaggregation-ib-device", "--mooncake-ib-device")
_CARD: Final = re.compile(r"(?:mlx\d|ib|bnxt_re|irdma|erdma|roce|rocep)[\w.-]{0,30}(?:,[\w.:-]{1,40}){0,31}")
_FILES: Final = ("/dev/infiniband", "/dev:/dev", "/dev/:/dev")


def rdma_of_container(case: Case) -> Iterator[Remark]:
    """`--disaggregation-ib-device mlx5_0` in `docker run --gpus all`, which gives no file of /dev/infiniband."""
    for number, command in enumerate(case.commands):
        container, place = command.container, case.readings[number].parsed.occurrence(_FLAGS[0])
        place = place or case.readings[number].parsed.occurrence(_FLAGS[1])
        if container is None or place is None or container.kind != "docker run" or case.script.objects:
            continue
        cards = place.value.strip("'\"") if isinstance(place.value, str) else ""
        given = (*container.values("--device"), *container.values("--volume"), *container.values("--mount"))
        has_them = container.has("--privileged") or any(part in value for value in given for part in _FILES)
        by_runtime = any("MOFED" in name for name in command.env) or container.given("--env-file")
        if has_them or by_runtime or command.more or command.custom or not _CARD.fullmatch(cards):
            continue
        message = f"{shortened(cards, 40)}: the container gets none of the RDMA devices, Docker gives them only where "
        message += "they are named"
        remedy = f"add --device {_FILES[0]} --cap-add IPC_LOCK --ulimit memlock=-1 to docker run"
        yield replace(
            make_remark(Severity.WARNING, Code.MISSING_FLAG, place.written, message, remedy, at=place.index),
            command=number,
        )
        return
