"""SGLang's build for Ascend: its devices are those of Ascend that the text names, and so are those of the next step."""

from __future__ import annotations

import pytest

from moonpad.cli.explain import _next
from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

HARDWARE = "> **Hardware**: 4× Atlas 800 A3 (Ascend 910C), 8 NPU × 64GB each"
SERVE = "sglang serve --model-path /data/w4a8 --tensor-parallel-size 8"


@pytest.mark.parametrize(
    ("words", "command", "devices"),
    [
        (HARDWARE, f"{SERVE} --device npu", "8xA3"),
        (HARDWARE, f"{SERVE} --quantization modelslim", "8xA3"),
        (f"{HARDWARE}, against 8x H20", f"{SERVE} --device npu", "8xA3"),
        ("On 8 x Atlas 800T A2 (64 GB)", f"{SERVE} --attention-backend ascend", "8xA2"),
        ("On 8x H200; the Atlas 800 A3 has a page of its own", SERVE, "8xH200"),
    ],
)
def test_devices_of_the_build(words: str, command: str, devices: str) -> None:
    script = read_script(f"{words}\n\n```bash\n{command}\n```\n")
    judged = ask(script)
    (server,) = judged
    assert server.cluster is not None
    assert server.cluster.name == devices
    assert _next(judged, script).endswith(f" --on {devices}")


def test_no_devices_of_nvidia_for_it() -> None:
    (server,) = ask(f"Slower than 8x H200.\n\n```bash\n{SERVE} --device npu\n```\n")
    assert server.cluster is None


@pytest.mark.parametrize("words", ["", "On one Atlas 800 A3 (64G x 16):"])
def test_the_build_reads_weights_of_modelslim(words: str) -> None:
    serve = "sglang serve --model-path Eco-Tech/Kimi-K2.5-W4A8 --quantization modelslim --device npu --tp-size 16"
    (server,) = ask(f"{words}\n\n```bash\n{serve}\n```\n")
    assert "ModelSlim" not in " ".join(finding.message for finding in server.findings)
