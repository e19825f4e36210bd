"""What command lines of others say of SGLang, of its build for processors, and of its fork KTransformers."""

from __future__ import annotations

from typing import Final

from moonpad.engines import ktransformers_read
from moonpad.engines.command_line import DYNAMO, INFERA, Build, CommandLine, Program, Removal
from moonpad.engines.host_expert_names import RULES
from moonpad.engines.sglang_read import PROGRAM, SETTING_FLAGS, WHOLE_VISION
from moonpad.values.records import replace

PROGRAMS: Final = (
    Program(
        name=PROGRAM,
        label="SGLang",
        commands=(
            *("sglang serve", "sglang.launch_server", "moonpad_sglang_cpu", "dynamo.sglang"),
            *("dynamo.sglang.worker", "dynamo.sglang.decode_worker", "dynamo.sglang.main"),
            *("infera.engine.sglang", "sglang_router.launch_server"),
        ),
        # launch_server.py of the router adds the engine's own options, and its own with a prefix.
        own_options=(*(option for option in DYNAMO if option != "--disaggregation-mode"), *INFERA, "--router-"),
        files=("sglang/launch_server.py",),
        start="python -m sglang.launch_server",
    ),
    Program(name="sglang bench", kind="client", commands=("sglang.bench_serving",)),
    Program(
        name="sglang-router",
        label="SGLang's router",
        kind="router",
        commands=("sglang-router", "sglang-router launch", "smg launch", "sglang_router.launch_router"),
        start="sglang-router launch",
        own_versions=True,
    ),
    Program(
        name="sglang-pdlb",
        kind="router",
        commands=("sglang.srt.disaggregation.launch_lb", "sglang.srt.disaggregation.mini_lb"),
        start="python -m sglang.srt.disaggregation.launch_lb",
        # Its port is 8000 where none is given (srt/disaggregation/launch_lb.py of 0.4.7), the router's 30000.
        removal=Removal(PROGRAM, "sglang.srt.disaggregation.launch_lb", adds=(("", "--port", ("--port", "8000")),)),
    ),
)

SGLANG: Final = CommandLine(
    options={
        "tp": "--tp-size",
        "pp": "--pp-size",
        "dp": "--dp-size",
        "ep": "--ep-size",
        **{name: option for option, name in SETTING_FLAGS},
        "enforce_eager": "--disable-cuda-graph",
        "redundant_experts": "--ep-num-redundant-experts",
        "quantization": "--quantization",
    },
    switches={"mm_encoder_tp_mode": WHOLE_VISION},
    programs=PROGRAMS,
    names=("sglang", r"SGL(?= version)"),
    images=("sglang(?:-rocm)?",),
    option_files=("--config",),
    rocm_env=("SGLANG_USE_AITER", "SGLANG_AITER_", "SGLANG_ROCM_"),
    model="--model-path",
    tool_parser="--tool-call-parser",
    reasoning_parser="--reasoning-parser",
    port=30000,  # sglang/srt/server_args.py
)
SGLANG_CPU: Final = replace(
    SGLANG,
    programs=(),
    build=Build("sglang", environment=("SGLANG_USE_CPU_ENGINE",), options=("--device=cpu",)),
    names=(),
    images=(),
)

# The server of 2025, which is gone. What is not here has no successor and is left out: optimize_config_path is decided
# by --kt-method, lengths of answers by each request.
# https://github.com/kvcache-ai/ktransformers, kt-kernel/README.md: "LLAMAFILE Backend (GGUF)", "KT-Kernel Parameters".
LEGACY_REMOVAL: Final = Removal(
    ktransformers_read.LEGACY,
    "ktransformers/server/main.py",
    {
        "--model_path": ("--model-path",),
        "--model_name": ("--served-model-name",),
        # It loads the tokenizer with the repository's code (ktransformers/server/backend/interfaces/balance_serve.py of
        # https://github.com/kvcache-ai/ktransformers); its successor does so on request.
        "--gguf_path": (
            *("--trust-remote-code", "--kt-method", "LLAMAFILE", "--kt-num-gpu-experts", "0", "--kt-weight-path"),
        ),
        "--cache_lens": ("--context-length",),
        "--cpu_infer": ("--kt-cpuinfer",),
        "--max_batch_size": ("--max-running-requests",),
        "--chunk_size": ("--chunked-prefill-size",),
        "--host": ("--host",),
        "--port": ("--port",),
        "--api_key": ("--api-key",),
        "--log_level": ("--log-level",),
    },
    (
        (
            "--gguf_path",
            "",
            "--model-path has to hold the original weights, of which the devices take all but the experts.",
        ),
        ("--gguf_path", "--cpu_infer", "Add --kt-cpuinfer with the number of physical cores."),
    ),
    (
        ("--gguf_path", "--cpu_infer", ("--kt-cpuinfer", "<number of physical cores>")),
        # It listens everywhere (archive/ktransformers/server/config/config.py of the same repository), its successor on
        # the machine alone.
        ("--gguf_path", "--host", ("--host", "0.0.0.0")),  # noqa: S104 - what it binds
    ),
    {"--model_path": "<folder of the original weights>"},
    tuple(
        (
            rules,
            r".*amx.*\.ya?ml",
            "The kernels for AMX that these rules choose are --kt-method AMXINT4 or AMXINT8, for which kt-kernel's "
            "scripts convert the experts; LLAMAFILE reads the GGUF files as they are.",
        )
        for rules in RULES
    ),
)
_WHICH_GGUF: Final = "which GGUF files they are is not said"
KTRANSFORMERS: Final = replace(
    SGLANG,
    # `kt run` shares this name of the tensor-parallel size with the fork.
    options={**SGLANG.options, "tp": "--tensor-parallel-size", "gpu_experts": "--kt-num-gpu-experts"},
    programs=(
        Program(ktransformers_read.PROGRAM),
        Program(ktransformers_read.RUN, label="kt", commands=("kt run",)),
        Program(
            ktransformers_read.LEGACY,
            label="KTransformers",
            commands=("ktransformers", "ktransformers.server.main", "ktransformers.server"),
            files=("ktransformers/server/main.py",),
            short_files=("server/main.py",),
            marks=("--gguf_path", "--cpu_infer", "--optimize_config_path"),
            start="python ktransformers/server/main.py",
            removal=LEGACY_REMOVAL,
            unnamed_weights=_WHICH_GGUF,
        ),
        Program(
            ktransformers_read.CHAT,
            label="KTransformers",
            commands=("ktransformers.local_chat",),
            files=("ktransformers/local_chat.py",),
            short_files=("local_chat.py",),
            marks=("--gguf_path", "--cpu_infer", "--optimize_config_path", "--optimize_rule_path"),
            start="python -m ktransformers.local_chat",
            removal=Removal(ktransformers_read.LEGACY, "ktransformers/local_chat.py"),
            unnamed_weights=_WHICH_GGUF,
            no_server=True,
        ),
    ),
    build=Build("sglang", options=("--kt-",), own_releases=True),
    names=("ktransformers", "ktransformer", "kt-kernel", "sglang-kt", r"(?-i:KT)(?= v?0\.)", r"kt(?=[ ]?版本)"),
    images=("ktransformers",),
    told_by_program=True,
)
