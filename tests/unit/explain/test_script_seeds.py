"""The commands of the five seed documents. What is expected was written by hand from the documents."""

from __future__ import annotations

import ast
import shlex
from pathlib import Path

import pytest

from moonpad.explain.commands import Command, Script
from moonpad.explain.grouping import group
from moonpad.explain.script import read_script

TESTS = Path(__file__).resolve().parents[2]
NAMES = ("seed0", "seed1", "seed2", "seed3", "seed4")


def seed(name: str) -> Script:
    return read_script((TESTS / "seeds" / f"{name}.md").read_text())


def machines(script: Script) -> tuple[str, ...]:
    """The machines that the text names, each once."""
    return tuple(dict.fromkeys(machine for machine, _ in script.placed_hints))


def known(script: Script) -> list[Command]:
    return [command for command in script.commands if command.program != "other"]


def argv(command: Command) -> list[str]:
    return [word.text for word in command.argv]


def argv_under(script: Script, heading: str) -> list[list[str]]:
    return [argv(command) for command in known(script) if command.heading == heading]


PROGRAMS = {
    "seed0": ["fragment", "fragment"],
    "seed1": ["docker", "vllm serve", "vllm serve", "vllm serve", "vllm serve", "vllm bench serve", "vllm bench serve"],
    "seed2": ["docker", "fragment", "lm_eval", "vllm bench serve", *["vllm bench serve"] * 6],
    "seed3": ["vllm serve", "vllm serve", "vllm bench serve", "docker", "vllm serve", "vllm bench serve"],
    "seed4": [
        *["vllm serve"] * 3,
        *["sglang"] * 4,
        "sglang-pdlb",
        *["ktransformers-legacy"] * 2,
        "docker",
        "docker",
        "trtllm-serve",
    ],
}


@pytest.mark.parametrize("name", NAMES)
def test_programs(name: str) -> None:
    assert [command.program for command in known(seed(name))] == PROGRAMS[name]


def commands_of_the_parser_test() -> dict[str, str]:
    """The same command lines, as they were copied for vLLM's own parser: read from the source, not imported."""
    tree = ast.parse((TESTS / "e2e" / "test_seed_flags.py").read_text())
    tables = [
        node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "COMMANDS"
    ]
    table = ast.literal_eval(tables[0])
    assert isinstance(table, dict)
    return table


# Where the command stands in our copy of the document: the heading, and which one below it.
PLACES = {
    "1 TP8 PP2": ("seed1", "16xH800: TP8 and PP2", 0),
    "1 DP16 EP, node 0": ("seed1", "16xH800: DP16 and EP", 0),
    "1 DP16 EP, node 1": ("seed1", "16xH800: DP16 and EP", 1),
    "1 ROCm": ("seed1", "ROCm", 0),
    "1 bench 16xH800": ("seed1", "Benchmark on 16xH800", 0),
    "1 bench 16xH200": ("seed1", "Benchmark on 16xH200", 0),
    "2 bench": ("seed2", "Benchmark", 0),
    "3 TP8": ("seed3", "TP8 on 8x H200/H20", 0),
    "3 TP8 DCP8": ("seed3", "TP8 and DCP8", 0),
    "3 ROCm": ("seed3", "ROCm server", 0),
    "3 bench": ("seed3", "Benchmark", 0),
    "3 bench ROCm": ("seed3", "Benchmark in the container", 0),
    "4 TP16": ("seed4", "vLLM v0.10.0rc1 or later: tensor parallel", 0),
    "4 DP16 EP, node 0": ("seed4", "vLLM, data and expert parallel", 0),
    "4 DP16 EP, node 1": ("seed4", "vLLM, data and expert parallel", 1),
}


@pytest.mark.parametrize("name", PLACES)
def test_the_words_are_those_that_a_shell_would_pass(name: str) -> None:
    """Against the standard library's splitting of the same line, copied by another hand for another test."""
    document, heading, number = PLACES[name]
    words = shlex.split(commands_of_the_parser_test()[name])
    program = 3 if words[1] == "bench" else 2
    assert argv_under(seed(document), heading)[number] == words[program:]


def test_parameters_without_a_command() -> None:
    listed, working = known(seed("seed0"))
    assert " ".join(argv(listed)) == (
        "--tensor-parallel-size 8 --max-model-len 262144 --max-num-batched-tokens 32768 --max-num-seqs 4"
        " --gpu-memory-utilization 0.95 --enable-chunked-prefill --enable-prefix-caching"
        " --load-format compressed-tensors"
    )
    assert " ".join(argv(working)) == (
        "--max-model-len 12288 --max-num-batched-tokens 4096 --max-num-seqs 1 --gpu-memory-utilization 0.95"
        " --enforce-eager"
    )
    assert (listed.heading, working.heading) == ("Parameters", "Working configuration")


