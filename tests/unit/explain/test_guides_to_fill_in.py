"""What guides that run were told wrongly: values that are still to be filled in, parsers, sizes and lists of names."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.spoken_capabilities import speaks_of_others, spoken_capability
from moonpad.explain.script import read_script
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask, ask_one


def _errors(text: str) -> list[str]:
    return [each.message for each in ask_one(text).findings if each.severity is Severity.ERROR]


def _messages(text: str) -> list[str]:
    return [each.message for each in ask_one(text).findings]


def test_a_number_to_be_filled_in_is_json() -> None:
    text = """vllm serve Qwen/Qwen3-8B --kv-transfer-config '{"kv_connector": "C", "extra": {"blocks": <blocks>}}'\n"""
    assert not _errors(text)
    broken = text.replace('"C"', "C")
    assert any("not JSON" in each for each in _errors(broken))


@pytest.mark.parametrize(
    "value",
    ["<wanted rate / (in + out) × factor>", "<dossier où sont les poids>", "<путь к модели>", "<モデル パス>"],
)
def test_placeholders_of_several_words(value: str) -> None:
    assert not _errors(f"vllm bench serve --model Qwen/Qwen3-8B --request-rate {value} --save-result\n")


def test_one_key_of_an_object_may_be_a_list() -> None:
    text = "vllm serve Qwen/Qwen3-8B --compilation_config.cudagraph_capture_sizes '[1, 2, 4]'\n"
    assert not any("JSON list" in each for each in _messages(text))
    assert any("JSON list" in each for each in _messages("vllm serve Qwen/Qwen3-8B --speculative-config '[1, 2]'\n"))


SERVER = "vllm serve /data/GLM-4.5-Air -tp 4 --enable-auto-tool-choice --tool-call-parser glm4_moe\n"


def test_a_parser_that_one_release_had() -> None:
    found = next(each for each in ask_one(SERVER).findings if "glm4_moe" in each.message)
    assert found.severity is Severity.WARNING
    assert "0.10.0 has it" in found.message
    assert found.remedy == "write --tool-call-parser glm45"
    assert _errors(f"pip install vllm==0.12.0\n{SERVER}")


def test_the_model_as_an_option_with_its_value() -> None:
    text = "pip install vllm==0.10.2\nvllm serve {} --served-model-name=x -tp 2\n"
    assert not _errors(text.format("--model=/data/gpt-oss-120b"))
    assert any("refuses --model" in each for each in _errors(text.format("--model /data/gpt-oss-120b")))


def test_a_list_of_what_can_be_set() -> None:
    names = "common_parameters:\n- --backend\n- --tp_size\n- --max_batch_size\n- --kv_cache_dtype\n"
    assert not any("needs a value" in each for each in _told(names))
    assert any("needs a value" in each for each in _told(names.replace("--tp_size", "--tp_size=8")))


def _told(text: str) -> list[str]:
    return [each.message for deployment in ask(text) for each in deployment.findings]


def test_a_smaller_size_is_a_part_of_the_one_that_was_meant() -> None:
    text = "python -m sglang.launch_server --model-path zai-org/GLM-4.7-Flash --tp-size 8\n"
    found = next(each for each in ask_one(text).findings if each.code is Code.ILLEGAL_LAYOUT)
    assert found.remedy == "write --tp-size 4"


@pytest.mark.parametrize(
    ("text", "capability"),
    [("7.0 or higher", ""), ("7.0 及以上", ""), ("7.0+", ""), ("7.0", "7.0"), ("8.9 or 24 GB", "8.9")],
)
def test_the_least_capability_is_no_device(text: str, capability: str) -> None:
    assert spoken_capability(read_script(f"# GPU: compute capability {text}\nvllm serve org/model\n")) == capability


NODES = "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp 16 --nnodes 2 --node-rank 0 \\\n"


@pytest.mark.parametrize("says", ["节点1把rank改为1", "on the other node set the rank to 1"])
def test_prose_tells_the_rank_of_the_other_node(says: str) -> None:
    text = f"# {says}\n{NODES}  --dist-init-addr 10.0.0.1:5000\n"
    assert not any("only command is that of rank 0" in each for each in _messages(text))
    assert any("only command is that of rank 0" in each for each in _messages(text.replace(says, "start")))


def test_a_draft_behind_the_beginning_of_an_option() -> None:
    text = "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp 8 --speculative-algorithm EAGLE3"
    assert any("none is named" in each for each in _messages(f"{text}\n"))
    assert not any("none is named" in each for each in _messages(f"{text} --speculative-draft /data/draft\n"))


UNIT = """# notes
tee /etc/systemd/system/other.service <<EOF
[Service]
ExecStart=/usr/bin/other --user root
EOF
"""


def test_a_script_writes_the_unit_of_another_program() -> None:
    found = ask_one(f"{UNIT}vllm serve moonshotai/Kimi-K2.5 -tp 8\n")
    assert found.layout is not None
    assert found.layout.tp == 8


def test_a_machine_that_is_rented_with_its_image() -> None:
    text = "vastai create instance <ID> --image vllm/vllm-openai:v0.12.0 --disk 500 \\\n  --args --model org/m -tp 4\n"
    found = ask_one(text)
    assert found.layout is not None
    assert found.layout.tp == 4
    assert not any("--disk" in each.where for each in found.findings)


def test_a_request_whose_body_is_left_out() -> None:
    text = "vllm serve org/m\ncurl -X POST http://localhost:8000/v1/chat/completions -d {}\n"
    assert not any("sends -d as a form" in each for each in _messages(text.format("'...'")))
    assert any("sends -d as a form" in each for each in _messages(text.format("""'{"model": "org/m"}'""")))


SERVICE = """apiVersion: serving.kserve.io/v1alpha1
kind: LLMInferenceService
metadata: {name: x}
spec:
  model: {uri: hf://org/model, name: org/model}
  replicas: 2
  parallelism: {tensor: 4, data: 8, dataLocal: 4}
  template:
    containers:
    - name: main
      image: vllm/vllm-openai:v0.12.0
      args: [--model, /mnt/models, --tensor-parallel-size, "4"]
      resources: {limits: {nvidia.com/gpu: "4"}}
  worker:
    containers:
    - name: main
      image: vllm/vllm-openai:v0.12.0
      args: [--model, /mnt/models, --tensor-parallel-size, "4"]
"""


def test_a_service_whose_pods_have_arguments_of_their_own() -> None:
    told = _told(SERVICE)
    assert not any("takes no such argument" in each or "stay idle" in each for each in told)


def test_a_router_that_starts_its_servers() -> None:
    text = "python -m sglang_router.{} --model-path Qwen/Qwen3-8B --dp-size 4\n"
    assert not any("--dp-size" in each for each in _told(text.format("launch_server")))
    assert any("--no-such" in each for each in _told(text.format("launch_server").replace("--dp-size", "--no-such")))


@pytest.mark.parametrize(
    ("text", "told"), [("For Intel Arc B60 cards", True), ("For Intel Arc B60 and A100", False), ("For servers", False)]
)
def test_devices_of_other_makers(text: str, told: bool) -> None:
    assert speaks_of_others(read_script(f"# {text}\nvllm serve Qwen/Qwen3-8B\n")) is told


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('docker ps | grep -q "^${NAME}$" && echo runs', False),
        ('docker ps -q --filter "name=^/${NAME}$"', False),
        ('pgrep -f "${NAME}$"', False),
        ("echo $NAME$", True),
    ],
)
def test_the_end_of_a_pattern(line: str, told: bool) -> None:
    script = read_script(f"{line}\nvllm serve org/m -tp 8\n")
    assert any("literally" in each.message for each in script.problems) is told
