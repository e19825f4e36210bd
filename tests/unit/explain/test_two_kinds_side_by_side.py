"""Two kinds of one line, each with a size or a number of its own, are not chosen between; what another card is made of
is not the card."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "\n```bash\nvllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8\n```\n"


def devices(text: str) -> tuple[str, str]:
    (judged,) = ask(text + SERVE)
    return judged.cluster.name if judged.cluster is not None else "", judged.cluster_because


@pytest.mark.parametrize(
    "text",
    [
        "H100 80GB 기준 11장, H200 141GB 기준 7장이 이론치입니다.",
        "By H100 80GB 11 cards, by H200 141GB 7 cards in theory.",
        "It takes 11x H100 or 7x H200.",
        "H100 80GB: eleven; H200 141GB: seven.",
    ],
)
def test_none_is_chosen_without_a_word(text: str) -> None:
    name, because = devices(text)
    assert name == ""
    assert "H100 and H200" in because


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("It takes 16x H100 or 8x H200.", "8xH200"),
        ("On H200 141GB.", "8xH200"),
        ("8x H100/H200 will do.", "8xH100"),
    ],
)
def test_one_is_meant(text: str, name: str) -> None:
    assert devices(text)[0] == name


@pytest.mark.parametrize(
    "text",
    [
        "The CMP 170HX has the same silicon as an A100, with 64 GB. 4x CMP 170HX:",
        "A card with the same die as an A100, 64 GB.",
    ],
)
def test_what_it_is_made_of(text: str) -> None:
    assert devices(text)[0] == ""
