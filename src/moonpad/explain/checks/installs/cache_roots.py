"""A path that ends at the folder of a repository in the cache of Hugging Face: the files lie in a snapshot below it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_ROOT: Final = re.compile(r"(?P<path>[^\s\"'=,:]*hub/models--[\w.-]+?--[\w.-]+?)/*(?=[\"'\s,}]|$)")
_ELSEWHERE: Final = ("cache", "download", "gguf", "weight")
"""Of options whose folder is filled, or searched through to its bottom."""
_LONGEST: Final = 4000


def cached_root(case: Case) -> Iterator[Remark]:
    """`blobs`, `refs` and `snapshots` are all that is in it, so that no configuration and no weights are found."""
    command = case.commands[0]
    flag = ""
    for at, word in enumerate(command.argv):
        name, _, _ = word.text.partition("=")
        flag = name if name.startswith("-") else flag
        match = _ROOT.search(word.text[:_LONGEST])
        if match is None or any(part in flag for part in _ELSEWHERE):
            continue
        path, container = match["path"], command.container
        if container is not None and any(f":{path}" in each.text for each in container.words):
            continue  # a snapshot may be mounted there
        message = (
            f"{shortened(path, 70)} is the folder of a repository in the cache: it holds snapshots, and the files "
        )
        message += "of the model are below one of them, so nothing is found here"
        remedy = "name the repository itself (ORGANISATION/NAME), or the folder snapshots/COMMIT in it"
        yield make_remark(Severity.WARNING, Code.INVALID_VALUE, flag or "model", message, remedy, at=at)
        return


_SNAPSHOT: Final = re.compile(r".*/models--[\w.-]+/snapshots/[^/]+/?")


def links_out_of_mount(case: Case) -> Iterator[Remark]:
    """`-v …/snapshots/COMMIT:/model`: the files there are links to ../../blobs, which is not in the container."""
    container = case.commands[0].container
    if container is None or container.kind != "docker run":
        return
    sources = [value.partition(":")[0].strip("'\"") for value in container.values("--volume")]
    snapshot = next((source for source in sources if _SNAPSHOT.fullmatch(source)), "")
    above = snapshot.partition("/snapshots/")[0]
    if not snapshot or any(
        f"{above}/".startswith(f"{source.rstrip('/')}/") for source in sources if source != snapshot
    ):
        return
    message = (
        f"the files of {shortened(snapshot, 80)} are links to ../../blobs beside it, which the container does not "
    )
    message += "have: each of them leads nowhere"
    remedy = f"mount {shortened(above, 80)} or the whole cache, or download with --local-dir, which has no links"
    yield make_remark(Severity.WARNING, Code.CONFLICT, "-v", message, remedy)
