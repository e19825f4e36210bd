"""Commands that a terminal, a template or a printed object holds, and words that are no command."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

DRAFTS = r"'{\"method\":\"eagle3\",\"model\":\"org/draft\",\"num_speculative_tokens\":2}'"


def told(text: str, words: str) -> bool:
    return any(words in finding.message for judged in ask(text) for finding in judged.findings)


def argv_of(text: str, program: str) -> list[list[str]]:
    commands = read_script(text).commands
    return [[word.text for word in command.argv] for command in commands if command.program == program]


@pytest.mark.parametrize(
    "text",
    [
        f'tmux new-session -d -s m "source /venv/bin/activate\nvllm serve org/m --speculative-config {DRAFTS}"\n',
        f'tmux send-keys -t m "docker exec box vllm serve org/m --speculative-config {DRAFTS}; echo ended" Enter\n',
    ],
)
def test_text_of_a_terminal(text: str) -> None:
    assert not told(text, "does not take")
    ((model, option, value),) = argv_of(text, "vllm serve")
    assert (model, option) == ("org/m", "--speculative-config")
    assert value.startswith('{"method":"eagle3"')


def test_broken_json_in_a_terminal() -> None:
    text = "tmux new-session -d -s m \"cd /x\nvllm serve org/m --speculative-config '{method: eagle3'\"\n"
    assert told(text, "--speculative-config does not take")


@pytest.mark.parametrize(
    ("filled", "expected"),
    [
        ("{{ '--enable-prefix-caching' if cached else '--no-enable-prefix-caching' }}", "--enable-prefix-caching"),
        ("{{ '' if small else '--enforce-eager' }}", "--enforce-eager"),
    ],
)
def test_one_of_two_options(filled: str, expected: str) -> None:
    text = f"vllm serve {{{{ model }}}} --port 8000 {filled} --max-num-seqs 8\n"
    ((_, *options),) = argv_of(text, "vllm serve")
    assert options == ["--port", "8000", expected, "--max-num-seqs", "8"]
    assert not told(text, "given twice")


def test_value_of_either_kind_is_not_known() -> None:
    text = "vllm serve org/m --max-num-seqs {{ '8' if small else '64' }} --port 8000\n"
    assert not told(text, "does not take")


OBJECT = """apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata:
  name: pools
spec:
  components:
  - name: decode
    podTemplate:
      spec:
        containers:
        - args:
          - exec python3 -m dynamo.vllm --model org/m --tensor-parallel-size
            1 --max-model-len 4096
          command:
          - /bin/sh
          - -c
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.2.1
          name: main
"""


@pytest.mark.parametrize("above", ["", "2026-07-25T16:36:43+08:00\nold_uid=8709957d\n", "$ kubectl get dgd -o yaml\n"])
def test_printed_object(above: str) -> None:
    argv = ["--model", "org/m", "--tensor-parallel-size", "1", "--max-model-len", "4096"]
    found = [[word.text for word in command.argv] for command in read_script(above + OBJECT).commands]
    assert argv in found
    assert not told(above + OBJECT, "needs a value")


def test_heredoc_is_no_printed_object() -> None:
    text = f"kubectl apply -f - <<END\n{OBJECT}END\n"
    assert not told(text, "needs a value")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run `vllm serve ... --max-model-len\n1024` (small) and watch.\n", False),
        ("Run `vllm serve ... --max-model-len`\nand watch.\n", True),
    ],
)
def test_code_that_goes_on_below(text: str, *, expected: bool) -> None:
    assert told(f"# Findings\n\nDetection: {text}", "--max-model-len needs a value") == expected


@pytest.mark.parametrize(
    "text",
    [
        "llama-server --list-devices, same instant:\n  CUDA0: RTX 5090\n",
        "llama-server uses --api-key-file; tokens are stored as text in it\n",
        "pct exec 1 -- journalctl -u chat -u llama-server --no-pager | grep accept\n",
        "launcher --server-bin /opt/llama.cpp/llama-server model.gguf\n",
    ],
)
def test_no_start(text: str) -> None:
    assert argv_of(text, "llama-server") == []


@pytest.mark.parametrize(
    ("text", "argv"),
    [
        ("llama-server --list-devices\n", ["--list-devices"]),
        ("llama-server -m a.gguf --port 8000, --jinja\n", ["-m", "a.gguf", "--port", "8000,", "--jinja"]),
        ("nsys profile -o x llama-server -m a.gguf\n", ["-m", "a.gguf"]),
    ],
)
def test_start(text: str, argv: list[str]) -> None:
    assert argv_of(text, "llama-server") == [argv]


def test_choice_in_angle_brackets() -> None:
    text = (
        "python3 -m sglang.launch_server --model-path /m --tp-size 2 --nnodes 2 --node-rank <0|1> "
        "--dist-init-addr <first-ip>:25000 --context-length 4096\n"
    )
    assert not told(text, "needs a value")
    assert not told(text, "nothing says where they meet")
    ((*_, option, length),) = argv_of(text, "sglang")
    assert (option, length) == ("--context-length", "4096")


SIZES = """N=8
sizes="1"
while [ "$s" -le "$N" ]; do
  sizes="$sizes,$s"
