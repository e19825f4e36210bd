"""`$NAME` in a compose file, which Compose fills in before any shell runs."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question

HEAD = "services:\n  llm:\n    image: vllm/vllm-openai:v0.22.0\n"
SHELL = HEAD + '    entrypoint: ["bash", "-c"]\n    command:\n      - |\n'
SERVE = "        exec vllm serve Qwen/Qwen2.5-0.5B-Instruct"


def said(text: str, name: str = "compose.yaml") -> list[str]:
    found = [finding for each in judge(read_files([(name, text)]), Question()) for finding in each.findings]
    return [finding.message for finding in found if "Compose" in finding.message]


@pytest.mark.parametrize("reference", ["${ARGS[@]}", "${#ARGS}", "${ARGS%x}", "${ARGS:0:3}", "${!ARGS}"])
def test_a_form_that_is_refused(reference: str) -> None:
    (message,) = said(f'{SHELL}{SERVE} "{reference}"\n')
    assert message.startswith(f"line 7: Compose reads {reference} itself, and refuses the file")
    assert not said(f'{SHELL}{SERVE} "${reference}"\n')


def test_a_variable_of_the_script() -> None:
    (message,) = said(f"{SHELL}        LEN=4096\n{SERVE} --max-model-len $LEN\n")
    assert message.startswith("line 8: Compose fills in $LEN before the shell runs")


@pytest.mark.parametrize(
    "script",
    [
        f"        LEN=4096\n{SERVE} --max-model-len $$LEN\n",
        f"        LEN=$LEN\n{SERVE} --max-model-len $LEN\n",
        f"        LEN=${{LEN:-1}}\n{SERVE} --max-model-len $LEN\n",
        f'{SERVE} --max-model-len $LEN "$@"\n',
        f"        # ${{ARGS@Q}}\n{SERVE}\n".replace("# $", "# $$"),
    ],
)
def test_what_arrives(script: str) -> None:
    assert not said(SHELL + script)


def test_a_variable_of_the_service() -> None:
    service = HEAD + "    environment:\n      - TP=2\n    command: --model a/b --tensor-parallel-size ${TP}\n"
    (message,) = said(service)
    assert "not from environment: of the service" in message
    assert not said(service.replace("TP=2", "TP=${TP}"))
    assert not said(service.replace("${TP}", "${TP:-2}"))
    assert not said(service.replace("    command", "    env_file: .env\n    command"))


def test_only_in_a_compose_file() -> None:
    pod = "kind: Pod\nspec:\n  containers:\n    - image: vllm/vllm-openai:v0.22.0\n      command: [bash, -c]\n"
    pod += f"      args:\n      - |\n        A=1\n{SERVE} --max-num-seqs $A\n"
    assert not said(pod)
