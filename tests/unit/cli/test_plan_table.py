"""The text of `moonpad plan`: widths, signs without colours, and commands that a shell takes as they stand."""

from __future__ import annotations

import os
import shlex
import subprocess
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from moonpad.report.memory_bar import memory_bar, segments
from moonpad.report.plan_commands import Command, commands_of
from moonpad.report.plan_table import plan_table
from moonpad.values.checkpoint import Component
from moonpad.values.deployment import Deployment, Executable, File, Gang, PortSpec, Process, Role
from moonpad.values.estimate import Estimate
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout
from moonpad.values.references import HostRef, PathRef, PortRef, RankRef, SecretRef
from moonpad.values.units import GIB
from tests.unit.plan.test_search import THINKING, plan


def memory(kv_gib: float, *, device_gib: int = 80, overhead_gib: float = 5) -> Memory:
    def exactly(value: float) -> Estimate:
        return Estimate.exact(value, "made up")

    return Memory(
        device_bytes=device_gib * GIB,
        budget_bytes=72 * GIB,
        weights={Component.ROUTED_EXPERTS: 40 * GIB, Component.O_PROJ: 10 * GIB},
        overhead=exactly(overhead_gib * GIB),
        kv_bytes_per_token=70_272,
        kv_bytes=exactly(kv_gib * GIB),
        kv_tokens=exactly(1000),
        max_context=exactly(1000),
        context=1000,
        concurrency_at_context=exactly(1),
    )


def test_the_bar_is_in_proportion() -> None:
    bar = memory_bar(memory(17), 78, ascii_only=True).plain.split("\n")[0]
    # 40, 10, 5, 17 and 8 of 80 GiB, in 74 columns.
    assert bar == "[" + "#" * 37 + "=" * 9 + "+" * 5 + "." * 16 + " " * 7 + "]"


def test_each_part_is_named_with_its_size() -> None:
    text = memory_bar(memory(17), 100).plain
    for line in (
        "routed experts     40.00 GiB",
        "o proj 10.00",
        "everything else     5.00 GiB",
        "KV cache           17.00",
    ):
        assert line in text


@pytest.mark.parametrize("kv_gib", [-30.0, 0.0, 0.001, 17.0])
@pytest.mark.parametrize("overhead_gib", [0.0, 5.0])
@pytest.mark.parametrize("width", [10, 40, 76, 200])
def test_the_bar_fits_its_width(kv_gib: float, overhead_gib: float, width: int) -> None:
    breakdown = memory(kv_gib, overhead_gib=overhead_gib)
    bar = memory_bar(breakdown, width).plain.split("\n")[0]
    assert len(bar) == max(20, min(width, 76) - 2)
    assert all(part.size_bytes > 0 for part in segments(breakdown))


def test_layout_words() -> None:
    assert Layout().words == "TP1"
    assert Layout(tp=8, dcp=8).words == "TP8 DCP8"
    assert Layout(dp=16, ep=16).words == "DP16 EP16"


@pytest.mark.parametrize("width", [60, 80, 120])
def test_sentences_are_wrapped(width: int) -> None:
    answer = plan(THINKING, "8xH100", goal="throughput")
    lines = plan_table(answer, (), width).plain.split("\n")
    prose = lines[lines.index("Why") + 1 :]
    assert max(len(line) for line in prose if " " in line.strip()) <= width


def test_without_unicode_the_text_is_ascii() -> None:
    text = plan_table(plan(THINKING, "8xH200"), (), 100, ascii_only=True).plain
    bar = text[text.index("Memory of") : text.index("Why")]
    assert bar.isascii()


def test_brackets_are_text() -> None:
    console = Console(markup=False, width=200, file=None, record=True, no_color=True)
    with console.capture() as captured:
        console.print(plan_table(plan(THINKING, "8xH200"), (), 200))
    assert "Kimi-K2-Thinking on 8xH200" in captured.get()


# Commands.

API = PortRef("engine", "api")


