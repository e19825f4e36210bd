"""What a corrected command does with a key, a port, a variable or an option that its findings name."""

from __future__ import annotations

import json

import pytest

from moonpad.explain.results import Line

from .judging import ask

K25 = "moonshotai/Kimi-K2.5"
THINKING = "moonshotai/Kimi-K2-Thinking"


def value_of(line: Line, option: str) -> str:
    return line.argv[line.argv.index(option) + 1]


def test_ports_of_a_transfer_move_beyond_those_taken_at_random() -> None:
    transfer = '{"kv_connector": "MooncakeConnectorV1", "kv_role": "kv_producer", "kv_port": "30100", "engine_id": "0",'
    sizes = '{"dp_size": 1, "tp_size": 16}'
    transfer += f' "kv_connector_extra_config": {{"prefill": {sizes}, "decode": {sizes}}}}}'
    text = f"# vllm-ascend 0.14.0rc1 on 16x A3\nvllm serve {THINKING} --tensor-parallel-size 16 --trust-remote-code"
    text += " --max-model-len 32768"
    (judged,) = ask(f"{text} --kv-transfer-config '{transfer}'\n")
    moved = json.loads(value_of(judged.corrected[0], "--kv-transfer-config"))
    assert moved == {**json.loads(transfer), "kv_port": "46100"}


def test_dead_keys_leave_the_commands_of_all_nodes() -> None:
    text = "# vllm-ascend 0.14.0rc1 on 2x 8x A2\n"
    for rank in ("--data-parallel-start-rank 0", "--headless --data-parallel-start-rank 1"):
        text += f"vllm serve {THINKING} --tensor-parallel-size 8 --data-parallel-size 2"
        text += f" --data-parallel-size-local 1 {rank}"
        text += (
            " --data-parallel-address 10.0.0.1 --data-parallel-rpc-port 2357 --trust-remote-code --max-model-len 32768"
        )
        text += """ --additional-config '{"torchair_graph_config": {"enabled": false}}'\n"""
    (judged,) = ask(text)
    assert len(judged.corrected) == 2
    assert not any("--additional-config" in line.argv for line in judged.corrected)


def test_a_variable_becomes_the_key_that_took_its_place() -> None:
    serve = f"vllm serve {K25} --tensor-parallel-size 16 --trust-remote-code"
    text = f"pip install vllm-ascend==0.30.0rc2\nexport VLLM_ASCEND_ENABLE_MLAPO=1\n{serve}"
    (judged,) = ask(f"{text} --additional-config '{{\"enable_cpu_binding\": true}}'\n")
    (line,) = judged.corrected
    assert "VLLM_ASCEND_ENABLE_MLAPO" not in line.env
    assert json.loads(value_of(line, "--additional-config"))["enable_mlapo"] is True
    (alone,) = ask(f"{text}\n")
    assert json.loads(value_of(alone.corrected[0], "--additional-config")) == {"enable_mlapo": True}


def test_the_old_server_of_ktransformers_becomes_one_with_its_threads() -> None:
    text = "python ktransformers/server/main.py --model_path /m/Kimi-K2-Instruct --gguf_path /m/gguf --port 80\n"
    (judged,) = ask(text)
    assert value_of(judged.corrected[0], "--kt-cpuinfer") == "<number of physical cores>"
    assert value_of(judged.corrected[0], "--model-path") == "/m/Kimi-K2-Instruct"
    (to_fill_in,) = ask(text.replace("/m/Kimi-K2-Instruct", "<where_the_config_is>"))
    assert value_of(to_fill_in.corrected[0], "--model-path") == "<folder of the original weights>"
    (given,) = ask(text.replace("--port", "--cpu_infer 40 --port"))
    assert value_of(given.corrected[0], "--kt-cpuinfer") == "40"


@pytest.mark.parametrize(
    "chooses",
    [
        '[ "$SLURM_PROCID" -eq 0 ] && MORE="" || MORE="--headless --data-parallel-start-rank 8"',
        'if [ "$SLURM_PROCID" -eq 0 ]; then MORE=""; else MORE="--headless --data-parallel-start-rank 8"; fi',
    ],
)
def test_the_rank_of_a_node_says_nothing_of_the_layout(chooses: str) -> None:
    serve = f"vllm serve {K25} $MORE --data-parallel-size 16 --data-parallel-size-local 8 --trust-remote-code"
    (judged,) = ask(f"{chooses}\n{serve} --data-parallel-address $HEAD --data-parallel-rpc-port 13345\n")
    assert not judged.unknown
    assert judged.layout is not None
    assert (judged.layout.tp, judged.layout.dp) == (1, 16)
    (other,) = ask(f"[ -n \"$A\" ] && MORE='--tensor-parallel-size 2' || MORE=''\n{serve}\n")
    assert "tp" in other.unknown


def test_a_build_of_one_commit_may_lack_what_the_newest_release_takes() -> None:
    serve = f"vllm serve {K25} --tensor-parallel-size 8 --trust-remote-code --max-model-len 131072\n"
    text = f"# 8x H200\ndocker run --gpus all vllm/vllm-openai:nightly-{'0a1b2' * 8} {serve.removeprefix('vllm serve')}"
    (judged,) = ask(text)
    assert "one commit" in judged.version_because
    assert not judged.better
    (beside,) = ask(f"# 8x H200\n# image_id: docker:vllm/vllm-openai:nightly-{'0a1b2' * 8}\n{serve}")
    assert "one commit" in beside.version_because
    (newest,) = ask(f"# 8x H200\n{serve}")
    assert newest.better