done
vllm serve org/m --compilation-config "{\\"cudagraph_capture_sizes\\":[${sizes}],\\"max_cudagraph_capture_size\\":$N}"
"""


def test_list_that_a_loop_makes_longer() -> None:
    assert not told(SIZES, "the largest of cudagraph_capture_sizes")
    assert told(SIZES.replace("$sizes,$s", "$sizes"), "the largest of cudagraph_capture_sizes")


def test_options_that_a_branch_adds_are_left_out() -> None:
    text = 'ARGS="--port 8000"\nif [ -n "$X" ]; then ARGS="$ARGS --max-num-seqs 8"; fi\nvllm serve org/m $ARGS\n'
    assert argv_of(text, "vllm serve") == [["org/m", "--port", "8000"]]


def test_launcher_in_a_list() -> None:
    text = (
        "class Launch:\n    def build(self):\n"
        '        command = ["torchrun", "--nproc_per_node", str(self.size), "-m", '
        '"vllm.entrypoints.openai.api_server",\n'
        '                   "--model", name, "--tensor-parallel-size", str(self.size)]\n        return command\n'
    )
    assert not told(text, "has no -m")
    assert not told(text, "nproc")


UNIT = """cat > /etc/systemd/system/chat.service <<END
[Service]
ExecStart=/opt/bin/llama-server \\\\
    -m a.gguf \\\\
${MORE}    --port 8080
END
"""


def test_lines_that_a_variable_holds() -> None:
    text = 'MORE="    --ctx-size 4096 \\\\\n"\n' + UNIT
    assert not told(text, "takes no such argument")


@pytest.mark.parametrize("given", ["PORT", "8000"])
def test_number_to_fill_in(given: str) -> None:
    text = f"python -m sglang.launch_server --model-path /m --port {given}\n"
    assert told(text, "--port: PORT stands for a number") == (given == "PORT")


def test_name_to_fill_in_is_no_number() -> None:
    text = "python -m sglang.launch_server --model-path /m --reasoning-parser REASONING_PARSER\n"
    assert told(text, "REASONING_PARSER stands for a value")


@pytest.mark.parametrize(
    "text",
    [
        "<#\n  o servidor espera o llama-server em modo — iniciado SEM -m\n#>\n$env:X = 1\n",
        "$proc = Get-Process llama-server -EA SilentlyContinue | Select-Object -First 1\n",
        "New-NetFirewallRule -DisplayName 'llama-server LAN' -Direction Inbound `\n  -LocalPort 8080\n",
    ],
)
def test_no_start_of_other_shells(text: str) -> None:
    assert argv_of(text, "llama-server") == []


def test_a_comment_of_presets_is_no_start() -> None:
    text = "; llama-server Router-Mode Presets (--models-preset)\n[a]\nmodel = /m/a.gguf\n"
    assert argv_of(text, "llama-server") == [["--model", "/m/a.gguf"]]


def test_start_in_powershell() -> None:
    text = "<#\n  llama-server -m x.gguf is what it starts\n#>\n.\\llama-server.exe -m a.gguf `\n  --port 8080\n"
    assert argv_of(text, "llama-server") == [["-m", "a.gguf", "--port", "8080"]]


@pytest.mark.parametrize("port", ["<30000+N>", "<base|other>"])
def test_sum_in_angle_brackets(port: str) -> None:
    ((*options,),) = argv_of(f"llama-server -m a.gguf --port {port} \\\n  --n-gpu-layers 99 --jinja\n", "llama-server")
    assert options[-3:] == ["--n-gpu-layers", "99", "--jinja"]


@pytest.mark.parametrize("first", ["FROM example/base:1\n", ""])
def test_command_of_comments_alone(first: str) -> None:
    lines = "#   vllm serve org/m \\\n#     --tensor-parallel-size 4 \\\n#     --port 8000\n"
    text = f"{first}# Usage:\n{lines}RUN pip install x\n"
    assert argv_of(text, "vllm serve") == [["org/m", "--tensor-parallel-size", "4", "--port", "8000"]]
