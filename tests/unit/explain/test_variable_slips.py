"""Variables that do not reach the engine, or not as they are written; scripts that do not do what they say."""

from __future__ import annotations

import pytest

from moonpad.catalog.known_variables import library_variables
from moonpad.explain.judge import judge
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code -tp 16"


POD = """
apiVersion: v1
kind: Pod
metadata: {{name: k2}}
spec:
  containers:
  - name: k2
    image: vllm/vllm-openai:v0.32.0
    command: ["/bin/bash", "-c"]
    args:
    - |
      {script}
"""


def findings(*files: tuple[str, str]) -> list[Finding]:
    found = [finding for each in judge(read_files(list(files)), Question()) for finding in each.findings]
    return [finding for finding in found if finding.severity is not Severity.ERROR]


def said(text: str, words: str, name: str = "run.sh") -> list[Finding]:
    return [finding for finding in findings((name, text)) if words in finding.message]


@pytest.mark.parametrize(
    "text",
    [
        f"NCCL_DEBUG=INFO\nGLOO_SOCKET_IFNAME=eth0\n{SERVE}",
        f"VLLM_USE_DEEP_GEMM=1 \\\nNCCL_DEBUG=WARN \\\nFLASHINFER_DISABLE_VERSION_CHECK=1\n\n{SERVE}",
        POD.format(script=f"NCCL_DEBUG=INFO\n      {SERVE}"),
        f"# guide\n```bash\nHCCL_BUFFSIZE=1024  # more\n{SERVE}\n```\n",
    ],
)
def test_assignments_without_export(text: str) -> None:
    (finding,) = said(text, "without export")
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    "text",
    [
        f"NCCL_DEBUG=INFO \\\n{SERVE}",
        f"export NCCL_DEBUG=INFO\n{SERVE}",
        f"NCCL_DEBUG=INFO\nexport NCCL_DEBUG\n{SERVE}",
        f"set -a\nNCCL_DEBUG=INFO\nset +a\n{SERVE}",
        f"CUDA_DEVICES=0,1\n{SERVE} --port $CUDA_DEVICES",
        f"MODEL_DIR=/models\nTP_SIZE=8\n{SERVE}",
        f"KT_WEIGHTS=/models/k2-int8\nKT_THREADS=64\n{SERVE}",  # the script's own: no program reads it
        POD.format(script=f"export NCCL_DEBUG=INFO\n      {SERVE}"),
        POD.format(script=f"{SERVE}") + "    env:\n    - {name: NCCL_DEBUG, value: INFO}\n",
        f"docker run --gpus all \\\n  -e NCCL_DEBUG=INFO \\\n  img {SERVE}",
        "services:\n  k2:\n    image: vllm/vllm-openai:v0.32.0\n    environment:\n      - NCCL_DEBUG=INFO\n"
        "    command: --model moonshotai/Kimi-K2-Instruct -tp 16",
        f"# .env\n```\nNCCL_DEBUG=INFO\n```\n# run\n```bash\n{SERVE}\n```\n",
        f"{SERVE}\nNCCL_DEBUG=INFO",
        f"FROM vllm/vllm-openai:v0.32.0\nENV NCCL_DEBUG=INFO \\\n    NCCL_P2P_LEVEL=NVL\nCMD {SERVE}",
    ],
)
def test_nothing_is_lost(text: str) -> None:
    assert not said(text, "without export")


UNIT = f"[Service]\nEnvironmentFile=/etc/k2.env\nExecStart=/usr/bin/env {SERVE}\n"


