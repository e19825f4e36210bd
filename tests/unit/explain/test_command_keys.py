"""Words under `command` of a container whose image starts a server that takes the model first."""

import pytest

from moonpad.explain.manifests.command_keys import begins_with_model
from moonpad.explain.script import read_script
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask_one

TOOL = """
containers:
  - name: chat
    image: "{image}"
    command: ["{first}", "--tensor-parallel-size", "8", "--max-model-len", "65536"]
"""
POD = """
apiVersion: v1
kind: Pod
metadata:
  name: chat
spec:
  containers:
    - name: chat
      image: vllm/vllm-openai:v0.21.0
      command: ["{first}", "--tensor-parallel-size", "8", "--max-model-len", "65536"]
"""
MODEL = "moonshotai/Kimi-K2-Instruct"


@pytest.mark.parametrize("image", ["vllm/vllm-openai:v0.21.0", "registry.example.com:5000/mirror/vllm-openai:v0.21.0"])
def test_model_in_front_of_a_tools_command_is_that_of_the_server(image: str) -> None:
    judged = ask_one(TOOL.format(image=image, first=MODEL), on="")
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert judged.model_written == MODEL
    assert "0.21.0" in judged.version
    assert "tp" not in judged.unknown


def test_nothing_is_added_to_a_closed_list_behind_a_path() -> None:
    judged = ask_one(TOOL.format(image="vllm/vllm-openai:v0.21.0", first="/srv/weights/3f2a"), on="")
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert not judged.unknown


def test_options_alone_are_read_with_the_release_of_the_image() -> None:
    text = TOOL.format(image="vllm/vllm-openai:v0.20.0", first=MODEL).replace(f'["{MODEL}"', f'["--model", "{MODEL}"')
    assert "0.20.0" in ask_one(text, on="").version


def test_model_as_the_program_of_a_pod_is_warned_of() -> None:
    judged = ask_one(POD.format(first=MODEL), on="")
    (warned,) = [each for each in judged.findings if each.where == "command"]
    assert warned.severity is Severity.WARNING
    assert f"the pod runs {MODEL} as its program" in warned.message
    assert judged.layout is not None
    assert judged.layout.tp == 8


@pytest.mark.parametrize(
    "first", ["/usr/local/bin/chat", "/srv/weights/3f2a", "tools/start_chat", "bin/chat", "scripts/go.sh"]
)
def test_program_of_a_pod_stays_a_program(first: str) -> None:
    words = [first, "--tensor-parallel-size", "8", "--max-model-len", "65536"]
    assert not begins_with_model("vllm/vllm-openai:v0.21.0", words, of_pod=True)
    assert not [each for each in read_script(POD.format(first=first)).commands if each.program.startswith("vllm")]


@pytest.mark.parametrize("image", ["lmsysorg/sglang:v0.5.10", "acme/chat:1.0"])
def test_other_images_have_no_model_in_front(image: str) -> None:
    words = [MODEL, "--tensor-parallel-size", "8", "--max-model-len", "65536"]
    assert not begins_with_model(image, words, of_pod=False)


def test_wrapper_that_is_given_the_model_as_an_option_is_no_model() -> None:
    words = ["/srv/tools/guard", "--model", MODEL, "--tensor-parallel-size", "8"]
    assert not begins_with_model("vllm/vllm-openai:v0.21.0", words, of_pod=False)
