"""Which devices a node has, by the labels that select it, and by the types of machines of clouds.

Source: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from moonpad.catalog.cloud_machines import machine_of_type
from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.hardware import find_hardware
from moonpad.explain.manifests.yaml_source import Fields, YamlSource, items, scalar
from moonpad.values.errors import UsageError

_SMALLER: Final = re.compile(r"a100[\w-]*40|nvidia-tesla-a100$", re.IGNORECASE)
"""Google's nodes call that of 40 GB by no size: https://cloud.google.com/kubernetes-engine/docs/how-to/gpus"""
_UNSAID: Final = re.compile(r"(?<!nvidia-tesla-)a100(?![\w-]*[48]0)", re.IGNORECASE)
"""Nothing tells an A100 of 40 GB from one of 80."""
_KIND: Final = re.compile(
    r"(?<![a-z0-9])(?:([1248])x)?(gh200|gb[23]00|b[23]00|h[128]00|h20|a[18]00|l40s|mi3[0-9]{2}x|rtx[-_ ]?pro[-_ ]?6000"
    r"|gaudi-?3|dgx[-_]?spark|gb10|(?:ascend-?)?910[bc])(?![0-9])",
    re.IGNORECASE,
)
_PARTITION: Final = re.compile(r"(?<![a-z0-9])(mi3[0-9]{2})([1248])x(?![0-9a-z])", re.IGNORECASE)
"""A partition of AMD's own clusters, the number of devices before the `x`: `mi3258x`, which `mi325x` with eight is."""
_ANOTHER: Final = re.compile(r"(?:^|[-_.])(?:h20-?3e|h100-?nvl|h100-?pcie)", re.IGNORECASE)
_VARIANTS: Final = {"3e": "H20-141", "nvl": "H100-NVL", "pcie": "H100-PCIE"}
"""By how the name ends."""
_OPERATORS: Final = frozenset({"In", ""})
_KIND_KEYS: Final = (
    *("instanceType", "instance_type", "machineType", "machine_type", "nodeType", "resourceProfile"),
    *("acceleratorType", "accelerator_type", "gpuType", "gpu_type", "gpuModel", "accelerator"),
)
"""Keys that name a type of machine or a kind of device."""


def cluster_of_label(text: str) -> str:
    """`8xH100` for a type of machine, `H100` for a name with a kind in it, "" where none is known."""
    text = text.strip()[:100]
    if machine := machine_of_type(text):
        return _known(machine)
    if partition := _PARTITION.search(text):
        return _known(f"{partition[2]}x{partition[1].upper()}X")
    if text.casefold().startswith("nvidia") and (row := find_hardware(text)) is not None:
        return row.label  # the GPU operator's label is the driver's name, with dashes
    if _UNSAID.search(text) or not (match := _KIND.search(text)):
        return ""
    kind = re.sub(r"[-_ ]", "-", match[2].upper())
    kind = re.sub(r"^(?:ASCEND-?)?(?=910)", "Ascend-", "GB10" if "SPARK" in kind else kind)
    kind = "A100-40G" if _SMALLER.search(text) else kind
    if another := _ANOTHER.search(text):
        kind = next((kind for end, kind in _VARIANTS.items() if another[0].casefold().endswith(end)), "")
    return _known(f"{match[1]}x{kind}" if match[1] else kind) if kind else ""


def kind_of_label(text: str) -> str:
    """`H100`, also for a type of machine that has eight of them."""
    count, times, kind = cluster_of_label(text).partition("x")
    return kind if times and count.isdigit() else count


@lru_cache(maxsize=64)
def _known(cluster: str) -> str:
    try:
        device = parse_cluster(cluster)
    except UsageError:
        return ""
    count, times, _ = cluster.partition("x")
    label = device.name.rpartition("x")[2] if device.name[:1].isdigit() else device.name
    return f"{count}x{label}" if times and count.isdigit() else label


def kinds_of_nodes(pod: Fields, source: YamlSource) -> Iterator[str]:
    """What the nodes have that a pod is bound to: by `nodeSelector`, or by what its affinity demands."""
    for value in source.fields(pod.get("nodeSelector")).values():
        yield cluster_of_label(scalar(value))
    demanded = source.inner(pod, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    for term in map(source.fields, items(source.inner(source.fields(demanded), "nodeSelectorTerms"))):
        for expression in map(source.fields, items(term.get("matchExpressions"))):
            if scalar(expression.get("operator")) in _OPERATORS:
                yield from (cluster_of_label(scalar(value)) for value in items(expression.get("values")))


def kinds_of(fields: Fields, source: YamlSource) -> Iterator[str]:
    """Kinds of devices that the keys of a mapping name."""
    asked = [fields, *(source.fields(fields.get(part)) for part in ("resource", "resources"))]
    for value in (scalar(part.get(key)) for part in asked for key in _KIND_KEYS if key in part):
        name, colon, count = value.rpartition(":")
        if colon and count.isdigit() and (kind := cluster_of_label(name)):
            yield f"{count}x{kind.rpartition('x')[2]}"  # `nvidia-gpu-h200:8`
        elif kind := cluster_of_label(value):
            yield kind
    for label in items(source.inner(fields, "acceleratorTypes", "labelValues")):
        if kind := cluster_of_label(scalar(label)):
            yield kind
