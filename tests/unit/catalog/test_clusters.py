"""What people write for a cluster, and what nobody should."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonpad.catalog.clusters import MAX_NODES, MAX_PER_NODE, parse_cluster
from moonpad.catalog.hardware import hardware
from moonpad.values.errors import UsageError

DEVICES = {row.id: row.device for row in hardware().values() if row.device is not None}


@pytest.mark.parametrize(
    ("text", "nodes", "per_node", "device", "name"),
    [
        ("8xH200", 1, 8, "h200-sxm", "8xH200"),
        ("8×H200", 1, 8, "h200-sxm", "8xH200"),
        ("8Xh200-sxm", 1, 8, "h200-sxm", "8xH200"),
        (" 8 x H200 ", 1, 8, "h200-sxm", "8xH200"),
        ("H200", 1, 1, "h200-sxm", "1xH200"),
        ("4xH200", 1, 4, "h200-sxm", "4xH200"),
        ("16xH200", 2, 8, "h200-sxm", "2x8xH200"),
        ("2x8xH800", 2, 8, "h800-sxm", "2x8xH800"),
        ("2x4xH800", 2, 4, "h800-sxm", "2x4xH800"),
        ("1x8xH200", 1, 8, "h200-sxm", "8xH200"),
        ("16xA3", 1, 16, "ascend-910c", "16xA3"),
        ("2x16xA3", 2, 16, "ascend-910c", "2x16xA3"),
        ("4x8xA2", 4, 8, "ascend-910b", "4x8xA2"),
        ("8xMI300X", 1, 8, "mi300x", "8xMI300X"),
        ("2xRTX4090-48G", 1, 2, "rtx4090-48g", "2xRTX4090-48G"),
        ("2x4090", 1, 2, "rtx4090", "2xRTX4090"),
        ("1x10xRTX4090", 1, 10, "rtx4090", "1x10xRTX4090"),
        ("cpu", 1, 1, "cpu", "cpu"),
        ("CPU", 1, 1, "cpu", "cpu"),
        ("2xcpu", 2, 1, "cpu", "2x1xcpu"),
        ("72xGB200", 18, 4, "gb200-nvl72", "18x4xGB200"),
        ("1x72xGB200", 18, 4, "gb200-nvl72", "18x4xGB200"),
        ("2x72xGB300", 36, 4, "gb300-nvl72", "36x4xGB300"),
        ("8xGB200", 2, 4, "gb200-nvl72", "2x4xGB200"),
        ("GB200-NVL72", 18, 4, "gb200-nvl72", "18x4xGB200"),
        ("gb300 nvl72", 18, 4, "gb300-nvl72", "18x4xGB300"),
        ("GB200", 1, 1, "gb200-nvl72", "1xGB200"),
        ("8xGB200-NVL72", 2, 4, "gb200-nvl72", "2x4xGB200"),
    ],
)
def test_what_people_write(text: str, nodes: int, per_node: int, device: str, name: str) -> None:
    cluster = parse_cluster(text)
    assert (cluster.nodes, cluster.per_node, cluster.device.id, cluster.name) == (nodes, per_node, device, name)
    assert not cluster.detected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a cluster"),
        ("   ", "is not a cluster"),
        ("8xH201", "H200"),
        ("H200x8", "write 8xH200"),
        ("h200 × 8", "write 8xH200"),
        ("H800*16", "write 16xH800"),
        ("8xMI300", "MI300X"),
        ("8xGaudi3", "none of moonpad's engines"),
        ("12xH200", "do not fill nodes of 8"),
        ("1x16xH200", "one node has 8"),
        ("0xH200", "0 devices"),
        ("0x8xH200", "0 nodes"),
        ("-8xH200", "there is no device named"),
        ("99999x8xH200", "99999 nodes"),
        ("1x99999xRTX4090", "99999 devices"),
        ("9" * 4000 + "xH200", "is not a cluster"),
        ("٨xH200", "there is no device named"),
        ("８xH200", "there is no device named"),
        ("8x", "there is no device named"),
        ("2x8x16xH200", "there is no device named"),
        ("8xH200\x1b[2J", "there is no device named"),
    ],
)
def test_what_nobody_should(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_cluster(text)
    shown = f"{caught.value.message} {caught.value.remedy}"
    assert message in shown
    assert caught.value.remedy
    assert shown.isascii()
    assert shown.isprintable()
    assert len(shown) < 300


KINDS = sorted({name for row in hardware().values() for name in (row.id, row.label, *row.aliases)})


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(
        st.text(max_size=60),
        st.builds("{}x{}".format, st.integers(-10, 10**30), st.sampled_from(KINDS)),
        st.builds("{}x{}x{}".format, st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from(KINDS)),
        st.builds("{}{}{}".format, st.characters(categories=["Nd"]), st.sampled_from("x×X* "), st.sampled_from(KINDS)),
    )
)
def test_any_text_is_a_cluster_or_a_usage_error(text: str) -> None:
    try:
        cluster = parse_cluster(text)
    except UsageError:
        return
    assert 1 <= cluster.nodes <= MAX_NODES
    assert 1 <= cluster.per_node <= MAX_PER_NODE
    assert parse_cluster(cluster.name) == cluster


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 200), st.sampled_from(sorted(DEVICES)))
def test_no_device_is_lost_in_splitting(count: int, kind: str) -> None:
    try:
        cluster = parse_cluster(f"{count}x{kind}")
    except UsageError:
        assert count % DEVICES[kind].per_node
        return
    assert cluster.devices == count
