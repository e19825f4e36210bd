"""The types of machines of clouds, and what they have.

Sources: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/, https://cloud.google.com/compute/docs/gpus,
https://aws.amazon.com/ec2/instance-types/, https://learn.microsoft.com/azure/virtual-machines/sizes/gpu-accelerated/
and https://docs.oracle.com/iaas/Content/Compute/References/computeshapes.htm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_TYPES: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), cluster)
    for pattern, cluster in (
        (r"p5\.48xlarge", "8xH100"),
        (r"p5\.4xlarge", "1xH100"),
        (r"p5en?\.48xlarge", "8xH200"),
        (r"p4de\.24xlarge", "8xA100"),
        (r"p6-b200\.48xlarge", "8xB200"),
        (r"p6-b300\.48xlarge", "8xB300"),
        (r"p6e-gb200\.36xlarge", "4xGB200"),
        (r"g6e\.48xlarge", "8xL40S"),
        (r"g6e\.(?:12|24)xlarge", "4xL40S"),
        (r"a3-(?:high|mega|edge)gpu-8g(?:-nolssd)?", "8xH100"),
        (r"a3-highgpu-([124])g", r"\1xH100"),
        (r"a3-ultragpu-8g(?:-nolssd)?", "8xH200"),
        (r"a4-highgpu-8g(?:-nolssd)?", "8xB200"),
        (r"a4x-highgpu-4g(?:-nolssd)?", "4xGB200"),
        (r"a4x-maxgpu-4g(?:-\w+)?", "4xGB300"),
        (r"a2-ultragpu-([1248])g", r"\1xA100"),
        (r"(?:Standard_)?ND\d+\w*?_(?:NDR_)?(GB[23]00)_v\d", r"4x\1"),
        (r"(?:Standard_)?ND\d+\w*?_(?:NDR_)?(H[12]00|MI300X)_v\d", r"8x\1"),
        (r"(?:Standard_)?ND96amsr_A100_v4", "8xA100"),
        (r"BM\.GPU\.(GB[23]00)\.4", r"4x\1"),
        (r"BM\.GPU\.(\w+)\.([48])", r"\2x\1"),
        (r"gpu-(h[12]00)x([1248])-\w+", r"\2x\1"),
        (r"gpu-(mi3[0-9]{2}x)([1248])-\w+", r"\2x\1"),
        (r"gd-([48])x(h[12]00|b200)\w*(?:-\w+)*", r"\1x\2"),
    )
)
"""Types of machines, and what they have."""
_TOKEN: Final = re.compile(
    r"(?<![\w./-])(?:ml\.)?((?:[pg][0-9][a-z0-9-]*\.[0-9]{1,2}xlarge|a[234]x?-[a-z]+gpu-[0-9]+g(?:-[a-z]+)?"
    r"|(?:Standard_)?ND[0-9]+\w*_v[0-9]|BM\.GPU\.[\w.]+|gpu-[a-z0-9]+x[1248]-\w+))(?![\w-])"
)


def machine_of_type(text: str) -> str:
    """`8xH100` for a type that is known, else ""."""
    for pattern, cluster in _TYPES:
        if match := pattern.fullmatch(text):
            return match.expand(cluster).upper().replace("X", "x", 1)
    return ""


def types_in(text: str) -> Iterator[tuple[int, str]]:
    """Offset and machine of each type that a text names."""
    for match in _TOKEN.finditer(text):
        if machine := machine_of_type(match[1]):
            yield match.start(), machine
