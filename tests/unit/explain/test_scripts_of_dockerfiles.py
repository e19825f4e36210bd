"""Scripts that a Dockerfile writes, and those that an image with a server as its entrypoint is given."""

from __future__ import annotations

import pytest

from moonpad.explain.commands import Command
from moonpad.explain.missing_engine import missing_engine
from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

MODEL = "moonshotai/Kimi-K2-Instruct"
IMAGE = "FROM vllm/vllm-openai:v0.10.0\n"
WORDS = [MODEL, "--tensor-parallel-size", "16", "--trust-remote-code"]
ECHO = f"""\
RUN echo '#!/bin/bash\\n\\
exec python3 -m vllm.entrypoints.openai.api_server --model \\\\\\n\\
    {MODEL} --tensor-parallel-size 16 \\\\\\n\\
    --trust-remote-code' > /app/start.sh && chmod +x /app/start.sh
"""
PRINTF = f"RUN printf '#!/bin/bash\\nexec vllm serve {' '.join(WORDS)}\\n' > /app/start.sh\n"
PRINTF_LINES = f"RUN printf '%s\\n' '#!/bin/bash' 'exec vllm serve {' '.join(WORDS)}' > /app/start.sh\n"
APPENDED = (
    "RUN echo '#!/bin/bash' > /app/start.sh && \\\n"
    f"    echo 'exec vllm serve {' '.join(WORDS)}' >> /app/start.sh && chmod +x /app/start.sh\n"
)
HEREDOC = f"COPY <<EOF /app/start.sh\n#!/bin/bash\nexec vllm serve {' '.join(WORDS)}\nEOF\n"
WAYS = {"echo": ECHO, "printf": PRINTF, "lines": PRINTF_LINES, "appended": APPENDED, "heredoc": HEREDOC}
BEHIND_IMAGE = "would be an argument of it: it is not run"


def only(text: str) -> Command:
    (command,) = (each for each in read_script(text).commands if each.program not in ("other", "docker"))
    return command


def said(text: str) -> list[str]:
    return [finding.message for judged in ask(text) for finding in judged.findings]


@pytest.mark.parametrize("start", ['ENTRYPOINT ["/app/start.sh"]\n', 'CMD ["/app/start.sh"]\n'])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_start_in_a_script_that_the_file_writes(way: str, start: str) -> None:
    text = f"{IMAGE}{way}{start}"
    command = only(text)
    assert [word.text for word in command.argv if word.text != "--model"] == WORDS
    assert command.more == ""
    model = command.argv[[word.text for word in command.argv].index(MODEL)]
    assert MODEL in text.split("\n")[model.line - 1]


def test_a_line_end_of_echo_is_no_argument() -> None:
    text = f'{IMAGE}{ECHO}ENTRYPOINT ["/app/start.sh"]\n'
    assert not [message for message in said(text) if "\\n" in message]


def test_bash_does_not_make_line_ends_of_echo() -> None:
    """Where bash is the shell of RUN, the text stays one line."""
    run = "RUN echo 'exec \\\\\\nvllm serve' > /start.sh\n"
    by_sh, by_bash = (
        read_script(f"{IMAGE}{shell}{run}").files["/start.sh"].text for shell in ("", 'SHELL ["/bin/bash", "-c"]\n')
    )
    assert by_sh == "exec \\\nvllm serve\n"
    assert by_bash == "exec \\\\\\nvllm serve\n"


GIVEN = {
    "CMD": f'{IMAGE}{HEREDOC}CMD ["/app/start.sh"]\n',
    "docker run": f"cat > start.sh <<'EOF'\nvllm serve {MODEL} --tensor-parallel-size 16\nEOF\n"
    "docker run --gpus all -v ./start.sh:/app/start.sh vllm/vllm-openai:v0.10.0 /app/start.sh\n",
    "pod": "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: a\n    image: vllm/vllm-openai:v0.10.0\n"
    '    args: ["/app/start.sh"]\n---\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: c}\ndata:\n  start.sh: |\n'
    f"    vllm serve {MODEL} --tensor-parallel-size 16\n",
}


@pytest.mark.parametrize("text", GIVEN.values(), ids=GIVEN)
def test_a_script_behind_an_image_that_starts_a_server(text: str) -> None:
    (judged,) = ask(text)
    messages = [finding.message for finding in judged.findings]
    assert any(BEHIND_IMAGE in message and "/app/start.sh" in message for message in messages)
    assert not any("vllm serve would be arguments" in message for message in messages)


RUN = {
    "entrypoint": f'{IMAGE}{HEREDOC}ENTRYPOINT ["/app/start.sh"]\n',
    "cleared": f'{IMAGE}{HEREDOC}ENTRYPOINT []\nCMD ["/app/start.sh"]\n',
    "another image": f'FROM ubuntu:24.04\n{HEREDOC}CMD ["/app/start.sh"]\n',
    "command of a pod": GIVEN["pod"].replace("    args:", "    command:"),
}


@pytest.mark.parametrize("text", RUN.values(), ids=RUN)
def test_a_script_that_is_run(text: str) -> None:
    (judged,) = ask(text)
    assert not any(BEHIND_IMAGE in finding.message for finding in judged.findings)


@pytest.mark.parametrize("script", ["/app/start.sh", "/opt/serve.py", "./run.bash"])
def test_a_script_that_is_not_at_hand_is_no_model(script: str) -> None:
    text = read_script(f'{IMAGE}COPY start.sh /app/\nCMD ["{script}"]\n')
    assert not [command for command in text.commands if command.program not in ("other", "docker")]
    assert BEHIND_IMAGE in missing_engine(text)[0]
    assert missing_engine(text)[0].startswith("line 3: ")


@pytest.mark.parametrize("model", [MODEL, "/models/k2-sh", "/models/kimi-k2", "org/name.shard"])
def test_a_model_behind_an_image_stays_one(model: str) -> None:
    command = only(f'{IMAGE}CMD ["{model}", "--tensor-parallel-size", "16"]\n')
    assert command.argv[0].text == model


SERVED = 'RUN printf \'#!/bin/bash\\nvllm serve "$MODEL_NAME"\\n\' > /start.sh\nENTRYPOINT ["/start.sh"]\n'
NAMED = {
    "ARG of the stage": f"{IMAGE}ARG MODEL_NAME={MODEL}\nENV MODEL_NAME=${{MODEL_NAME}}\n",
    "ARG above": f"ARG NAME={MODEL}\n{IMAGE}ARG NAME\nENV MODEL_NAME=$NAME\n",
    "ENV": f"{IMAGE}ENV NAME={MODEL}\nENV MODEL_NAME=$NAME\n",
}


@pytest.mark.parametrize("above", NAMED.values(), ids=NAMED)
def test_a_variable_by_its_default(above: str) -> None:
    assert [word.text for word in only(f"{above}{SERVED}").argv] == [MODEL]


@pytest.mark.parametrize(
    "above",
    [
        f"ARG NAME={MODEL}\n{IMAGE}ENV MODEL_NAME=$NAME\n",  # which holds in FROM alone
        f"{IMAGE}ARG NAME\nENV MODEL_NAME=$NAME\n",
        f"FROM ubuntu:24.04 AS base\nARG NAME={MODEL}\n{IMAGE}ENV MODEL_NAME=$NAME\n",
    ],
)
def test_an_argument_that_the_stage_does_not_have(above: str) -> None:
    assert MODEL not in [word.text for word in only(f"{above}{SERVED}").argv]