def test_a_comment_behind_a_value() -> None:
    env = "HF_HOME=/mnt/hf  # cache\nPORT=8000\nNAME='a # b'\n# NCCL_DEBUG=INFO # off\n"
    found = [
        finding for finding in findings(("k2.service", UNIT), ("k2.env", env)) if "does not strip" in finding.message
    ]
    assert [finding.where for finding in found] == ["HF_HOME"]
    assert "k2.env line 1: systemd does not strip" in found[0].message
    guide = f"# guide\n\nThe unit:\n\n```ini\n{UNIT}```\n\n`/etc/k2.env`:\n\n```\n{env}```\n\nX=1 # not in it\n"
    assert [finding.where for finding in said(guide, "does not strip", "guide.md")] == ["HF_HOME"]
    docker = f"docker run --env-file k2.env vllm/vllm-openai:v0.32.0 {SERVE}"
    assert [f for f in findings(("run.sh", docker), ("k2.env", env)) if "docker does not strip" in f.message]
    compose = f"docker compose --env-file k2.env up\n{SERVE}"
    assert not [f for f in findings(("run.sh", compose), ("k2.env", env)) if "does not strip" in f.message]
    assert not [f for f in findings(("k2.service", UNIT), ("other.env", env)) if "does not strip" in f.message]


MPI = "export FLEXKV_CONFIG_PATH=./f.json\nmpirun -np 16 {} trtllm-llmapi-launch trtllm-serve /models/K2 --tp_size 16"


@pytest.mark.parametrize("options", ["--hostfile hosts -x NCCL_DEBUG=INFO", "-H a:8,b:8 --allow-run-as-root"])
def test_mpirun_hands_on_what_it_is_told(options: str) -> None:
    (finding,) = said(MPI.format(options), "passes only")
    assert finding.where == "FLEXKV_CONFIG_PATH"
    assert "-x FLEXKV_CONFIG_PATH" in finding.remedy


@pytest.mark.parametrize(
    "options", ["--hostfile hosts -x FLEXKV_CONFIG_PATH", "--allow-run-as-root", "-H a:16 -x NCCL_DEBUG", "-ppn 8"]
)
def test_mpirun_has_nothing_to_hand_on(options: str) -> None:
    assert not said(MPI.format(options), "passes only")


def test_what_is_exported_on_the_other_host_itself() -> None:
    text = "mpirun -np 16 -H a:8,b:8 -x A bash -c 'export NCCL_DEBUG=INFO; trtllm-serve serve /models/K2 --tp_size 16'"
    assert not said(text, "passes only")


def test_slurm_replaces_nothing_in_its_header() -> None:
    job = f"#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --account=${{account}}\n#SBATCH -o %j.log\n\nsrun {SERVE}"
    (finding,) = said(job, "Slurm expands no")
    assert finding.where == "--account"
    assert "line 3" in finding.message
    assert not said(job.replace("${account}", "proj"), "Slurm expands")
    made = f"ACCOUNT=a\ncat > job.sbatch <<EOF\n#SBATCH --account=$ACCOUNT\nEOF\nsrun {SERVE}"
    assert not said(made, "Slurm expands")


def test_a_caret_is_no_name_of_an_interface() -> None:
    assert said(f"export GLOO_SOCKET_IFNAME=^lo,docker\n{SERVE}", "name of an interface:")
    assert not said(f"export NCCL_SOCKET_IFNAME=^lo GLOO_SOCKET_IFNAME=eth0\n{SERVE}", "name of an interface:")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("HCCL_INTTRA_ROCE_ENABLE", "HCCL_INTRA_ROCE_ENABLE"),
        ("NCCL_SOKCET_IFNAME", "NCCL_SOCKET_IFNAME"),
        ("CUDA_VISIBLE_DEVICE", "CUDA_VISIBLE_DEVICES"),
        ("GLOO_SOCKET_IFNAMES", "GLOO_SOCKET_IFNAME"),
        ("ASCEBD_RT_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES"),
        ("CUAD_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"),
        ("NCLL_DEBUG", "NCCL_DEBUG"),
    ],
)
def test_all_but_a_known_name(name: str, meant: str) -> None:
    assert [finding.remedy for finding in said(f"export {name}=1\n{SERVE}", "ignored without")] == [
        f"did you mean {meant}?"
    ]


