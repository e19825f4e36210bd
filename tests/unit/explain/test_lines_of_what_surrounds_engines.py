# ruff: noqa: E501 - lines of logs are as long as they are
"""Lines that Kubernetes, systemd, Slurm, Apptainer, Ray and rented machines print about an engine, pasted as they stand
below its command or its manifest: each names its cause, and is no part of what is above it."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

COMMAND = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --trust-remote-code"
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: kimi}
spec:
  containers:
  - name: engine
    image: vllm/vllm-openai:v0.12.0
    args: ["--model", "moonshotai/Kimi-K2-Thinking", "--tensor-parallel-size", "8", "--trust-remote-code"]
    resources: {limits: {nvidia.com/gpu: "8"}}"""

LINES = [
    ("  Warning  FailedScheduling  12s   default-scheduler  0/3 nodes are available: 3 Insufficient nvidia.com/gpu.", "nvidia.com/gpu free"),
    ("  Warning  FailedScheduling  12s   default-scheduler  0/5 nodes are available: 2 node(s) had untolerated taint {nvidia.com/gpu: present}, 3 Insufficient nvidia.com/gpu.", "the taint nvidia.com/gpu"),
    ("  Warning  FailedScheduling  12s   default-scheduler  0/5 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 4 Insufficient nvidia.com/gpu.", "nvidia.com/gpu free"),
    ("exec /usr/bin/python3: exec format error", "another processor"),
    ("docker: no matching manifest for linux/arm64/v8 in the manifest list entries.", "another processor"),
    ("standard_init_linux.go:228: exec user process caused: exec format error", "another processor"),
    ("PermissionError: [Errno 13] Permission denied: '/models/k2/config.json'", "may not read /models/k2/config.json"),
    ("PermissionError: [Errno 13] Permission denied: '/root/.cache/vllm'", "may not write /root/.cache/vllm"),
    ("0/4 nodes are available: 4 Insufficient memory.", "can take the pod: 4 Insufficient memory"),
    ('  Warning  Failed     8s (x4 over 49s)   kubelet   Error: failed to start container "vllm": exec: "vllm": executable file not found in $PATH: unknown', "vllm is not there"),
    ('  Warning  Failed     8s   kubelet            Error: secret "hf-token" not found', 'secret "hf-token" not found'),
    ('  Warning  FailedMount  8s   kubelet            MountVolume.SetUp failed for volume "weights" : no such folder', "(weights)"),
    ('  Warning  Failed     8s   kubelet            Failed to pull image "vllm/vllm-openai:0.12.0": rpc error: code = NotFound desc = docker.io/vllm/vllm-openai:0.12.0: not found', "cannot be pulled"),
    ('8s          Warning   Failed             pod/kimi-0   Error: configmap "engine" not found', 'configmap "engine" not found'),
    ("  Warning  Unhealthy  3m (x12 over 10m)   kubelet            Liveness probe failed: connection refused", "Liveness probe failed"),
    ("  Normal   Killing    3m                  kubelet            Container vllm failed liveness probe, will be restarted", "liveness probe failed"),
    ("Events:\n  Type     Reason     Age    From      Message\n  ----     ------     ----   ----      -------\n  Warning  Failed     8s     kubelet   Error: secret \"hf\" not found", 'secret "hf" not found'),
    ("kimi-0   0/1   OOMKilled   3 (40s ago)   5m", "memory of its cgroup"),
    ("    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137", "memory of its cgroup"),
    ("Jun 03 10:00:01 gpu1 systemd[1]: vllm.service: Main process exited, code=exited, status=203/EXEC", "ExecStart"),
    ("vllm.service: Main process exited, code=exited, status=203/EXEC", "ExecStart"),
    ("Jun 03 10:00:01 gpu1 (vllm)[4121]: vllm.service: Failed to locate executable vllm: No such file or directory", "ExecStart (vllm)"),
    ("systemd[1]: vllm.service: Failed at step CHDIR spawning /opt/vllm/bin/vllm: No such file or directory", "WorkingDirectory"),
    ("systemd[1]: vllm.service: Main process exited, code=exited, status=217/USER", "User="),
    ("systemd[1]: vllm.service: start operation timed out. Terminating.", "Type=notify"),
    ("vllm.service: A process of this unit has been killed by the OOM killer.", "memory of its cgroup"),
    ("(autoscaler +13s) Error: No available node types can fulfill resource request {'node:10.1.2.3': 0.001, 'GPU': 1.0}. Add suitable node types to this cluster to resolve this issue.", "10.1.2.3"),
    ("(raylet) [2025-11-30 10:00:00,000 E 10 10] Failed to connect to GCS at address 10.0.0.1:6379 within 60 seconds.", "10.0.0.1:6379"),
    ("slurmstepd: error: execve(): vllm: No such file or directory", "srun cannot start vllm"),
    ("srun: error: gpu01: task 0: Exited with exit code 127", "ends with 127"),
    ("slurmstepd: error: pyxis: failed to import docker image", "pyxis could not fetch"),
    ("srun: unrecognized option '--container-mounts'", "pyxis"),
    ("FATAL:   stat /scratch/vllm.sif: no such file or directory", "/scratch/vllm.sif"),
    ("WARNING: Could not find any nv files on this host!", "--nv"),
    ("bash: line 1: vllm: command not found", "vllm is not there"),
    ('Error: INSTALLATION FAILED: chart "stack" matching not found in vllm index.', "chart (stack)"),
    ('error: resource mapping not found for name: "kimi" namespace: "" from "lws.yaml": no matches for kind "LeaderWorkerSet" in version "leaderworkerset.x-k8s.io/v1"', "LeaderWorkerSet"),
    ('docker: Error response from daemon: Conflict. The container name "/vllm" is already in use by container "1f".', "named vllm"),
    ("nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file", "no NVIDIA driver"),
    ("sky.exceptions.ResourcesUnavailableError: Failed to provision all possible launchable resources.", "no cloud"),
    ('  Warning  FailedCreate  12s  statefulset-controller  create Pod kimi-0 failed error: pods "kimi-0" is forbidden: violates PodSecurity "restricted:latest": privileged', "restricted:latest"),
    ("  Warning  UnexpectedAdmissionError  3s  kubelet  Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 8, Available: 4, which is unexpected", "has 4 of nvidia.com/gpu free"),
    ('  Warning  FailedCreatePodSandBox  3s  kubelet  Failed to create pod sandbox: RuntimeHandler "nvidia" not supported', "runtime"),
    ("  Warning  Evicted  3s  kubelet  The node was low on resource: ephemeral-storage.", "ephemeral-storage"),
    ('Back-off pulling image "vllm/vllm-openai:0.12.0"', "cannot be pulled"),
    ('The Deployment "kimi" is invalid: spec.template.spec.containers[0].resources: Invalid value: "0.5": must be an integer', "refuses the Deployment"),
    ('error: error validating "kimi.yaml": error validating data: ValidationError(Deployment.spec.template.spec): unknown field "arg" in io.k8s.api.core.v1.Container', "does not know: arg"),
    ("error: error parsing kimi.yaml: error converting YAML to JSON: yaml: line 12: did not find expected key", "line 12"),
    ("services.engine Additional property comand is not allowed", "comand"),
    ("dependency failed to start: container engine is unhealthy", "engine is unhealthy"),
    ("docker: invalid reference format.", "another word for the image"),
    ("unknown flag: --shm_size", "--shm_size"),
    ('level=error msg="runc create failed" error="exec: \\"--model\\": executable file not found in $PATH"', "option --model as its program"),
    ("(worker1, rank=1, pid=2331, ip=10.0.0.5) torch.OutOfMemoryError: CUDA out of memory.", "out of memory"),
    ("May 01  14:38:18.434 | torch.OutOfMemoryError: CUDA out of memory.", "out of memory"),
    ("Runner failed with exception: Runner has been initializing for too long: 300 seconds", "(300 s)"),
]  # fmt: skip


