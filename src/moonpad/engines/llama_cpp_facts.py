"""What planning and verifying have to know of llama.cpp's server, and what it alone refuses.

Facts: tools/server/README.md, src/llama-model.cpp and tools/server/*.cpp of https://github.com/ggml-org/llama.cpp at
b11434, and what that build did when it served kimi-k2-tiny (tests/e2e/test_llama_cpp.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines.api_facts import ApiFacts, Topic
from moonpad.engines.base import MetricNames
from moonpad.values.configuration import Configuration, EngineFacts
from moonpad.values.finding import Finding, illegal, invalid, unsupported
from moonpad.values.platform import Platform
from moonpad.values.records import replace


def gguf_alone(configuration: Configuration) -> Iterator[Finding]:
    if configuration.scheme != "gguf":
        yield unsupported(
            "quantization",
            f"{configuration.scheme.upper()} weights in safetensors: {configuration.engine.name} reads GGUF files only",
            "take a GGUF of the model: publishers of such files have repositories NAME-GGUF, with a type each "
            "(-hf OWNER/NAME-GGUF:Q4_K_M)",
        )


def whole_layers(configuration: Configuration) -> Iterator[Finding]:
    layout = configuration.layout
    for name, size in (("tp", layout.tp), ("dp", layout.dp), ("ep", layout.ep), ("dcp", layout.dcp)):
        if size > 1:
            yield illegal(
                name,
                f"{name} {size}: {configuration.engine.name} is planned with whole layers on each device",
                "set pp",
            )


def layers_on_devices(configuration: Configuration) -> Iterator[Finding]:
    count, most = configuration.settings.device_layers, configuration.architecture.layers + 1
    if count is not None and count > most:
        yield invalid(
            "device_layers", f"device_layers {count}: the model has {most}, the output included", "leave it out"
        )


RULES: Final = (gguf_alone, whole_layers, layers_on_devices)

LLAMA_CPP: Final = EngineFacts(
    name="llama-cpp",
    title="llama.cpp",
    platforms=(Platform.CUDA, Platform.ROCM),
    preference=50,  # behind the engines that batch many sequences
    # Kimi-Linear by ggml-org/llama.cpp#18755 (6 February 2026), K3 by #26185 (August 2026), Kimi-VL by #15458.
    first_versions={"kimi_linear": "b7957", "kimi_k3": "", "kimi_vl": ""},
    setting_names={
        "parallel": "max_num_seqs",
        "ubatch_size": "max_num_batched_tokens",
        "cache_type_k": "kv_cache_dtype",
        "n_gpu_layers": "device_layers",
        "gpu_layers": "device_layers",
        "n_cpu_moe": "host_expert_layers",
    },
    expert_degrees="none",
    balances_experts=False,
    tensor_parallel=False,
    one_machine=True,
    no_dcp_because="llama-cpp deals out whole layers with their KV cache",
    host_experts="of the first layers",
    embedding_on_host=True,
    unpacks_kv_b="never",
    reserves_kv=True,
    memory_fraction_name="",
    parsers_built_in=True,
    graphs_option=False,
    kv_cache_names=frozenset({"f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", "q5_1"}),
    reads_gguf=True,
    gguf_only=True,
    # Q8_0. Of the published quantisations of Kimi-K2 those with larger tensors beside the experts are the exception.
    gguf_rest_bits=8.5,
    rules=RULES,
)

LLAMA_CPP_CPU: Final = replace(
    LLAMA_CPP,
    name="llama-cpp-cpu",
    platforms=(Platform.CPU,),
    preference=22,
    host_experts="",  # all of it is in host RAM
    embedding_on_host=False,
    unasked={"max_model_len": 4096, "max_num_seqs": 4},
)

METRICS: Final = MetricNames(
    running="llamacpp:requests_processing",
    waiting="llamacpp:requests_deferred",
    kv_cache_usage="",
    generation_tokens="llamacpp:tokens_predicted_total",
    prompt_tokens="llamacpp:prompt_tokens_total",
    prefix_hits="llamacpp:prompt_tokens_cached_total",
    prefix_queries="",
)

API_FACTS: Final = ApiFacts(
    title="llama.cpp",
    key="llama-cpp",
    owned_by="llamacpp",
    repository="ggml-org/llama.cpp",
    remedies={
        Topic.TOOL_PARSER: "--jinja, with the chat template of the GGUF or --chat-template-file FILE",
        Topic.REASONING_PARSER: "--jinja --reasoning-format auto",
        Topic.CHAT_TEMPLATE: "--chat-template-file FILE",
        "auth": "--api-key-file FILE, or LLAMA_API_KEY in its environment",
        "context_limit": "--ctx-size N, shared by the slots of --parallel",
        "models": "--alias NAME",
    },
    open_paths=("/health",),
    control_paths=("/slots", "/props"),
    answers_any_model=True,
    survives_500=frozenset({"a message without a role"}),  # docs/engine-findings.md
)
