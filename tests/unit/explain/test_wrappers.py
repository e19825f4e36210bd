"""What stands around a command: taken off, and remembered."""

from __future__ import annotations

import shlex

import pytest

from moonpad.explain.commands import Command, Wrapper
from moonpad.explain.script import read_command, read_script


def read(line: str) -> Command:
    (command,) = read_script(f"{line}\n", markdown=False).commands
    return command


def argv(command: Command) -> str:
    return shlex.join(word.text for word in command.argv)


# The line, the program, its arguments, the kinds of the wrappers.
LINES = [
    ("vllm serve m --port 1", "vllm serve", "m --port 1", []),
    ("/opt/venv/bin/vllm serve m", "vllm serve", "m", []),
    ("vllm bench serve --model m", "vllm bench serve", "--model m", []),
    ("vllm bench sweep --model m", "other", "bench sweep --model m", []),
    ("python -m vllm.entrypoints.openai.api_server --model m", "vllm serve", "--model m", []),
    ("python3.12 -u -m vllm.entrypoints.openai.api_server --model m", "vllm serve", "--model m", []),
    ("$PYTHON -m sglang.launch_server --tp 8", "sglang", "--tp 8", []),
    ("python3 -m sglang.launch_server --tp 8", "sglang", "--tp 8", []),
    ("sglang serve --model-path m", "sglang", "--model-path m", []),
    ("python -m sglang.bench_serving --backend sglang", "sglang bench", "--backend sglang", []),
    ("python3 -m sglang_router.launch_router --policy x", "sglang-router", "--policy x", []),
    ("python -m sglang_router.launch_server --dp-size 2", "sglang", "--dp-size 2", []),
    ("sglang-router launch --pd-disaggregation", "sglang-router", "--pd-disaggregation", []),
    ("python -m sglang.srt.disaggregation.launch_lb --prefill u", "sglang-pdlb", "--prefill u", []),
    ("kt run m2 --tensor-parallel-size 2", "kt run", "m2 --tensor-parallel-size 2", []),
    ("python ktransformers/server/main.py --port 1", "ktransformers-legacy", "--port 1", []),
    ("python3 /opt/ktransformers/server/main.py --port 1", "ktransformers-legacy", "--port 1", []),
    ("trtllm-serve m --tp_size 8", "trtllm-serve", "m --tp_size 8", []),
    ("trtllm-serve serve m --tp_size 8", "trtllm-serve", "m --tp_size 8", []),
    ("trtllm-serve disaggregated -c f.yml", "trtllm-disaggregated", "-c f.yml", []),
    ("lm_eval --tasks gsm8k", "lm_eval", "--tasks gsm8k", []),
    ("python -m lm_eval --tasks gsm8k", "lm_eval", "--tasks gsm8k", []),
    ("ray start --head", "ray", "start --head", []),
    ("pip install vllm", "other", "install vllm", []),
    ("nohup vllm serve m", "vllm serve", "m", ["nohup"]),
    ("exec -a name vllm serve m", "vllm serve", "m", ["exec"]),
    ("time -p vllm serve m", "vllm serve", "m", ["time"]),
    ("sudo -E -u root vllm serve m", "vllm serve", "m", ["sudo"]),
    ("env -u X A=1 vllm serve m", "vllm serve", "m", ["env"]),
    ("numactl -N 0 --membind=0 vllm serve m", "vllm serve", "m", ["numactl"]),
    ("numactl --cpunodebind 0,1 -m0 vllm serve m", "vllm serve", "m", ["numactl"]),
    ("taskset -c 0-31 vllm serve m", "vllm serve", "m", ["taskset"]),
    ("taskset 0xff vllm serve m", "vllm serve", "m", ["taskset"]),
    ("timeout -k 5 3600 vllm serve m", "vllm serve", "m", ["timeout"]),
    ("nice -n -5 ionice -c2 -n0 vllm serve m", "vllm serve", "m", ["nice", "ionice"]),
    ("stdbuf -oL vllm serve m", "vllm serve", "m", ["stdbuf"]),
    ("uv run vllm serve m", "vllm serve", "m", ["uv run"]),
    ("uv run --with vllm --python 3.12 --no-sync vllm serve m", "vllm serve", "m", ["uv run"]),
    ("uv run -m sglang.launch_server --tp 8", "sglang", "--tp 8", ["uv run"]),
    ("conda run -n env --no-capture-output vllm serve m", "vllm serve", "m", ["conda run"]),
    ("srun -N 2 --ntasks-per-node=8 --mpi=pmix -l trtllm-llmapi-launch trtllm-serve m", "trtllm-serve", "m", 2),
    ("mpirun -n 16 --map-by ppr:8:node --oversubscribe trtllm-serve m", "trtllm-serve", "m", ["mpirun"]),
    ("mpiexec --hostfile h -x A=1 -x B trtllm-serve m", "trtllm-serve", "m", ["mpirun"]),
    ("ssh -p 22 root@node1 vllm serve m --a 1", "vllm serve", "m --a 1", ["ssh"]),
    ("ssh node1 'cd /x && vllm serve m'", "vllm serve", "m", ["ssh"]),
    ("bash -lc 'vllm serve m'", "vllm serve", "m", ["bash -c"]),
    ("sudo bash -o pipefail -c 'vllm serve m'", "vllm serve", "m", ["sudo", "bash -c"]),
    ("docker run -it image vllm serve m", "vllm serve", "m", ["docker run"]),
    ("docker run $MORE -v /m:/m $GPUS --name x image vllm serve m", "vllm serve", "m", ["docker run"]),
    ("podman run --tls-verify=false -p8000:8000 image vllm serve m", "vllm serve", "m", ["docker run"]),
    ("docker --context x run -itd image bash -c 'vllm serve m'", "vllm serve", "m", ["docker run", "bash -c"]),
    ("docker container run image python3 -m sglang.launch_server --tp 8", "sglang", "--tp 8", ["docker run"]),
    ("docker run vllm/vllm-openai:v0.11.0 --model m", "vllm serve", "--model m", ["docker run"]),
    ("docker run vllm/vllm-openai:v0.11.0 vllm serve m", "vllm serve", "m", ["docker run"]),
    ("docker run --entrypoint vllm image serve m", "vllm serve", "m", ["docker run"]),
    ("docker run --entrypoint=/bin/bash vllm/vllm-openai:latest", "docker", "/bin/bash", ["docker run"]),
    ("docker run image nvidia-smi", "docker", "nvidia-smi", ["docker run"]),
    ("docker run image bash -c 'sleep 1'", "docker", "", ["docker run"]),
    ("docker pull image", "other", "pull image", []),
    ("docker compose run x vllm serve m", "other", "compose run x vllm serve m", []),
    ("docker exec -it -e A=1 name vllm serve m", "vllm serve", "m", ["docker exec"]),
]


