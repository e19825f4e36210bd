"""What a Slurm job asks for, against the command."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2.5 --trust-remote-code -tp {tp}"
NODES = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --trust-remote-code --tp-size 16 "
NODES += "--nnodes 2 --dist-init-addr $HEAD:5000 --node-rank $SLURM_PROCID"


def told(header: str, text: str, words: str) -> list[str]:
    script = "#!/bin/bash\n" + "".join(f"#SBATCH {each}\n" for each in header.split("; ")) + text + "\n"
    findings = [finding for judged in ask(script) for finding in judged.findings]
    return [finding.where for finding in findings if words in finding.message]


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("--nodes=1; --gpus-per-node=4", "srun " + SERVE.format(tp=8)),
        ("--nodes=1; --gres=gpu:h100:4", SERVE.format(tp=8)),
        ("-N 1; -G 4", SERVE.format(tp=8)),
        ("--nodes=2; --gpus=8", f"srun bash -c '{NODES}'"),
        ("--nodes=1; --gres=gpu:8", "srun --gres=gpu:2 " + SERVE.format(tp=4)),
    ],
)
def test_fewer_devices_than_ranks(header: str, text: str) -> None:
    assert len(told(header, text, "devices on a node")) == 1


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("--nodes=1; --gpus-per-node=8", "srun " + SERVE.format(tp=8)),
        ("--nodes=2; --gpus=16", f"srun bash -c '{NODES}'"),
        ("--nodes=2; --gpus-per-node=8", f"srun bash -c '{NODES}'"),
        ("--nodes=2; --gpus-per-node=4", "ray start --head\n" + SERVE.format(tp=8)),
        ("--nodes=2; --gpus-per-node=4", SERVE.format(tp=8) + " --distributed-executor-backend ray"),
        ("--nodes=1; --gpus-per-node=4", SERVE.format(tp="$TP")),
        ("--nodes=2; --gpus-per-node=8", "srun " + SERVE.format(tp=8) + " -pp 2"),
        ("--nodes=1; --mem=100G", SERVE.format(tp=8)),
        ("--nodes=4; --gres=gpu:4", "srun trtllm-llmapi-launch trtllm-serve a/b --tp_size 16"),
    ],
)
def test_as_many_devices_or_unknown(header: str, text: str) -> None:
    assert told(header, text, "devices on a node") == []


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("--nodes=2; --ntasks-per-node=8; --gres=gpu:8", f"srun bash -c '{NODES}'"),
        ("--nodes=1; --ntasks=4; --gpus-per-node=4", "srun " + SERVE.format(tp=4)),
        ("--nodes=1; --tasks-per-node=4", "srun " + SERVE.format(tp=4)),
    ],
)
def test_a_server_for_each_task(header: str, text: str) -> None:
    assert told(header, text, "srun starts") == ["--ntasks-per-node"]


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("--nodes=2; --ntasks-per-node=1", f"srun bash -c '{NODES}'"),
        ("--nodes=2; --ntasks=2", f"srun bash -c '{NODES}'"),
        ("--nodes=1; --ntasks-per-node=8", "srun --ntasks=1 " + SERVE.format(tp=8)),
        ("--nodes=1; --ntasks=8", "srun --ntasks-per-node=1 " + SERVE.format(tp=8)),
        ("--nodes=1; --ntasks-per-node=8", SERVE.format(tp=8)),
        ("--nodes=1; --ntasks-per-node=8", f"srun bash -c 'CUDA_VISIBLE_DEVICES=$SLURM_LOCALID {SERVE.format(tp=1)}'"),
        ("--nodes=1; --ntasks-per-node=2", f"srun bash -c 'if [ $SLURM_PROCID = 0 ]; then {SERVE.format(tp=1)}; fi'"),
        ("--nodes=4; --ntasks-per-node=4", "srun trtllm-llmapi-launch trtllm-serve a/b --tp_size 16"),
        ("--ntasks-per-node=8; --nodes=1-2", "srun " + SERVE.format(tp=8)),
    ],
)
def test_one_server_on_each_node(header: str, text: str) -> None:
    assert told(header, text, "srun starts") == []


@pytest.mark.parametrize("header", ["--nodes=2; --gpus-per-node=8", "-N 4; --gres=gpu:8"])
def test_nodes_that_stay_idle(header: str) -> None:
    assert told(header, SERVE.format(tp=8), "paid for and idle") == ["--nodes"]


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("--nodes=1; --gpus-per-node=8", SERVE.format(tp=8)),
        ("--nodes=2; --gpus-per-node=8", "srun " + SERVE.format(tp=8)),
        ("--nodes=2; --gpus-per-node=8", SERVE.format(tp=8) + " &\nsrun python bench.py"),
        ("--nodes=2; --gpus-per-node=8", "ssh $WORKER run.sh\n" + SERVE.format(tp=8)),
        ("--nodes=2; --gpus-per-node=8", "ray start --head\n" + SERVE.format(tp=8) + " -pp 2"),
        ("--nodes=2; --gpus-per-node=8", "source cluster.sh\n" + SERVE.format(tp=8)),
        ("--nodes=2; --gpus-per-node=8", SERVE.format(tp=8) + " --nnodes 2 --node-rank $RANK --master-addr $A"),
    ],
)
def test_nodes_that_have_work_or_may_have(header: str, text: str) -> None:
    assert told(header, text, "paid for and idle") == []


RAY = SERVE.format(tp=16) + " --distributed-executor-backend ray"
TWO = "--nodes=2; --gpus-per-node=8"


@pytest.mark.parametrize(
    ("header", "text"),
    [
        (TWO, RAY),
        (TWO, "source $(conda info --base)/etc/profile.d/conda.sh\n" + RAY + " > server.log 2>&1 &\nwait"),
        (TWO, "source venv/bin/activate\nexport RAY_DEDUP_LOGS=0\n# ray starts by itself\n" + RAY),
        ("-N 2; --gres=gpu:h100:8", RAY),
        ("-N 2", RAY),
    ],
)
def test_ray_that_nothing_starts_on_the_second_node(header: str, text: str) -> None:
    assert told(header, text, "nothing starts Ray on the other") == ["--distributed-executor-backend"]


@pytest.mark.parametrize(
    ("header", "text"),
    [
        (TWO, "ray start --head\nsrun ray start --address $HEAD:6379 --block &\n" + RAY),
        (TWO, "source start_cluster.sh\n" + RAY),
        (TWO, "ssh $WORKER ./join.sh\n" + RAY),
        (TWO, "export RAY_ADDRESS=10.0.0.1:6379\n" + RAY),
        (TWO, SERVE.format(tp=8) + " --distributed-executor-backend ray"),
        ("--nodes=1; --gpus-per-node=16", RAY),
        (TWO, SERVE.format(tp="$TP") + " --distributed-executor-backend ray"),
        (TWO, "bash run_cluster.sh\n" + RAY),
    ],
)
def test_ray_that_may_be_started(header: str, text: str) -> None:
    assert told(header, text, "nothing starts Ray") == []


@pytest.mark.parametrize(
    ("partition", "devices"), [("mi3258x", "8xMI325X"), ("mi3008x", "8xMI300X"), ("mi3254x", "4xMI325X")]
)
def test_partitions_of_amds_own_clusters(partition: str, devices: str) -> None:
    serve = f"vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size {devices[0]}"
    text = f"#!/bin/bash\n#SBATCH --partition={partition}\n\n{serve}\n"
    (judged,) = ask(text)
    assert judged.cluster is not None
    assert judged.cluster.name == devices
