"""Words of another language behind a command on its line, in front of it, and lines that a program prints of itself."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask, ask_one, at, refused

SERVE = "vllm serve /data/Big-Model --tensor-parallel-size 2 --max-num-seqs 16"


@pytest.mark.parametrize(
    "behind",
    [
        " 之后就退出了",
        " 启动报错 显存不足",
        " NCCL 超时",
        " で起動に失敗する",
        " 실행하면 멈춘다",
        " не запускается",
        "运行几分钟后崩溃",
        "で落ちる",
    ],
)
def test_a_sentence_that_goes_on_is_no_argument(behind: str) -> None:
    judged = ask_one(f"I run\n{SERVE}{behind}\n\nwhat now\n", on="", version="0.20.0")
    assert not refused(judged)
    assert judged.settings is not None
    assert judged.settings.max_num_seqs == 16
    assert "error" not in {row[0] for row in _rows(judged.findings)}


def _rows(findings: object) -> list[tuple[str, str, str]]:
    return [(each.severity.value, each.code.value, each.where) for each in findings]  # type: ignore[attr-defined]


@pytest.mark.parametrize("stray", ["张 --port 8000", "stray", "/数据/模型"])
def test_a_stray_word_among_options_or_a_path_is_still_refused(stray: str) -> None:
    judged = ask_one(f"{SERVE} {stray}", on="", version="0.20.0")
    assert at(judged, "invalid-value") == [stray.split()[0]]


@pytest.mark.parametrize("name", ["千问", "'通义 千问'"])
def test_a_name_that_an_option_takes_stays(name: str) -> None:
    judged = ask_one(f"{SERVE} --served-model-name {name}", on="", version="0.20.0")
    assert not at(judged, "invalid-value")
    assert any(name.strip("'") in word for line in judged.corrected or () for word in line.argv) or not judged.corrected


CHAT = "python ./ktransformers/local_chat.py --model_path ./R1 --gguf_path ./R1-Q4 --cpu_infer 30"


@pytest.mark.parametrize(
    "label",
    ["2、运行命令行：", "执行命令为：", "测试启动语句:", "3. 部署方式：", "- 复现步骤：", "（1）启动脚本如下："],
)
def test_what_stands_in_front_with_a_colon_is_no_part_of_the_command(label: str) -> None:
    script = read_script(f"慢得很\n\n{label}{CHAT}\n速度是 2。\n")
    (command,) = [each for each in script.commands if each.program != "other"]
    assert command.prefix[0].text == "python"


@pytest.mark.parametrize(
    "line",
    [
        "eval count:           12 token(s)",
        "eval time =     812.33 ms /    64 runs   (   12.69 ms per token)",
        "time per token (ms): 12.1 (warm)",
        "test loss (mean): 0.31 (200 steps)",
        "read speed: 3.1 GB/s (cold",
    ],
)
def test_what_a_program_measures_is_no_line_of_a_shell(line: str) -> None:
    assert not read_script(f"{CHAT}\n{line}\nand that is slow\n").problems


@pytest.mark.parametrize(
    "line",
    [
        "read the notes (both of them) first",
        "find that (see below) and it is slow",
        "test 1 (cold): 3 s",
        "> set by hand, as told (by the model)",
        "make sure (the cache is empty)",
    ],
)
def test_a_sentence_that_begins_as_a_command_does_is_none(line: str) -> None:
    assert not read_script(f"{CHAT}\n{line}\nand that is slow\n").problems


@pytest.mark.parametrize("line", ["eval $(cat", "export A=(1", "echo rate: 5 (warm)", "time ./run.sh (5)"])
def test_a_line_of_a_shell_that_is_broken_is_told(line: str) -> None:
    assert read_script(f"{CHAT}\n{line}\n").problems


def test_one_command_is_judged() -> None:
    assert len(ask(f"4.启动命令：{CHAT}\n")) == 1
