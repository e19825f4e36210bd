"""What files of strangers about the family taught on 2026-11-29: traces, usage lines, forks, histories, stand-ins."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask, ask_one


def servers(text: str) -> list[list[str]]:
    return [[word.text for word in each.words] for each in read_script(text).commands if each.program != "other"]


def said(judged: Judged, severity: Severity = Severity.ERROR) -> list[str]:
    return [f"{each.where}: {each.message}" for each in judged.findings if each.severity is severity]


def shown(text: str, on: str = "") -> str:
    console = Console(file=io.StringIO(), width=120)
    console.print(explain_view(ask(text, on), read_script(text), 120, ascii_only=True))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


SERVED = "vllm serve /w/kimi-k25-nvfp4 --port 8123 --tensor-parallel-size 4 --trust-remote-code"
TRACE = f"""Starting the server ...
+ export HF_HUB_OFFLINE=1
+ CMD=(vllm serve "$MODEL" --port 8123)
+ printf '%q ' {SERVED}
{SERVED} + printf '\\n'
+ SERVER_PID=4711
+ {SERVED}
+ set +x
"""


def test_of_a_trace_what_was_run_counts_once() -> None:
    assert servers(TRACE) == [SERVED.split()]


def test_what_a_trace_prints_is_left_where_it_shows_no_start() -> None:
    without = TRACE.replace(f"+ {SERVED}\n", "")
    assert servers(without) == [SERVED.split()]


def test_one_item_of_a_list_is_no_trace() -> None:
    assert servers(f"+ {SERVED}\n")[0][-len(SERVED.split()) :] == SERVED.split()


def test_options_in_brackets_may_be_left_out() -> None:
    text = (
        "```bash\nllama-server \\\n  --model <model_path> \\\n  [--mmproj <projector> --mmproj-offload] \\\n"
        "  --temp <0.5 or 1.0> \\\n  --top-k <10 or 30> --port 8081\n```\n"
    )
    (judged,) = ask(f"# Start\n\n{text}")
    assert said(judged) == []
    assert [each for each in said(judged, Severity.WARNING) if "no such argument" in each] == []
    assert "--mmproj-offload" in servers(f"# Start\n\n{text}")[0]


@pytest.mark.parametrize(
    ("name", "ranks", "is_told"),
    [
        ("QuantTrio/MiniMax-M2.1-AWQ", 8, False),  # 192 columns: in groups of 64
        ("org/Qwen3-30B-A3B-GPTQ-Int4", 8, False),  # 96: in groups of 32
        ("org/Qwen3-30B-A3B-GPTQ-Int4", 16, True),  # 48: no half of 128 does
        ("org/Qwen3-30B-A3B-quantized.w4a16", 8, True),
    ],
)
def test_experts_of_awq_and_gptq_go_in_halves_of_a_group(name: str, ranks: int, is_told: bool) -> None:
    judged = ask_one(f"vllm serve {name} --tensor-parallel-size {ranks}", f"{ranks // 8 or 1}x8xA100", "0.12.0")
    assert any("do not divide" in each for each in said(judged, Severity.WARNING)) is is_told


def test_the_kernel_of_0_9_1_wants_whole_groups() -> None:
    judged = ask_one("vllm serve QuantTrio/MiniMax-M2.1-AWQ --tensor-parallel-size 8", "8xA100", "0.9.1")
    assert any("do not divide" in each for each in said(judged, Severity.WARNING))


FORK = """# Guide

```
git clone --branch v0.12.0+gfx906 --single-branch https://github.com/someone/vllm-{name}.git
vllm serve org/GLM-4.7-AWQ --swap-space 0 --tensor-parallel-size 8 {more}
```
"""


def test_a_fork_that_is_tagged_by_the_release_below_it_has_its_options() -> None:
    (judged,) = ask(FORK.format(name="mine", more=""))
    assert judged.version == "0.12.0+gfx906"
    assert not any("--swap-space" in each for each in said(judged, Severity.WARNING))


def test_a_plugin_of_its_own_numbers_is_no_such_fork() -> None:
    (judged,) = ask(FORK.format(name="mine", more="").replace("v0.12.0+gfx906", "v0.12.0"))
    assert judged.version_because.startswith("none is named")


def test_which_parsers_a_fork_has_is_not_recorded() -> None:
    (judged,) = ask(FORK.format(name="gfx906", more="--enable-auto-tool-choice --tool-call-parser glm47"))
    assert said(judged) == []
    assert any("whose options are not recorded" in each for each in said(judged, Severity.NOTE))


@pytest.mark.parametrize("line", ["- **vLLM:** 0.15.0", "- **vLLM**: 0.15.0", "- `vLLM`: 0.15.0"])
def test_a_release_in_a_list_with_its_name_in_bold(line: str) -> None:
    text = f"# What runs\n\n{line}\n\n```bash\nvllm serve moonshotai/Kimi-K2.5 -tp 8\n```\n"
    assert [each.version for each in ask(text, "8xH200")] == ["0.15.0"]


HISTORY = """# Setup log

## What works

- **vLLM:** 0.15.0

```bash
vllm serve moonshotai/Kimi-K2.5 -tp 8 --port 8001
```

## History

