"""Podman's quadlets: in files, in documents, and as scripts write them."""

from __future__ import annotations

import pytest

from moonpad.explain.commands import Command
from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question

PLAIN = """# kimi.container
[Unit]
Description=Kimi

[Container]
ContainerName=kimi
Image=docker.io/vllm/vllm-openai:v0.11.0
AddDevice=nvidia.com/gpu=all
Environment="HF_HOME=/models/hf" VLLM_LOGGING_LEVEL=DEBUG
PublishPort=8000:8000
PodmanArgs=--ipc=host --ulimit memlock=-1
Exec=org/m \\
  # eight of them
  --tensor-parallel-size 8 --max-model-len 4096

[Service]
Restart=always
"""


def known(text: str) -> list[Command]:
    return [command for command in read_script(text).commands if command.program not in ("other", "docker")]


def argv(command: Command) -> str:
    return " ".join(word.text for word in command.argv)


def test_the_arguments_are_for_the_program_of_the_image() -> None:
    (command,) = known(PLAIN)
    assert (command.program, argv(command)) == ("vllm serve", "org/m --tensor-parallel-size 8 --max-model-len 4096")
    assert {name: word.text for name, word in command.env.items()}["HF_HOME"] == "/models/hf"
    container = command.container
    assert container is not None
    assert container.values("--publish") == ("8000:8000",)
    assert container.value("--ipc") == "host"


@pytest.mark.parametrize(
    "around",
    [
        "```ini\n{}```\n\nThat is all.\n",
        "#!/bin/bash\ncat > ~/systemd/kimi.container <<'EOF'\n{}EOF\nsystemctl --user daemon-reload\n",
        "#!/bin/bash\nsudo tee /etc/containers/systemd/kimi.container >/dev/null <<\\EOF\n{}EOF\n",
    ],
    ids=["document", "heredoc", "tee"],
)
def test_it_may_stand_in_another_text(around: str) -> None:
    text = f"# Kimi\n\n{around.format(PLAIN)}" if around.startswith("```") else around.format(PLAIN)
    (command,) = known(text)
    assert argv(command).startswith("org/m --tensor-parallel-size 8")


def test_a_script_fills_in_its_variables() -> None:
    text = (
        "M=org/m\nIMAGE=vllm/vllm-openai:latest\n"
        "cat > a.container <<EOF\n[Container]\nImage=${IMAGE}\nExec=--model ${M} --max-model-len ${LEN}\nEOF\n"
        "cat > b.container <<EOF\n[Container]\nImage=lmsysorg/sglang:latest\n"
        "Exec=python3 -m sglang.launch_server --model-path $M --tp-size 2\nEOF\n"
    )
    first, second = known(text)
    assert argv(first) == "--model org/m --max-model-len ${LEN}"
    assert first.argv[3].unresolved == ("LEN",)
    assert (second.program, argv(second)) == ("sglang", "--model-path org/m --tp-size 2")


def test_other_containers_start_no_engine() -> None:
    assert known("[Container]\nImage=docker.io/library/redis:7\nExec=redis-server --port 6379\n") == []


@pytest.mark.parametrize(("value", "said"), [("%s", True), ("%h/token", False), ("hf_abc", False)])
def test_what_printf_should_have_filled_in(value: str, said: bool) -> None:
    text = f"[Container]\nImage=vllm/vllm-openai:latest\nEnvironment=HF_TOKEN={value}\nExec=--model org/m\n"
    messages = [finding.message for judged in judge(read_script(text), Question()) for finding in judged.findings]
    assert any("to be filled in: HF_TOKEN=%s" in message for message in messages) is said
