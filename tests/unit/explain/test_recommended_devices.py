"""Of devices that a table or a list compares, the recommended ones, or the own ones, are meant."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

SERVE = "vllm serve moonshotai/Kimi-K2.6 --trust-remote-code --tensor-parallel-size 8"


def devices(said: str, more: str = "") -> str:
    judged = ask_one(f"{said}\n\n## Start\n\n```bash\n{SERVE} {more}\n```\n", "")
    return judged.cluster.name if judged.cluster is not None else ""


HEAD = "| GPU | Count | Remark |\n|---|---|---|\n"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (f"{HEAD}| H200 | 8 | ✅ recommended |\n| B200 | 8 | works too |", "8xH200"),
        (f"{HEAD}| **8x B200** | 8 | **Preferred** |\n| 8x H200 | 8 | slower |", "8xB200"),
        (f"{HEAD}| H200 | 8 | ✅ 推荐 |\n| A100 80GB | 16 | ✅ 可行 |", "8xH200"),
        (f"{HEAD}| H800 | 16 | 备选 |\n| H200 | 8 | 本次使用 |", "8xH200"),
        ("- Recommended: 8x H200\n- Others: 8x B200, 8x MI300X", "8xH200"),
    ],
)
def test_recommended_row(said: str, expected: str) -> None:
    assert devices(said) == expected


@pytest.mark.parametrize(
    "said",
    [
        f"{HEAD}| H200 | 8 | works |\n| B200 | 8 | works too |",
        f"{HEAD}| H200 | 8 | recommended |\n| B200 | 8 | recommended |",
        f"{HEAD}| H200 | 8 | not recommended |\n| B200 | 8 | works |",
    ],
)
def test_no_row_or_several_are_recommended(said: str) -> None:
    assert devices(said) == ""


def test_row_with_the_number_of_the_command_is_not_dropped() -> None:
    rows = f"{HEAD}| 4x B200 | | recommended |\n| 2x8x H100 | | two machines |"
    assert devices(rows, "--pipeline-parallel-size 2") != "4x4xB200"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("我们的机器是 8×H20。\n\n参数对齐官方 recipe（H200 / FP8）。", "8xH20"),
        ("We have 8x H800 here.\n\nThe official recipe targets H200, so some values differ.", "8xH800"),
        ("This follows the official recipe (8x H200).", "8xH200"),  # no others are counted
    ],
)
def test_devices_of_an_official_recipe_are_not_the_own(said: str, expected: str) -> None:
    assert devices(said) == expected


@pytest.mark.parametrize("add", ["`--nnodes 2` / `--node-rank`", "`--headless` on the second one"])
def test_prose_that_names_the_options_for_more_machines_says_that_ranks_start_elsewhere(add: str) -> None:
    said = f"我们有两台 8×H20。\n\n双节点再加 {add}。"
    command = f"{SERVE} --data-parallel-size 2"
    for text, expected in ((said, False), ("我们有两台 8×H20。", True)):
        judged = ask_one(f"{text}\n\n## Start\n\n```bash\n{command}\n```\n", "")
        assert any("start elsewhere" in each.message for each in judged.findings) is expected
