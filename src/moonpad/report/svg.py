"""SVG elements as text that is safe in a page: everything written into them is escaped. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup, escape

from moonpad.report.plain_text import shown


def tag(name: str, *children: object, **attributes: object) -> Markup:
    """An element. `class_` is written class, `data_x` data-x; an attribute that is None is left out, and a number has
    two decimals at most. A child that is not Markup is text.
    """
    written = "".join(
        f' {_attribute(key)}="{escape(shown(_value(value)))}"' for key, value in attributes.items() if value is not None
    )
    inside = "".join(child if isinstance(child, Markup) else escape(shown(_value(child))) for child in children)
    return Markup(f"<{name}{written}>{inside}</{name}>")  # noqa: S704 - all parts are escaped


def group(children: Iterable[Markup], **attributes: object) -> Markup:
    return tag("g", *children, **attributes)


def line(x1: float, y1: float, x2: float, y2: float, class_: str, **attributes: object) -> Markup:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_, **attributes)


def rect(x1: float, y1: float, x2: float, y2: float, class_: str, fill: str | None = None) -> Markup:
    """From the corner at the upper left to the one at the lower right."""
    return tag("rect", x=x1, y=y1, width=max(0.0, x2 - x1), height=max(0.0, y2 - y1), class_=class_, fill=fill)


def text(x: float, y: float, words: object, class_: str = "", anchor: str | None = None) -> Markup:
    """`anchor`: start, middle or end of the text stands at x."""
    return tag("text", words, x=x, y=y, class_=class_ or None, text_anchor=anchor)


def path(points: Iterable[tuple[float, float]], class_: str, **attributes: object) -> Markup:
    """Straight lines from point to point."""
    drawn = " L".join(f"{_value(x)} {_value(y)}" for x, y in points)
    return tag("path", d=f"M{drawn}" if drawn else "", class_=class_, **attributes)


def steps(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """The corners of a line that keeps each y until the next x."""
    corners: list[tuple[float, float]] = []
    for x, y in points:
        if corners:
            corners.append((x, corners[-1][1]))
        corners.append((x, y))
    return corners


def picture(id_: str, title: str, description: str, width: float, height: float, *children: Markup) -> Markup:
    """A whole drawing, which a screen reader has as one picture with a title and a description."""
    return tag(
        "svg",
        tag("title", title, id=f"{id_}-title"),
        tag("desc", description, id=f"{id_}-desc"),
        *children,
        id=id_,
        viewBox=f"0 0 {_value(width)} {_value(height)}",
        role="img",
        aria_labelledby=f"{id_}-title {id_}-desc",
    )


def width_of(words: str, size: float = 13.0) -> float:
    """About how wide a text is, in units of the drawing; the fonts of the page are not known."""
    return 0.56 * size * len(words)


def _attribute(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _value(value: object) -> object:
    if isinstance(value, float):
        short = f"{value:.2f}".rstrip("0").rstrip(".")
        return "0" if short == "-0" else short
    return value
