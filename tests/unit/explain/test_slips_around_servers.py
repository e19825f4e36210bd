"""What stands around a server and does not do what it says: profilers, routers, requests, Ray's nodes, containers."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Finding, Severity

K2 = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code"
GUIDE = "# Guide\n\n```bash\n{}\n```\n"
RAY = "ray start --head\n{0}ray start --address=a:6379\nvllm serve m -tp 16 --distributed-executor-backend ray\n"
KEEP = "RAY_EXPERIMENTAL_NOSET_ASCEND_RT_VISIBLE_DEVICES"
POD = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  runtimeClassName: %s\n  containers:\n"
    '  - name: v\n    image: vllm/vllm-openai:v0.11.0\n    args: ["--model", "m"]\n'
    "    resources: {limits: {%s: 1}}\n"
)
BOX = "docker run -e VLLM_USE_MODELSCOPE=True -it quay.io/ascend/vllm-ascend:v0.13.0rc1 bash"
EVAL = "lm_eval --model local-completions --model_args model=m --tasks gsm8k"
DISCOVERY = "gateway --service-discovery --selector "
POOLS = "gateway --pd-disaggregation "


def found(text: str, words: str) -> list[Finding]:
    findings = [finding for each in judge(read_script(text), Question()) for finding in each.findings]
    return [finding for finding in findings if words in f"{finding.where} {finding.message} {finding.remedy}"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"nsys profile -o x {K2}", "write nsys profile --trace-fork-before-exec=true"),
        (f"nsys profile --trace-fork-before-exec=false {K2}", "holds no GPU kernel"),
        ("nsys profile python -m sglang.launch_server --model-path m", "holds no GPU kernel"),
        (f"docker run --gpus 0 vllm/vllm-openai:v0.11.0 --model m\n{K2}", "--gpus takes a count"),
        ("docker run --gpus 0 nvcr.io/nim/a/b:latest", "--gpus takes a count"),
        (f"{K2}\ncurl http://localhost:8000/v1/chat/completion -d '{{}}'", "write /v1/chat/completions"),
        (f"{K2}\nvllm bench serve --model m --endpoint /v1/completion", "write /v1/completions"),
        (f"{K2}\ncurl $HOST/v1 http://a:${{PORT}}/v1/embedding", "write /v1/embeddings"),
        (f"{K2}\n{DISCOVERY}app=k2,role=prefill", "write --selector app=k2 role=prefill"),
        (f"{K2}\n{DISCOVERY}'app=k2, role=prefill'", "write --selector app=k2 role=prefill"),
        (f"{K2}\n{POOLS}--worker-urls http://a:8000 --decode http://b:8000", "from --prefill alone"),
        (RAY.format(f"export {KEEP}=1\n"), "export it before each ray start"),
        (POD % ("nividia", "nvidia.com/gpu"), "write nvidia"),
        (POD % ("nvidia", "nvdia.com/gpu"), "write nvidia.com/gpu"),
        (POD % ("nvidia", "nvidai.com/gpu"), "write nvidia.com/gpu"),
        (f"docker run --runtime=nvida --gpus all vllm/vllm-openai:v0.11.0 --model m\n{K2}", "write nvidia"),
        (f'cat <<EOF > env.yaml\n- name: TP\n  value: 8"\nEOF\n{K2}', "part of the value: TP is 8"),
        (f"{BOX}\n{K2} &\n{EVAL}", "export USE_MODELSCOPE_HUB=0 before lm_eval"),
    ],
)
def test_it_is_told_once(text: str, words: str) -> None:
    assert [finding.severity for finding in found(text, words)] == [Severity.WARNING]
    if "kind: Pod" not in text:
        assert len(found(GUIDE.format(text), words)) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"nsys profile --trace-fork-before-exec=true -o x {K2}", "GPU kernel"),
        (f"nsys profile --trace-fork-before-exec true -o x {K2}", "GPU kernel"),
        (f"nsys status\n{K2}", "GPU kernel"),
        ("nsys profile llama-server -m m.gguf", "GPU kernel"),
        ("docker run --gpus 1 vllm/vllm-openai:v0.11.0 --model m", "takes a count"),
        ("docker run --gpus '\"device=0\"' vllm/vllm-openai:v0.11.0 --model m", "takes a count"),
        (f"{K2}\ncurl http://localhost:8000/v1/chat/completions", "404"),
        (f"{K2}\n# not http://localhost:8000/v1/chat/completion", "404"),
        (f"{K2}\ncurl http://localhost:8080/completion", "404"),
        (f"{K2}\ncurl https://site.example/v1/completion", "404"),
        (f"{K2}\n{DISCOVERY}app=k2 role=prefill", "a word of its own"),
        (f"{K2}\nkubectl get pods --selector app=k2,role=prefill", "a word of its own"),
        (f"{K2}\n{POOLS}--prefill http://a:8000 --decode http://b:8000", "--prefill alone"),
        (f"{K2}\n{POOLS}--service-discovery --worker-urls http://a:8000", "--prefill alone"),
        (f'{K2}\n{POOLS}--worker-urls http://a:8000 "$@"', "--prefill alone"),
        (f"export {KEEP}=1\n{RAY.format('')}", "each ray start"),
        (RAY.format(""), "each ray start"),
        (POD % ("nvidia", "nvidia.com/gpu"), "that a machine knows"),
        (POD % ("gvisor", "amd.com/gpu"), "that a machine knows"),
        (POD % ("kata", "huawei.com/gpu"), "that a machine knows"),
        (f"cat <<EOF > env.yaml\n- name: TP\n  value: \"8\"\n- name: B\n  value: 'a'\nEOF\n{K2}", "part of the value"),
        (f'echo "usage\n  value: the value"\n{K2}', "part of the value"),
        (f"{BOX}\n{K2} &\nexport USE_MODELSCOPE_HUB=0\n{EVAL}", "before lm_eval"),
        (f"{BOX.replace('True', 'False')}\n{K2} &\n{EVAL}", "before lm_eval"),
        (f"export VLLM_USE_MODELSCOPE=True\n{K2} &\n", "before lm_eval"),
        (f"{EVAL}\n{BOX}\n{K2}", "before lm_eval"),
    ],
)
def test_it_is_meant_or_not_known(text: str, words: str) -> None:
    assert found(text, words) == []


def test_a_release_far_away_is_not_that_of_a_client() -> None:
    far = "\n\n## Results\n\nThey are in a post about [vLLM v0.6.0](https://example.com).\n"
    text = f"# Guide\n\n## One\n\n```bash\n{K2}\n```\n"
    text += "\n```bash\nvllm bench serve --model m --dataset-name random-mm\n```\n"
    assert found(text, "does not take") == []
    assert found(text + "\ntext\n" * 60 + far, "does not take") == []


def test_a_schema_is_no_set_of_options() -> None:
    schema = (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\nspec:\n  versions:\n"
        "  - schema:\n      openAPIV3Schema:\n        properties:\n          vllmConfig:\n"
        "            description: of the server\n            properties:\n              port: {type: integer}\n"
        "            type: object\n"
    )
    assert read_script(schema).commands == ()
