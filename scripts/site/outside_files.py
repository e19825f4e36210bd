"""Links of the pages to files of the repository outside of docs/: found, and led to the copies within the site."""

from __future__ import annotations

import posixpath
import re

LINK = re.compile(r"(?<=\]\()(?P<target>\.\./[^)\s#]+)(?P<anchor>#[^)\s]*)?(?=\))")
"""Of a page in docs/ itself: `](../benchmarks/results.md)`."""


def outside_links(markdown: str) -> list[str]:
    """The paths, from the root of the repository, of the files that a page of docs/ links to."""
    return [posixpath.normpath(f"docs/{match['target']}") for match in LINK.finditer(markdown)]


def with_links_inside(markdown: str, page: str) -> str:
    """The page with links to copies. `page` is its path below docs/; copies themselves keep their links."""
    if page.startswith("repository/") or "/" in page:
        return markdown

    def inside(match: re.Match[str]) -> str:
        path = posixpath.normpath(f"docs/{match['target']}")
        return f"repository/{path}{match['anchor'] or ''}"

    return LINK.sub(inside, markdown)
