"""What readers took for something else: values of make, one text of variables, code in lists and sentences, launchers
of training, JSON as PowerShell wants it."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

IMAGE = "vllm/vllm-openai:v0.11.0"


def errors(text: str) -> list[str]:
    return [each.message for judged in ask(text) for each in judged.findings if each.severity is Severity.ERROR]


def told(text: str, words: str) -> bool:
    return any(words in each.message for judged in ask(text) for each in judged.findings)


def makefile(devices: str, size: int) -> str:
    return (
        f"CARDS := {devices}\nCOMMON := --ipc=host \\\n  -p 127.0.0.1:8000:8000\n\nserve:\n"
        f"\tdocker run --gpus '\"device=$(CARDS)\"' $(COMMON) {IMAGE} --model Qwen/Qwen3-32B "
        f"--tensor-parallel-size {size}\n"
    )


def test_make_fills_in_between_quotes() -> None:
    assert errors(makefile("0,1", 2)) == []
    assert any("2 ranks" in message for message in errors(makefile("0", 2)))


def test_make_joins_the_lines_of_a_value() -> None:
    text = makefile("0,1", 2).replace("127.0.0.1:8000", "8000")
    assert told(text, "publishes the port on every interface")


@pytest.mark.parametrize(("env", "refused"), [("  VLLM_ALLOW_LONG_MAX_MODEL_LEN=1\n", False), ("", True)])
def test_variables_as_one_text(env: str, *, refused: bool) -> None:
    text = (
        f"image: {IMAGE}\nenv:\n  OMP_NUM_THREADS=4\n{env}args:\n"
        "  --model nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4\n"
        "  --tensor-parallel-size 1\n  --max-model-len 1000000\n"
    )
    assert bool(errors(text)) == refused


@pytest.mark.parametrize(
    ("json", "shell", "refused"),
    [
        (r"'{\"method\":\"mtp\",\"num_speculative_tokens\":3}'", "powershell", False),
        (r"'{\"method\":\"mtp\",\"num_speculative_tokens\":3}'", "bash", True),
        ('\'{"method":"mtp","num_speculative_tokens":3}\'', "bash", False),
    ],
)
def test_json_of_powershell(json: str, shell: str, *, refused: bool) -> None:
    goes_on = "`" if shell == "powershell" else "\\"
    command = (
        f"vllm serve Qwen/Qwen3.5-27B {goes_on}\n  --max-model-len 8192 {goes_on}\n  --speculative-config {json}\n"
    )
    assert bool(errors(f"Start it:\n\n```{shell}\n{command}```\n")) == refused


def test_hunk_in_a_list_is_no_start() -> None:
    text = (
        "# History\n\n- Details:\n  - `docs/guide.mdx` modified +1/-0; hunks: -109,6 +109,7 @@ sglang serve \\\n"
        "- Excerpts:\n\n- Details:\n  - `docs/other.md` +2/-1; hunks: -3,1 +3,2 @@ vllm serve Qwen/Qwen3-32B \\; "
        "`tests/one.py` modified +3/-2\n\n```diff\n-one\n+two\n```\n"
    )
    assert not ask(text)


def test_code_that_is_wrapped_in_a_sentence() -> None:
    text = (
        "Their invocation is: `llama-server -m model-Q4_K_M.gguf -md\n   draft-BF16.gguf --ctx-size 8192\n   "
        "--n-gpu-layers 99`. It works.\n"
    )
    (judged,) = ask(text)
    assert not told(text, "needs a value")
    assert judged.settings.max_model_len == 8192


def test_option_that_the_text_shortens() -> None:
    text = "vllm serve Qwen/Qwen3-32B --port 8020 --host 127.0.0.1 --kv-transfer-..."
    assert not told(text, "--kv-transfer-...")
    assert told("vllm serve Qwen/Qwen3-32B --kv-transfer-configs '{}'", "--kv-transfer-configs")


@pytest.mark.parametrize(("launcher", "read"), [("torchrun --nproc-per-node=8", False), ("python", True)])
def test_launcher_of_training(launcher: str, *, read: bool) -> None:
    text = f"{launcher} examples/data_parallel.py --tp-size=2 --pp-size=1 --dp-size=4 --enable-ep\n"
    assert bool(ask(text)) == read


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("services:\n  model:\n    ", True),
        ("", False),
        ("tasks:\n  - container: r/evaluation:26.03\ndeployment:\n  ", False),
    ],
)
def test_command_of_another_tool(keys: str, *, expected: bool) -> None:
    """Compose hands the words on to the entrypoint; a tool with files of its own may run them in a shell."""
    blanks = keys.rpartition("\n")[2]
    text = (
        f"{keys}image: {IMAGE}\n{blanks}command: python3 /patch/mend.py && exec vllm serve Qwen/Qwen3-32B "
        "--max-model-len 8192\n"
    )
    assert told(text, "has an entrypoint, its server") == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('-        + "<｜tool▁calls▁begin｜>"', False),
        ("The answer was: <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function", True),
        ('  "content": "<｜tool▁calls▁begin｜>function",', True),
    ],
)
def test_calls_in_the_code_of_a_test(line: str, *, expected: bool) -> None:
    text = f"```bash\nvllm serve deepseek-ai/DeepSeek-V3.1 --tensor-parallel-size 8\n```\n\n```\n{line}\n```\n"
    assert told(text, "calls of tools as text") == expected


def test_table_that_compares_tells_no_value() -> None:
    """Three columns of values, of which none is known to be the one that runs."""
    text = (
        "| `--gpu-memory-utilization` | 0.85 | **0.94** | Its memory is its own. |\n"
        "| `--max-num-seqs` | 16 | **32** | More of it. |\n| `--max-model-len` | 200000 | **262144** | All of it. |\n\n"
        "```bash\ncurl http://localhost:9000/v1/models\n```\n"
    )
    assert not ask(text)


def test_what_a_script_is_told_besides_a_start() -> None:
    lines = ("--model other start", "logs --model qwen3-32b --follow", "stop --model qwen3-32b")
    judged = ask("# Manager\n\n```bash\n" + "".join(f"./vllm-manager.sh {line}\n" for line in lines) + "```\n")
    assert [each.model_written for each in judged] == ["other"]
    assert not any("takes no such argument" in each.message for one in judged for each in one.findings)


@pytest.mark.parametrize(("version", "expected"), [("0.3.5", False), ("0.4.6.post5", True)])
def test_beginning_of_an_option_in_a_release_that_is_not_recorded(version: str, *, expected: bool) -> None:
    text = (
        f"docker run --gpus all --ipc=host lmsysorg/sglang:v{version} python3 -m sglang.launch_server "
        "--model-path Qwen/Qwen2.5-7B-Instruct --enable-flashinfer"
    )
    assert told(text, "is only the beginning of") == expected


def test_texts_of_another_tool_belong_together() -> None:
    text = (
        "image: registry.example/own-vllm:v0.26.0\ncommand: exec /opt/serve.sh\nenv:\n  OMP_NUM_THREADS=4\n"
        "  MODEL_REPO=Qwen/Qwen3-32B\nargs:\n  --model Qwen/Qwen3-32B\n  --tensor-parallel-size 2\n"
        "  --max-model-len 8192\n"
    )
    (judged,) = ask(text)
    assert judged.layout is not None
    assert (judged.layout.tp, judged.settings.max_model_len) == (2, 8192)


@pytest.mark.parametrize(("value", "expected"), [('<thinking>","end":"</thinking>', False), ("<your-mark>", True)])
def test_marks_of_an_answer_are_no_placeholders(value: str, *, expected: bool) -> None:
    text = f"""vllm serve Qwen/Qwen3-32B --reasoning-config '{{"start":"{value}"}}'"""
    assert told(text, "to be filled in") == expected


@pytest.mark.parametrize(
    "text",
    [
        'FOUND="$(find "$DEST" -type f -name llama-server -print -quit 2>/dev/null || true)"\n',
        "$env:A = 1\n$found = Get-ChildItem $Dest -Recurse -Filter 'llama-server.exe' -EA SilentlyContinue\n",
        '$env:A = 1\nif ($n) { Write-Error "llama-server PID $id has $n requests. Wait, or use -Force."; exit 1 }\n',
        '$env:A = 1\nLog ":$Port is held by another, not llama-server - refusing to touch it" ERR\n',
    ],
)
def test_program_that_is_only_looked_for(text: str) -> None:
    assert not ask(text)


def test_what_a_shortened_command_goes_on_about() -> None:
    text = "It runs `vllm serve ... method:dspark --port 8000` on both.\n\n```bash\ntrue\n```\n"
    assert not told(text, "takes no such argument")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"image: {IMAGE}\ncommand: vllm serve Qwen/Qwen3-32B\ncontainerPort: 8000\n", False),
        (f"services:\n  model:\n    image: {IMAGE}\n    command: vllm serve Qwen/Qwen3-32B\n", True),
        (f'FROM {IMAGE}\nCMD ["vllm", "serve", "Qwen/Qwen3-32B"]\n', True),
    ],
)
def test_program_behind_its_entrypoint(text: str, *, expected: bool) -> None:
    assert told(text, "the image starts its server by itself") == expected


def test_program_in_one_string_of_a_list() -> None:
    text = (
        'def command(bench):\n    parts = ["vllm bench serve", "--model", bench.model,\n'
        '        "--num-prompts", str(bench.prompts), "--request-rate", str(bench.rate), "--ignore-eos"]\n'
        '    return " ".join(parts)\n'
    )
    assert not told(text, "--num-prompts")


def test_what_an_option_means_is_no_start() -> None:
    text = (
        "## Sizes\n\n- `--tensor-parallel-size = GPUs that share a fast link`. Keep it small.\n"
        "- `--pipeline-parallel-size = number of machines`.\n\n```bash\nvllm serve Qwen/Qwen3-32B\n```\n"
    )
    assert not told(text, 'does not take "="')
