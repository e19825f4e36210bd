"""What belongs to something else than the command: templates of reports, data of devices, logs of other commands,
containers that start no engine, arguments of other functions."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

SERVE = "```bash\nvllm serve meta-llama/Meta-Llama-3-70B-Instruct --tensor-parallel-size 2\n```\n"
TEMPLATE = "## Reports\n\n```{}\n## Environment\n- GPU: RTX 4090 (24GB)\n\n```bash\nvllm serve org/small\n```\n\n```\n"


def messages(text: str, *grave: Severity) -> list[str]:
    wanted = grave or (Severity.ERROR, Severity.WARNING)
    return [each.message for judged in ask(text) for each in judged.findings if each.severity in wanted]


def test_the_template_of_a_report_is_about_nobodys_devices() -> None:
    text = f"# Guide\n\n## Start\n\n{SERVE}\n{TEMPLATE.format('markdown')}"
    assert not any("weights of" in message for message in messages(text))


def test_devices_of_the_guide_itself() -> None:
    text = f"# Guide\n\n## Start\n\n{SERVE}\n## Environment\n\n- GPU: RTX 4090 (24GB)\n"
    assert any("weights of" in message for message in messages(text))


@pytest.mark.parametrize("line", ["- RTX 4090: ~1 TB/s", "- RTX 4090: 83 TFLOPS (FP16)", "- RTX 4090 \u2192 A100: 2x"])
def test_what_a_device_has_is_no_machine(line: str) -> None:
    assert not any("weights of" in message for message in messages(f"# Guide\n\n{SERVE}\n## Data\n\n{line}\n"))


FULL = "```\nCUDA out of memory. Tried to allocate 2.00 GiB\n```\n"
SMALL = "```bash\nvllm serve meta-llama/Meta-Llama-3-8B-Instruct --max-model-len {}\n```\n"


def test_a_full_memory_is_that_of_the_command_above() -> None:
    text = f"# On one RTX 4090\n\n## A\n\n{SMALL.format(4096)}\n## B\n\n{SMALL.format(8192)}\n{FULL}"
    assert sum("the log ends for want of memory" in message for message in messages(text)) == 1


def pod(image: str, *arguments: str) -> str:
    lines = "".join(f'        - "{each}"\n' for each in arguments)
    return (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: one\n"
        "spec:\n  template:\n    spec:\n      containers:\n"
        f"      - name: main\n        image: {image}\n        args:\n{lines}"
    )


MODEL = ("--model=Qwen/Qwen3-8B", "--port=8000", "--data-parallel-size=1")


@pytest.mark.parametrize("image", ["ghcr.io/llm-d/llm-d-inference-sim:latest", "${SIDECAR_IMAGE}"])
def test_containers_that_start_no_engine(image: str) -> None:
    assert not [judged for judged in ask(pod(image, *MODEL, "--v=4")) if judged.layout is not None]


def test_a_container_of_an_unknown_image() -> None:
    assert [judged for judged in ask(pod("${IMAGE}", *MODEL)) if judged.layout is not None]


def one(text: str) -> Judged:
    (judged,) = [each for each in ask(text) if each.layout is not None]
    return judged


@pytest.mark.parametrize(("lead", "named"), [("e.g.", False), ("this is", True)])
def test_an_image_that_might_be_taken(lead: str, *, named: bool) -> None:
    text = f"# {lead} vllm/vllm-openai:v0.16.0\n{pod('${IMAGE}', *MODEL)}"
    assert one(text).version_because.startswith("the text names") == named


FUNCTIONS = (
    'track() {{\n  local cmd=$1\n  eval "$cmd"\n}}\nstart() {{\n  local model=$1\n  local port=$2\n'
    '  local cmd="vllm serve {} --port ${{port}}"\n  track "$cmd" pattern /tmp/pid\n}}\n'
)


def words(text: str) -> list[str]:
    (command,) = [each for each in read_script(text).commands if each.program == "vllm serve"]
    return [word.text for word in command.words]


def test_arguments_of_the_function_that_calls() -> None:
    assert words(FUNCTIONS.format("${model}"))[2:] == ["$1", "--port", "$2"]


def test_arguments_of_the_function_itself() -> None:
    text = 'track() {\n  eval "vllm serve $2 --port $1"\n}\ntrack 8000 org/model\n'
    assert words(text)[2:] == ["org/model", "--port", "8000"]


def test_an_engine_of_another_name() -> None:
    text = "python3 -u -m sgl_jax.launch_server --model-path Qwen/Qwen2.5-7B-Instruct --tp-size 8 --dp-size 2"
    assert not [judged for judged in ask(text) if judged.layout is not None]
