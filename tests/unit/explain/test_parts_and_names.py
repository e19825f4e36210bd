"""Parts of repositories, charts, images of tabs, and names behind a proxy that starts servers."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question

SERVE = "vllm serve /model -tp 8\n"


def said(text: str, part: str, name: str = "run.sh") -> int:
    judged = judge(read_files([(name, text)]), Question())
    return sum(part in finding.message for each in judged for finding in each.findings)


@pytest.mark.parametrize("part", ["original", "metal"])
def test_a_download_of_a_part(part: str) -> None:
    line = f'hf download openai/gpt-oss-120b --include "{part}/*" --local-dir /model\n'
    assert said(line + SERVE, f"{part}/ is ") == 1
    assert said(line.replace("--include", "--exclude") + SERVE, f"{part}/ is ") == 0
    assert said(line + f"convert /model/{part}\n" + SERVE, f"{part}/ is ") == 0


def test_a_chart_of_another_name() -> None:
    assert said(f"helm install vllm vllm/production-stack -f a.yaml\n{SERVE}", "has no chart production-stack") == 1
    assert said(f"helm install vllm vllm/vllm-stack -f a.yaml\n{SERVE}", "has no chart") == 0
    added = "helm repo add stack https://vllm-project.github.io/production-stack\n"
    assert said(f"{added}helm install engine stack/stack\n{SERVE}", "has no chart stack") == 1
    assert said(f"helm install engine stack/stack\n{SERVE}", "has no chart") == 0


TABS = """::::{{tab-item}} {} series

```bash
# run it
export IMAGE=quay.io/ascend/vllm-ascend:v0.11.0rc0-{}deepseek-v3.2-exp
docker run --rm -it $IMAGE bash
```

::::

```bash
vllm serve deepseek-ai/DeepSeek-V3.2-Exp -tp 16
```
"""


def test_an_image_under_another_tab() -> None:
    assert said(TABS.format("A2", "a3-"), "is built for A3, and the part is about A2", "a.md") == 1
    assert said(TABS.format("A3", "a3-"), "is built for", "a.md") == 0
    assert said(TABS.format("A2", ""), "is built for", "a.md") == 0


SWAP = """models:
  "kimi":
    cmd: |
      docker run --rm -p ${{PORT}}:8000
      --gpus all
      vllm/vllm-openai:v0.22.0
      --model moonshotai/Kimi-K2.5
      {}-tp 8 --port 8000
{}    proxy: http://127.0.0.1:${{PORT}}
"""


def test_a_container_in_the_file_of_a_proxy() -> None:
    (command,) = read_files([("config.yaml", SWAP.format("", ""))]).commands
    assert command.program == "vllm serve"
    assert [word.text for word in command.argv[:2]] == ["--model", "moonshotai/Kimi-K2.5"]


def test_the_key_is_the_name_that_is_asked_for() -> None:
    part = "the proxy of this file asks for kimi"
    assert said(SWAP.format("", ""), part, "config.yaml") == 1
    assert said(SWAP.format("--served-model-name kimi\n      ", ""), part, "config.yaml") == 0
    assert said(SWAP.format("", "    useModelName: moonshotai/Kimi-K2.5\n"), part, "config.yaml") == 0
    assert said(SWAP.format("--served-model-name ${MODEL_ID}\n      ", ""), part, "config.yaml") == 0
