"""Tabs of guides: what a neighbour's label says is not said of the command."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.tabs import tab_labels
from tests.unit.explain.judging import ask

MKDOCS = """\
=== "A2 series"

    ```bash
    vllm serve a
    ```

=== "Atlas 300I"

    ```bash
    vllm serve b
    ```

After.
"""
MYST = (
    "::::{tab-set}\n:::{tab-item} A2\n```bash\nvllm serve a\n```\n:::\n"
    ":::{tab-item} 310P\n```bash\nvllm serve b\n```\n:::\n::::\n"
)
TAGS = '<Tabs>\n<Tab title="A2">\nvllm serve a\n</Tab>\n<Tab title="310P">\nvllm serve b\n</Tab>\n</Tabs>\n'


@pytest.mark.parametrize(
    ("text", "at", "own", "others"),
    [
        (MKDOCS, "serve a", "A2 series", ["Atlas 300I"]),
        (MKDOCS, "serve b", "Atlas 300I", ["A2 series"]),
        (MKDOCS, "After", "", []),
        (MYST, "serve b", "310P", ["A2"]),
        (TAGS, "serve a", "A2", ["310P"]),
        (TAGS, "</Tabs>", "", []),
    ],
)
def test_the_tab_of_a_line(text: str, at: str, own: str, others: list[str]) -> None:
    lines = text.split("\n")
    line = next(number for number, each in enumerate(lines, 1) if at in each)
    found, beside = tab_labels(lines, line)
    assert (found, list(beside)) == (own, others)


def test_tabs_under_another_heading_are_no_neighbours() -> None:
    text = MKDOCS.replace('=== "Atlas', '## More\n\n=== "Atlas')
    assert tab_labels(text.split("\n"), 4) == ("A2 series", [])


GUIDE = """\
# Guide of vLLM-Ascend

=== "A2 / A3 series"

    ```bash
    vllm serve Qwen/Qwen3-8B --compilation-config '{"cudagraph_mode": "FULL_DECODE_ONLY"}'
    ```

=== "Atlas inference products"

    ```bash
    vllm serve Qwen/Qwen3-8B --dtype float16 --compilation-config '{"cudagraph_mode": "FULL_DECODE_ONLY"}'
    ```
"""


def test_a_report_of_the_neighbours_devices_is_told_there_alone() -> None:
    first, second = ask(GUIDE)
    told = [any("npugraph_ex" in remark.finding.message for remark in judged.remarks) for judged in (first, second)]
    assert told == [False, True]


@pytest.mark.parametrize(("label", "devices"), [("A2 series", "8xA2"), ("A3 series", "8xA3")])
def test_the_devices_of_a_tab(label: str, devices: str) -> None:
    text = (
        "- requires 2 Atlas 800 A3 (128G × 8) or 4 Atlas 800 A2 (64G × 8).\n\n"
        f":::::{{tab-set}}\n::::{{tab-item}} {label}\n\n```shell\n"
        "vllm serve vllm-ascend/DeepSeek-V3.2-W8A8 --quantization ascend --tensor-parallel-size 8\n```\n::::\n:::::\n"
    )
    (one,) = ask(text)
    assert one.cluster is not None
    assert one.cluster.name == devices
