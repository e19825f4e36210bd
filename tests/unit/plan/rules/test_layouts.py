"""Every layout worth trying: nothing legal is missed for a small cluster, nothing illegal is offered."""

from __future__ import annotations

from itertools import product

import pytest

from moonpad.values.cluster import Host
from moonpad.values.finding import errors_of
from moonpad.values.plan import Layout, Settings
from tests.configurations import check, legal_layouts
from tests.unit.plan.rules.builders import A3, CPU, H200, MI300X, TINY, checkpoint, cluster

ENGINES = ("vllm", "vllm-cpu", "vllm-ascend", "sglang", "sglang-cpu", "ktransformers", "tensorrt-llm")


def test_all_of_eight_h200_for_vllm_by_brute_force() -> None:
    """The oracle tries every tuple of degrees up to 8 over all 8 devices."""
    model, on = checkpoint("int4"), cluster(H200)
    tried = (Layout(*degrees) for degrees in product((1, 2, 4, 8), repeat=5))
    wanted = {
        layout
        for layout in tried
        if layout.world_size == 8 and not errors_of(check(model, on, "vllm", "0.32.0", layout, Settings()))
    }
    layouts = list(legal_layouts(model, on, "vllm", "0.32.0"))
    assert set(layouts) == wanted
    assert len(set(layouts)) == len(layouts)


def test_the_published_ones_are_among_them() -> None:
    two = cluster(H200, 2)
    vllm = list(legal_layouts(checkpoint("fp8"), two, "vllm", "0.32.0"))
    assert {Layout(tp=16), Layout(tp=8, pp=2, dcp=8), Layout(dp=16, ep=16)} <= set(vllm)
    assert Layout(tp=16) in set(legal_layouts(checkpoint("fp8"), two, "sglang", "0.5.23"))
    assert Layout(dp=16, ep=8) in set(legal_layouts(checkpoint("fp8"), two, "tensorrt-llm", "1.2"))
    assert Layout(tp=16, ep=16) in set(legal_layouts(checkpoint("int4"), cluster(A3), "vllm-ascend", "0.23.0"))
    twelve = set(legal_layouts(checkpoint("fp8"), cluster(H200, 12), "sglang", "0.5.23"))
    assert Layout(dp=96, ep=96) in twelve


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("scheme", ["fp8", "int4", "bf16"])
def test_at_most_hundreds_and_each_legal(engine: str, scheme: str) -> None:
    for on in (cluster(H200, 2), cluster(MI300X, 2), cluster(A3)):
        layouts = list(legal_layouts(checkpoint(scheme), on, engine))
        assert len(layouts) <= 400
        assert layouts == list(legal_layouts(checkpoint(scheme), on, engine))
        for layout in layouts:
            assert layout.world_size == (on.per_node if engine == "ktransformers" else 16) or engine == "ktransformers"
            assert not errors_of(check(checkpoint(scheme), on, engine, "", layout, Settings()))


def test_old_versions_have_no_dcp() -> None:
    assert all(layout.dcp == 1 for layout in legal_layouts(checkpoint("int4"), cluster(H200), "vllm", "0.10.1"))
    assert any(layout.dcp == 8 for layout in legal_layouts(checkpoint("int4"), cluster(H200), "vllm", "0.10.2"))


def test_no_layout_where_the_engine_does_not_run() -> None:
    assert list(legal_layouts(checkpoint("int4"), cluster(MI300X), "tensorrt-llm")) == []
    assert list(legal_layouts(checkpoint("gguf"), cluster(H200), "vllm")) == []


def test_one_rank_a_socket_on_a_processor() -> None:
    model = checkpoint("bf16", TINY)
    assert list(legal_layouts(model, cluster(CPU), "vllm-cpu")) == [Layout()]
    assert list(legal_layouts(model, cluster(CPU, host=Host(sockets=2)), "vllm-cpu")) == [Layout(tp=2), Layout()]


def test_ktransformers_fills_one_machine() -> None:
    layouts = list(legal_layouts(checkpoint("int4"), cluster(H200, 2), "ktransformers"))
    assert layouts == [Layout(tp=8), Layout(tp=4), Layout(tp=2), Layout()]
