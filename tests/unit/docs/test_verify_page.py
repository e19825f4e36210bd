"""docs/verify.md lists the questions that are asked, in their order, with what they prove."""

from __future__ import annotations

import re

from moonpad.verify.probes import LONG_PROBES, PROBES
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "verify.md"


def test_the_page_lists_every_probe() -> None:
    rows = re.findall(r"(?m)^\| `(\w+)` \| (.*) \| (.*) \|$", PAGE.read_text().replace("\\|", "!"))
    listed = [(id_, proves, matters) for id_, proves, matters in rows]
    assert listed == [
        (probe.id, probe.proves.replace("|", "!"), probe.matters.replace("|", "!")) for probe in (*PROBES, *LONG_PROBES)
    ]
