"""What files of other tools call the engines: the keys of their YAML, the words of their commands, their variables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

PROGRAM_OF: Final[Mapping[str, str]] = {
    "vllm": "vllm serve",
    "sglang": "sglang",
    "trtllm": "trtllm-serve",
    "trt_llm": "trtllm-serve",
    "tensorrt_llm": "trtllm-serve",
    "tensorrt-llm": "trtllm-serve",
    "llama_cpp": "llama-server",
    "llama-cpp": "llama-server",
    "llamacpp": "llama-server",
}
"""An engine as a YAML file names it → its program in the catalogue."""
GUESSED: Final = ("vllm serve", "sglang", "trtllm-serve")
"""Programs that options without any name may be for."""
MARKING: Final = ("vllm", "sglang")
"""Names that are the beginning of keys, `vllmConfig`, `sglang_args`, and of repositories, `sglang-kimi`."""
UNNAMED: Final = "vllm"
"""What Ray Serve (`model_loading_config`) and FlagScale (`engine_args_specific`) start without naming it."""
OPTION_KEYS: Final = frozenset({
    *("engine_args", "engine_kwargs", "engine_args_specific", "vllm_args", "sglang_args", "server_args", "serve_args"),
    *("vllm_config", "sglang_config", "extra_args", "args", "parameters", "flags", "options", "cli_args"),
    *("model_parameters", "engine_parameters", "engine_options", "engine_config", "server_config"),
})  # fmt: skip
"""Keys of mappings of options, also written `serverArgs`."""
EXTRA_KEY: Final = re.compile(
    r"(?i:(?:extra|additional|more|other)_?(?:engine|server|serve|vllm|sglang|trtllm)?_?(?:args|arguments|flags|options))"
)
"""A key under which more options stand as a list or a text."""
OF_ROLES: Final = "trtllm-serve"
"""The program whose options of a role, `ctx` and `gen` or `prefill` and `decode`, are those of its option file."""
PATCH: Final = "patch_kwargs"
"""The key beside that program's options whose keys are those of its option file: of a Truss."""
ROLE_OPTIONS: Final[Mapping[str, str]] = {
    "tensor_parallel_size": "--tp_size",
    "pipeline_parallel_size": "--pp_size",
    "moe_expert_parallel_size": "--ep_size",
}
"""What that program's files and calls name otherwise than its command line."""
OF_LLM_SERVICE: Final = "vllm serve"
"""What the controller of KServe's LLMInferenceService starts, and the variable that holds more options for it."""
MORE_OPTIONS: Final = "VLLM_ADDITIONAL_ARGS"
READ_BY_ITS_TEMPLATES: Final = frozenset({MORE_OPTIONS, "VLLM_API_SERVER_COUNT"})
"""Variables in the commands that the controller makes: https://github.com/kserve/kserve, config/llmisvcconfig,
config-llm-worker-data-parallel.yaml."""
OF_WRAPPING_SERVERS: Final[Mapping[str, str]] = {
    **{"--model_name": "--served-model-name", "--model_id": "--model", "--model_dir": "--model"},
}
"""Options of KServe's server, which starts an engine with the others, and what the engine calls the same."""
DECISIVE: Final = frozenset({
    *("--model", "--model-path", "--served-model-name", "--tensor-parallel-size", "--tp-size", "--tp"),
    *("--pipeline-parallel-size", "--data-parallel-size", "--max-model-len", "--context-length"),
    *("--ctx-size", "--n-gpu-layers"),
})  # fmt: skip
"""Options that no other program has."""
COMMANDS_OF_CHART: Final = ("vllmServe", "imageDefault")
"""How llm-d's chart is told (`modelCommand`) to make the same command."""
MODEL_BY_PATH: Final = "sglang"
"""The program that takes --model-path in place of --model."""
FILE_OF_FLAGS: Final = ("vllm serve", "sglang")
"""Programs whose --config FILE holds options of the command line."""
PYTHON_CLASSES: Final[Mapping[str, Mapping[str, str]]] = {
    "LLM": {"vllm": "vllm serve", "tensorrt_llm": "trtllm-serve"},
    "EngineArgs": {"vllm": "vllm serve"},
    "AsyncEngineArgs": {"vllm": "vllm serve"},
    "Engine": {"sglang": "sglang"},
    "Runtime": {"sglang": "sglang"},
    "ServerArgs": {"sglang": "sglang"},
    "TorchLlmArgs": {"tensorrt_llm": "trtllm-serve"},
    "LlmArgs": {"tensorrt_llm": "trtllm-serve"},
    "LLMConfig": {},
    "vLLMEngineProcessorConfig": {},
}
"""Classes whose arguments are an engine's options: the module that they are from → the program that takes the same. Of
those of Ray the options stand in `engine_kwargs`."""
PYTHON_ALIASES: Final[Mapping[str, str]] = {"sgl": "sglang", "sglang": "sglang", "vllm": "vllm"}
"""What modules are called where no import is shown."""
RAY_MARKS: Final = frozenset(
    {"model_loading_config", "accelerator_type", "deployment_config", "model_source", "model_id"}
)
OPTION_NAMES: Final = frozenset({
    *("engine_args", "engine_kwargs", "vllm_args", "vllm_kwargs", "sglang_args", "sglang_kwargs", "server_args"),
    *("llm_kwargs", "llm_args", "vllm_config", "engine_config", "model_kwargs"),
})  # fmt: skip
"""What dictionaries of options are called in programs."""
ARGUMENT_LISTS: Final = frozenset({
    *("extra_args", "other_args", "additional_args", "server_args", "extra_server_args", "launch_args", "serve_args"),
    *("engine_args", "cli_args", "extra_flags", "server_flags", "vllm_args", "sglang_args", "vllm_serve_args", "args"),
})  # fmt: skip
"""What lists of an engine's arguments are called in programs that hand them to a harness."""
WHOLE_HISTORY: Final = frozenset({"vllm serve"})
"""Programs of which every release of two years is recorded: what none has, no release has."""
SPEAKING: Final = re.compile(
    r"(?:vllm serve|-m vllm\.\S+|sglang serve|sglang\.launch_server|trtllm-serve|kt run"
    r"|llama-(?:server|(?:mtmd-)?cli)(?:\.exe)?"
    r"|-m dynamo\.(?:vllm|sglang|trtllm)(?:\.main)?"
    r"|-m ktransformers\.(?:local_chat|server(?:\.main)?)|ktransformers/server/main\.py|local_chat\.py)\s+\S"
)
"""What a line with a whole command has in it."""
QUOTED_START: Final = re.compile(r"'(?:vllm|sglang)'[ ]+'serve'|'-m'[ ]+'(?:sglang|vllm)\.\w")
"""A start whose words stand in quotes, as out of a list."""
OVERRIDES: Final = ("--hf-overrides", "--json-model-override-args")
"""Options whose JSON is written over the model's configuration."""
STARTERS: Final = (
    r"(?:python3?(?:\.\d+)?|vllm|sglang|trtllm-serve|llama-server|mpirun|srun|torchrun|numactl|nohup|taskset)"
)
"""First words of a start, as a regular expression."""
OTHER_ENGINES: Final = re.compile(
    r"(?:dynamo\.)?(?:atom|lmdeploy|mlc_llm|fastdeploy|xllm|aphrodite|lightllm|rtp_llm|sgl_jax|mindie\w*|tokenspeed"
    r"|text-generation-launcher)(?:\.\S*)?"
)
"""Programs and modules of engines whose options look like those of the engines here, and are their own."""
NAME_IN_WORDS: Final = re.compile(r"(?<![\w/.-])(vllm|sglang|trt-?llm|tensorrt[-_ ]llm)(?![\w/])", re.IGNORECASE)
"""An engine as sentences call it."""
MENTION: Final = re.compile(r"vllm|sglang|trtllm|llama-server|\bkt\b|ktransformers")
VARIABLES: Final = re.compile(
    r"(?:VLLM|SGLANG|SGL|NCCL|CUDA|HIP|ROCR|HSA|AITER|HCCL|ASCEND|LLAMA|TRTLLM|TLLM|PYTORCH|TORCH|RAY|GLOO|UCX|OMP"
    r"|NVSHMEM|DG|DEEPEP|SAFETENSORS|HF_HUB|KT_KERNEL)_\w+"
)
"""Variables that may change how an engine runs."""
OF_LIBRARIES: Final = re.compile(
    r"(?:FLASHINFER|TRITON|TRANSFORMERS|TORCHINDUCTOR|MOONCAKE|MC|LMCACHE|NIXL|FI|HF|TIKTOKEN|TP_SOCKET|HCOMM|OMNI)_\w+"
)
"""Variables of libraries that engines use, which are for a process and not for a script."""
EXAMPLES: Final = "vllm serve, sglang serve …"
LONGER_CONTEXTS: Final = ("VLLM_ALLOW_LONG_MAX_MODEL_LEN", "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN")
"""Variables that let a context be longer than the positions of config.json."""
HOST_GGUF: Final = "LLAMAFILE"
"""The way to read experts on the processor that takes GGUF files."""
CHECKED: Final = frozenset({"vllm", "vllm-ascend", "sglang", "ktransformers", "tensorrt-llm"})
"""Engines whose command lines name checkpoints and parsers as Hugging Face has them."""
LISTS_REPLACED: Final = frozenset({"--served-model-name", "--lora-modules", "--lora-paths"})
"""Options of several values whose second use replaces the first one, instead of adding to it."""
EXPERTS_BY_OPTION: Final = "sglang"
"""It says by an option alone which kernels exchange tokens between experts; the next one by a variable too."""
EXPERTS_BY_VARIABLE: Final = "vllm"
SHARE_KV_HEADS: Final = frozenset({"vllm", "sglang"})
"""Engines whose merged projection of queries, keys and values divides the KV heads, or copies them."""
TILES_PADDED: Final = "0.24.0"
"""The first release of the engine of `EXPERTS_BY_VARIABLE` that widens FP8 weights to the tiles of Marlin."""
EXPERTS_VARIABLE: Final = "VLLM_ALL2ALL_BACKEND"
EXPERTS_TITLE: Final = "vLLM"
AITER: Final = "VLLM_ROCM_USE_AITER"
ATTENTION_BY_VARIABLE: Final = "VLLM_ATTENTION_BACKEND"
ATTENTION_SUFFIX: Final = "_VLLM_V1"
"""The end of former names of its backends."""
AITER_EXPERTS: Final = "VLLM_ROCM_USE_AITER_MOE"
AITER_COLUMNS_CHECKED: Final = "0.18.0"
"""The first release that leaves AITER's experts in MXFP4 out where a rank's columns do not suit them."""
AITER_MLA: Final = "VLLM_ROCM_USE_AITER_MLA"
"""Variables of the same engine for AMD devices."""
REPLICAS: Final = "--dp-size"
"""Of the engine of `EXPERTS_BY_OPTION`: whole copies, unless the next one is given."""
ATTENTION_DP_SWITCH: Final = "--enable-dp-attention"
ATTENTION_DP: Final = "--attn-dp-size"
ATTENTION_DP_SINCE: Final = "0.5.22"
NEEDS_ATTENTION_DP: Final = "--enable-dp-lm-head"
OVER_NODES_BY: Final = "--use-ray"
OFFLOAD: Final = "--cpu-offload-gb"
RUNNER: Final = "VLLM_USE_V2_MODEL_RUNNER"
"""Of the engine of `EXPERTS_BY_VARIABLE`: which of its two model runners serves."""
RUNNER_OFFLOADS: Final = "0.28.0"
"""The first release in which the second runner moves weights to RAM."""
RUNNER_BY_DEFAULT: Final[Mapping[str, str]] = {"kimi_k3": "0.27.0"}
"""Model types that the second runner serves on CUDA from that release on, though nothing is set."""
FORKS: Final[Mapping[str, str]] = {"LVLLM_": "LvLLM, a fork that keeps experts in host memory"}
"""How the variables of forks begin, which no release of the engine reads, and what they are."""
LAUNCHERS: Final[Mapping[str, Mapping[str, str]]] = {
    "launch_online_dp.py": {"3": "--dp-size", "5": "--dp-address", "6": "--dp-rpc-port", "7": "--tp-size"},
}
"""Programs that run a script once a rank, and which of their options it gets as `$3`, `$7` …
(https://github.com/vllm-project/vllm-ascend, examples/external_online_dp/launch_online_dp.py)."""
LAUNCHED: Final = "--dp-size"
LAUNCHED_HERE: Final = "--dp-size-local"
LAUNCHED_FIRST: Final = "--dp-rank-start"
LAUNCHED_ADDRESS: Final = "--dp-address"
LAUNCHED_PORT: Final = "--dp-rpc-port"
LAUNCHED_DEVICES: Final = "--tp-size"
"""Of those programs: all ranks, those of this machine, the first of them, where all ranks meet, and the devices of
each. Without the second all are on this machine."""
RANKS: Final = "--data-parallel-size"
RANKS_HERE: Final = "--data-parallel-size-local"
FIRST_RANK: Final = "--data-parallel-start-rank"
OWN_RANK: Final = "--data-parallel-rank"
"""The same of the engine of `EXPERTS_BY_VARIABLE`, and the one rank of a command that starts no more."""
FLASH: Final = "--flash-attn"
FLASH_BY_ITSELF: Final = "b6325"
"""Flash attention of the engine of GGUF files, and the build from which on it is chosen where nothing is said."""
BUILT_ELSEWHERE: Final = frozenset({("sglang", "ascend")})
"""Engines with a build for devices that moonpad does not plan them on."""
WHOLE_EXPERTS: Final = "flashinfer_cutlass"
WHOLE_EXPERTS_SINCE: Final = "0.5.2"
"""A backend of experts that spreads them over all ranks or none, and the release that has it by this name."""
DENSE: Final = "--moe-dense-tp-size"
DENSE_AS_GROUP: Final = "0.5.13"
"""From then on, or the release behind it, the size may be that of the whole group."""
NAME_WITHOUT_COLON: Final = "0.5.9"
"""The first release that was read in which a served name has no colon."""
AITER_ANY_EXPERTS: Final[Mapping[str, str]] = {"sglang": "0.5.10", "vllm": "0.19.0"}
"""The first releases behind the change in AITER of 2026-03-19, which takes any number of experts."""
AITER_OF_OLD: Final = re.compile(
    r"Aiter MLA only supports 16 or 128|TritonMLA V1 with FP8 KV cache not yet supported", re.IGNORECASE
)
"""Errors of releases before AITER's MLA had kernels for 8 heads."""
AITER_CHOSEN: Final = re.compile(r"Using (?:ROCM_)?AITER[_ ]MLA|Using ROCM_AITER_MLA backend", re.IGNORECASE)
OF_AITER: Final = ("AITER_", "ATOM_")
"""How the variables of AITER and of a plugin begin that uses it whatever the engine's own variables say."""
STARTS: Final = re.compile(
    r"(?:vllm serve|sglang serve|trtllm-serve|trtllm-serve serve|-m tensorrt_llm\.commands\.serve)\Z"
)
"""How a line ends behind which the model follows."""
NO_METHODS: Final = frozenset({
    *("int4", "int8", "int4_awq", "fp4", "nvfp4", "4bit", "8bit", "4-bit", "8-bit", "q4", "q8", "q4_k_m", "q8_0"),
    *("w4a16", "w8a8", "w4a8", "fp16", "bf16", "bfloat16", "float16"),
})  # fmt: skip
"""Words for weights that people write behind `--quantization` of the engine of `EXPERTS_BY_VARIABLE`, of which no
release has had a method of that name, and which no plugin is known to add."""
OTHER_METHODS: Final = frozenset({
    *("awq", "awq_marlin", "gptq", "gptq_marlin", "bitsandbytes", "gguf", "fp8", "modelopt", "modelopt_fp4", "quark"),
    *("compressed-tensors", "moe_wna16", "experts_int8", "torchao", "ascend"),
})  # fmt: skip
"""Methods of that engine, each for weights whose config.json names it."""
FOR_ASCEND: Final = "ascend"
"""The method for weights by ModelSlim."""
OF_FILES: Final = frozenset({"ascend", "awq", "awq_marlin", "gptq", "gptq_marlin", "compressed-tensors"})
"""Methods of `--quantization` that read how the weights are quantized from a file or an entry that lies with them."""
MADE_BEFORE: Final = OF_FILES | {"modelslim", "w8a8_int8"}
"""Methods that make no weights smaller."""
EXPERTS_SHARED: Final = "--enable-expert-parallel"
"""A switch by which the ranks of data parallelism share the experts out too."""
EXPERT_METHOD: Final = "--kt-method"
EXPERT_WEIGHTS: Final = "--kt-weight-path"
EXPERT_METHODS: Final[Mapping[str, tuple[str, ...]]] = {
    "RAWINT4": ("int4",),
    "FP8": ("fp8",),
    "FP8_PERCHANNEL": (),
    "BF16": ("bf16",),
    "MXFP4": ("mxfp4",),
}
"""How the engine that keeps experts in RAM reads the original weights, and the schemes of this catalogue that it reads
so; what is not here reads weights that were converted for it."""
EXPERT_METHOD_OF: Final[Mapping[str, str]] = {"int4": "RAWINT4", "fp8": "FP8", "bf16": "BF16"}
TEMPLATE: Final = "--chat-template"
TEMPLATE_FILE: Final = "--chat-template-file"
TEMPLATES: Final = frozenset({
    *("chatml", "llama2", "llama2-sys", "llama2-sys-bos", "llama2-sys-strip", "llama3", "llama4", "mistral-v1"),
    *("mistral-v3", "mistral-v3-tekken", "mistral-v7", "mistral-v7-tekken", "phi3", "phi4", "falcon3", "zephyr"),
    *("monarch", "gemma", "orion", "openchat", "vicuna", "vicuna-orca", "deepseek", "deepseek2", "deepseek3"),
    *("command-r", "chatglm3", "chatglm4", "glmedge", "minicpm", "exaone3", "exaone4", "rwkv-world", "granite"),
    *("gigachat", "megrez", "yandex", "bailing", "smolvlm", "hunyuan-moe", "hunyuan-dense", "gpt-oss"),
    *("deepseek-ocr", "exaone-moe", "granite-4.0", "granite-4.1", "bailing-think", "bailing2", "hunyuan-vl"),
    *("seed_oss", "grok-2", "pangu-embedded", "solar-open"),
})  # fmt: skip
"""Names of chat templates in the engines that read GGUF alone; that of the family is `kimi-k2`."""
OWN_TEMPLATE: Final = "kimi-k2"
PLAIN_TEMPLATE: Final = "chatml"
"""The only name that is also taken for one where Jinja reads templates."""
STARTED_MODULES: Final = (
    *("sglang.launch_server", "sglang_router.launch_router", "sglang_router.launch_server", "sglang.bench_serving"),
    *("sglang.bench_one_batch", "sglang.bench_offline_throughput", "vllm.entrypoints.openai.api_server"),
)
"""What is started by `python -m`, for names that are one letter away from it."""
NO_MODULES: Final[Mapping[str, Mapping[str, str]]] = {
    "sglang": {
        "sglang.launch_disaggregation_router": "sglang_router.launch_router --pd-disaggregation",
        "sglang.launch_pd_server": "sglang.launch_server --disaggregation-mode",
        "sglang.launch_disagg_server": "sglang.launch_server --disaggregation-mode",
        "sglang.launch_router": "sglang_router.launch_router",
        "sglang.launch_worker": "sglang.launch_server",
    },
    "vllm": {
        "lmcache.vllm.entrypoints.openai.api_server": "vllm.entrypoints.openai.api_server with --kv-transfer-config",
        "lmcache.entrypoints.openai.api_server": "vllm.entrypoints.openai.api_server with --kv-transfer-config",
    },
    "ktransformers": {"ktransformers.server": "ktransformers.server.main"},  # a package without __main__
}
"""An engine → modules that guides invent for it or for a library of it, in no release, and what there is."""
PLAIN_SERVERS: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    "vllm.entrypoints.api_server": (
        "vllm.entrypoints.openai.api_server",
        frozenset({
            *("--lora-modules", "--api-key", "--chat-template", "--response-role", "--tool-call-parser"),
            "--enable-auto-tool-choice",
        }),
    )
}  # fmt: skip
"""A server for demonstrations, which has /generate alone → the server with the API of OpenAI, and options of that one
which the first lacks."""
CONTEXT_OF_POOL: Final = "--context-length"
POOL: Final = re.compile(
    r"exceeds the maximum allowed length \((\d{3,8}) tokens\)|\bmax_total_num_tokens=(?=(\d{3,8})\b)"
)
"""What that server says of the tokens that it takes: its KV cache where that is less than the context."""
PARALLEL_DRAFTS: Final = frozenset({"dspark", "dflash"})
"""Methods of `EXPERTS_BY_VARIABLE` that propose all tokens at once, and reserve room for them in each step."""
PREFILL_PARALLEL: Final = "--prefill-context-parallel-size"
PREFILL_WAYS: Final = frozenset({PREFILL_PARALLEL, "-pcp"})
CACHE_OF_WORKERS: Final = re.compile(
    r"(?:\b(?:max_local_cpu_size|cpuOffloadingBufferSize)\s?[:=]|LMCACHE_MAX_LOCAL_CPU_SIZE=)\s{0,4}[\"']?(\d{1,5})"
)
"""What each worker takes of the host's RAM, in GB, for KV cache that leaves the devices; the second is a chart's."""
CACHE_VARIABLE: Final = "LMCACHE_MAX_LOCAL_CPU_SIZE"
CACHE_OPTION: Final = "max_local_cpu_size"
ALGORITHM: Final = "--speculative-algorithm"
DRAFT_PATH: Final = "--speculative-draft-model-path"
OWN_DRAFTS: Final = frozenset({"NEXTN", "EAGLE"})
"""Algorithms of the engine of `EXPERTS_BY_OPTION` that use the checkpoint's own layer where no other draft is named."""

