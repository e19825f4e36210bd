"""What the built site must hold: no file of another host, and no link within it that leads nowhere.

python -m scripts.site.check build/site      # exit code 1, and a line for each fault
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
"""What a browser fetches unasked, by the attribute that names it; of `link`, some kinds alone (LOADED_RELS)."""
LOADED_RELS = {"stylesheet", "icon", "preload", "preconnect", "dns-prefetch", "modulepreload", "manifest"}
FOREIGN_STYLE = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"])(?:https?:)?//")


@dataclass
class Page(HTMLParser):
    """The ids of a page, what it links to, and what it has fetched."""

    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.ids |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in LOADED and values.get(LOADED[tag]) and (tag != "link" or self._is_loaded(values)):
            self.loads.append(values[LOADED[tag]])

    @staticmethod
    def _is_loaded(values: dict[str, str]) -> bool:
        return bool(LOADED_RELS & set(values.get("rel", "").split()))


def faults(site: Path) -> list[str]:
    """One line for each."""
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    found = [] if pages else [f"{site}: there are no pages"]
    for path, page in pages.items():
        name = path.relative_to(site)
        found += [f"{name}: is fetched from another host: {url}" for url in page.loads if _is_foreign(url)]
        for url in (*page.links, *page.loads):
            if not _is_foreign(url) and (fault := _fault_of(url, path, site, pages)):
                found.append(f"{name}: {url}: {fault}")
    for path in sorted(site.rglob("*.css")):
        if FOREIGN_STYLE.search(path.read_text()):
            found.append(f"{path.relative_to(site)}: takes a file of another host")
    return found


def _read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text())
    return page


def _is_foreign(url: str) -> bool:
    parts = urlsplit(url)
    return bool(parts.netloc) or parts.scheme in ("http", "https")


def _fault_of(url: str, page: Path, site: Path, pages: dict[Path, Page]) -> str:
    parts = urlsplit(url)
    if parts.scheme:
        return "" if parts.scheme in ("data", "mailto", "javascript") else "a scheme that no page has"
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if page.name == "404.html" and parts.path.startswith("/"):  # it is shown below any address, so its links are whole
        target = (site / unquote(parts.path).lstrip("/")).resolve()
    target = target / "index.html" if target.is_dir() else target
    if not target.is_file():
        return "there is no such file"
    anchor = unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].ids:
        return "there is no such heading"
    return ""


def main() -> int:
    site = Path(sys.argv[1]).resolve()
    found = faults(site)
    print("\n".join(found) or f"{site}: no link leads nowhere, and nothing comes from another host")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
