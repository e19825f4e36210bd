"""What the shell here does with the words behind `ssh HOST`, and with servers that it waits for."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

SGLANG = "python3 -m sglang.launch_server --model-path /data/Kimi-K2-Instruct --tp 16 --nnodes 2 --trust-remote-code"
VLLM = "vllm serve /models/Kimi-K2.5 -tp 8 -pp 2 --trust-remote-code"
RAY = "ray start --address=10.0.9.9:6379 --num-gpus=8"


def told(text: str, words: str) -> int:
    return sum(words in finding.message for judged in ask(text) for finding in judged.findings)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"ssh -f gpu2 cd /opt && source v/bin/activate && {SGLANG} --node-rank 1 --dist-init-addr gpu1:5000\n", 1),
        (f"ssh root@gpu2 source /v/bin/activate && {VLLM}\n", 1),
        (f"ssh gpu2 'cd /opt && {VLLM}'\n", 0),
        (f'ssh gpu2 "cd /opt && {VLLM}"\n', 0),
        (f"ssh gpu2 mkdir -p /data && {VLLM}\n", 0),  # it may be meant so
        (f"ssh gpu2 cd /opt \\&\\& {VLLM}\n", 0),
        (f"ssh-keygen -A && {VLLM}\n", 0),
    ],
)
def test_words_behind_an_unquoted_and_run_here(text: str, expected: int) -> None:
    assert told(text, "&& is read by the shell here") == expected


@pytest.mark.parametrize(
    ("line", "closed", "expected"),
    [
        ('ssh $host "{run} > /tmp/s.log 2>&1 &"', "done < hosts.txt", 1),
        ("ssh root@$host '{run}'", "done < <(cat hosts)", 1),
        ('ssh -n $host "{run} > /tmp/s.log 2>&1 &"', "done < hosts.txt", 0),
        ('ssh -fn $host "{run}"', "done < hosts.txt", 0),
        ('ssh $host "{run}" < /dev/null', "done < hosts.txt", 0),
        ('ssh $host "{run}" > $host.log 2>&1 &', "done < hosts.txt", 0),
        ('ssh $host "{run} &"', "done", 0),
    ],
)
def test_ssh_in_a_loop_that_reads_a_list(line: str, closed: str, expected: int) -> None:
    run = line.format(run=f"nohup {SGLANG} --node-rank $RANK --dist-init-addr 10.0.1.1:5000")
    text = f"RANK=0\nwhile read host; do\n  {run}\n  RANK=$((RANK+1))\n{closed}\n"
    assert told(text, "ssh reads its input from the list") == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (f'"VLLM_HOST_IP=$(hostname -I) {RAY}"', 1),
        (f'"export VLLM_HOST_IP=$(hostname -i); {RAY}"', 1),
        (f'"{RAY} --node-ip-address=$(hostname -i)"', 1),
        (f"'VLLM_HOST_IP=$(hostname -I) {RAY}'", 0),
        (f'"VLLM_HOST_IP=\\$(hostname -I) {RAY}"', 0),
        ('"ray start --address=$(hostname -i):6379"', 0),
        (f'"MASTER_ADDR=$(hostname -i) {RAY}"', 0),
    ],
)
def test_an_address_that_is_asked_on_the_wrong_machine(words: str, expected: int) -> None:
    text = f"for n in b1 b2; do\n  ssh -n $n {words}\ndone\n{VLLM} --distributed-executor-backend ray\n"
    assert told(text, "every machine gets the address of this one") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'tmux new-session -d -s k "export PORT=8001; {VLLM} --port $PORT"\n', 1),
        (f'bash -c "MODE=x && {VLLM} --served-model-name ${{MODE}}"\n', 1),
        (f"tmux new-session -d -s k 'export PORT=8001; {VLLM} --port $PORT'\n", 0),
        (f'tmux new-session -d -s k "export PORT=8001; {VLLM} --port \\$PORT"\n', 0),
        (f'PORT=8001\ntmux new-session -d -s k "export PORT=8001; {VLLM} --port $PORT"\n', 0),
        (f'tmux new-session -d -s k "export PORT=$PORT; {VLLM} --port $PORT"\n', 0),
    ],
)
def test_a_variable_that_only_the_quoted_command_sets(text: str, expected: int) -> None:
    assert told(text, "in double quotes the shell outside fills in") == expected


LOOP = "NODES=(a b)\nfor i in 0 1; do\n  {line}\ndone\n"
RUN = f"{SGLANG} --node-rank $i --dist-init-addr a:20000"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f'ssh ${{NODES[$i]}} "{RUN}"', 1),
        (f"CUDA_VISIBLE_DEVICES=$i {VLLM} --port 800$i", 1),
        (f"{RUN}", 1),
        (f'ssh ${{NODES[$i]}} "{RUN}" &', 0),
        (f'ssh ${{NODES[$i]}} "nohup {RUN} > l 2>&1 &"', 0),
        (f'ssh -f ${{NODES[$i]}} "{RUN}"', 0),
        (f"tmux new -d -s s$i '{RUN}'", 0),
        (f"timeout 60 {RUN}", 0),
        (f"{VLLM} && break", 0),
        (f"{VLLM}", 0),  # a second try
    ],
)
def test_a_loop_that_waits_for_its_first_server(line: str, expected: int) -> None:
    assert min(1, told(LOOP.format(line=line), "the loop waits for the server")) == expected


@pytest.mark.parametrize(
    ("between", "expected"), [(" &&\n", 1), (" && ", 1), (" &\n", 0), ("\n", 0), (" > a.log 2>&1 &\n", 0), (" || ", 0)]
)
def test_a_server_behind_another_one(between: str, expected: int) -> None:
    one, two = f"{VLLM} --port 8000", "CUDA_VISIBLE_DEVICES=4 vllm serve moonshotai/Kimi-VL-A3B-Instruct --port 8001"
    assert told(f"{one}{between}{two}\n", "&& waits for the end of the server") == expected


@pytest.mark.parametrize("around", ['ssh -n h$i "{}" &', 'bash -c "{}" &', "{} &"])
def test_an_option_of_some_rounds_is_that_of_each_round_within_quotes(around: str) -> None:
    run = f"{VLLM} --nnodes 2 --node-rank $i $HL --master-addr 10.0.0.1"
    text = f'for i in 0 1; do\n  HL=""\n  [ $i -gt 0 ] && HL="--headless"\n  {around.format(run)}\ndone\n'
    commands = [command for command in read_script(text).commands if command.program == "vllm serve"]
    assert ["--headless" in [word.text for word in command.argv] for command in commands] == [False, True]


SERVE = "vllm serve /models/Kimi-Linear-48B-A3B-Instruct -tp 4 --trust-remote-code"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'export NCCL_SOCKET_IFNAME=bond0\nssh node2 "{SERVE}"\n', 1),
        (f'CUDA_VISIBLE_DEVICES=0,1,2,3 ssh node2 "{SERVE}"\n', 1),
        (f'export NCCL_SOCKET_IFNAME=bond0\nssh node2 "export NCCL_SOCKET_IFNAME=bond0; {SERVE}"\n', 0),
        (f'export NCCL_SOCKET_IFNAME=bond0\nssh node2 "source /opt/env.sh; {SERVE}"\n', 0),
        (f'export NCCL_SOCKET_IFNAME=bond0\nssh -o SendEnv=NCCL_SOCKET_IFNAME node2 "{SERVE}"\n', 0),
        (f'export NCCL_SOCKET_IFNAME=bond0\n{SERVE} &\nssh node2 "{SERVE}"\n', 0),
        (f'export EDITOR=vi\nssh node2 "{SERVE}"\n', 0),
    ],
)
def test_variables_that_ssh_does_not_hand_on(text: str, expected: int) -> None:
    assert told(text, "ssh hands none of this shell's variables on") == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mpirun -np 2 --map-by node {}", 1),
        ("mpirun -np 2 bash -c '{}'", 0),
        ("{}", 0),
    ],
)
def test_a_rank_that_mpirun_has_not_set_yet(line: str, expected: int) -> None:
    run = f"{VLLM} --nnodes 2 --node-rank $OMPI_COMM_WORLD_RANK --master-addr $MASTER"
    assert told(line.format(run), "in before mpirun starts its ranks") == expected


@pytest.mark.parametrize(
    ("volume", "expected"),
    [
        ('-v "~/models:/models"', 1),
        ("--volume=~/models:/models", 1),
        ("-v ~/models:/models", 0),
        ('-v "$HOME/models:/models"', 0),
    ],
)
def test_a_tilde_that_docker_is_given(volume: str, expected: int) -> None:
    text = f"docker run --gpus all --ipc=host {volume} vllm/vllm-openai:v0.15.1 --model /models/Kimi-VL-A3B-Instruct\n"
    assert told(text, "name of a volume, and refuses it") == expected