RPC_WORKER: Final = re.compile(
    r"(?:(?<![\w/-])|^)(?:\S{0,80}/)?(?:ggml-)?rpc-server(?:\.exe)?(?P<options>[ \t]+-[^#;&|]*)"
    r"|^[ \t]*(?:[$>][ \t]+)?(?:\S{0,80}/)?(?:ggml-)?rpc-server(?:\.exe)?(?P<alone>[ \t]*)$"
)
"""A worker of the engines that read GGUF alone, as a line starts it, and its options."""
NO_WORKER: Final = re.compile(r"--target|\bcmake\b|\bmake\b|kill|\b(?:s?cp|rsync|rm|which|ls)[ \t]")
OWN_SERVERS: Final = (
    *("--data-parallel-external-lb", "--data-parallel-hybrid-lb", "--data-parallel-multi-port-external-lb"),
    "--data-parallel-rank",
)
"""Options with which each node has an API server, behind a balancer of the user's."""
RANK_SERVERS: Final = (*OWN_SERVERS, "--data-parallel-start-rank", "--data-parallel-size-local")
"""Options with which more nodes than the first have an API server of their own."""
RPC_HOST: Final = re.compile(r"(?<![\w-])(?:-H|--host)(?:[ =]|\b)")
RPC_OPTION: Final = "--rpc"
BUILDS: Final = re.compile(r"\bcmake[ \t]+--build\b(?P<words>[^#;&|]*)")
"""A line that builds, with the rest of its words."""
TARGETS: Final = ("--target", "-t")
BUILT: Final = frozenset({"llama-server", "llama-cli", "llama-bench", "rpc-server", "llama-gguf-split"})
MODE: Final = re.compile(r"--disaggregation-mode[ =]+[\"']?(?P<role>prefill|decode)\b")
ROUTERS: Final = re.compile(r"--pd-disaggregation|--mini-lb|\bmini_lb\b|--vllm-pd-disaggregation")
"""How a router is told that it has servers of both roles."""
FOLDER: Final[Mapping[str, str]] = {"--model_path": "--gguf_path", "--model-path": "--gguf-path"}
"""Of the engine that keeps experts in RAM, in its old form: where its configuration lies, and where the weights."""
ALL_DECLARED: Final[Mapping[str, str]] = {"vllm": "VLLM_"}
"""How the variables of an engine begin that declares all that it reads, none of them in the place of an option."""
IN_PLACE_OF_OPTIONS: Final[Mapping[str, str]] = {"llama-server": "LLAMA_ARG_"}
"""How the variables of a program begin that stand for its options."""
OWN_VARIABLES: Final = ("VLLM_", "SGLANG_", "SGL_")
"""How the variables begin that an engine reads itself, and no library."""
OF_OTHER_ENGINE: Final = ("SGLANG_", "SGL_")
"""Variables that the engine of `EXPERTS_BY_VARIABLE` never reads."""
EXECUTOR: Final = "--distributed-executor-backend"
RAY: Final = "ray"
NO_WEIGHT_ONLY_EXPERTS: Final[Mapping[str, str]] = {"sglang": "0.5.16", "ktransformers": ""}
"""Releases before have no such way for experts; the later ones were not read. "": none is foreseen, also where all
experts are on the host (https://github.com/kvcache-ai/ktransformers/issues/1930 and 1978)."""
WITHOUT_WEIGHT_ONLY: Final = "triton"
WEIGHT_ONLY_NVFP4: Final[Mapping[str, str]] = {"vllm": "0.9.0", "sglang": "0.5.13"}
"""The first release that multiplies NVFP4 weights in BF16 where the devices have no FP4 arithmetic."""
EXPERT_BACKENDS: Final = frozenset({
    *("triton", "batched_triton", "triton_unfused", "deep_gemm", "cutlass", "marlin", "humming", "aiter", "flydsl"),
    *("flashinfer_trtllm", "flashinfer_cutlass", "flashinfer_cutedsl", "flashinfer_b12x", "b12x", "hpc", "emulation"),
    *("aiter_triton_mxfp4_bf16", "aiter_triton_mxfp4_mxfp4", "rdna3"),
})  # fmt: skip
"""Values of `--moe-backend` that choose a kernel of the layer that all models share; others belong to one model."""
SLOW_EXPERT_BACKENDS: Final = frozenset({"emulation"})
FP8_BLOCK_EXPERTS: Final = "fp8-block"
NVFP4_EXPERTS: Final = "nvfp4"
BF16_EXPERTS: Final = "bf16"
"""Keys of data/expert_backends.toml."""

