"""What command lines of others say of vLLM and of its builds for processors and for Ascend NPUs."""

from __future__ import annotations

from typing import Final

from moonpad.engines.command_line import DYNAMO, INFERA, Build, CommandLine, Nodes, Program
from moonpad.engines.vllm_read import LAYOUT_FLAGS, PROGRAM, SETTING_FLAGS
from moonpad.values.platform import Platform
from moonpad.values.records import replace

SERVE: Final = Program(
    name=PROGRAM,
    label="vLLM",
    commands=(
        *("vllm serve", "vllm.entrypoints.cli.main serve", "vllm.entrypoints.openai.api_server", "dynamo.vllm"),
        "infera.engine.vllm",
    ),
    own_options=(*DYNAMO, *INFERA),
    files=("vllm/entrypoints/openai/api_server.py",),
    images=r"vllm-(?:openai|cpu-release)[\w.-]*",
    # The API server as a module, or behind an image, takes the model from --model alone (entrypoints/openai).
    positional_model="serve",
)
BENCHMARK: Final = Program(
    name="vllm bench serve",
    label="vLLM",
    kind="client",
    commands=("vllm bench serve", "vllm.entrypoints.cli.main bench serve"),
)

ROUTER: Final = Program(
    name="vllm-router",
    label="vLLM's router",
    kind="router",
    commands=("vllm-router", "vllm_router.launch_router"),
    own_versions=True,
)

VLLM: Final = CommandLine(
    options={
        **{name: option for option, name in (*LAYOUT_FLAGS, *SETTING_FLAGS)},
        "ep": "--enable-expert-parallel",
        "enforce_eager": "--enforce-eager",
        "attention_backend": "--attention-backend",
        "all2all_backend": "--all2all-backend",
        "quantization": "--quantization",
    },
    programs=(SERVE, BENCHMARK, ROUTER),
    names=("vllm",),
    images=("(?<!lmcache/)vllm-openai(?:-[a-z0-9]{1,20}){0,5}", "vllm"),
    option_files=("--config",),
    tool_parser="--tool-call-parser",
    reasoning_parser="--reasoning-parser",
    auto_tools="--enable-auto-tool-choice",
    key_env="VLLM_API_KEY",
    open_by_default=True,  # vllm/entrypoints/openai/cli_args.py: host = None
    # 0.11.1 brought --nnodes, and its executor is no longer Ray by itself where the ranks outnumber the devices
    # (vllm/config/parallel.py, ParallelConfig.__post_init__).
    nodes=Nodes("--distributed-executor-backend", "--headless", "--data-parallel-start-rank", "0.11.1"),
    rocm_env=("VLLM_ROCM_",),
)
VLLM_CPU: Final = replace(
    VLLM,
    programs=(),
    build=Build("vllm", Platform.CPU, environment=("VLLM_CPU_",), image="vllm-cpu"),
    names=(),
    images=(),
    nodes=None,
)
VLLM_ASCEND: Final = replace(
    VLLM,
    programs=(Program("vllm-ascend", label="vLLM-Ascend"),),
    build=Build(
        "vllm",
        Platform.ASCEND,
        environment=("HCCL_", "ASCEND_"),
        image="ascend",
        spoken=(
            r"(?a:(?i:\bascend|昇腾)|(?<![\w.])910(?i:[abc])[1-4]?(?![\w.])|\bAtlas[ -]?[389]00"
            r"|NPURayWorker|torch[-_]npu|npu-smi|(?i:mindie[-_]turbo)|\bNPUs?\b|davinci[0-9]|\bHCCL\b|\bCANN(?![A-Za-z])"
            r"|(?<![\w.-])(?:[389]00[ITV]|900)[ -]?A[23]\b)"
        ),
        options=(
            *("--quantization=ascend", '--additional-config={"ascend_', '--additional-config={"torchair_'),
            *('--additional-config={"eplb_config"', '--additional-config={"recompute_scheduler_enable"'),
        ),
        keyed="--additional-config",
    ),
    names=("vllm[-_ ]ascend",),
    images=("vllm-ascend",),
)
