"""What texts have wrong around a server: imports, names without an owner, tests of sizes, builds, ranks."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding
from tests.unit.explain.judging import ask

SERVE = "vllm serve Qwen/Qwen3-8B"


def found(text: str, words: str, version: str = "") -> list[Finding]:
    findings = [finding for judged in ask(text, version=version) for finding in judged.findings]
    return [finding for finding in findings if words in finding.message]


def fenced(*blocks: str) -> str:
    return "".join(f"Text.\n\n```\n{block}\n```\n\n" for block in blocks)


IMPORT = "from vllm import LLM\n{line}\nllm = LLM('Qwen/Qwen3-8B')"


@pytest.mark.parametrize(
    "line",
    [
        "from vllm.utils import GiB_bytes",
        "from vllm.utils import (\n    FlexibleArgumentParser,  # options\n    cdiv,\n)",
        "from vllm.sampling_params import SamplingParams, GuidedDecodingParams",
    ],
)
def test_a_name_that_has_moved(line: str) -> None:
    text = fenced(IMPORT.format(line=line), SERVE)
    (finding,) = found(text, "ImportError")
    assert "0.12.0" in finding.message
    assert found(text, "ImportError", "0.13.0")
    assert not found(text, "ImportError", "0.11.0")


@pytest.mark.parametrize(
    "line",
    [
        "from vllm.utils.mem_constants import GiB_bytes",
        "from vllm.sampling_params import StructuredOutputsParams",
        "try:\n    from vllm.sampling_params import GuidedDecodingParams\nexcept ImportError:\n    pass",
        "# from vllm.utils import GiB_bytes",
    ],
)
def test_a_name_that_is_there(line: str) -> None:
    assert not found(fenced(IMPORT.format(line=line), SERVE), "ImportError")


OWNED = "It serves `Qwen/Qwen2.5-7B-Instruct` too."


@pytest.mark.parametrize(
    "code",
    [
        'llm = LLM(model="Qwen2.5-72B-Instruct", tensor_parallel_size=4)',
        "engine = sgl.Engine(model_path='Qwen2.5-72B-Instruct')",
        "python -m vllm.entrypoints.api_server \\\n    --model Qwen2.5-72B-Instruct \\\n    --tensor-parallel-size 4",
    ],
)
def test_a_name_without_its_owner(code: str) -> None:
    (finding,) = found(f"{OWNED}\n\n{fenced(SERVE, code)}", "without an owner")
    assert finding.remedy == "write Qwen/Qwen2.5-72B-Instruct"


@pytest.mark.parametrize(
    "text",
    [
        fenced(SERVE.replace("Qwen/", "/data/"), 'llm = LLM(model="Qwen2.5-72B-Instruct")'),
        f"{OWNED}\n\n" + fenced(SERVE, 'llm = LLM(model="Qwen/Qwen2.5-72B-Instruct")'),
        f"{OWNED}\n\n" + fenced(SERVE, 'llm = LLM(model="my-own-model")'),
        f"{OWNED}\n\n" + fenced("cd /models\n" + SERVE, 'llm = LLM(model="Qwen2.5-72B-Instruct")'),
    ],
)
def test_a_name_that_may_be_a_folder(text: str) -> None:
    assert not found(text, "without an owner")


SCRIPT = """\
#!/bin/bash
{above}
if {test}; then
  EP="--enable-expert-parallel"
else
  EP=""
fi
vllm serve $MODEL --tensor-parallel-size $TP $EP
"""


@pytest.mark.parametrize("test", ['[ "$EP_SIZE" -ge 1 ]', "[[ ${EP} -gt 0 ]]", "(( EP_SIZE >= 1 ))"])
def test_a_size_of_one_is_no_group(test: str) -> None:
    assert len(found(SCRIPT.format(above="", test=test), "holds for every size")) == 1


@pytest.mark.parametrize(
    ("above", "test"),
    [
        ("", '[ "$EP_SIZE" -gt 1 ]'),
        ("EP_SIZE=${EP_SIZE:-0}", '[ "$EP_SIZE" -ge 1 ]'),
        ("", '[ "$NODES" -ge 1 ]'),
    ],
)
def test_a_size_that_may_be_none(above: str, test: str) -> None:
    assert not found(SCRIPT.format(above=above, test=test), "holds for every size")


TRANSFER = """--kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_producer"}'"""


@pytest.mark.parametrize(
    ("build", "count"),
    [
        ("cmake .. \\\n  -DUSE_EFA=ON \\\n  -DWITH_STORE=ON", 1),
        ("cmake .. -DUSE_CUDA=ON \\\n  -DUSE_EFA=ON", 0),
        ("cmake .. \\\n  -DUSE_EFA=ON \\\n  -DUSE_HIP=ON", 0),
        ("cmake .. -DUSE_EFA=OFF", 0),
    ],
)
def test_a_transport_that_is_built_for_hosts(build: str, count: int) -> None:
    assert len(found(fenced(build, f"{SERVE} {TRANSFER}"), "-DUSE_EFA=ON")) == count


def side(role: str, rank: int, port: int, size: int = 2) -> str:
    config = f'{{"kv_connector":"PyNcclConnector","kv_role":"{role}","kv_rank":{rank},"kv_parallel_size":{size}}}'
    return f"{SERVE} --port {port} --kv-transfer-config '{config}'"


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [
        (side("kv_producer", 0, 8100), side("kv_consumer", 0, 8200), 1),
        (side("kv_producer", 1, 8100), side("kv_consumer", 1, 8200), 1),
        (side("kv_producer", 0, 8100), side("kv_consumer", 1, 8200), 0),
        (side("kv_producer", 0, 8100, 1), side("kv_consumer", 0, 8200, 1), 0),
        (side("kv_both", 0, 8100), side("kv_both", 0, 8100), 0),
    ],
)
def test_two_servers_of_one_rank(first: str, second: str, count: int) -> None:
    assert len(found(f"{first} &\n{second}\n", "wait for another rank")) == count


@pytest.mark.parametrize(
    ("model", "method", "count"),
    [
        ("/data/GLM5-bf16", "ascend", 1),
        ("/data/Some-Model_BF16", "awq", 1),
        ("/data/GLM5-bf16", "fp8", 0),
        ("/data/GLM5-w8a8", "ascend", 0),
        ("/data/GLM5-bf16-w8a8", "ascend", 0),
    ],
)
def test_a_method_for_files_that_plain_weights_lack(model: str, method: str, count: int) -> None:
    assert len(found(f"vllm serve {model} --quantization {method}", "are not quantized")) == count