```bash
pip install vllm==0.14.1
vllm serve moonshotai/Kimi-K2.5 -tp 8 --port 8002
pip index versions vllm || pip install vllm==0.0.0
pip install vllm==0.15.0
vllm serve moonshotai/Kimi-K2.5 -tp 8 --port 8003
```
"""


def test_of_a_history_each_start_has_the_release_that_was_there_then() -> None:
    assert [each.version for each in ask(HISTORY, "8xH200")] == ["0.15.0", "0.14.1", "0.15.0"]


def test_a_start_before_all_of_them_has_the_release_of_the_text() -> None:
    early = HISTORY.replace("pip install vllm==0.14.1\n", "")
    early = early.replace(
        "8002\n", "8002\npip install vllm==0.14.1\nvllm serve moonshotai/Kimi-K2.5 -tp 8 --port 8004\n"
    )
    assert [each.version for each in ask(early, "8xH200")] == ["0.15.0", "0.15.0", "0.14.1", "0.15.0"]


def test_a_short_option_is_no_slip_of_another_one() -> None:
    (judged,) = ask("llama-server -m /w/model-q4.gguf -md /w/small-q4.gguf -cd 4096 --port 8081\n")
    assert said(judged) == []
    assert any(each.startswith("-cd: ") for each in said(judged, Severity.WARNING))


def test_a_build_from_before_a_release_has_options_of_its_own() -> None:
    (judged,) = ask("llama-server --dflash -m /w/model-q4.gguf -md /w/small-q4.gguf --draft-max 7 -cd 4096\n")
    assert said(judged) == []
    assert said(judged, Severity.WARNING) == []


def test_cards_that_a_comment_counts_up_are_nobodys() -> None:
    text = (
        "#!/bin/bash\n# One card is enough.\n# With smaller cards (like 2x or 4x RTX 3090/4090) it is split.\n"
        "python3 -m sglang.launch_server --model-path moonshotai/Moonlight-16B-A3B-Instruct --tp-size 2\n"
    )
    assert [each.cluster for each in ask(text)] == [None]
    assert ask(text.replace("(like 2x or 4x", "(2x or 4x"))[0].cluster is not None


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ('"$MODEL"', "which model $MODEL is, the text does not say"),
        ("${WEIGHTS}", "which model ${WEIGHTS} is, the text does not say"),
        ("<checkpoint>", "<checkpoint> stands for the model"),
        ("org/other-7b", 'no checkpoint of the catalogue is called "org/other-7b"'),
    ],
)
def test_what_is_not_known_of_the_model_is_said(model: str, told: str) -> None:
    assert told in " ".join(shown(f"vllm serve {model} --port 8001\n", "8xH200").split())


def test_the_first_word_of_an_output_is_not_its_whole() -> None:
    text = (
        "NODES=($(scontrol show hostnames))\nHEAD=${NODES[0]}\n"
        'srun -w "$HEAD" vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --swap-space 4 --trust-remote-code\n'
    )
    (judged,) = ask(text, "8xH200")
    assert "-w ${NODES[0]} vllm serve" in " ".join(judged.commands[0].argv)


STARTED = """$Root = Split-Path -Parent $PSCommandPath
$Server = Join-Path $Root 'llama.cpp\\build\\bin\\llama-server.exe'
$Given = @('--model', $ModelFile)
$Given += @(
    '--port', '8090',
    '--jinja', '--n-gpu-layers', '99'
)
Start-Process -FilePath $Server -ArgumentList $Given -NoNewWindow -Wait
"""


@pytest.mark.parametrize(
    "start", ["Start-Process -FilePath $Server -ArgumentList $Given -NoNewWindow", "& $Server @Given"]
)
def test_a_program_of_powershell_that_a_variable_holds(start: str) -> None:
    text = STARTED.replace("Start-Process -FilePath $Server -ArgumentList $Given -NoNewWindow", start)
    (words,) = servers(text)
    assert words[0].endswith("/llama-server")
    assert words[-4:] == ["8090", "--jinja", "--n-gpu-layers", "99"]
    assert words[1:3] == ["--model", "${ModelFile}"]


def test_tight_is_said_once() -> None:
    text = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --gpu-memory-utilization 0.95 --max-model-len 8192\n"
    assert shown(text, "8xH100").startswith("Tight: ")


PROBLEMS = """# How it was set up

```bash
vllm serve moonshotai/Kimi-K2.5 -tp 8 --gpu-memory-utilization 0.95 --max-model-len 8192 --trust-remote-code
```

## Problem 3

**Symptom:** the next start said
```
ValueError: No available memory for the cache blocks.
```

**Root cause:** the default share of 0.9.

{mended} `--gpu-memory-utilization 0.95`
"""


@pytest.mark.parametrize(("mended", "begins"), [("**Fix:**", "Tight: "), ("We now try", "Stopped (line ")])
def test_what_stopped_an_earlier_start_and_was_mended_is_not_why_it_stops(mended: str, begins: str) -> None:
    assert shown(PROBLEMS.format(mended=mended), "8xH100").startswith(begins)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("-tp 8 $EP_FLAGS", "$EP_FLAGS is not known here: --set ep=8 supplies it"),
        ("-tp 8 $MORE", "$MORE is not known here: --set pp=1 says that it holds nothing of the layout"),
        ("$MORE", "$MORE is not known here: --set tp=8 supplies it"),
    ],
)
def test_what_is_to_be_said_of_more_options(given: str, told: str) -> None:
    assert told in " ".join(shown(f"vllm serve moonshotai/Kimi-K2.5 {given} --trust-remote-code\n", "8xH200").split())
