"""The commands of tests/seeds/containers.sh: servers in containers and behind launchers."""

from __future__ import annotations

from moonpad.values.plan import Layout
from tests.unit.explain.judging import ask, at, seed, summary


def test_servers_in_containers() -> None:
    image, sglang, remote = ask(seed("containers.sh"), "8xH200")
    assert image.version == "0.33.0"
    assert ("warning", "insecure", "-p 8000:8000") in summary(image)
    assert at(image, "dead-env") == ["VLLM_USE_V1"]
    assert "VLLM_USE_V1=1" not in image.corrected[0].argv
    assert image.corrected[0].argv[:7] == ("docker", "run", "--gpus", "all", "--ipc=host", "-p", "8000:8000")
    # The image's entrypoint takes the model from --model alone.
    assert at(image, "renamed-flag") == []

    assert (sglang.engine, sglang.version) == ("sglang", "0.5.23")
    assert {"--privileged", "-v /:/work", "--host"} <= set(at(sglang, "insecure"))
    assert at(sglang, "invalid-value") == ["--kv-cache-dtype"]
    assert "--kv-cache-dtype fp8_e4m3" in " ".join(sglang.corrected[0].argv)

    assert "StrictHostKeyChecking=no" in at(remote, "insecure")
    assert at(remote, "dead-env") == ["SAFETENSORS_FAST_GPU"]
    # The guides say that FP8 weights with 128k tokens need 16 of them.
    assert remote.layout == Layout(tp=8)
    assert at(remote, "does-not-fit") != []
