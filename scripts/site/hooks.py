"""What mkdocs asks of us while it builds the site: pages made from the program, and files that lie outside of docs/.

- reference/*.md are made from the command line, the schema and the error tree, so that they cannot differ from them.
- A page links to records and sources as GitHub shows them (`../benchmarks/results/plan.json`). Those files are taken
  into the site, below repository/, and the links are changed to lead there.
- A page of the navigation that a branch does not have (OPTIONAL) is left out instead of failing the build.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # mkdocs loads this file by its path

from scripts.site.cli_reference import commands_page  # noqa: E402
from scripts.site.exit_codes import exit_codes_page  # noqa: E402
from scripts.site.outside_files import outside_links, with_links_inside  # noqa: E402
from scripts.site.spec_reference import spec_page  # noqa: E402

OPTIONAL = ("tune.md",)
GENERATED = {
    "reference/commands.md": commands_page,
    "reference/spec.md": spec_page,
    "reference/exit-codes.md": exit_codes_page,
}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    missing = {name for name in OPTIONAL if not (Path(config.docs_dir) / name).is_file()}
    config.nav = _without(config.nav, missing)
    return config


def _without(nav: list[Any], missing: set[str]) -> list[Any]:
    kept = []
    for entry in nav:
        if isinstance(entry, dict):
            ((title, below),) = entry.items()
            if isinstance(below, list):
                kept.append({title: _without(below, missing)})
            elif below not in missing:
                kept.append(entry)
        elif entry not in missing:
            kept.append(entry)
    return kept


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    for name, make in GENERATED.items():
        files.append(File.generated(config, name, content=make()))
    wanted = {path for file in files.documentation_pages() for path in outside_links(file.content_string)}
    for path in sorted(wanted):
        # The page of a record is reached by the link to it, and is in no navigation.
        inclusion = InclusionLevel.NOT_IN_NAV
        source = str(ROOT / path)
        files.append(File.generated(config, f"repository/{path}", abs_src_path=source, inclusion=inclusion))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    return with_links_inside(markdown, page.file.src_uri)


def on_page_content(html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """GitHub reads `\\|` within code of a table as a bar; Python-Markdown leaves the backslash there."""
    html = re.sub(r"<td[^>]*>.*?</td>", lambda cell: cell[0].replace("\\|", "|"), html, flags=re.DOTALL)
    # A wide table scrolls by itself; a keyboard must reach it.
    table = '<div class="wide" tabindex="0" role="region" aria-label="Table">\n<table>'
    return html.replace("<table>", table).replace("</table>", "</table>\n</div>")