def stopped(text: str) -> list[str]:
    found = [finding.message for judged in ask(text) for finding in judged.findings]
    return [message.partition("the engine stopped: ")[2] for message in found if "the engine stopped" in message]


OF_THE_MACHINE = [
    (
        "dmesg: NVRM: The NVIDIA GPU 0000:1b:00.0 (PCI ID: 10de:2901) installed in this system requires use of the NVIDIA open kernel modules.",
        "open ones alone",
    ),
    (
        "NVIDIA B200 with CUDA capability sm_100 is not compatible with the current PyTorch installation.",
        "no code for NVIDIA B200",
    ),
    (
        "[ERROR] MoeDistributeDispatch: HCCL_BUFFSIZE is too SMALL, maxBs = 256, NEEDED_HCCL_BUFFSIZE = 411MB",
        "HCCL_BUFFSIZE is below",
    ),
]


@pytest.mark.parametrize(("lines", "named"), OF_THE_MACHINE)
def test_a_line_of_driver_torch_or_cann_names_its_cause(lines: str, named: str) -> None:
    for text in (
        f"{COMMAND}\n\n{lines}\n",
        f"We start it so:\n\n```sh\n{COMMAND}\n```\n\nand get\n\n```\n{lines}\n```\n",
    ):
        assert [message for message in stopped(text) if named in message]
    assert stopped(f"{COMMAND}\n\nWhere you may see «{lines}», look at the driver.\n") == []


