"""An image for one generation of devices under the tab, or the heading, of another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.surrounding_names import OF_GENERATION
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_TAB: Final = re.compile(
    r"[ \t]*(?:[:`~]{3,}\{tab(?:-item)?\}|===[ ]+\"|#{2,6}[ ])[ ]*(?P<title>[^\"\n]{1,60})", re.IGNORECASE
)
_KIND: Final = re.compile(r"(?<![A-Za-z0-9-])(?:800I?[ -]?)?(?P<kind>A[23])(?:[ ]series)?(?![A-Za-z0-9])")
_FENCE: Final = re.compile(r"[ \t]*(?:`{3,}|~{3,})(?!\{tab)")
_ENDS: Final = re.compile(r"[ \t]*(?::{4,}[ \t]*$|#{1,6}[ ])")


def image_of_other_tab(case: Case) -> Iterator[Remark]:
    """`{tab-item} A2 series` and below it the image whose tag has -a3."""
    script = case.script
    if not script.markdown or not is_first(case.commands, script):
        return
    kind, in_block = "", False
    for number, text in numbered(script, 1, len(script.lines)):
        in_block ^= _FENCE.match(text) is not None
        tab = None if in_block else _TAB.match(text)
        if tab is not None or (not in_block and _ENDS.match(text)):
            kinds = {match["kind"].upper() for match in _KIND.finditer(tab["title"])} if tab is not None else set()
            kind = next(iter(kinds)) if len(kinds) == 1 else ""
            continue
        image = OF_GENERATION.search(text) if kind and not text.lstrip().startswith("#") else None
        if image is not None and image["kind"].upper() != kind:
            message = (
                f"{script.where(number)}: {shortened(image[0], 70)} is built for {image['kind'].upper()}, and the part "
                f"is about {kind}: its kernels do not run there"
            )
            remedy = "take the image of the same release without that part of the tag" if kind == "A2" else ""
            remedy = remedy or "take the image whose tag has -a3"
            remark = make_remark(Severity.WARNING, Code.CONFLICT, shortened(image[0], 70), message, remedy)
            yield Remark(remark.finding, command=None)
            return