def test_ascend_parameters_with_their_environment() -> None:
    fragment = next(command for command in known(seed("seed2")) if command.program == "fragment")
    assert argv(fragment)[:2] == ["--tensor-parallel-size", "16"]
    assert argv(fragment)[-1] == "--no-enable-prefix-caching"
    assert {name: word.text for name, word in fragment.env.items()} == {
        "HCCL_BUFFSIZE": "1024",
        "TASK_QUEUE_ENABLE": "1",
        "OMP_PROC_BIND": "false",
        "HCCL_OP_EXPANSION_MODE": "AIV",
        "PYTORCH_NPU_ALLOC_CONF": "expandable_segments:True",
    }


def test_a_sweep_is_read_once_for_each_value() -> None:
    sweep = known(seed("seed2"))[-6:]
    pairs = [(argv(c)[argv(c).index("--num-prompts") + 1], argv(c)[-1]) for c in sweep]
    assert pairs == [("10", "1"), ("20", "2"), ("40", "4"), ("80", "8"), ("160", "16"), ("320", "32")]
    assert argv(sweep[0])[:4] == ["--backend", "openai-chat", "--model", "moonshotai/Kimi-K2-Thinking"]
    assert {command.line for command in sweep} == {sweep[0].line}
    assert group(sweep)[0].commands == tuple(sweep)


def test_containers() -> None:
    (rocm,) = [command for command in known(seed("seed1")) if command.program == "docker"]
    box = rocm.container
    assert box is not None
    assert box.image is not None
    assert (box.image.text, box.value("--name"), box.value("--network")) == (
        "vllm/vllm-openai-rocm:latest",
        "kimi-K2",
        "host",
    )
    assert (box.has("--privileged"), box.values("--publish"), box.values("--device")) == (
        True,
        ("8000:8000",),
        ("/dev/kfd", "/dev/dri", "/dev/mem"),
    )
    assert box.values("--cap-add") == ("CAP_SYS_ADMIN", "SYS_PTRACE")
    assert box.values("--volume") == ("/:/work",)
    assert rocm.env["SHELL"].text == "/bin/bash"

    ascend = known(seed("seed2"))[0].container
    assert ascend is not None
    assert ascend.image is not None
    assert ascend.image.text == "quay.io/ascend/vllm-ascend:|vllm_ascend_version|-a3"
    assert ascend.image.unresolved == ("|vllm_ascend_version|",)
    assert (ascend.value("--shm-size"), len(ascend.values("--device")), ascend.has("--privileged")) == ("1g", 19, False)

    first, second = [command.container for command in known(seed("seed4")) if command.program == "docker"]
    assert first is not None
    assert second is not None
    assert [first.value("--name"), second.value("--name")] == ["test_2node_docker_host1", "test_2node_docker_host2"]
    assert first.image is not None
    assert first.image.unresolved == ("<YOUR_IMAGE>",)
    assert (first.value("--gpus"), first.values("--ulimit")) == ("all", ("memlock=-1", "stack=67108864"))
    assert first.values("--volume") == ("${PWD}:/workspace", "<YOUR_MODEL_DIR>:/models/DeepSeek-V3")


def test_a_command_in_a_container_that_runs() -> None:
    bench = known(seed("seed3"))[-1]
    assert [wrapper.kind for wrapper in bench.wrappers] == ["docker exec"]
    assert bench.container is not None
    assert bench.container.image is not None
    assert bench.container.image.text == "vllm/vllm-openai-rocm:latest"
    assert bench.container.has("--privileged")


def test_environment_before_a_command() -> None:
    server = known(seed("seed3"))[4]
    assert {name: word.text for name, word in server.env.items()} == {
        "SAFETENSORS_FAST_GPU": "1",
        "VLLM_USE_V1": "1",
        "VLLM_USE_TRITON_FLASH_ATTN": "0",
    }
    prefill = next(command for command in known(seed("seed4")) if command.label == "for prefill node")
    assert prefill.env["SGLANG_DISAGGREGATION_HEARTBEAT_INTERVAL"].text == "10000000"
    assert len(prefill.env) == 5