@pytest.mark.parametrize(("line", "program", "arguments", "kinds"), LINES, ids=[line for line, *_ in LINES])
def test_lines(line: str, program: str, arguments: str, kinds: list[str] | int) -> None:
    command = read(line)
    assert (command.program, argv(command)) == (program, arguments)
    wrappers = [wrapper.kind for wrapper in command.wrappers if program != "docker" or wrapper.kind == "docker run"]
    assert (len(wrappers) if isinstance(kinds, int) else wrappers) == kinds


def docker(line: str) -> Wrapper:
    container = read(line).container
    assert container is not None
    return container


def test_docker_options() -> None:
    box = docker(
        "docker run --gpus all --privileged --net host --ipc=host -p 8000:8000 -p 127.0.0.1:9:9 --shm-size 16g"
        " -v /:/work -v a:b:ro --device /dev/kfd --device=/dev/dri --cap-add SYS_PTRACE --name srv"
        " --ulimit memlock=-1 --security-opt seccomp=unconfined -e A=1 --rm -d image:tag vllm serve m"
    )
    assert (box.value("--gpus"), box.has("--privileged"), box.value("--network"), box.value("--ipc")) == (
        "all",
        True,
        "host",
        "host",
    )
    assert (box.values("--publish"), box.value("--shm-size")) == (("8000:8000", "127.0.0.1:9:9"), "16g")
    assert box.values("--device") == ("/dev/kfd", "/dev/dri")
    assert box.values("--volume") == ("/:/work", "a:b:ro")
    assert (box.value("--name"), box.values("--cap-add"), box.has("--rm"), box.has("--detach")) == (
        "srv",
        ("SYS_PTRACE",),
        True,
        True,
    )
    assert box.image is not None
    assert box.image.text == "image:tag"
    assert not docker("docker run --privileged=false image vllm serve m").has("--privileged")


def test_an_option_has_its_words() -> None:
    script = read_script("docker run --privileged -p 1:1 image vllm serve m\n")
    box = script.commands[0].container
    assert box is not None
    shown = {
        option.name: [script.lines[0][word.column : word.end_column] for word in option.words] for option in box.options
    }
    assert shown == {"--privileged": ["--privileged"], "--publish": ["-p", "1:1"]}


