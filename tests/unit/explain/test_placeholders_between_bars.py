"""`image:|release|`, as pages of Sphinx have it, is to be filled in; `sort|uniq|wc` is a pipe. And what a container has
of NPUs without --privileged."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script

from .judging import ask

BLOCK = """```{{code-block}} bash
IMAGE=quay.io/ascend/vllm-ascend:|vllm_ascend_version|
docker run --privileged {devices} -e ASCEND_RT_VISIBLE_DEVICES=0,1 -it {image} bash
```
"""
CONTROL = "--device /dev/davinci_manager --device /dev/devmm_svm --device=/dev/hisi_hdc"


@pytest.mark.parametrize("image", ["$IMAGE", "quay.io/ascend/vllm-ascend:|vllm_ascend_version|"])
def test_an_image_between_bars_is_to_be_filled_in(image: str) -> None:
    (judged,) = ask(BLOCK.format(devices=CONTROL, image=image))
    assert any("vllm-ascend:|vllm_ascend_version|" in word for word in judged.commands[0].argv)
    assert any("to be filled in" in finding.message for finding in judged.findings)


def test_a_pipe_is_one() -> None:
    script = read_script("ls x|sort_by_name|head\nvllm serve moonshotai/Kimi-K2.5 -tp 8 2>&1|tee_to_file|cat\n")
    (command,) = [each for each in script.commands if each.program == "vllm serve"]
    assert all("|" not in word.text for word in command.argv)


@pytest.mark.parametrize(
    ("devices", "named"),
    [
        (CONTROL, False),
        ("--device=/dev/infiniband", False),
        (f"{CONTROL} --device /dev/davinci0 --device /dev/davinci1", True),
        ("--device=/dev/kfd --device=/dev/dri", True),
        ("--gpus all", True),
    ],
)
def test_whether_devices_are_left_without_privileges(devices: str, named: bool) -> None:
    judged = ask(f"docker run --privileged {devices} vllm/vllm-openai:v0.32.0 vllm serve moonshotai/Kimi-K2.5 -tp 8\n")
    (finding,) = [each for one in judged for each in one.findings if each.where == "--privileged"]
    assert (finding.remedy == "leave it out: the devices are named") is named
