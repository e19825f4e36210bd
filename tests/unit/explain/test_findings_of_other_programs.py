"""Findings that were said of another program's options, another server's requests, or another release."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask


def said(text: str, words: str) -> list[Severity]:
    found = [finding for judged in ask(text) for finding in judged.findings]
    return [finding.severity for finding in found if words in finding.message]


def told(text: str, words: str) -> bool:
    return bool(said(text, words))


@pytest.mark.parametrize(("name", "expected"), [("DO_NOT_TRACK", False), ("NIXL_SIDE_CHANNEL_HOST", True)])
def test_variables_without_the_first_word(name: str, *, expected: bool) -> None:
    assert told(f"export {name}=1\nvllm serve org/m -tp 2\n", "the engine's own is called") == expected


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("/models/Qwen2.5-72B-Instruct-AWQ", False),
        ("Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4", False),
        ("OpenGVLab/InternVL3-78B-AWQ", True),
    ],
)
def test_columns_that_the_publisher_filled_up(model: str, *, expected: bool) -> None:
    assert told(f"vllm serve {model} -tp 8\n", "the groups of 128 do not divide") == expected


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("docker run -it --entrypoint bash vllm/vllm-openai:cu130-nightly\n", Severity.WARNING),
        ("", Severity.ERROR),
    ],
)
def test_parser_of_a_nightly(text: str, severity: Severity) -> None:
    text += "vllm serve org/m --enable-auto-tool-choice --tool-call-parser qwen_xml\n"
    assert said(text, 'no parser "qwen_xml"') == [severity]


def test_option_of_the_program_that_starts_the_engine() -> None:
    text = "python -m adapters.vllm_adapter --model org/m --gpu 0\n"
    assert not told(text, "is only the beginning")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("backend:\n  type: sglang\n  model: org/m\n  options:\n    mem_fraction: 0.85\n    tp_size: 2\n", False),
        ("python -m sglang.launch_server --model-path org/m --mem-fraction 0.85\n", True),
    ],
)
def test_key_is_no_short_form(text: str, *, expected: bool) -> None:
    assert told(text, "--mem-fraction is only the beginning") == expected


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("llama-server -m a.gguf -defrag-thold 0.1\n", Severity.ERROR),
        ("./ik_llama.cpp/build/bin/llama-server -m a.gguf -defrag-thold 0.1\n", Severity.WARNING),
    ],
)
def test_one_dash(text: str, severity: Severity) -> None:
    assert said(text, "with one dash it is not --defrag-thold: the parser refuses it") == [severity]


REQUEST = """curl http://localhost:8000/v1/chat/completions -d '{"model": "small-name", "messages": []}'\n"""
SERVER = "vllm serve org/Model-7B --port 8000\n"


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        ("", True),
        ("docker run -d --gpus all -p 8000:8000 own/image:v3 bash /srv/go.sh\n", False),
        ("bash scripts/serve_small.sh\n", False),
        ("docker run -d -p 3000:8080 ghcr.io/open-webui/open-webui\n", True),
        ("bash scripts/bench.sh\n", True),
    ],
)
def test_request_below_another_server(between: str, *, expected: bool) -> None:
    assert told(SERVER + between + REQUEST, "asks for small-name") == expected


def test_name_that_a_program_fills_in() -> None:
    assert not told(SERVER + REQUEST.replace("small-name", "%s"), "asks for")


@pytest.mark.parametrize(("asked", "expected"), [("llama-3-70b", False), ("llama-3-8b-it", True), ("llama", True)])
def test_client_of_a_model_of_another_size(asked: str, *, expected: bool) -> None:
    text = f"""```bash
vllm serve org/Llama-3-8B-Instruct --port 8000
```

```python
answer = client.chat.completions.create(model="{asked}", messages=[])
```
"""
    assert told(text, "the client asks for") == expected


@pytest.mark.parametrize(
    ("before", "expected"),
    [("export VLLM_PORT=8000\n", True), ("VLLM_PORT=8000\n", False), ("", False)],
)
def test_port_that_the_server_sees(before: str, *, expected: bool) -> None:
    assert told(f"{before}vllm serve org/m --port ${{VLLM_PORT:-8000}}\n", "VLLM_PORT is the port for") == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('"content": "<tool_call>{\\"name\\": \\"f\\"}"', True),
        ("<tool_call>", True),
        ("The template writes `<tool_call><function=f>` around each call.", False),
    ],
)
def test_calls_that_prose_speaks_of(line: str, *, expected: bool) -> None:
    text = f"```bash\nvllm serve org/m -tp 2\n```\n\n{line}\n"
    assert told(text, "calls of tools as text") == expected


@pytest.mark.parametrize(("line", "expected"), [("Needs 8 GPUs, 4 for each copy.", False), ("For chat.", True)])
def test_devices_counted_beside_the_command(line: str, *, expected: bool) -> None:
    gap = "\n" * 25
    text = f"""# 4x H100
{gap}
## Copies

```bash
python -m sglang.launch_server --model-path org/m --tp 4 --dp 2
```

{line}
"""
    assert told(text, "a machine of 4xH100 has 4") == expected


