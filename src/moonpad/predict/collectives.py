"""How long ranks take to exchange activations, within the fast links and over the network between machines."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Collective:
    """seconds = `latency_s` + bytes × `s_per_byte`."""

    latency_s: float
    s_per_byte: float

    def seconds(self, size_bytes: float) -> float:
        return self.latency_s + size_bytes * self.s_per_byte


NONE = Collective(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Links:
    """What of the rates is reached, and latencies. Rates in bytes a second of one device, in one direction."""

    link: float
    network: float
    link_latency_s: float
    network_latency_s: float
    island: int

    def all_reduce(self, ranks: int) -> Collective:
        """A ring: each rank sends and receives 2 (n - 1) / n of the data. Over several machines first within each, then
        between them, every device with its share."""
        if ranks <= 1:
            return NONE
        within = min(ranks, self.island)
        s_per_byte = 2 * (within - 1) / within / self.link
        if ranks <= self.island:
            return Collective(self.link_latency_s, s_per_byte)
        machines = -(-ranks // self.island)
        s_per_byte += 2 * (machines - 1) / machines / within / self.network
        return Collective(self.link_latency_s + self.network_latency_s, s_per_byte)

    def gather(self, ranks: int) -> Collective:
        """All-gather or reduce-scatter of the whole data: each rank moves (n - 1) / n of it; what comes from other
        machines comes over the network, and each device carries its share on."""
        whole = self.all_reduce(ranks)
        return Collective(whole.latency_s, whole.s_per_byte / 2)

    def all_to_all(self, ranks: int) -> Collective:
        """Of what one rank sends: the part for other machines goes over its own network card."""
        if ranks <= 1:
            return NONE
        outside = max(0.0, 1 - self.island / ranks)
        inside = 1 - 1 / ranks - outside
        s_per_byte = max(inside / self.link, outside / self.network)
        latency = self.link_latency_s if ranks <= self.island else self.network_latency_s
        return Collective(latency, s_per_byte)

    def hop(self, *, leaves: bool) -> Collective:
        """From one pipeline stage to the next."""
        if leaves:
            return Collective(self.network_latency_s, 1 / self.network)
        return Collective(self.link_latency_s, 1 / self.link)
