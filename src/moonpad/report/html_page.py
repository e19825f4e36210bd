"""A page that stands alone: one file, no script, nothing fetched, and nothing of an endpoint's text is run.

The policy allows the one style that stands in the page, by its hash, and no other thing:
https://www.w3.org/TR/CSP3/#framework-directive-source-list
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from moonpad.report.plain_text import shown

PAGES = files("moonpad.report") / "pages"


def page(template: str, **values: object) -> str:
    """The page of one of the templates beside this file. Whatever `values` hold is text."""
    style = (PAGES / "page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    environment = Environment(
        loader=FunctionLoader(lambda name: (PAGES / name).read_text(encoding="utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else shown(value),  # no value escapes it
    )
    return environment.get_template(template).render(policy=policy, style=Markup(style), **values)  # noqa: S704 - a file of ours
