"""A text that names several kinds of NVIDIA's devices is about none of another maker's, and about none that it does not
name."""

from __future__ import annotations

from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --enable-chunked-prefill"


def told(devices: str) -> list[str]:
    (judged,) = ask(f"{devices} vLLM 0.17.0.\n\n```bash\n{SERVE}\n```\n")
    assert judged.cluster is None
    return [finding.message for finding in judged.findings]


def test_nothing_of_other_makers_is_told() -> None:
    """https://github.com/vllm-project/vllm/pull/35093 is of gfx950."""
    several, none = told("8xH200 here.\n\n8xA100 there."), told("Some machine.")
    assert not any("gfx" in message for message in several)
    assert any("gfx950, if the devices" in message for message in none)


def test_what_is_of_all_nvidia_devices_is_told_without_a_condition() -> None:
    of_all = [message for message in told("8xH200 here.\n\n8xB200 there.") if "vllm-project/vllm#49294" in message]
    assert of_all
    assert not any("if the devices are of these" in message for message in of_all)


def test_with_another_makers_beside_them_it_is_not_known_whose_they_are() -> None:
    beside = [message for message in told("8xH200.\n\n8xMI355X.") if "vllm-project/vllm#49294" in message]
    assert beside
    assert all("if the devices are of these" in message for message in beside)


def test_nor_of_a_third_maker() -> None:
    """https://github.com/sgl-project/sglang/pull/39589 is of Ascend 950."""
    start = "```bash\npython3 -m sglang.launch_server --model-path moonshotai/Kimi-K3 --tp 8\n```\n"
    several, none = (
        [finding.message for finding in ask(f"{devices}\n\nSGLang 0.5.17.\n\n{start}")[0].findings]
        for devices in ("8xB300 or so.\n\n8xMI355X or so.", "Some machine.")
    )
    assert not any("Ascend" in message for message in several)
    assert any("Ascend" in message for message in none)
