"""Accelerators that moonpad does not judge, and images that are not built for them."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask, ask_one

PAGE = """# {maker} 服务器部署

每台服务器 8 张卡。

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {{name: engine}}
spec:
  selector:
    matchLabels: {{app: engine}}
  template:
    metadata:
      labels: {{app: engine}}
    spec:
      containers:
        - name: engine
          image: {image}
          command: [vllm, serve, /models/deepseek-r1, --tensor-parallel-size, "8"]
          resources:
            limits: {{{resource}: 8}}
```
"""
MAKERS = ("沐曦 C550", "MetaX C500", "寒武纪 MLU590", "Moore Threads MTT S4000", "海光 DCU", "昆仑芯 P800")


def built_for_others(text: str) -> list[str]:
    remarks = [remark for judged in ask(text) for remark in judged.remarks if remark.stops]
    return [remark.finding.message for remark in remarks if "is built for CUDA" in remark.finding.message]


@pytest.mark.parametrize("maker", MAKERS)
def test_an_image_for_cuda_on_devices_of_another_maker(maker: str) -> None:
    (message,) = built_for_others(PAGE.format(maker=maker, image="vllm/vllm-openai:v0.20.0", resource="nvidia.com/gpu"))
    assert "nvidia.com/gpu" in message


@pytest.mark.parametrize(
    ("maker", "image"),
    [
        ("沐曦 C550", "registry.local/maca/vllm:0.20.0"),
        ("沐曦与寒武纪", "vllm/vllm-openai:v0.20.0"),
        ("NVIDIA 或沐曦", "vllm/vllm-openai:v0.20.0"),
        ("沐曦 C550，对比 H100", "vllm/vllm-openai:v0.20.0"),
        ("国产", "vllm/vllm-openai:v0.20.0"),
    ],
)
def test_other_images_and_texts_about_several(maker: str, image: str) -> None:
    assert built_for_others(PAGE.format(maker=maker, image=image, resource="example.com/gpu")) == []


def test_the_devices_are_named_for_what_they_are() -> None:
    (judged,) = ask(PAGE.format(maker="MetaX C500", image="metax/vllm:0.20.0", resource="metax-tech.com/gpu"))
    assert "MetaX GPUs" in judged.unjudged


def refused(text: str) -> list[Severity]:
    judgements: tuple[Judged, ...] = ask(text)
    remarks = [remark for judged in judgements for remark in judged.remarks if remark.stops]
    return [remark.finding.severity for remark in remarks if remark.finding.where == "spec.selector"]


MANIFEST = PAGE[PAGE.index("apiVersion") : PAGE.index("```\n", PAGE.index("apiVersion"))].format(
    image="vllm/vllm-openai:v0.20.0", resource="nvidia.com/gpu"
)
LABELS = "    metadata:\n      labels: {app: engine}\n"


def test_a_template_without_the_labels_of_its_selector() -> None:
    assert refused(MANIFEST) == []
    assert refused(MANIFEST.replace(LABELS, "")) == [Severity.WARNING]
    assert refused(MANIFEST.replace("labels: {app: engine}", "annotations: {team: search}")) == [Severity.WARNING]
    assert refused(MANIFEST.replace("labels: {app: engine}", "labels: {app: other}")) == [Severity.WARNING]


def test_labels_that_may_come_from_elsewhere() -> None:
    without = MANIFEST.replace(LABELS, "")
    assert refused(without + "---\nkind: Kustomization\ncommonLabels: {app: engine}\n") == []
    assert refused(without.replace("{app: engine}", "{app: {{ .Release.Name }}}")) == []


@pytest.mark.parametrize("folder", ["/models/deepseek-r1-671b", "/data/DeepSeek-V3-0324-671B"])
def test_folders_called_after_the_size_of_the_model(folder: str) -> None:
    judged = ask_one(f"vllm serve {folder} --tensor-parallel-size 8\n", on="8xH200")
    assert judged.checkpoint is not None
    assert judged.checkpoint.name.startswith("deepseek-ai/DeepSeek-")
