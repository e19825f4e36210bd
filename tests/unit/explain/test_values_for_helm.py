"""`helm install` with values on its command line, or in a file that the same text writes: a chart's command is read."""

from __future__ import annotations

from moonpad.explain.results import Judged
from tests.unit.explain.judging import ask

LAYOUT = "--tensor-parallel-size 8 --pipeline-parallel-size 2"


def judged(command: str, said: str = "DeepSeek with vLLM on 2*8 H20:") -> list[Judged]:
    return [each for each in ask(f"{said}\n\n```console\n$ {command}\n```\n") if each.layout is not None]


def sizes(judgement: Judged) -> tuple[str, str, int, int, int]:
    assert judgement.checkpoint is not None
    assert judgement.layout is not None
    devices = judgement.cluster.devices if judgement.cluster is not None else 0
    return judgement.engine, judgement.checkpoint.name, judgement.layout.tp, judgement.layout.pp, devices


def test_options_in_one_value() -> None:
    (only,) = judged(
        "helm install r1 ./aibrix --set shortModelName=r1 --set modelName=deepseek-ai/DeepSeek-R1 --set pvcName=m "
        f'--set parallelArgs="{LAYOUT}"'
    )
    assert sizes(only) == ("vllm", "deepseek-ai/DeepSeek-R1", 8, 2, 16)
    assert not any("Ray" in finding.message for finding in only.findings)


def test_options_one_by_one_with_an_image_over_lines() -> None:
    (only,) = judged(
        "helm upgrade --install kimi ./chart \\\n  --set model.name=moonshotai/Kimi-K2-Instruct \\\n"
        "  --set image.repository=vllm/vllm-openai,image.tag=v0.11.0 \\\n"
        "  --set args[0]=--tensor-parallel-size --set-string args[1]=16 --set 'args[2]=--trust-remote-code'",
        "On 16 H800:",
    )
    assert sizes(only) == ("vllm", "moonshotai/Kimi-K2-Instruct", 16, 1, 16)
    assert only.version == "0.11.0"


def test_a_list_in_braces_and_sizes_by_name() -> None:
    (only,) = judged(
        "helm template kimi ./chart --set modelId=moonshotai/Kimi-K2-Instruct --set spec.tensorParallelSize=8 "
        "--set 'extraArgs={--trust-remote-code,--max-model-len,8192}'",
        "Kimi-K2 with vLLM on 8 H200:",
    )
    assert sizes(only) == ("vllm", "moonshotai/Kimi-K2-Instruct", 8, 1, 8)
    assert only.settings is not None
    assert only.settings.max_model_len == 8192


def test_a_file_of_values_that_the_text_writes() -> None:
    file = (
        "cat > v.yaml <<'EOF'\nimage:\n  repository: vllm/vllm-openai\n  tag: v0.11.0\n"
        "modelURL: moonshotai/Kimi-K2-Instruct\nvllmConfig:\n  tensorParallelSize: 8\n"
        '  extraArgs: ["--trust-remote-code"]\nEOF\n'
    )
    found = judged(f"{file}helm install kimi vllm/vllm-stack -f v.yaml", "On 8 H200:")
    assert [sizes(each)[:4] for each in found] == [("vllm", "moonshotai/Kimi-K2-Instruct", 8, 1)]


def test_a_file_of_values_that_name_no_image() -> None:
    file = f'cat <<EOF > v.yaml\nmodelName: deepseek-ai/DeepSeek-R1\nparallelArgs: "{LAYOUT}"\nEOF\n'
    (only,) = judged(f"{file}helm install r1 ./aibrix -f v.yaml --set pvcName=m")
    assert sizes(only) == ("vllm", "deepseek-ai/DeepSeek-R1", 8, 2, 16)


def test_charts_of_other_programs_and_open_engines_start_nothing() -> None:
    assert judged("helm install prom ./stack --set args[0]=--web.port --set modelName=a/b", "Watch:") == []
    both = "With vLLM or SGLang on 8 H200:"
    assert judged(f'helm install r1 ./c --set modelName=deepseek-ai/DeepSeek-R1 --set a="{LAYOUT}"', both) == []