@pytest.mark.parametrize(
    "name",
    [
        "NCCL_NEW_THING",
        "HCCL_X",
        "CUDA_VISIBLE_DEVICES_1",
        "NCCL_MAX_P2P_NCHANNELS",
        "MY_CUDA_VISIBLE_DEVICES",
        "RCCL_DEBUG",
        "MCCL_DEBUG",
        "MUSA_VISIBLE_DEVICES",
        *sorted(library_variables()),
    ],
)
def test_a_name_of_its_own(name: str) -> None:
    assert not said(f"export {name}=1\n{SERVE}", "ignored without")


@pytest.mark.parametrize(
    ("line", "lost"),
    [
        ("TORCH_INDEX=https://download.pytorch.org/whl/cu121", False),
        ("CUDA_VER=124", False),
        ("HF_MODEL=a/b", False),
        ("TORCH_LOGS=recompiles", True),
        ("HF_HUB_OFFLINE=1", True),
    ],
)
def test_what_a_script_downloads_is_its_own(line: str, lost: bool) -> None:
    assert bool(said(f"{line}\n{SERVE}", "without export")) == lost


UNIT_BELOW = "\n# /etc/systemd/system/kimi.service\n[Service]\n{}\nExecStart=/usr/local/bin/llama-server\n"
ENV_FILE = (
    "# /etc/llama/kimi.env\nLLAMA_ARG_MODEL=/w/Kimi-Linear-48B-A3B-Instruct-Q4_K_M.gguf\nLLAMA_ARG_CTX_SIZE=131072\n"
)


def test_a_file_of_variables_needs_no_export() -> None:
    assert said(ENV_FILE + UNIT_BELOW.format("EnvironmentFile=/etc/llama/kimi.env"), "without export") == []
    assert said(ENV_FILE + UNIT_BELOW.format("EnvironmentFile=-/etc/llama/kimi.env"), "without export") == []
    run = "\ndocker run --env-file kimi.env --gpus all vllm/vllm-openai:v0.32.0 --model moonshotai/Kimi-K2.5\n"
    assert said("# kimi.env\nVLLM_USE_DEEP_GEMM=1\nNCCL_DEBUG=INFO\n" + run, "without export") == []


def test_a_file_that_nothing_reads_is_told() -> None:
    (finding,) = said(ENV_FILE + UNIT_BELOW.format("Environment=A=1"), "without export")
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("lead", "option", "told"),
    [
        ("Our H200 machine, its env file:", "--env-file h200.env ", False),
        ("The environment file:", "--env-file=/etc/kimi.env ", False),
        ("The environment file:", "", True),
        ("We set two variables:", "--env-file h200.env ", True),
    ],
)
def test_the_content_of_a_file_that_a_container_reads(lead: str, option: str, *, told: bool) -> None:
    text = (
        f"{lead}\n\nVLLM_ATTENTION_BACKEND=FLASHMLA\nVLLM_USE_FLASHINFER_SAMPLER=1\n\n"
        f"docker run --gpus all --ipc=host {option}vllm/vllm-openai:v0.11.0 --model moonshotai/Kimi-K2-Instruct "
        "--tensor-parallel-size 8\n"
    )
    messages = [each.message for one in ask(text) for each in one.findings]
    assert any("set without export" in each for each in messages) == told


SHOWN_FILE = """cat vllm.env
HF_TOKEN={value}
HF_HUB_ENABLE_HF_TRANSFER=1

{start} --env-file vllm.env --gpus all vllm/vllm-openai:v0.32.0 --model moonshotai/Kimi-K2.5
"""


@pytest.mark.parametrize(("value", "expected"), [('"hf_abc"', 1), ("'hf_abc'", 1), ("hf_abc", 0)])
def test_quotes_in_a_file_of_docker_run(value: str, expected: int) -> None:
    text = SHOWN_FILE.format(value=value, start="docker run")
    assert len(said(text, "take the quotes off")) == expected


def test_quotes_in_a_file_of_compose() -> None:
    text = SHOWN_FILE.format(value='"hf_abc"', start="docker compose") + f"\n{SERVE}\n"
    assert said(text, "take the quotes off") == []
