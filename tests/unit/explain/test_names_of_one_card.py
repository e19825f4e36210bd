"""One card by the names that people give it."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.device_mentions import mentions

CARD = "RTX-PRO-6000"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("RTX PRO 6000", CARD),
        ("RTX 6000 PRO", CARD),
        ("RTX 6000 Pro Blackwell", CARD),
        ("rtx 6000 pro", CARD),
        ("RTX6000 Pro", CARD),
        ("4x RTX 6000 Workstation Pro", CARD),
        ("RTX 6000 Blackwell", CARD),
        ("a blackwell 6000 pro", CARD),
        ("Blackwell Pro 6000", CARD),
        ("Blackwell RTX PRO 6000", CARD),
        ("6000 Pro Blackwell", CARD),
        ("Ryzen 6000 Pro", ""),
        ("Ryzen PRO 6000", ""),
        ("RTX 6000 Ada", "RTX-6000-Ada"),
        ("RTX 6000", ""),
        ("Quadro RTX 6000", ""),
    ],
)
def test_a_card_by_its_names(text: str, kind: str) -> None:
    found = {each.kind for each in mentions((text,), ())}
    assert found == ({kind} if kind else set())