def environment(line: str) -> dict[str, str]:
    return {name: word.text for name, word in read_script(f"{line}\n").commands[-1].env.items()}


def test_what_reaches_the_process() -> None:
    """A container, another host and sudo have environments of their own."""
    export = "export A=1\nB=2\n"
    assert environment(f"{export}vllm serve m") == {"A": "1"}
    assert environment(f"{export}C=3 vllm serve m") == {"A": "1", "C": "3"}
    assert environment(f"{export}env -u A D=4 vllm serve m") == {"D": "4"}
    assert environment(f"{export}env -i D=4 vllm serve m") == {"D": "4"}
    assert environment(f"{export}sudo vllm serve m") == {}
    assert environment(f"{export}sudo -E vllm serve m") == {"A": "1"}
    assert environment(f"{export}sudo E=5 vllm serve m") == {"E": "5"}
    assert environment(f"{export}ssh h F=6 vllm serve m") == {"F": "6"}
    assert environment(f"{export}bash -c 'export G=7; vllm serve m'") == {"A": "1", "G": "7"}
    assert environment(f"{export}docker run -e H=8 -e A -e NONE image vllm serve m") == {
        "H": "8",
        "A": "1",
        "NONE": "$NONE",
    }
    assert environment(f"{export}mpirun -x I=9 trtllm-serve m") == {"A": "1", "I": "9"}
    assert environment(f"{export}(export J=1)\nvllm serve m") == {"A": "1"}


def test_a_container_that_was_started_above() -> None:
    script = read_script(
        "docker run -d --privileged --name srv -e A=1 vllm/vllm-openai:v0.11.0 sleep infinity\n"
        "docker exec -e B=2 srv vllm serve m\ndocker exec elsewhere vllm serve n\n"
    )
    inside, elsewhere = script.commands[-2:]
    assert inside.container is not None
    assert inside.container.image is not None
    assert (inside.container.image.text, inside.container.has("--privileged")) == ("vllm/vllm-openai:v0.11.0", True)
    assert {name: word.text for name, word in inside.env.items()} == {"A": "1", "B": "2"}
    assert elsewhere.container is not None
    assert elsewhere.container.image is None


def test_the_place_of_an_assignment_is_the_whole_of_it() -> None:
    script = read_script("export A='1 2' B=2\nC=3 docker run -e D=4 image env E=5 vllm serve m\nA=9 vllm serve n\n")
    first, second = script.commands
    shown = {
        name: script.lines[word.line - 1][word.column : word.end_column]
        for command in (first, second)
        for name, word in command.env.items()
    }
    assert shown == {"D": "D=4", "E": "E=5", "A": "A=9", "B": "B=2"}


def test_a_script_that_is_fed_to_a_shell() -> None:
    script = read_script(
        "P=1\nssh root@n1 'bash -s' <<EOF\nvllm serve m --port $P\nEOF\nbash <<'EOF'\nvllm serve n --port $P\nEOF\n"
    )
    assert [argv(command) for command in script.commands] == ["m --port 1", "n --port '$P'"]
    assert [[wrapper.kind for wrapper in command.wrappers] for command in script.commands] == [["ssh"], []]
    assert [word.text for word in script.commands[0].wrappers[0].words] == ["ssh", "root@n1"]
    port = script.commands[0].argv[1]
    assert script.lines[port.line - 1][port.column : port.end_column] == "--port"


def test_the_command_line_is_peeled_too() -> None:
    script = read_command(["docker", "run", "--name", "x", "image", "bash", "-c", "vllm serve m | tee log"])
    assert [command.program for command in script.commands] == ["vllm serve", "other"]
    assert [wrapper.kind for wrapper in script.commands[0].wrappers] == ["docker run", "bash -c"]


def test_words_without_an_option_behind_a_program_are_a_sentence() -> None:
    sentence = "When serving it on H20 GPUs, vllm serve crashes after requests are sent."
    text = f"{sentence}\n\nvllm serve moonshotai/Kimi-K2-Thinking -tp 8\n"
    (command,) = [command for command in read_script(text).commands if command.program == "vllm serve"]
    assert argv(command) == "moonshotai/Kimi-K2-Thinking -tp 8"


def test_a_prompt_of_powershell() -> None:
    text = (
        "Mine:\n\n```\nPS C:\\Users\\me> docker run vllm/vllm-openai:v0.20.0 moonshotai/Kimi-K2-Thinking -tp 8\n```\n"
    )
    (command,) = read_script(text).commands
    assert [wrapper.kind for wrapper in command.wrappers] == ["docker run"]
    assert argv(command) == "moonshotai/Kimi-K2-Thinking -tp 8"
