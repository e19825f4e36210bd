"""Configurations of tests: lists of options taken by anchors, what is added to them, and what holds for all nodes."""

from __future__ import annotations

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

ANCHORED = """\
_envs: &envs
  SERVER_PORT: "DEFAULT_PORT"
  VLLM_ASCEND_ENABLE_NZ: "1"
  OMP_NUM_THREADS: "1"
_server_cmd: &server_cmd
  - "--tensor-parallel-size"
  - "4"
  - "--data-parallel-size"
  - "4"
  - "--quantization"
  - "ascend"
  - "--port"
  - "$SERVER_PORT"
test_cases:
  - name: "a"
    model: "Eco-Tech/Kimi-K2.5-W4A8"
    envs:
      <<: *envs
    server_cmd: *server_cmd
    server_cmd_extra:
      - "--max-model-len"
      - "32768"
  - name: "b"
    model: "Eco-Tech/Kimi-K2.5-W4A8"
    envs:
      <<: *envs
      SERVER_PORT: "8123"
    server_cmd: *server_cmd
    server_cmd_extra: ["--max-model-len", "16384"]
  - name: "c"
    model: "Eco-Tech/Kimi-K2.5-W4A8"
    server_cmd:
      - "--tensor-parallel-size"
      - "16"
"""


def words(text: str) -> list[list[str]]:
    return [[word.text for word in command.argv] for command in read_script(text).commands]


def test_each_case_starts_one_server_with_all_its_options() -> None:
    commands = words(ANCHORED)
    assert len(commands) == 3  # none for the list that the others take
    assert commands[0][-2:] == ["--max-model-len", "32768"]
    assert commands[1][-2:] == ["--max-model-len", "16384"]
    assert all("--data-parallel-size" in command for command in commands[:2])
    assert not any("--data-parallel-size" in command for command in commands[2:])


def test_the_environment_of_a_case_is_its_own() -> None:
    first, second, third = read_script(ANCHORED).commands
    assert {"VLLM_ASCEND_ENABLE_NZ", "OMP_NUM_THREADS"} <= first.env.keys()
    assert "OMP_NUM_THREADS" in second.env
    assert "OMP_NUM_THREADS" not in third.env


def test_a_port_that_the_test_fills_in_stays_a_variable() -> None:
    first, second, _ = read_script(ANCHORED).commands
    (port,) = [word for word in first.argv if "SERVER_PORT" in word.text]
    assert port.unresolved == ("SERVER_PORT",)
    assert "8123" in [word.text for word in second.argv]


def test_a_list_that_nothing_takes_is_read_where_it_stands() -> None:
    text = ANCHORED.partition("test_cases:")[0]
    assert [command[:2] for command in words(text)] == [["--tensor-parallel-size", "4"]]


NODES = """\
num_nodes: 2
npu_per_node: {}
env_common:
  SERVER_PORT: 8080
  HCCL_BUFFSIZE: 768
  {}
deployment:
  -
    server_cmd: >
      vllm serve vllm-ascend/DeepSeek-R1-0528-W8A8 --port $SERVER_PORT --tensor-parallel-size 8
          --enable-expert-parallel --quantization ascend --max-model-len 32768
"""


def test_what_all_nodes_have_is_set_for_each() -> None:
    (command,) = read_script(NODES.format(8, "OMP_NUM_THREADS: 1")).commands
    assert command.env["HCCL_BUFFSIZE"].text == "768"
    assert "8080" in [word.text for word in command.argv]


def test_the_npus_of_a_node_are_its_devices() -> None:
    for each, more, name in ((16, "OMP_NUM_THREADS: 1", "A3"), (8, "ASCEND_A3_ENABLE: 1", "A3"), (8, "X: 1", None)):
        (judged,) = ask(NODES.format(each, more))
        kind = judged.cluster.name.rpartition("x")[2] if judged.cluster is not None else None
        assert kind == name, (each, more)
