"""Which image a file names, and what is refused before anything is written."""

from __future__ import annotations

import pytest

from moonpad.plan.from_spec import container_of
from moonpad.render.targets import render_for
from moonpad.spec.loader import parse_spec
from moonpad.values.errors import UsageError
from tests.configurations import make_plan
from tests.unit.render.deployments import DIGEST

HEAD = 'model = "m/K2"\nengine = {engine}\n[hardware]\ncluster = "{cluster}"\n[layout]\ntp = {tp}\n'


def image(engine: str, cluster: str, tp: int) -> str:
    spec = parse_spec(HEAD.format(engine=engine, cluster=cluster, tp=tp), name="a")
    return container_of(spec, make_plan(spec, 0)).reference


@pytest.mark.parametrize(
    ("engine", "cluster", "tp", "reference"),
    [
        ('"vllm"', "8xH200", 8, "vllm/vllm-openai:v0.33.0"),
        ('{ name = "vllm", version = "0.11.0" }', "8xH100", 8, "vllm/vllm-openai:v0.11.0"),
        ('{ name = "vllm", version = "nightly" }', "8xH200", 8, "vllm/vllm-openai:nightly"),
        ('{ name = "vllm-ascend", version = "main" }', "16xA3", 16, "quay.io/ascend/vllm-ascend:main-a3"),
        ('"vllm"', "8xMI300X", 8, "vllm/vllm-openai-rocm:v0.33.0"),
        ('"vllm-ascend"', "16xA3", 16, "quay.io/ascend/vllm-ascend:v0.23.0-a3"),
        ('"vllm-ascend"', "8xA2", 8, "quay.io/ascend/vllm-ascend:v0.23.0"),
        ('"sglang"', "8xH200", 8, "lmsysorg/sglang:v0.5.23"),
        (f'{{ name = "vllm", image = "mine@{DIGEST}" }}', "8xH200", 8, f"mine@{DIGEST}"),
    ],
)
def test_the_image_of_the_version_and_the_devices(engine: str, cluster: str, tp: int, reference: str) -> None:
    assert image(engine, cluster, tp) == reference


@pytest.mark.parametrize(("engine", "cluster"), [('"sglang"', "8xMI300X"), ('"ktransformers"', "8xRTX4090-48G")])
def test_none_is_guessed(engine: str, cluster: str) -> None:
    with pytest.raises(UsageError, match="no image of"):
        image(engine, cluster, 8)


@pytest.mark.parametrize("target", ["docker", "compose", "kubernetes"])
def test_ranks_that_one_process_starts_on_other_machines(target: str) -> None:
    spec = parse_spec(HEAD.format(engine='"tensorrt-llm"', cluster="2x8xH200", tp=16), name="a")
    with pytest.raises(UsageError, match="over MPI"):
        render_for(target, spec, make_plan(spec, 0))


def test_rdma_is_handed_on() -> None:
    text = HEAD.format(engine='"vllm"', cluster="2x8xH200", tp=16).replace("[layout]", "rdma = true\n[layout]")
    spec = parse_spec(text, name="a")
    for target in ("docker", "compose"):
        files = render_for(target, spec, make_plan(spec, 0)).files
        started = [file for path, file in files.items() if "firewall" not in path]
        assert len(started) == 2
        for file in started:
            assert "/dev/infiniband" in file.text
            assert "memlock" in file.text
