"""Words of the engines in what stands around their commands: images, volumes, ports, host memory and Services."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

WITHOUT_WEIGHTS: Final = re.compile(
    r"(?:docker\.io/)?(?:vllm/vllm-openai(?:-rocm)?|lmsysorg/sglang(?:-rocm)?|rocm/vllm(?:-dev)?|rocm/sglang|rocm/sgl-dev"
    r"|nvcr\.io/nvidia/tensorrt-llm/release"
    r"|ghcr\.io/ggml-org/llama\.cpp)(?:[:@][^\s/]*)?"
)
"""Images that the engines publish: they have no models, and their user is root."""
WITHOUT_SERVER: Final = re.compile(
    r"(?:docker\.io/)?(?:lmsysorg/sglang(?:-rocm)?|rocm/sgl-dev|nvcr\.io/nvidia/tensorrt-llm/release"
    r"|nvcr\.io/nvidia/ai-dynamo/(?:vllm|sglang|tensorrtllm)-runtime)(?::[^\s/@]*)?(?:@[^\s/]*)?"
)
"""Images that the engines publish whose entrypoint starts no server: it runs what stands behind the image
(docker/Dockerfile of SGLang ends in a shell, those of NVIDIA in a script that runs its arguments)."""
NOT_FOR_MODELS: Final = re.compile(
    r"vllm|triton|torch|inductor|flashinfer|deep_?gemm|lora|nixl|lmcache|mooncake|compile|template|config|tmp"
    r"|logs?(?![a-z])|\.(?:json|jinja|ya?ml|py|sh|txt|toml)$|dataset|tokeniz|pip|nltk|tiktoken|draft|\$",
    re.IGNORECASE,
)
"""What folders that are mounted for something else than weights are called."""
PLATFORM_OPTIONS: Final[Mapping[tuple[str, str], str]] = {
    ("--device", "npu"): "ascend",
    ("--attention-backend", "ascend"): "ascend",
    ("--attention-backend", "aiter"): "rocm",
    ("--prefill-attention-backend", "aiter"): "rocm",
    ("--decode-attention-backend", "aiter"): "rocm",
    ("--moe-runner-backend", "aiter"): "rocm",
    ("--attention-backend", "ROCM_ATTN"): "rocm",
    ("--attention-backend", "ROCM_AITER_FA"): "rocm",
    ("--attention-backend", "ROCM_AITER_UNIFIED_ATTN"): "rocm",
    ("--attention-backend", "ROCM_AITER_MLA"): "rocm",
    ("--attention-backend", "ROCM_AITER_MLA_SPARSE"): "rocm",
    ("--attention-backend", "ROCM_AITER_TRITON_MLA"): "rocm",
}
"""Options and values that are for devices of one platform alone."""
MODULE_ROLES: Final = ("--multimodal-worker", ("--multimodal-processor", "--multimodal-encode-worker"))
"""Switches of Dynamo's workers: the one that answers behind another, and those that register the model: the second
registers it in the releases that have no processor any more (examples/backends/sglang/launch of 1.2)."""
EVENT_OPTIONS: Final[Mapping[str, tuple[str, str, str]]] = {
    "sglang": (
        "--kv-events-config",
        r"""\W*zmq\b""",
        """'{"publisher":"zmq","topic":"kv-events","endpoint":"tcp://*:5557"}'""",
    ),
    "vllm": (
        "--kv-events-config",
        r"\W*true\b",
        """'{"enable_kv_cache_events":true,"publisher":"zmq","topic":"kv-events","endpoint":"tcp://*:5557"}'""",
    ),
    "trtllm": ("--publish-events-and-metrics", "", ""),
}
"""Dynamo's modules → the option by which their workers say what they hold in their caches, what its value has behind
the key, and a value (docs/components/router/router-operations.md)."""
EVENT_KEYS: Final[Mapping[str, str]] = {"sglang": "publisher", "vllm": "enable_kv_cache_events"}
EVENTS_BY_THEMSELVES: Final[Mapping[str, re.Pattern[str]]] = {
    "vllm": re.compile(r"(?:ai-dynamo|dynamo|vllm-runtime)\S{0,40}?(?::|==|\s)v?(?:0|1\.0)\.\d")
}
"""Releases in which a module said it unasked, where the cache of prefixes is on (ai-dynamo/dynamo#7591)."""
MODEL_ON_COMMAND_LINE: Final = (("sglang", "serve"), "--config", ("--model-path", "--model"))
"""A subcommand that looks for the model among its words before it reads its file: the file's option, and the model's
(sglang/cli/serve.py and utils.py of 0.5.8 to 0.5.23; `python -m sglang.launch_server` reads the file first)."""
BY_SUBCOMMANDS: Final[Mapping[str, str]] = {"vllm": "vllm serve"}
"""Programs whose first word is a subcommand: the one that serves."""
OWN_ADDRESS: Final = re.compile(r"HOST_IP$|^HCCL_IF_IP$|_LOCAL_IP$")
"""Variables that name the address of the machine itself: VLLM_HOST_IP, SGLANG_HOST_IP."""
OWN_ADDRESSES: Final = ("HCCL_IF_IP", "VLLM_HOST_IP", "SGLANG_HOST_IP")
"""Those of them that nodes of one engine are told apart by."""
OF_RAY_NODE: Final = "VLLM_HOST_IP"
"""The one by which an engine's workers in a Ray cluster are told apart."""
KEY_VARIABLE: Final = "VLLM_API_KEY"
"""The variable that is a server's key where no option names one."""
MEASURES: Final = "vllm bench serve"
"""The program that asks a server, by --base-url or --host and --port, and puts its --endpoint behind."""
SERVES_NEXT: Final = re.compile(r"[ \t]*(?:vllm[ \t]+serve|python3?[ \t]+-m[ \t]+vllm)\b")
"""A line that starts a server behind the script that joins pods."""
PLAIN_ASCEND: Final = re.compile(r"(?:^|/)ascend/vllm-ascend:v?\d[\d.]*(?:rc\d+)?(?:-openeuler)?$")
"""An image without a chip in its tag, which is the one for A2
(https://docs.vllm.ai/projects/ascend/en/latest/installation.html)."""
OF_GENERATION: Final = re.compile(
    r"(?<![\w.-])(?:[\w.-]+/)*ascend/vllm-ascend:v?\d[\w.]*-(?P<kind>a2|a3)(?=-|[\s\"'`)]|$)[\w.-]*", re.IGNORECASE
)
"""An image with the generation of devices in its tag."""
ONE_PROCESS_A_NODE: Final = frozenset({"vllm", "vllm-ascend", "sglang"})
"""Engines whose server starts the ranks of its node itself."""
SIDE_CHANNELS: Final[Mapping[str, tuple[str, str]]] = {
    "NixlConnector": ("VLLM_NIXL_SIDE_CHANNEL_PORT", "VLLM_NIXL_SIDE_CHANNEL_HOST"),
}
"""Connectors that wait for a handshake: the variables of the port and of the address."""
IMAGES_OF: Final[Mapping[str, str]] = {
    "rocm": "take the image for ROCm: vllm/vllm-openai-rocm, or a tag with rocm of lmsysorg/sglang",
    "cuda": "take the image for CUDA: vllm/vllm-openai, or a tag without rocm of lmsysorg/sglang",
}
"""Platform of the devices → what to take in the place of an image for another."""
PORT_OF_RANKS: Final = ("P2pNcclConnector", "kv_port")
"""A connector whose ranks listen at a port of its settings and those behind it, one each:
https://docs.vllm.ai/en/latest/design/p2p_nccl_connector/."""
FEWER_RANKS_OF_DECODE: Final = ("0.10.0", "0.14.0")
"""Releases from and before which the first of these connectors asserts that decode has no fewer ranks than prefill:
PyPI vllm 0.10.0 to 0.14.1, nixl_connector.py; https://github.com/vllm-project/vllm/pull/27274."""
STARTED_PLAINLY: Final = "vllm serve"
"""The program whose user sets these variables: vllm/envs.py of 0.32.0 has localhost for the address."""
RANDOM_PORTS: Final[Mapping[str, tuple[int, int]]] = {"vllm-ascend": (20000, 1000)}
"""Engines whose Mooncake takes ports at random from the first number on, so many for each device of a node
(AscendDirectTransport: https://github.com/vllm-project/vllm-ascend/pull/6455)."""
HOST_CACHES: Final[Mapping[str, tuple[float, bool]]] = {
    "--kv-offloading-size": (2.0**30, False),
    "--hicache-size": (1e9, True),
    "--cache-ram": (2.0**20, False),
}
"""Options for a KV cache in host memory: the bytes of one unit, and whether each rank takes as much."""


TRANSFER: Final = "--kv-transfer-config"
KEYS_OF_HOST_CACHES: Final = (("cpu_bytes_to_use_per_rank", True), ("cpu_bytes_to_use", False))
"""Of the extra configuration of that option: keys with bytes of host memory, and whether each rank takes as many; the
first counts (vllm/distributed/kv_transfer/kv_connector/v1/simple_cpu_offload_connector.py)."""


class PromptCache(NamedTuple):
    """A cache in host memory that an engine has where nothing is said of it."""

    engine: str
    flags: tuple[str, ...]
    variable: str
    default_bytes: float
    since: str


PROMPT_CACHE: Final = PromptCache(
    "llama-cpp", ("-cram", "--cache-ram"), "LLAMA_ARG_CACHE_RAM", 8192 * 2.0**20, "b10156"
)
"""Recorded from b10156 on, which is the first release whose options are."""
NO_HEALTH: Final[Mapping[str, re.Pattern[str]]] = dict.fromkeys(
    ("vllm", "vllm-ascend", "sglang"),
    re.compile(r"/(?:v1|api|api/v1)/(?:health|ready|live)(?:z|y|ness|iness)?/?|/api/version"),
)
"""Addresses that these engines lack and others have: llama.cpp has /v1/health."""
WITHOUT_OLLAMA: Final = frozenset({"vllm", "vllm-ascend", "tensorrt-llm"})
"""Engines that have none of Ollama's addresses: SGLang, KTransformers and llama.cpp have some of them."""
NAMES_OF_SERVICES: Final[Mapping[str, str]] = {"vllm": "vllm", "vllm-ascend": "vllm"}
"""The name of a Service of Kubernetes for which it sets a variable that the engine reads itself: VLLM_PORT
(https://docs.vllm.ai/en/latest/configuration/env_vars.html)."""
GRAPH: Final = "DynamoGraphDeployment"
"""The kind of object whose services find each other by a namespace that each of them names."""
PORT_OF_PROCESSES: Final = "VLLM_PORT"
"""The first port that the processes of one server take among each other; they count up from it (vLLM's
utils/network_utils.py, get_open_ports_list)."""
CONNECTOR_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "NixlConnector": (
        "backends",
        "bidirectional_kv_xfer",
        "decoder_kv_blocks_ttl",
        "enforce_handshake_compat",
        "kv_lease_duration",
        "kv_recompute_threshold",
        "num_threads",
        "push_registration_timeout",
    )
}
"""Keys of kv_connector_extra_config that a connector reads (vLLM 0.14.0 to 0.27.0, get_from_extra_config)."""
READ_BY_SERVERS: Final = re.compile(
    r"(?:CUDA|HIP|ROCR|ASCEND|HCCL|NCCL|RCCL|GLOO|NVSHMEM|UCX|HF|HUGGING|VLLM|SGLANG|SGL|TRTLLM|TLLM|TORCH|PYTORCH|TRITON"
    r"|OMP|MC|MOONCAKE|LMCACHE|RAY|NVIDIA|FLASHINFER|TRANSFORMERS)_"
)
"""Beginnings of the names of variables that a server, or a library in it, reads."""
PROXIED: Final = "hosted_vllm/"
"""How LiteLLM writes before the name of a model that such a server has."""
ASK_AT_GENERATE: Final = ("sglang", "sglang-native")
"""Backends of a measurement that ask at /generate, a path of one engine alone (benchmark/serving.py of 0.5.23)."""
PORTS_OF_BACKENDS: Final = {"sglang": 30000, "sglang-native": 30000, "sglang-oai": 30000, "vllm": 8000, "": 30000}
"""Where the measurement of `EXPERTS_BY_OPTION` asks by itself, by its --backend (bench_serving.py of 0.5.9)."""
OPTIONS_OF_OTHER_BENCHES: Final[Mapping[str, Mapping[str, str]]] = {
    "sglang bench": {"--model-path": "--model", "--save-result": "--output-file", "--result-dir": "--output-file"},
}
"""Options of servers and of other measurements that a measurement does not have (bench_serving.py from 0.3.0 to 0.4.7,
and of 2026), and its own word for each."""
OPTIONS_OF_MEASUREMENTS: Final = frozenset(
    {
        *("--num-prompts", "--num-prompt", "--dataset-name", "--dataset-path", "--request-rate", "--max-concurrency"),
        *("--random-input-len", "--random-input", "--random-output-len", "--random-output", "--random-range-ratio"),
        *("--sharegpt-output-len", "--sharegpt-context-len", "--warmup-requests", "--num-warmups"),
        *("--percentile-metrics", "--metric-percentiles", "--result-filename", "--burstiness", "--gsp-num-groups"),
    }
)
"""What the programs that measure a server take, and no server does, each with a value (sglang/bench_serving.py of 0.4
to 0.5.23, `vllm bench serve` of 0.10 to 0.33)."""
MEASURED_BY: Final[Mapping[str, str]] = {
    "vllm serve": "vllm bench serve",
    "vllm-ascend": "vllm bench serve",
    "sglang": "sglang.bench_serving",
    "sglang-kt": "sglang.bench_serving",
}
"""The program of a server → the one that measures it."""

CLIENT_KEYS: Final = re.compile(
    r"(?:OPENAI|ANTHROPIC|MOONSHOT(?:_?AI)?|KIMI|DEEPSEEK|TOGETHER|OPENROUTER|GROQ|MISTRAL|GEMINI|GOOGLE|COHERE|XAI|GROK"
    r"|FIREWORKS|DASHSCOPE|ZHIPU(?:AI)?|ZAI|MINIMAX|SILICONFLOW|PERPLEXITY|CEREBRAS|NVIDIA|AZURE_OPENAI)_API_KEY"
    r"|ANTHROPIC_AUTH_TOKEN"
)
"""Keys by which clients are known to a hosted service: no engine reads one."""
CHOOSE_DEVICES: Final = (
    *("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"),
    "ASCEND_RT_VISIBLE_DEVICES",
)
"""Variables that leave a process some of the machine's devices."""
EXAMPLES_OF_IMAGE: Final = "/vllm-workspace/examples/"
"""Where vLLM's image has its examples."""
FOLDER_OF_SCRIPT: Final = re.compile(
    rf"{EXAMPLES_OF_IMAGE}(?P<folder>online_serving|ray_serving)/multi-node-serving\.sh\b"
)
"""The script that joins machines into a Ray cluster."""
