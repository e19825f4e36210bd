"""A page of ours, read by the parser of the standard library."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

VOID = {"meta", "br", "img", "link", "input"}


class Page(HTMLParser):
    """The elements, their texts, and whether each is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def attributes(self, tag: str) -> list[dict[str, Any]]:
        return [attrs for name, attrs in self.tags if name == tag]


def drawing(html: str, id_: str) -> ElementTree.Element:
    """The SVG of that id, which is XML too."""
    (drawing,) = [drawing for drawing in re.findall(r"<svg.*?</svg>", html, re.DOTALL) if f' id="{id_}"' in drawing]
    return ElementTree.fromstring(drawing)  # noqa: S314 - a page of ours


def parts(of: ElementTree.Element, class_: str) -> list[ElementTree.Element]:
    """The elements that have this class."""
    return [element for element in of.iter() if class_ in element.get("class", "").split()]


def corners(path: ElementTree.Element) -> list[tuple[float, float]]:
    """The points of a path of straight lines."""
    pairs = path.get("d", "").removeprefix("M").split(" L")
    return [(float(x), float(y)) for x, y in (pair.split() for pair in pairs)]


class Ruler:
    """Reads values off an axis, by the places of its own labels: independent of the code that has drawn it."""

    def __init__(self, svg: ElementTree.Element, axis: str) -> None:
        labels = [tick for group in parts(svg, axis) for tick in parts(group, "tick")]
        key = "x" if axis == "axis-x" else "y"
        shift = 0.0 if axis == "axis-x" else -4.0  # the middle of the letters is beside the mark
        (first_value, first), *_, (other, last) = [
            (_value(label.text or ""), float(label.get(key, "")) + shift) for label in labels
        ]
        self.value_at_first, self.first, self.a_unit = first_value, first, (last - first) / (other - first_value)

    def place(self, value: float) -> float:
        return self.first + (value - self.value_at_first) * self.a_unit


def _value(label: str) -> float:
    number = float(label.rstrip("%").replace(",", ""))
    return number / 100 if label.endswith("%") else number
