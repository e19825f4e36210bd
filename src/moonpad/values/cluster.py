"""Devices and what joins them."""

from msgspec import Struct

from moonpad.values.plan import Layout, Platform


class Device(Struct, frozen=True):
    """One device as an engine counts it: of an Ascend 910C each of its two dies is one.

    `driver_bytes` is what the driver says; `usable_bytes` is what the engine's runtime sees of it, and what memory
    fractions are fractions of. Both are 0 for a CPU, whose memory is the host's.
    """

    id: str
    product: str
    vendor: str
    platform: Platform
    architecture: str
    """`Hopper`, `CDNA3` …"""
    capability: str
    """`9.0`, `gfx942`, `A3` …"""
    driver_bytes: int
    usable_bytes: int
    native_fp8: bool
    native_fp4: bool
    per_node: int
    """How many a usual machine has."""
    scaleup_domain: int
    """How many are joined by the fast links (NVLink, xGMI, HCCS)."""
    memory_bytes_per_s: float | None = None
    bf16_flops: float | None = None
    scaleup_bytes_per_s: float | None = None
    network_bits_per_s: float | None = None
    standing: str = "reported"
    source: str = ""
    unified: bool = False
    """Its memory is the host's own, of which the system and the page cache take their part first."""
    arm_host: bool = False
    """The machines that have it have a processor of Arm's (Grace)."""

    @property
    def sm(self) -> int | None:
        """90 for the compute capability 9.0; None where there is none."""
        return compute_capability(self.capability)


def compute_capability(text: str) -> int | None:
    """90 for `9.0`; None for `gfx942`."""
    major, dot, minor = text.partition(".")
    return int(major) * 10 + int(minor) if dot and major.isdigit() and minor.isdigit() else None


class Host(Struct, frozen=True):
    """What a node offers beside its devices; None: unknown."""

    memory_bytes: int | None = None
    sockets: int | None = None
    processor: str = ""
    amx: bool | None = None
    """Whether the processor has matrix units of Intel's (`amx_tile`), for which engines have kernels of their own."""
    cores: int | None = None
    """Physical ones: a core with two threads counts once."""


class Cluster(Struct, frozen=True):
    """`nodes` machines with `per_node` devices of one kind each. `name` is how a person writes it: `2x8xH800`."""

    name: str
    nodes: int
    per_node: int
    device: Device
    host: Host = Host()
    detected: bool = False

    @property
    def devices(self) -> int:
        return self.nodes * self.per_node

    def filled_by(self, layout: Layout) -> int:
        """How many machines the ranks fill, one after the other; those of a processor share it."""
        if self.device.platform is Platform.CPU:
            return self.nodes
        return max(1, -(-layout.world_size // max(1, self.per_node)))