def deployment() -> Deployment:
    runtime = Executable(("vllm",))
    head = Process(
        "engine",
        Role.ENGINE,
        "node-0",
        0,
        runtime,
        ("serve", PathRef("checkpoint"), "--port", API, "--config", (PathRef("run"), "/x.yaml"), "--alpha", "-1"),
        env={"HF_HUB_OFFLINE": "1", "KEY": SecretRef("api_key")},
        files=(File("x.yaml", ("key: ", SecretRef("api_key"), "\n"), 0o600),),
        ports=(PortSpec("api", 8000),),
    )
    second = Process(
        "engine-1",
        Role.ENGINE,
        "node-1",
        1,
        runtime,
        ("serve", "--master", (HostRef("node-0"), ":", API), "--rank", RankRef("node-1", times=8)),
    )
    return Deployment((Gang("gang", (head, second)),), API, "model")


def test_references_become_words_that_a_person_can_replace() -> None:
    head, second = commands_of(deployment(), "org/Model", here=False)
    assert head.argv == ("vllm", "serve", "org/Model", "--port", "8000", "--config", "./x.yaml", "--alpha", "-1")
    assert head.env == {"KEY": "***"}
    assert second.argv == ("vllm", "serve", "--master", "NODE_0:8000", "--rank", "8")
    assert commands_of(deployment(), "/m", here=True)[0].env["HF_HUB_OFFLINE"] == "1"


def test_one_flag_a_line() -> None:
    command = commands_of(deployment(), "org/Model", here=False)[0]
    assert list(command.lines())[-5:] == [
        "KEY='***' \\",
        "vllm serve org/Model \\",
        "  --port 8000 \\",
        "  --config ./x.yaml \\",
        "  --alpha -1",
    ]


WORDS = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\x00"), min_size=1, max_size=20)


UTF8 = {"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]}
NAMES = st.from_regex(r"[A-Z][A-Z0-9_]{0,8}", fullmatch=True)


@given(st.lists(WORDS, min_size=1, max_size=6), st.dictionaries(NAMES, WORDS, max_size=3))
@settings(max_examples=200)
def test_a_shell_reads_the_same_words_back(argv: list[str], env: dict[str, str]) -> None:
    """Fault 51: nothing of a model's or a folder's name is interpreted."""
    lines = list(Command("engine", "node-0", env, tuple(argv)).lines())
    assert all(line.endswith(" \\") for line in lines[:-1])
    text = " ".join(line.removesuffix(" \\") for line in lines)
    wanted = [*(f"{name}={value}" for name, value in env.items()), *argv]
    assert not [char for char in text if unicodedata.category(char) in ("Cc", "Zl", "Zp") and char not in "\n\t"]
    if "$'" not in text:
        assert shlex.split(text) == wanted
    shell = subprocess.run(("bash", "-c", f"printf '%s\\0' {text}"), env=UTF8, capture_output=True, check=True)
    assert shell.stdout.decode().split("\0")[:-1] == wanted


def test_replicas_are_counted_once() -> None:
    """Two replicas that hold one sequence each hold two, and the table has the tokens of one replica and of both."""
    answer = plan("moonshotai/Kimi-K2.6", "8xH20", "tp=4", "dp=2", "ep=8", "dcp=1", engine="vllm")
    heads, row = plan_table(answer, (), 120).plain.split("\n")[2:4]
    memory = answer.choices[0].memory
    assert [head.strip() for head in heads.split("  ") if head.strip()][3:6] == [
        "at once, all",
        "KV tokens, all",
        "per replica",
    ]
    cells = [cell.strip() for cell in row.split("  ") if cell.strip()]
    at_once, total, each = cells[4:7]
    tokens = int(memory.kv_tokens.value)
    assert (int(total.replace(",", "")), int(each.replace(",", ""))) == (2 * tokens, tokens)
    assert float(at_once) == pytest.approx(2 * (tokens / memory.context), rel=0.05)


def test_the_plan_with_much_more_room_is_named_in_the_first_lines() -> None:
    lines = plan_table(plan(THINKING, "8xH200", engine="vllm"), (), 120).plain.split("\n")
    above = lines[: next(at for at, line in enumerate(lines) if line.startswith("Memory of"))]
    assert "Plan 2 (vllm TP8 DCP8) holds 8 times the KV cache of plan 1." in above


def test_the_trade_stands_below_the_bar() -> None:
    text = plan_table(plan("moonshotai/Kimi-K2.6", "8xH20"), (), 120).plain
    trade = text[text.index("Context against sequences") : text.index("Why\n")]
    chosen = [line for line in trade.split("\n") if line.startswith("  *")]
    assert len(chosen) == 1
    assert "  4,096  " in chosen[0]
    assert max(map(len, trade.split("\n"))) <= 100
