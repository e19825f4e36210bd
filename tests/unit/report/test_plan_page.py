"""The page of `plan --report`: the front as it is drawn, and nothing of a name that runs."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.models import find_model
from moonpad.engines import ENGINES
from moonpad.plan.request import Request
from moonpad.plan.search import Known, search
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.predict import Lengths, Workload
from moonpad.predict.plan_speeds import AskedLoad, SpeedAnswer, with_speeds
from moonpad.report.plan_page import plan_page
from moonpad.values.plan_answer import Answer
from moonpad.values.records import replace

LOAD = Workload(Lengths.fixed(1024), Lengths.fixed(512), concurrency=1)


def answered(**asked: Any) -> tuple[Answer, SpeedAnswer]:
    model, cluster = find_model("moonshotai/Kimi-K2.5"), parse_cluster("8xH200")
    assert model is not None
    checkpoint = catalog_checkpoint(model)
    request = Request(engine="vllm", engine_version="0.16.0", layout={"tp": 8})
    answer = search(checkpoint, cluster, request, Known())
    load = AskedLoad(LOAD, "1024:512", growing=True, goal="throughput", **asked)
    return with_speeds(answer, checkpoint, cluster, ENGINES, load)


class Points(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.points: list[dict[str, str | None]] = []
        self.tags: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if dict(attrs).get("class") == "point-group":
            self.points.append(dict(attrs))


def test_the_front_is_drawn() -> None:
    answer, speeds = answered(limits={"tpot_s": 0.04})
    page = Points(plan_page(answer, speeds))
    on_front = [(point["data-plan"], point["data-users"]) for point in page.points if point["data-front"] == "yes"]
    expected = [(str(each.plan + 1), str(each.prediction.workload.concurrency)) for each in speeds.front]
    assert on_front == expected
    assert len(page.points) == len(speeds.points)


def test_a_name_is_text() -> None:
    answer, speeds = answered()
    html = plan_page(replace(answer, model="<script>1</script>"), speeds)
    assert "script" not in Points(html).tags
    assert "default-src &#39;none&#39;" in html
