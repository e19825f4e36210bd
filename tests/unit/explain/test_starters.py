"""What starts a server on a machine: recipes of make and just, playbooks, pipelines, supervisord, the first boot."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Moonlight-16B-A3B-Instruct --trust-remote-code --port 8000"


def told(text: str, where: str) -> list[str]:
    found = [finding for judged in ask(text) for finding in judged.findings if finding.where == where]
    return [f"{finding.message} => {finding.remedy}" for finding in found]


def words(text: str) -> str:
    return "\n".join(finding.message for judged in ask(text) for finding in judged.findings)


def test_a_name_of_make_without_brackets() -> None:
    makefile = "PORT := 8000\nserve:\n\t{line}\n"
    line = SERVE.replace("8000", "$PORT")
    (message,) = told(makefile.format(line=line), "$PORT")
    assert "$PORT becomes the value of P, and ORT behind it => write $(PORT), or $$PORT" in message
    for right in ("$(PORT)", "${PORT}", "$$PORT"):
        assert told(makefile.format(line=SERVE.replace("8000", right)), "$PORT") == []


def test_a_script_keeps_its_names() -> None:
    assert told(f"#!/bin/bash\nrun() {{\n\t{SERVE.replace('8000', '$PORT')}\n}}\nrun\n", "$PORT") == []


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ("export CUDA_VISIBLE_DEVICES=1", "CUDA_VISIBLE_DEVICES"),
        ("@source .venv/bin/activate", "source"),
        ("cd /srv/kimi", "cd"),
        ("conda activate vllm", "conda"),
    ],
)
def test_lines_of_a_recipe_have_a_shell_each(line: str, where: str) -> None:
    (message,) = told(f"PORT := 8000\nserve:\n\t{line}\n\t{SERVE}\n", where)
    assert "make gives each line of a recipe a shell of its own" in message
    assert told(f".ONESHELL:\nPORT := 8000\nserve:\n\t{line}\n\t{SERVE}\n", where) == []
    assert told(f"PORT := 8000\nserve:\n\t{line} && \\\n\t{SERVE}\n", where) == []


def test_lines_of_a_recipe_of_just() -> None:
    recipe = 'model := "x"\nserve:\n    export VLLM_USE_MODELSCOPE=true\n    ' + SERVE + "\n"
    (message,) = told(recipe, "VLLM_USE_MODELSCOPE")
    assert "just gives each line" in message
    assert told(recipe.replace("serve:\n", "serve:\n    #!/usr/bin/env bash\n"), "VLLM_USE_MODELSCOPE") == []


PLAYBOOK = "- hosts: gpu\n  become: true\n  tasks:\n    - name: start\n{task}\n{more}"
NEXT = "    - name: wait\n      ansible.builtin.uri:\n        url: http://localhost:8000/health\n"


@pytest.mark.parametrize(
    ("task", "where"),
    [
        (
            f"      ansible.builtin.command: >\n        CUDA_VISIBLE_DEVICES=0 {SERVE}\n      async: 9\n",
            "CUDA_VISIBLE_DEVICES=",
        ),
        (f"      command: {SERVE} > /var/log/vllm.log\n      async: 9\n", ">"),
        (f"      ansible.builtin.command: cd /opt && {SERVE}\n      async: 9\n", "&&"),
    ],
)
def test_a_command_of_ansible_has_no_shell(task: str, where: str) -> None:
    (message,) = told(PLAYBOOK.format(task=task, more=""), where)
    assert "the module command runs no shell" in message
    assert told(PLAYBOOK.format(task=task.replace("command:", "shell:"), more=""), where) == []


def test_a_plain_command_of_ansible_is_right() -> None:
    task = f"      ansible.builtin.command: {SERVE}\n      async: 9\n      poll: 0\n"
    assert "runs no shell" not in words(PLAYBOOK.format(task=task, more=NEXT))
    bash = f"      ansible.builtin.command: bash -c '{SERVE} > /tmp/log 2>&1'\n      async: 9\n      poll: 0\n"
    assert "runs no shell" not in words(PLAYBOOK.format(task=bash, more=NEXT))


def test_a_server_holds_the_tasks_behind_it() -> None:
    task = f"      ansible.builtin.shell: |\n        {SERVE}\n"
    (message,) = told(PLAYBOOK.format(task=task, more=NEXT), "step")
    assert "the next one (line 8) never begins => write async: 2592000 and poll: 0 beside it" in message
    assert told(PLAYBOOK.format(task=task, more=""), "step") == []
    assert told(PLAYBOOK.format(task=f"{task}      async: 99\n      poll: 0\n", more=NEXT), "step") == []
    assert told(PLAYBOOK.format(task=task.replace("8000\n", "8000 &\n"), more=NEXT), "step") == []


WORKFLOW = "jobs:\n  kimi:\n    runs-on: [self-hosted, gpu]\n    steps:\n{steps}"


def test_a_server_holds_the_steps_behind_it() -> None:
    steps = (
        f"      - name: Start\n        run: |\n          {SERVE}{{end}}\n      - name: Test\n        run: python t.py\n"
    )
    (message,) = told(WORKFLOW.format(steps=steps.format(end="")), "step")
    assert "the next one (line 8) never begins" in message
    assert told(WORKFLOW.format(steps=steps.format(end=" > log 2>&1 &")), "step") == []
    alone = f"      - name: Start\n        run: |\n          {SERVE}\n"
    assert told(WORKFLOW.format(steps=alone), "step") == []


def test_a_detached_container_holds_nothing() -> None:
    run = "docker run -d --gpus all --ipc=host vllm/vllm-openai:v0.14.0 --model moonshotai/Moonlight-16B-A3B-Instruct"
    steps = (
        f"      - name: Start\n        run: {run} --trust-remote-code\n      - name: Test\n        run: python t.py\n"
    )
    assert told(WORKFLOW.format(steps=steps), "step") == []


def test_an_export_ends_with_its_step() -> None:
    steps = (
        "      - name: Select\n        run: {first}\n      - name: Start\n        run: |\n          " + SERVE + " &\n"
    )
    (message,) = told(WORKFLOW.format(steps=steps.format(first="export HF_HOME=/data")), "HF_HOME")
    assert message.endswith('write echo "HF_HOME=…" >> "$GITHUB_ENV", or env: at the job')
    kept = 'echo "HF_HOME=/data" >> "$GITHUB_ENV"'
    assert told(WORKFLOW.format(steps=steps.format(first=kept)), "HF_HOME") == []
    own = f"      - name: Start\n        run: |\n          export HF_HOME=/data\n          {SERVE}\n"
    assert told(WORKFLOW.format(steps=own), "HF_HOME") == []


PIPELINE = "pipeline {{\n  agent any\n  stages {{ stage('a') {{ steps {{\n        sh '{line}'\n      }} }} }}\n}}\n"


def test_a_build_ends_what_it_leaves() -> None:
    (message,) = told(PIPELINE.format(line=f"nohup {SERVE} > log 2>&1 &"), "sh")
    assert "Jenkins ends the processes that a build leaves behind" in message
    assert told(PIPELINE.format(line=f"JENKINS_NODE_COOKIE=dontKillMe nohup {SERVE} &"), "sh") == []
    assert told(PIPELINE.format(line=f"nohup {SERVE} & sleep 60; kill %1"), "sh") == []


@pytest.mark.parametrize(
    ("command", "where"),
    [
        (f"cd /opt && {SERVE}", "cd"),
        (f"CUDA_VISIBLE_DEVICES=1 {SERVE}", "CUDA_VISIBLE_DEVICES="),
        (f"{SERVE} > /var/log/vllm.log", ">"),
    ],
)
def test_supervisord_runs_no_shell(command: str, where: str) -> None:
    told_where = {
        finding.where for judged in ask(f"[program:kimi]\ncommand={command}\n") for finding in judged.findings
    }
    assert where in told_where or (where == "cd" and "&&" in told_where)


@pytest.mark.parametrize("command", [SERVE, f'bash -c "cd /opt && {SERVE}"', f"/bin/sh -c '{SERVE} > log'"])
def test_what_supervisord_runs(command: str) -> None:
    assert "runs no shell" not in words(f"[program:kimi]\ncommand={command}\nautostart=true\n")


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ("CUDA_VISIBLE_DEVICES=0,1", "CUDA_VISIBLE_DEVICES"),
        ('HF_HOME="/data",CUDA_VISIBLE_DEVICES=0,1,2,VLLM_LOGGING_LEVEL=INFO', "CUDA_VISIBLE_DEVICES"),
    ],
)
def test_a_comma_ends_a_variable_of_supervisord(environment: str, name: str) -> None:
    (message,) = [
        each
        for each in told(f"[program:kimi]\ncommand={SERVE}\nenvironment={environment}\n", name)
        if "supervisord takes a comma" in each
    ]
    assert message.endswith(f'write {name}="…" in quotes')


@pytest.mark.parametrize("environment", ['CUDA_VISIBLE_DEVICES="0,1",HF_HOME=/data', "HF_HOME=/data,A=1", "A='1,2'"])
def test_quoted_commas_of_supervisord(environment: str) -> None:
    assert "takes a comma" not in words(f"[program:kimi]\ncommand={SERVE}\nenvironment={environment}\n")


BOOT = (
    "{head}\npackage_update: true\nruncmd:\n  - mkdir -p /data\n  - {line}\n  - nohup " + SERVE + " > /tmp/log 2>&1 &\n"
)


def test_the_first_line_of_cloud_config() -> None:
    (message,) = told(BOOT.format(head="# cloud-config", line="true"), "#cloud-config")
    assert message.startswith("line 1:")
    assert told(BOOT.format(head="#cloud-config", line="true"), "#cloud-config") == []
    assert told(BOOT.format(head="# what the machine does", line="true"), "#cloud-config") == []


def test_source_in_the_first_boot() -> None:
    line = "source /opt/venv/bin/activate && pip install vllm"
    (message,) = told(BOOT.format(head="#cloud-config", line=line), "source")
    assert message.endswith("write . in place of source")
    for right in (". /opt/venv/bin/activate", "[bash, -c, 'source /opt/venv/bin/activate']"):
        assert told(BOOT.format(head="#cloud-config", line=right), "source") == []


def test_a_variable_that_terraform_fills_in() -> None:
    text = 'resource "aws_instance" "kimi" {{\n  user_data = <<-EOF\n    #!/bin/bash\n    PORT=8000\n    {line}\n'
    text += "  EOF\n}}\n"
    line = SERVE.replace("8000", "{port}")
    (message,) = told(text.format(line=line.format(port="${PORT}")), "${PORT}")
    assert message.endswith("Invalid reference => write $${PORT}, or $PORT")
    for right in ("$PORT", "$${PORT}", "${var.port}", "${local.port}"):
        assert told(text.format(line=line.format(port=right)), "${PORT}") == []


def test_words_of_other_tools_are_not_ansible() -> None:
    ingress = "apiVersion: v1\nkind: Pod\nspec:\n  hosts:\n    - a.example.org\n  containers:\n    - name: kimi\n"
    ingress += f'      image: vllm/vllm-openai:v0.14.0\n      command: ["sh", "-c", "A=1 {SERVE} > /tmp/log"]\n'
    assert "runs no shell" not in words(ingress)
    task = f'      ansible.builtin.command:\n        argv: [bash, -c, "{SERVE} > /tmp/log"]\n      async: 9\n'
    assert "runs no shell" not in words(PLAYBOOK.format(task=task, more=""))


def test_an_export_for_its_own_step() -> None:
    steps = "      - name: Build\n        run: |\n          export BUILD_DIR=/tmp/b\n          make\n"
    steps += f"      - name: Start\n        run: |\n          {SERVE} &\n"
    assert told(WORKFLOW.format(steps=steps), "BUILD_DIR") == []


def test_sh_is_bash_on_other_systems() -> None:
    line = "dnf install -y python3.12 && source /opt/venv/bin/activate"
    assert told(BOOT.format(head="#cloud-config", line=line), "source") == []


def test_a_heredoc_of_a_shell_beside_terraform() -> None:
    text = 'resource "aws_instance" "kimi" {}\n\ncat > run.sh <<EOF\nPORT=8000\n' + SERVE.replace("8000", "${PORT}")
    assert told(text + "\nEOF\n", "${PORT}") == []


def test_a_line_that_goes_on_from_the_one_above() -> None:
    recipe = f"PORT := 8000\nserve:\n\tbash -c ' \\\n\texport A=1; \\\n\t{SERVE}'\n"
    assert told(recipe, "A") == []


SUPERVISED = """; /etc/supervisor/conf.d/kimi.conf
[supervisord]
nodaemon=true

[program:kimi]
command=/opt/vllm/bin/vllm serve Qwen/Qwen3-8B
  --tensor-parallel-size 2 --port 8000  ; the server
environment=CUDA_VISIBLE_DEVICES="0,1",HF_HOME=/data/hf
autostart=true

[program:other]
command=/usr/bin/redis-server
"""


def test_a_file_of_supervisord_is_read() -> None:
    (command,) = [each for each in read_script(SUPERVISED).commands if each.program == "vllm serve"]
    assert [word.text for word in command.argv] == ["Qwen/Qwen3-8B", "--tensor-parallel-size", "2", "--port", "8000"]
    assert command.env["CUDA_VISIBLE_DEVICES"].text.endswith("0,1")
    assert command.env["HF_HOME"].text.endswith("/data/hf")


def test_a_fence_with_a_file_of_supervisord_is_read() -> None:
    script = read_script(f"The file:\n\n```ini\n{SUPERVISED}```\n")
    assert [each.program for each in script.commands if each.program != "other"] == ["vllm serve"]
