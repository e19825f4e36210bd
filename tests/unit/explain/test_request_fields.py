"""Fields that a request's path does not read, a model in place of a subcommand, two addresses behind one option."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVER = "```bash\nvllm serve Qwen/Qwen3-235B-A22B -tp 8 --port 8000\n```\n\n"
BODY = "```bash\ncurl http://{}:8000/v1/{} -H 'Content-Type: application/json' -d '{{\n  {}\n}}'\n```\n"
SHORT = '"prompt": "The future of AI is",\n  "max_completion_tokens": 50'


def messages(text: str) -> list[str]:
    return [str(finding.message) for each in ask(text) for finding in each.findings]


def told(text: str, words: str) -> bool:
    return any(words in message for message in messages(text))


def test_a_field_of_chat_requests() -> None:
    assert told(SERVER + BODY.format("localhost", "completions", SHORT), "passes over max_completion_tokens")
    assert told(SERVER + BODY.format("<node0_ip>", "completions", '"messages": []'), "reads a prompt and no messages")
    assert told(SERVER + BODY.format("h", "chat/completions", '"prompt": "a"'), "reads messages and no prompt")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("completions", SHORT.replace("max_completion_tokens", "max_tokens")),
        ("chat/completions", '"messages": [],\n  "max_completion_tokens": 50'),
        ("chat/completions", '"messages": [{"role": "user", "content": "\\"prompt\\": 1"}]'),
        ("responses", '"max_completion_tokens": 50'),
    ],
)
def test_fields_that_are_read(path: str, body: str) -> None:
    text = SERVER + BODY.format("localhost", path, body)
    assert not told(text, "passes over")
    assert not told(text, "it answers 400")


def test_the_body_of_the_next_request() -> None:
    text = SERVER + BODY.format("localhost", "completions", '"prompt": "a"')
    text += BODY.format("localhost", "chat/completions", '"messages": [], "max_completion_tokens": 9')
    assert not told(text, "passes over")


def test_a_model_in_place_of_a_subcommand() -> None:
    text = "```bash\nvllm Qwen/Qwen3-235B-A22B \\\n  --tensor-parallel-size 8\n```\n"
    assert told(text, "vllm takes Qwen/Qwen3-235B-A22B for a subcommand")
    assert not told(text.replace("vllm ", "vllm serve "), "for a subcommand")
    assert not told(SERVER + "docker run \\\n  vllm/vllm-openai \\\n  --model a/b\n", "for a subcommand")


def test_two_addresses_behind_one_option() -> None:
    text = "```bash\npip install \\\n  --extra-index-url https://a.example/v {}https://a.example/pypi \\\n  vllm\n```\n"
    assert told(SERVER + text.format(""), "--extra-index-url takes one address")
    assert not told(SERVER + text.format("--extra-index-url "), "takes one address")
    assert not told(SERVER + text.format("").replace("/pypi", "/vllm.whl"), "takes one address")


def test_a_name_that_no_server_has() -> None:
    server = "```bash\nvllm serve /weights/R1 --port {} --served-model-name ds_r1\n```\n\n"
    both = server.format(8001) + server.format(8002)
    request = BODY.format("10.0.0.1", "completions", '"model": "{}",\n  "prompt": "a"')
    assert told(both + request.replace("{}", "qwen3-moe"), "all servers are called ds_r1: they answer 404")
    assert not told(both + request.replace("{}", "ds_r1"), "they answer 404")
    assert not told("litellm\n\n" + both + request.replace("{}", "qwen3-moe"), "they answer 404")
    other = both + server.format(8003).replace("ds_r1", "other")
    assert not told(other + request.replace("{}", "qwen3-moe"), "all servers are called")


def test_the_key_of_a_connector() -> None:
    config = (
        '{"kv_connector": "MultiConnector", "kv_role": "kv_both", "kv_connector_extra_config": {"connectors": ['
        '{"kv_connector": "AscendStoreConnector", "kv_role": "kv_both", %s}]}}'
    )
    start = "vllm serve Qwen/Qwen3-32B -tp 8 --kv-transfer-config '" + config + "'\n"
    assert told(start % '"lookup_rpc_port": "0"', 'no key "lookup_rpc_port" beside its kv_connector_extra_config')
    assert not told(start % '"kv_connector_extra_config": {"lookup_rpc_port": "0"}', "beside its")


def test_a_key_that_one_plugin_reads() -> None:
    start = """vllm serve Qwen/Qwen3-235B-A22B -tp 16 --additional-config '{"%s": 400}'\n"""
    assert told(start % "num_iterations_eplb_update", "expert_heat_collection_interval")
    assert not told(start % "sharding", "--additional-config")


def test_the_address_of_a_repository() -> None:
    text = (
        "huggingface-cli download --resume-download https://huggingface.co/zai-org/GLM-4.5-Air \\\n  --local-dir ./a\n"
    )
    assert told(text + "vllm serve ./a -tp 8\n", "download takes the repository's name")
    assert not told(
        text.replace("https://huggingface.co/", "") + "vllm serve ./a -tp 8\n", "takes the repository's name"
    )


def test_an_option_of_a_fork_without_its_value() -> None:
    start = "export VLLM_HCU_USE_PD_SPLIT=1\nvllm serve Qwen/Qwen2.5-VL-72B-Instruct -tp 4 --allowed-local-media-path"
    assert told(start + "\n", "--allowed-local-media-path needs a value")
    assert not told(start + " /data\n", "needs a value")
