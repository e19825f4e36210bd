# ruff: noqa: E501 - the lines of logs are as long as they are
"""Start logs as engines write them, made up line by line: the forms are those of the releases, the figures are ours."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

K2 = "moonshotai/Kimi-K2-Thinking"
KV_TOKEN_BYTES = 70_272
"""61 layers × (512 + 64) values of two bytes: of config.json, not of the planner."""


def vllm(
    version: str = "0.25.1",
    *,
    model: str = K2,
    kv_gib: Sequence[float] = (40.0,),
    kv_tokens: int = 611_136,
    arguments: str = "'tensor_parallel_size': 8, 'max_model_len': 65536, 'max_num_seqs': 128, ",
    more: Iterable[str] = (),
    ready: bool = True,
) -> str:
    """A release since 0.10: prefixes of the processes, and one line of arguments that differ from the defaults."""
    api, core = "(APIServer pid=1) INFO 06-05 09:10:15", "(EngineCore pid=446) INFO 06-05 09:10:42"
    lines = [
        f"{api} [utils.py:299]  ▄▄ ▄█ █     █     █ ▀▄▀ █  version {version}",
        f"{api} [utils.py:299]   █▄█▀ █     █     █     █  model   {model}",
        f"{api} [utils.py:233] non-default args: {{'model_tag': '{model}', 'api_key': ['not-to-be-seen-1234'], "
        f"'model': '{model}', {arguments}'gpu_memory_utilization': 0.9, 'served_model_name': ['kimi']}}",
        f"{api} [scheduler.py:239] Chunked prefill is enabled with max_num_batched_tokens=8192.",
        f"{core} [core.py:109] Initializing a V1 LLM engine (v{version}) with config: model='{model}', "
        "speculative_config=None, dtype=torch.bfloat16, max_seq_len=65536, load_format=auto, tensor_parallel_size=8, "
        "pipeline_parallel_size=1, data_parallel_size=1, quantization=compressed-tensors, enforce_eager=False, "
        "kv_cache_dtype=auto, device_config=cuda, compilation_config={'mode': <CompilationMode.VLLM_COMPILE: 3>, "
        "'custom_ops': ['none'], 'cudagraph_mode': <CUDAGraphMode.FULL_AND_PIECEWISE: (2, 1)>}",
        *more,
    ]
    workers = [f"(Worker_TP{rank} pid={650 + rank}) INFO 06-05 09:11:47" for rank in range(max(1, len(kv_gib)))]
    lines += [
        f"{one} [gpu_model_runner.py:4879] Model loading took 71.16 GiB memory and 48.8 seconds" for one in workers
    ]
    lines += [f"{one} [gpu_model_runner.py:6042] Estimated CUDA graph memory: 0.53 GiB total" for one in workers]
    lines += [
        f"{one} [gpu_worker.py:440] Available KV cache memory: {size:.2f} GiB"
        for one, size in zip(workers, kv_gib, strict=False)
    ]
    if kv_tokens:
        lines.append(f"{core} [kv_cache_utils.py:1711] GPU KV cache size: {kv_tokens:,} tokens")
        lines.append(
            f"{core} [kv_cache_utils.py:1716] Maximum concurrency for 65,536 tokens per request: {kv_tokens / 65536:.2f}x"
        )
        lines += [
            f"{one} [gpu_worker.py:599] CUDA graph pool memory: 0.41 GiB (actual), 0.53 GiB (estimated), difference: 0.12"
            for one in workers
        ]
    return "\n".join([*lines, f"{api} Application startup complete." if ready else ""]) + "\n"


def sglang(*, ranks: int = 8, kv: str = "#tokens: 800000, KV size: 52.36 GB", more: str = "", dp: int = 1) -> str:
    """0.5.10, of whose arguments the log has all; a draft's weights and pool have lines behind the model's."""
    lines = [
        f"[2026-02-26 16:30:34] server_args=ServerArgs(model_path='{K2}', tokenizer_path='{K2}', trust_remote_code=True, "
        "context_length=None, host='127.0.0.1', port=30000, api_key='not-to-be-seen-1234', device='cuda', "
        f"tp_size={ranks}, dp_size={dp}, pp_size=1, ep_size=1, mem_fraction_static=0.85, max_running_requests=None, "
        "chunked_prefill_size=8192, kv_cache_dtype='auto', page_size=1, attention_backend='fa3', "
        f"disable_cuda_graph=False, enable_dp_attention=False, lora_paths=None, cpu_offload_gb=0, {more}"
        "cuda_graph_bs=[1, 2, 4, 8], quantization=None, kt_method='AMXINT4', kt_threadpool_count=2)"
    ]
    for rank in range(ranks):
        at = f"[2026-02-26 16:34:09 TP{rank}]" if ranks > 1 else "[2026-02-26 16:34:09]"
        lines += [
            f"{at} Load weight begin. avail mem=138.31 GB",
            f"{at} Load weight end. elapsed=228.09 s, type=DeepseekV3ForCausalLM, dtype=torch.bfloat16, "
            "avail mem=67.10 GB, mem usage=71.21 GB.",
            f"{at} Using KV cache dtype: torch.bfloat16",
            f"{at} KV Cache is allocated. dtype: torch.bfloat16, {kv}",
            f"{at} Memory pool end. avail mem=14.50 GB",
            f"{at} Capture cuda graph begin. This can take up to several minutes. avail mem=14.30 GB",
            f"{at} Capture cuda graph end. Time elapsed: 10.41 s. mem usage=1.30 GB. avail mem=13.00 GB.",
        ]
        if "EAGLE" in more:
            lines += [
                f"{at} Load weight end. elapsed=9.1 s, type=DraftForCausalLM, avail mem=12.00 GB, mem usage=1.00 GB.",
                f"{at} KV Cache is allocated. dtype: torch.bfloat16, #tokens: 800000, KV size: 0.86 GB",
            ]
        lines.append(
            f"{at} max_total_num_tokens=800000, chunked_prefill_size=8192, max_prefill_tokens=16384, "
            "max_running_requests=2048, context_len=262144, available_gpu_mem=12.90 GB"
        )
    return "\n".join([*lines, "[2026-02-26 16:35:59] The server is fired up and ready to roll!"]) + "\n"


VLLM_0_8 = """\
INFO 03-22 13:13:27 [api_server.py:977] vLLM API server version 0.8.5.post1
INFO 03-22 13:13:27 [api_server.py:978] args: Namespace(subparser='serve', model_tag='/models/Kimi-K2-Instruct', config='', \
host='0.0.0.0', port=8102, allowed_origins=['*'], api_key=None, model='/models/Kimi-K2-Instruct', \
tensor_parallel_size=8, pipeline_parallel_size=2, max_model_len=32768, gpu_memory_utilization=0.92, \
enable_prefix_caching=None, max_num_seqs=64, enforce_eager=True, dispatch_function=<function ServeSubcommand.cmd at 0x7f>)
INFO 03-22 13:13:30 [config.py:1712] Chunked prefill is enabled with max_num_batched_tokens=2048.
INFO 03-22 13:13:40 [core.py:54] Initializing a V1 LLM engine (v0.8.5.post1) with config: model='/models/Kimi-K2-Instruct', \
max_seq_len=32768, tensor_parallel_size=8, pipeline_parallel_size=2, enforce_eager=True, kv_cache_dtype=auto,  device_config=cuda
(VllmWorker rank=0 pid=2101) INFO 03-22 13:17:01 [gpu_model_runner.py:1112] Model loading took 61.2345 GiB and 201.42 seconds
(VllmWorker rank=1 pid=2102) INFO 03-22 13:17:02 [gpu_model_runner.py:1112] Model loading took 61.2345 GiB and 202.42 seconds
INFO 03-22 13:19:01 [kv_cache_utils.py:566] GPU KV cache size: 400,000 tokens
INFO 03-22 13:19:01 [kv_cache_utils.py:569] Maximum concurrency for 32,768 tokens per request: 12.21x
INFO 03-22 13:19:01 [kv_cache_utils.py:566] GPU KV cache size: 398,400 tokens
INFO 03-22 13:19:01 [kv_cache_utils.py:569] Maximum concurrency for 32,768 tokens per request: 12.16x
"""

VLLM_V0 = f"""\
INFO 04-01 10:12:16 api_server.py:840] vLLM API server version 0.8.2
INFO 04-01 10:12:16 api_server.py:841] args: Namespace(subparser='serve', model='{K2}', tensor_parallel_size=8, \
max_model_len=8192, gpu_memory_utilization=0.95, max_num_seqs=16)
INFO 04-01 10:13:15 model_runner.py:1115] Loading model weights took 71.1573 GB
INFO 04-01 10:13:16 worker.py:267] Memory profiling takes 5.07 seconds
INFO 04-01 10:13:16 worker.py:267] the current vLLM instance can use total_gpu_memory (139.81GiB) x gpu_memory_utilization \
(0.95) = 132.82GiB
INFO 04-01 10:13:16 worker.py:267] model weights take 71.16GiB; non_torch_memory takes 2.53GiB; PyTorch activation peak \
memory takes 1.24GiB; the rest of the memory reserved for KV Cache is 57.89GiB.
INFO 04-01 10:13:16 executor_base.py:110] # cuda blocks: 55285, # CPU blocks: 3728
INFO 04-01 10:13:16 executor_base.py:115] Maximum concurrency for 8192 tokens per request: 107.98x
"""


def in_docker_json(text: str, cut: int = 0) -> str:
    """As `/var/lib/docker/containers/*-json.log` has it; lines longer than `cut` in pieces."""
    rows = []
    for line in text.splitlines():
        size = cut or len(line) + 1
        pieces = [line[at : at + size] for at in range(0, max(1, len(line)), size)]
        pieces[-1] += "\n"
        rows += [json.dumps({"log": piece, "stream": "stderr", "time": "2026-06-05T09:10:15Z"}) for piece in pieces]
    return "\n".join(rows) + "\n"


def in_cri(text: str, cut: int = 0) -> str:
    """As `/var/log/pods/*` has it."""
    rows = []
    for line in text.splitlines():
        size = cut or len(line) + 1
        pieces = [line[at : at + size] for at in range(0, max(1, len(line)), size)]
        rows += [f"2026-06-05T09:10:15.123456789Z stderr P {piece}" for piece in pieces[:-1]]
        rows.append(f"2026-06-05T09:10:15.123456789Z stderr F {pieces[-1]}")
    return "\n".join(rows) + "\n"


def in_journal_json(text: str) -> str:
    """`journalctl -o json`: a message with colours is a list of bytes."""
    return "\n".join(json.dumps({"MESSAGE": list(line.encode()), "_PID": "7"}) for line in text.splitlines()) + "\n"


def in_journal(text: str) -> str:
    return "".join(f"Jun 05 09:10:15 gpu-7 vllm[4242]: {line}\n" for line in text.splitlines())


def coloured(text: str, escape: str = "\x1b") -> str:
    """The prefixes of the processes in colour, as for a terminal; syslog has `#033` for the escape."""
    return "".join(
        f"{escape}[0;36m{line.replace('INFO', f'{escape}[32mINFO{escape}[0m')}\n" for line in text.splitlines()
    )
