"""What is mended on the first machine is mended on all that have the same words."""

from __future__ import annotations

import json
import re

import pytest

from moonpad.explain.grouping import Group
from moonpad.explain.nodes_alike import mended_alike
from moonpad.explain.results import Edit, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

from .judging import ask, found

NODE = """vllm serve vllm-ascend/DeepSeek-V3.2-W8A8{more} --data-parallel-size 2 --data-parallel-start-rank {rank} \\
  --data-parallel-size-local 1 --data-parallel-address 10.0.0.1 --tensor-parallel-size 16 --enable-expert-parallel \
  --quantization ascend \\
  --additional-config '{{"enable_sfa_cp": true}}' \\
  --kv-transfer-config '{{"kv_connector": "MooncakeConnectorV1", "kv_role": "kv_producer", "kv_port": "{port}", \
  "kv_connector_extra_config": {{"prefill": {{"dp_size": 2, "tp_size": 16}}, \
  "decode": {{"dp_size": 8, "tp_size": 4}}}}}}'
"""


def nodes(first: int, second: int) -> str:
    return NODE.format(more="", rank=0, port=first) + NODE.format(more=" --headless", rank=1, port=second)


@pytest.mark.parametrize(("first", "second"), [(30000, 30000), (30000, 30200), (40000, 30000)])
def test_ports_of_all_nodes_leave_the_range(first: int, second: int) -> None:
    (judged,) = ask(nodes(first, second), "2x16xA3")
    (finding,) = {each.message for each in judged.findings if f"kv_port {second}" in each.message}
    low, high = map(int, re.findall(r"\d{5}", finding.partition("within")[2])[:2])
    texts = [word for line in judged.corrected for word in line.argv if "kv_port" in word]
    ports = [int(json.loads(text)["kv_port"]) for text in texts]
    assert len(ports) == 2
    assert not any(low <= port <= high for port in ports)
    assert (ports[0] == ports[1]) is (first == second)


def test_ports_outside_of_the_range_stay() -> None:
    assert not found(nodes(40000, 40200), "Mooncake takes ports at random")


def test_what_the_release_does_not_read_is_taken_out_of_all() -> None:
    (judged,) = ask(nodes(40000, 40000), "2x16xA3")
    assert any("enable_sfa_cp" in each.message for each in judged.findings)
    assert len(judged.corrected) == 2
    assert not any("enable_sfa_cp" in word for line in judged.corrected for word in line.argv)


def test_what_each_machine_has_for_itself_stays() -> None:
    (judged,) = ask(nodes(30000, 30000), "2x16xA3")
    ranks = [line.argv[line.argv.index("--data-parallel-start-rank") + 1] for line in judged.corrected]
    assert ranks == ["0", "1"]
    assert ["--headless" in line.argv for line in judged.corrected] == [False, True]


@pytest.mark.parametrize(
    ("option", "alike"),
    [("--quantization", True), ("--data-parallel-address", False), ("--data-parallel-start-rank", False)],
)
def test_an_edit_of_the_first_machine_is_one_of_both(option: str, alike: bool) -> None:
    (judged,) = ask(nodes(40000, 40000), "2x16xA3")
    places = [[word.text for word in command.argv].index(option) for command in judged.sources]
    edits = [Edit(places[0], 2, ())]
    remark = make_remark(Severity.WARNING, Code.CONFLICT, option, "a", "b", at=places[0], edits=edits)
    told = mended_alike(replace(judged, remarks=(replace(remark, command=0),)), Group(judged.sources, "prefill"))
    assert told.remarks[0].others == (((1, (Edit(places[1], 2, ()),)),) if alike else ())