@pytest.mark.parametrize(("trace", "expected"), [("+ ", False), ("", True)])
def test_log_of_one_machine(trace: str, *, expected: bool) -> None:
    text = (
        f"{trace}python3 -m sglang.launch_server --model-path org/m --tp-size 16 --nnodes 2 --node-rank 0 "
        "--dist-init-addr 10.0.0.1:5000\n"
    )
    assert told(text, "the only command is that of rank 0") == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [("NODES=$(kubectl get nodes --no-headers | grep -v '<none>')", False), ("NODES=<the-node>", True)],
)
def test_what_a_cluster_prints(line: str, *, expected: bool) -> None:
    assert told(f"{line}\nvllm serve org/m -tp 2\n", "to be filled in") == expected


def test_documentation_of_a_program() -> None:
    text = (
        "import subprocess\n\n\ndef replay():\n"
        '    """Body:\n    {\n        "request_id": "<id>",\n    }\n    """\n\n\n'
        'subprocess.run(["vllm", "serve", "org/m", "--port", "8000"])\n'
    )
    assert not told(text, "to be filled in")


@pytest.mark.parametrize(
    ("model", "expected"), [("org/model", True), ("/models/own", False), ("./own", False), ("$MODEL", False)]
)
def test_code_of_a_folder_has_no_revision(model: str, *, expected: bool) -> None:
    assert told(f"vllm serve {model} --trust-remote-code\n", "at whatever revision is current") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Measured: vLLM 48.2 > llama.cpp 43.0 tok/s.", False),
        ("Measured with vLLM 0.19.0.", True),
    ],
)
def test_figures_are_no_releases(text: str, *, expected: bool) -> None:
    judged = ask(f"{text}\n\n```bash\nvllm serve org/m -tp 2\n```\n")
    assert any("the text names" in each.version_because for each in judged) == expected


@pytest.mark.parametrize(
    ("built", "expected"),
    [("The clone was installed as editable.", False), ("It was installed with pip.", True)],
)
def test_clone_that_is_behind_a_release(built: str, *, expected: bool) -> None:
    text = f"Tried with vLLM 0.19.0. {built}\n\n```bash\nvllm serve org/m --kv-cache-dtype turboquant_4bit_nc\n```\n"
    assert told(text, "--kv-cache-dtype does not take") == expected


@pytest.mark.parametrize(
    ("copied", "expected"),
    [
        ("FROM vllm/vllm-openai:v0.22.1\nCOPY ./weights /app/model\n", False),
        ("FROM vllm/vllm-openai:v0.22.1\n", False),
    ],
)
def test_image_of_a_dockerfile(copied: str, *, expected: bool) -> None:
    text = f'{copied}ENTRYPOINT ["vllm", "serve"]\nCMD ["/app/model", "--port", "8000"]\n'
    assert told(text, "the image has no weights") == expected


def test_container_without_its_weights() -> None:
    text = "docker run --gpus all --ipc=host vllm/vllm-openai:v0.22.1 --model /app/model\n"
    assert told(text, "the image has no weights")


def test_client_above_the_server() -> None:
    client = 'client.chat.completions.create(model="small", messages=[])'
    server = "```bash\nvllm serve org/m --port 8000\n```\n"
    call = f"```python\n{client}\n```\n"
    assert not told(call + server, "the client asks for")
    assert told(server + call, "the client asks for")


@pytest.mark.parametrize(("between", "expected"), [("\n# or\n", False), ("", True)])
def test_two_lists_of_options(between: str, *, expected: bool) -> None:
    text = f"```bash\n--model org/m-AWQ \\\n--quantization awq\n{between}--port 8001 \\\n--quantization gptq\n```\n"
    assert told(text, "given twice") == expected


def test_options_of_a_harness() -> None:
    text = "```bash\n--model local-completions\n--model_args model=m,num_concurrent=8\n```\n"
    assert ask(text) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('M="${M:-}"\nvllm serve $M --port 8000 -tp 2\n', False),
        ("vllm serve --port 8000 -tp 2\n", True),
    ],
)
def test_model_that_the_person_sets(text: str, *, expected: bool) -> None:
    assert told(text, "no model is named: what is served") == expected


def cluster_of(text: str) -> str:
    return ",".join(judged.cluster.name if judged.cluster else "" for judged in ask(text))


@pytest.mark.parametrize(
    ("line", "expected"),
    [("The block size has to match H200 here.", ""), ("It runs on H200 here.", "2xH200")],
)
def test_devices_that_others_are_compared_with(line: str, expected: str) -> None:
    assert cluster_of(f"# Serving\n\n{line}\n\n```bash\nvllm serve org/m -tp 2\n```\n") == expected


@pytest.mark.parametrize("name", ["NVIDIA_TF32_OVERRIDE", "NVIDIA_VISIBLE_DEVICES"])
def test_variables_are_no_devices(name: str) -> None:
    (judged,) = ask(f"export {name}=1\nvllm serve org/m -tp 2\n")
    assert judged.cluster_because == "no devices are named"


@pytest.mark.parametrize(("below", "expected"), [('bash compare.sh "${HF_CONFIG}"\n', False), ("", True)])
def test_variable_of_the_script_itself(below: str, *, expected: bool) -> None:
    text = f'HF_CONFIG="a.yaml"\nvllm serve org/m -tp 2 &\nsleep 60\n{below}'
    assert told(text, "HF_CONFIG is set without export") == expected