def test_mpirun() -> None:
    server = known(seed("seed4"))[-1]
    mpirun, launch = server.wrappers
    assert (mpirun.kind, mpirun.value("-np"), mpirun.hosts) == ("mpirun", "16", ("<HOST1>:8", "<HOST2>:8"))
    assert mpirun.values("-mca") == ("plm_rsh_args=-p 2233",)
    assert launch.kind == "trtllm-llmapi-launch"
    assert argv(server)[:4] == ["--backend", "pytorch", "--tp_size", "16"]
    assert argv(server)[-1] == "<YOUR_MODEL_DIR>"
    assert server.unresolved == ("<YOUR_MODEL_DIR>",)


def test_a_file_by_heredoc() -> None:
    script = seed("seed4")
    (path,) = script.files
    assert path == "/path/to/TensorRT-LLM/extra-llm-api-config.yml"
    server = known(script)[-1]
    assert argv(server)[argv(server).index("--extra_llm_api_options") + 1] == path
    file = script.files[path]
    assert file.text.startswith("cuda_graph_config:\n  padding_enabled: true\n  batch_sizes:\n    - 1\n")
    assert file.text.endswith("print_iter_log: true\nenable_attention_dp: true\n")
    assert script.lines[file.line - 1] == "cuda_graph_config:"


def test_labels_and_hints() -> None:
    labels = [command.label for command in known(seed("seed4"))]
    assert labels[:8] == [
        *("node 0", "node 0", "node 1", "Node 0", "Node 1"),
        *("for prefill node", "for decode node", "pdlb"),
    ]
    assert labels[10:12] == ["host1", "host2"]
    assert known(seed("seed1"))[1].comments == ("start ray on node 0 and node 1", "node 0")


def test_unresolved_names() -> None:
    script = seed("seed4")
    assert known(script)[1].unresolved == ("MODEL_PATH", "MASTER_IP", "PORT")
    lb = next(command for command in known(script) if command.program == "sglang-pdlb")
    assert argv(lb) == ["--prefill", "http://${PREFILL_NODE0}:30000", "--decode", "http://${DECODE_NODE0}:30000"]
    assert lb.unresolved == ("PREFILL_NODE0", "DECODE_NODE0")


def test_groups() -> None:
    def shape(name: str) -> list[tuple[str, int]]:
        return [(member.kind, len(member.commands)) for member in group(seed(name).commands)]

    assert shape("seed0") == [("fragment", 1), ("fragment", 1)]
    assert shape("seed1") == [
        ("container", 1),
        ("serve", 1),
        ("serve", 2),
        ("serve", 1),
        ("client", 1),
        ("client", 1),
    ]
    assert shape("seed3") == [("serve", 1), ("serve", 1), ("client", 1), ("container", 1), ("serve", 1), ("client", 1)]
    assert shape("seed4") == [
        ("serve", 1),
        ("serve", 2),
        ("serve", 2),
        ("prefill", 1),
        ("decode", 1),
        ("router", 1),
        ("serve", 1),
        ("serve", 1),
        ("container", 1),
        ("container", 1),
        ("serve", 1),
    ]


def test_versions_and_machines() -> None:
    assert dict(seed("seed0").versions) == {"vllm": "0.11.1rc6.dev211+g934a9c3b7"}
    assert dict(seed("seed2").versions) == {"vllm-ascend": "0.20.2rc1"}
    assert dict(seed("seed4").versions) == {"tensorrt-llm": "1.0.0rc2"}
    assert dict(seed("seed4").minimum_versions) == {"vllm": "0.10.0rc1"}
    assert machines(seed("seed0")) == ("8xH100",)
    assert machines(seed("seed1")) == ("16xH800", "16xH200")
    assert machines(seed("seed2")) == ("16xA3",)
    assert machines(seed("seed3")) == ("8xH200", "8xH20")


def test_the_stray_dollar_is_the_only_problem() -> None:
    """Outputs in shell blocks are no commands with mistakes; `$PREFILL_NODE0$:5757` is one."""
    problems = {name: [problem.code for problem in seed(name).problems] for name in NAMES}
    assert problems == {"seed0": [], "seed1": [], "seed2": [], "seed3": [], "seed4": ["stray-dollar"]}
    (problem,) = seed("seed4").problems
    line = seed("seed4").lines[problem.line - 1]
    assert line[problem.column : problem.end_column + 5] == "$:5757"


@pytest.mark.parametrize("name", NAMES)
def test_places(name: str) -> None:
    """What stands at a word's place, split by the standard library, is the word; but for what a variable gave."""
    script = seed(name)
    checked = 0
    for command in known(script):
        for word in command.words:
            written = script.lines[word.line - 1][word.column : word.end_column]
            assert word.line == word.end_line
            if "$" not in written:
                assert shlex.split(written) == [word.text]
                checked += 1
    assert checked >= 20
