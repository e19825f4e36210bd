"""What a container asks its node for by a name that Kubernetes does not know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.surrounding_names import GRAPH
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import fields_of, inner, own_container
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_PLAIN: Final = re.compile(r"cpu|memory|ephemeral-storage|hugepages-\w+", re.ASCII)
_DEVICE: Final = re.compile(
    r"(?:nvidia[-_.]?|amd[-_.]?)?(?:gpus?|npus?|tpus?)|accelerators?|cuda", re.IGNORECASE | re.ASCII
)
_OF_VENDOR: Final = (("npu", "huawei.com/Ascend910"), ("tpu", "google.com/tpu"), ("amd", "amd.com/gpu"))


def resource_without_domain(case: Case) -> Iterator[Remark]:
    """`limits: {gpu: "1"}` of a container: only the names that Kubernetes has itself stand without a domain."""
    found = own_container(case)
    if found is None:
        return
    holder, container, _ = found
    for level in ("limits", "requests"):
        for name, node in fields_of(inner(container, "resources", level)).items():
            if unresolved(name) or "/" in name or _PLAIN.fullmatch(name) or not _DEVICE.fullmatch(name):
                continue
            line = case.script.where(holder.offset + node.start_mark.line)
            message = f"{line}: {shortened(name, 30)} is no resource of a container, where each but cpu, memory and "
            message += (
                "storage has the domain of its vendor: the API refuses the pod (must be a standard resource type or "
            )
            message += "fully qualified)"
            meant = next((full for part, full in _OF_VENDOR if part in name.casefold()), "nvidia.com/gpu")
            remedy = f"write {meant}"
            remedy += f", or put {name} into resources of the service itself" if holder.kind == GRAPH else ""
            yield replace(make_remark(Severity.WARNING, Code.INVALID_VALUE, name, message, remedy), command=None)
            return