@pytest.mark.parametrize(("lines", "named"), LINES)
def test_the_line_names_its_cause(lines: str, named: str) -> None:
    fenced = f"We start it so:\n\n```sh\n{COMMAND}\n```\n\nand get\n\n```\n{lines}\n```\n"
    for text in (f"{COMMAND}\n\n{lines}\n", f"{POD}\n\n{lines}\n", fenced):
        assert [message for message in stopped(text) if named in message]


@pytest.mark.parametrize("lines", [lines for lines, _ in LINES])
def test_such_a_line_is_no_part_of_the_manifest_above_it(lines: str) -> None:
    script = read_script(f"{POD}\n{lines}\n")
    (alone,) = read_script(POD).commands
    assert [[word.text for word in command.argv] for command in script.commands] == [[w.text for w in alone.argv]]
    assert script.problems == ()


@pytest.mark.parametrize(
    "line",
    [
        "If a pod is OOMKilled, raise its memory limit.",
        "# when Kubernetes says Liveness probe failed, add a startupProbe",
        "A unit with status=203/EXEC has no such program.",
        "If docker says invalid reference format, look for blanks behind backslashes.",
        "An unknown flag such as --shm_size ends docker run.",
    ],
)
def test_talk_about_such_a_line_is_none(line: str) -> None:
    assert stopped(f"{line}\n\n```sh\n{COMMAND}\n```\n") == []


def test_what_came_after_some_time_is_an_error_that_came() -> None:
    text = f"{COMMAND}\n\nIt hangs, and after 10 minutes: torch.OutOfMemoryError: CUDA out of memory.\n"
    assert "out of memory" in stopped(text)[0]


def test_words_that_an_error_shows_are_told_once() -> None:
    """The image begins with the server, and the log says that its words stand there twice."""
    line = f"docker run --gpus all --ipc=host vllm/vllm-openai:v0.12.0 {COMMAND}"
    log = "vllm: error: unrecognized arguments: serve moonshotai/Kimi-K2-Thinking"
    found = [finding for judged in ask(f"{line}\n\n{log}\n") for finding in judged.findings]
    assert len([each for each in found if "it refuses them" in each.message]) == 1
    assert [each for each in found if "stands there twice" in each.message] == []
