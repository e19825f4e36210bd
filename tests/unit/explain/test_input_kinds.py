"""Files of every kind in which an engine is started."""

from __future__ import annotations

import pytest

from moonpad.explain.commands import Command, Script
from moonpad.explain.script import read_command, read_files, read_script

SERVE = "vllm serve org/m --tensor-parallel-size 8"


def known(script: Script) -> list[Command]:
    return [command for command in script.commands if command.program not in ("other", "docker")]


def only(text: str) -> Command:
    (command,) = known(read_script(text))
    return command


def argv(command: Command) -> str:
    return " ".join(word.text for word in command.argv)


SAME = {
    "Dockerfile, exec form": f'FROM x:1\nCMD ["vllm", "serve", "org/m", "--tensor-parallel-size", "8"]\n{"# end"}\n',
    "Dockerfile, shell form": "FROM x\nENV TP=8\nCMD vllm serve org/m \\\n  # why\n  --tensor-parallel-size $TP\n",
    "Dockerfile, the image's program": 'FROM vllm/vllm-openai:v0.11.0\nCMD ["org/m", "--tensor-parallel-size", "8"]\n',
    "Dockerfile, both": 'FROM x\nENTRYPOINT ["vllm"]\nCMD ["serve", "org/m", "--tensor-parallel-size", "8"]\n',
    "Dockerfile, a shell in it": f'ARG A=1\nFROM x\nENTRYPOINT ["bash", "-c", "exec {SERVE}"]\n',
    "unit": f'[Unit]\nDescription=x\n[Service]\nEnvironment=A=1 "TP=8"\nExecStart=-{SERVE.replace("8", "${TP}")}\n',
    "unit with lines": "[Service]\nExecStart=/opt/bin/vllm serve org/m \\\n  --tensor-parallel-size 8\nType=exec\n",
    "apptainer": f"srun -N 2 apptainer exec --nv --bind /a:/b i.sif bash -c '{SERVE}'\n",
    "singularity": f"singularity run --nv -B /a i.sif {SERVE}\n",
    "enroot": f"enroot start --rw -e A=1 box {SERVE}\n",
    "an unknown wrapper": f"nsys profile -o out --trace cuda {SERVE}\n",
    "SkyPilot": f"envs:\n  TP: 8\nresources:\n  accelerators: H200:8\nrun: |\n  {SERVE.replace('8', '$TP')}\n",
    "dstack": f"env:\n  - A=1\ncommands:\n  - pip install x\n  - |\n    {SERVE}\nresources:\n  gpu: H200:8\n",
    "dstack's count": "type: service\ncommands:\n  - vllm serve org/m --tensor-parallel-size $DSTACK_GPUS_NUM\n"
    "resources:\n  gpu: H200:8\n",
    "a list under any key": "a:\n  b: [vllm, serve, org/m, --tensor-parallel-size, '8']\n",
    "a list of Kubernetes": "kind: List\nitems:\n- kind: Pod\n  spec:\n    containers:\n    - image: x\n"
    f"      command: [sh, -c, '{SERVE}']\n  status: {{phase: Running}}\n",
    "JSON": '{"kind": "Pod", "spec": {"containers": [{"image": "x",\n "command": ["vllm", "serve"],'
    ' "args": ["org/m", "--tensor-parallel-size", "8"]}]}}\n',
    "ConfigMap": f"kind: ConfigMap\napiVersion: v1\ndata:\n  start.sh: |\n    {SERVE}\n",
    "ConfigMap that a pod runs": "kind: ConfigMap\napiVersion: v1\ndata:\n  start.sh: |\n"
    "    vllm serve org/m --tensor-parallel-size $TP\n---\napiVersion: v1\nkind: Pod\nspec:\n  containers:\n"
    "  - image: x\n    command: [bash, /scripts/start.sh]\n    env: [{name: TP, value: '8'}]\n",
    "merge marks": "apiVersion: v1\nspec:\n  containers:\n  - name: a\n<<<<<<< HEAD\n    image: x\n=======\n"
    f"    image: y\n>>>>>>> b\n    command: [sh, -c, '{SERVE}']\n",
    "a template": "apiVersion: v1\nspec:\n  {{- if .Values.a }}\n  containers:\n  - image: {{ .Values.image }}\n"
    f"    command: [sh, -c, '{SERVE}']\n  {{{{- end }}}}\n",
    "tabs": f"services:\n\ta:\n\t\timage: x\n\t\tcommand: {SERVE}\n",
    "FlagScale": "- serve_id: a\n  engine: vllm\n  engine_args:\n    model: org/m\n  engine_args_specific:\n    vllm:\n"
    "      tensor_parallel_size: 8\n",
    "Ray Serve": "llm_configs:\n- model_loading_config:\n    model_id: a\n    model_source: org/m\n  engine_kwargs:\n"
    "    tensor_parallel_size: 8\n",
    "options as keys": "tests:\n  args:\n    --model: org/m\n    --tensor-parallel-size: '8'\n    --port: '8000'\n",
    "a table": f"# T\n\n| a | b |\n|---|---|\n| x | `{SERVE}` |\n",
    "code in a sentence": f"Start it with `{SERVE}` on one machine.\n",
    "YAML in a document": f"# T\n\n```yaml\nservices:\n  a:\n    image: x\n    command: {SERVE}\n```\n",
    "a Dockerfile in a document": f"# T\n\n```dockerfile\nFROM x\nCMD {SERVE}\n```\n",
    "a unit in a document": f"# T\n\n```ini\n[Service]\nExecStart={SERVE}\n```\n",
    "Python": "import subprocess, sys\nsubprocess.Popen([\n    'vllm', 'serve', 'org/m',\n"
    "    '--tensor-parallel-size', '8',\n])\n",
    "Python, one string": f"import os\nos.system('{SERVE}')\n",
    "a notebook": '{"cells": [{"cell_type": "code",\n'
    ' "source": ["!vllm serve org/m \\\\\\n", "  --tensor-parallel-size 8"]}]}',
    "YAML in reStructuredText": f"T\n=\n\n.. code-block:: yaml\n\n   run: |\n     {SERVE}\n   setup: pip\n\nText.\n",
    "values of a chart": "modelSpec:\n- repository: vllm/vllm-openai\n  modelURL: org/m\n  vllmConfig:\n"
    "    tensorParallelSize: 8\n",
    "a unit behind a shell's fence": f"# T\n\n```bash\n[Unit]\nA=b\n[Service]\nExecStart={SERVE}\n```\n",
    "reStructuredText": f"T\n=\n\n.. code-block:: console\n\n   $ {SERVE}\n",
    "a list over lines": 'FROM x\nENTRYPOINT ["vllm", "serve"]\nCMD ["org/m", \\\n  "--tensor-parallel-size", "8"]\n',
    "PowerShell": "# T\n\n```powershell\nvllm.exe serve org/m `\n  --tensor-parallel-size 8\n```\n",
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_every_kind_is_read(text: str) -> None:
    command = only(text)
    words = argv(command)
    assert command.program == "vllm serve"
    assert words.replace("--model ", "").replace(" --port 8000", "") == "org/m --tensor-parallel-size 8"
    assert command.unresolved == ()
    assert command.line > 0


def test_what_does_not_run_an_engine() -> None:
    for text in (f"echo run {SERVE}", f"pkill -f {SERVE}", "ps aux | grep vllm serve x", "open-webui serve x"):
        assert known(read_script(text)) == []
    assert known(read_script("Use `vllm serve` for this, or `sglang serve`.\n")) == []


def test_both_sides_of_a_conflict_are_one_problem() -> None:
    script = read_script(SAME["merge marks"])
    assert [(problem.code, problem.line) for problem in script.problems] == [("merge-conflict", 5)]
    (command,) = known(script)
    assert command.container is not None
    assert command.container.image is not None
    assert command.container.image.text == "x"


def test_a_template_leaves_its_value_unknown() -> None:
    command = only(
        "apiVersion: v1\nspec:\n  containers:\n  - image: vllm/vllm-openai:v0.11.0\n    args:\n"
        "    - --model={{ .Values.model }}\n    - --port=8000\n    {{- toYaml .Values.a | nindent 4 }}\n"
    )
    assert command.argv[0].unresolved != ()
    assert command.argv[1].unresolved == ()


def test_windows_names() -> None:
    command = only('.\\llama-server.exe -m "C:\\models\\a.gguf" `\n  -c 4096 `\n  --port 8081\n')
    assert (command.program, argv(command)) == ("llama-server", "-m C:\\models\\a.gguf -c 4096 --port 8081")
    (command,) = known(read_command(["C:\\bin\\llama-server.exe", "-m", "a.gguf"]))
    assert command.program == "llama-server"


def test_arguments_without_a_command() -> None:
    command = only("vllm 0.15, a thread\nargs: --tensor-parallel-size 8 --enable-expert-parallel --port=8000\n")
    assert (command.program, argv(command)) == (
        "fragment",
        "--tensor-parallel-size 8 --enable-expert-parallel --port=8000",
    )


def test_the_name_of_an_image_names_the_engine() -> None:
    command = only("docker run quay.io/ascend/vllm-ascend:v0.17.0rc1 --model org/m --port 1\n")
    assert (command.program, argv(command)) == ("vllm serve", "--model org/m --port 1")
    assert only("docker run ghcr.io/a/sglang-x --tp 8 --model-path m\n").program == "sglang"
    assert known(read_script("docker run busybox --help\n")) == []


def test_words_of_a_process() -> None:
    command = only("/usr/bin/python3\0/opt/bin/vllm\0serve\0org/m\0--port\0008000\0")
    assert (command.program, argv(command)) == ("vllm serve", "org/m --port 8000")


def test_docker_inspect() -> None:
    command = only(
        '[\n    {\n        "Path": "vllm",\n        "Args": ["serve", "m"],\n        "Config": {\n'
        '            "Env": ["A=1", "HF_TOKEN=x"],\n            "Cmd": ["org/m", "--port", "1"],\n'
        '            "Image": "vllm/vllm-openai:v0.11.0",\n"Entrypoint": ["vllm", "serve"]\n        }\n    }\n]\n'
    )
    assert (command.program, argv(command)) == ("vllm serve", "org/m --port 1")
    assert command.env["A"].text == "1"


def test_options_of_a_file() -> None:
    text = (
        "cat > c.yaml <<EOF\nmodel: org/m\ntensor-parallel-size: 8\nenable_expert_parallel: true\nport: 1\nEOF\n"
        "vllm serve --config c.yaml --port 2\n"
    )
    assert argv(only(text)) == "org/m --tensor-parallel-size 8 --enable-expert-parallel --config c.yaml --port 2"
    script = read_files([("a/c.yml", "tp: 8\n"), ("run.sh", "sglang serve --config /x/c.yml --model-path m\n")])
    (command,) = known(script)
    assert argv(command) == "--tp 8 --config /x/c.yml --model-path m"


def test_dynamo_starts_an_engine() -> None:
    command = only("python3 -m dynamo.sglang --model-path org/m --tp 8\n")
    assert command.program == "sglang"


UNIT_OF_A_CONTAINER = r"""start() {
  cat > "$RUN" <<EOSH
#!/bin/bash
exec vllm serve org/m \\
  --tensor-parallel-size 8
EOSH
  docker run --gpus all --entrypoint bash "$IMAGE" -c "bash /work/serve.sh"
}
install() {
  sudo tee /etc/systemd/system/m.service > /dev/null <<EOF
[Unit]
Description=Model (vllm) on four machines
[Service]
ExecStart=/usr/bin/docker run --rm \\
  $IMAGE \\
  -c "bash /work/serve.sh"
EOF
  sudo systemctl enable m.service
}
RUN=/work/serve.sh
start
install
"""


def test_a_unit_that_starts_a_container_beside_the_script() -> None:
    """The unit is not all that the text starts, and no shell reads its lines."""
    script = read_script(UNIT_OF_A_CONTAINER)
    (command,) = known(script)
    assert argv(command) == "org/m --tensor-parallel-size 8"
    assert script.problems == ()