HUB_SWITCH: Final = "VLLM_USE_MODELSCOPE"
HUB_SWITCHES: Final[Mapping[str, str]] = {"vllm": HUB_SWITCH, "sglang": "SGLANG_USE_MODELSCOPE"}
"""Takes models from ModelScope, and patches the client of the other hub for all that runs with it."""
EMPTY_IS_NONE: Final = frozenset({"vllm serve", "vllm-ascend"})
"""Programs that take an empty value of most options for none (vllm/engine/arg_utils.py of 0.27.0, optional_type)."""
NEVER_EMPTY: Final = frozenset({"--tensor-parallel-size", "--pipeline-parallel-size", "--data-parallel-size"})
"""Those of them that want a number."""
KEY_VARIABLE: Final = "VLLM_API_KEY"
"""Holds the key of a server of `EXPERTS_BY_VARIABLE` that is given no `--api-key`."""
DEVELOPER_MODE: Final = "VLLM_SERVER_DEV_MODE"
"""Opens the paths of development of that engine's server."""
PACKAGES: Final = frozenset({"vllm", "sglang", "ktransformers", "lmcache"})
"""Packages of Python, whose names have these very letters."""
HELPERS: Final = {"launch_server_cmd": "sglang.utils"}
"""Functions that stand in one engine's package alone, and where."""
