"""What is downloaded against what is served: the folder, and the folder of a repository within it."""

from __future__ import annotations

import pytest

from moonpad.report.shell_line import typed_lines
from tests.unit.explain.judging import ask

SERVE = "vllm serve {} --served-model-name finch -tp 8 --trust-remote-code\n"
GGUF = "hf download {} --local-dir ~/w/finch\n./llama-server -m {} -c 32768 --port 8080\n"
FILE = "Kimi-K2-Instruct-UD-Q2_K_XL-00001-of-{}.gguf"


def told(text: str, words: str) -> list[str]:
    """The remedies of the findings with these words."""
    return [each.remedy for one in ask(text, "8xH200") for each in one.findings if words in each.message]


@pytest.mark.parametrize(
    "download",
    [
        "hf download moonshotai/Kimi-K2.5 --local-dir /d/Kimi-K2.5-mirror",
        "modelscope download --model moonshotai/Kimi-K2.5 --local_dir /d/Kimi-K2.5-mirror",
        "modelscope download moonshotai/Kimi-K2.5 \\\n  --local_dir /d/Kimi-K2.5-mirror/",
    ],
)
@pytest.mark.parametrize("served", ["/d/Kimi-K2.5", "--model /d/Kimi-K2.5/"])
def test_a_folder_whose_name_is_the_beginning_of_the_other(download: str, served: str) -> None:
    assert told(f"{download}\n{SERVE.format(served)}", "is served, and") == ["serve /d/Kimi-K2.5-mirror"]


@pytest.mark.parametrize("served", ["/d/Kimi-K2.5/", "--model /d/Kimi-K2.5/", "--port 80 --model /d/Kimi-K2.5"])
def test_the_corrected_command_serves_what_was_downloaded(served: str) -> None:
    (one,) = ask("hf download moonshotai/Kimi-K2.5 --local-dir /d/Kimi-K2.5-mirror\n" + SERVE.format(served))
    (command,) = one.corrected
    assert "/d/Kimi-K2.5-mirror" in command.argv
    assert not {"/d/Kimi-K2.5", "/d/Kimi-K2.5/"} & {*command.argv}


def test_a_pattern_stays_outside_of_quotes_in_the_corrected_command() -> None:
    text = GGUF.format('someone/finch-gguf --include "UD-Q2_K_XL/*"', f"~/w/finch/{FILE.format('*')}")
    (one,) = ask(text)
    (command,) = one.corrected
    assert any(line.strip().startswith(f"-m ~/w/finch/UD-Q2_K_XL/{FILE.format('*')}") for line in typed_lines(command))


@pytest.mark.parametrize(
    "between",
    [
        "mv /d/Kimi-K2.5-mirror /d/Kimi-K2.5\n",
        "cd /d && ln -s Kimi-K2.5-mirror Kimi-K2.5\n",
        "python convert.py --in /d/Kimi-K2.5-mirror --to /d/Kimi-K2.5\n",
        "hf download someone/other --local-dir /d/other\n",
    ],
)
def test_a_step_that_may_make_the_folder(between: str) -> None:
    download = "hf download moonshotai/Kimi-K2.5 --local-dir /d/Kimi-K2.5-mirror\n"
    assert told(download + between + SERVE.format("/d/Kimi-K2.5"), "is served, and") == []


def test_a_mount_under_another_name() -> None:
    download = "hf download moonshotai/Kimi-K2.5 --local-dir /d/mirror\n"
    run = "docker run --gpus all -v /d/mirror:/d/kimi vllm/vllm-openai:v0.19.0 --model /d/kimi -tp 8\n"
    assert told(download + run, "is served, and") == []


@pytest.mark.parametrize(
    "download",
    [
        'unsloth/Kimi-K2-Instruct-GGUF --include "*UD-Q2_K_XL*"',
        'someone/finch-gguf --include "UD-Q2_K_XL/*"',
        "someone/finch-gguf UD-Q2_K_XL/" + FILE.format("00008"),
    ],
)
@pytest.mark.parametrize("count", ["00008", "*"])
def test_a_file_in_a_folder_of_the_repository(download: str, count: str) -> None:
    text = GGUF.format(download, f"~/w/finch/{FILE.format(count)}")
    assert told(text, "no such file") == [f"serve ~/w/finch/UD-Q2_K_XL/{FILE.format(count)}"]


@pytest.mark.parametrize(
    "text",
    [
        GGUF.format('unsloth/Kimi-K2-Instruct-GGUF --include "*Q2*"', "~/w/finch/UD-Q2_K_XL/" + FILE.format("00008")),
        GGUF.format('someone/finch-gguf --include "*Q2*"', "~/w/finch/" + FILE.format("00008")),
        GGUF.format('unsloth/Qwen3-8B-GGUF --include "*Q4_K_M*"', "~/w/finch/Qwen3-8B-Q4_K_M.gguf"),
        GGUF.format('unsloth/Kimi-K2-Instruct-GGUF --include "*Q2*"', "~/w/finch/" + FILE.format("00008")).replace(
            "\n./", "\nmv ~/w/finch/*/*.gguf ~/w/finch/\n./"
        ),
        "hf download unsloth/Kimi-K2-Instruct-GGUF --local-dir ~/w/wren\n./llama-server -m ~/w/finch/"
        + FILE.format("00008"),
    ],
)
def test_a_file_that_is_there_perhaps(text: str) -> None:
    assert told(text, "no such file") == []


def test_a_pattern_for_the_number_of_parts_names_the_model() -> None:
    (one,) = ask(f"./llama-server -m ~/w/{FILE.format('*')} -c 32768 --port 8080\n")
    assert one.checkpoint is not None
    assert "Kimi-K2-Instruct" in one.checkpoint.name
