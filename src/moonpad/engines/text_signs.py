"""What a text shows of the engines: how pages start a server, variables that NPUs have, what traces name."""

from __future__ import annotations

import re
from typing import Final

SERVER_STARTS: Final = ("vllm serve", "sglang serve", "trtllm-serve", "llama-server")
"""The words of a command by which pages start a server."""
JOINING_PROXY: Final = re.compile(r"\bllama[ -]?swap\b", re.IGNORECASE)
"""A proxy that starts servers by itself, and joins the lines of a command in its file."""
LINE_OF_PROXY: Final = re.compile(r"[ \t]*(?:\S{0,200}/)?llama-server[ \t]*|[ \t]*--?[A-Za-z].*")
"""A line of such a command, without a backslash."""
OF_NPUS: Final = ("ASCEND_", "HCCL_", "VLLM_ASCEND_", "SGLANG_NPU_")
"""The beginnings of variables that are read where an engine runs on NPUs."""
ALSO_OF_GAUDI: Final = ("HCCL_",)
"""Of these, what Habana's library of the same name reads too, HCCL_SOCKET_IFNAME."""
LOADED_ON_NPUS: Final = r"Platform plugin ascend is activated|\bascend -> vllm_ascend|\bname=ascend, value=vllm_ascend"
"""What a start logs whose engine has the plugin for NPUs."""
BANNER: Final = "vllm"
"""The engine whose server prints its release and its model on lines of their own as it starts, with a drawing on the
left of them."""
DRAWN: Final = "█▄▀▌▐"
_OF_FORMER: Final = re.compile(
    r"\bMQLLMEngine\b|\bvllm/engine/multiprocessing/|\bVllmWorkerProcess\b|\bmultiproc_worker_utils\.py\b"
    r"|\bvllm/worker/(?:worker_base|worker|model_runner)\.py\b"
)
FORMER_ENGINE: Final = (
    ("vllm", _OF_FORMER, "0.11.0"),
    ("vllm", re.compile(r"\bvllm/executor/[a-z_]+\.py\b"), "0.11.1"),
    ("vllm-ascend", _OF_FORMER, "0.9.1"),
)
"""An engine that had another one of its own before, what a trace of that names, and the first final release without it.
It was taken out of vLLM after 0.10.2: https://github.com/vllm-project/vllm/pull/25033,
https://github.com/vllm-project/vllm/pull/25321, https://github.com/vllm-project/vllm/pull/25329; its executors, which
the other one shared, after 0.11.0: https://github.com/vllm-project/vllm/pull/27142; of the plugin
docs/source/user_guide/release_notes.md says it."""

_LEAD: Final = r"^[^\w\n]{0,12}(?:[^\n]{0,160}[\])][ ]{1,2}|(?:INFO|DEBUG|WARNING|ERROR)[: ][ ]{0,8})?"
"""What stands in front of a record of a log, or nothing."""
PAST_ARGUMENTS: Final = re.compile(
    rf"{_LEAD}(?:Load weight (?:begin|end)\b|Model loading took\b|Loading (?:model )?weights took\b"
    r"|Starting to load model\b|Loading safetensors checkpoint shards:|Capturing (?:CUDA )?graphs?\b"
    r"|Capture cuda graph (?:begin|end)\b|Graph capturing finished\b|GPU KV cache size:|Available KV cache memory:"
    r"|KV Cache is allocated\b|max_total_num_tokens=\d|Application startup complete|The server is fired up"
    r"|Avg prompt throughput:|(?:Prefill|Decode) batch[ .,\[]|Engine \d{3}: Avg )"
)
"""Lines of a log that come once the command line was read."""
FRAMES_PAST_ARGUMENTS: Final = (
    r"(?:api_server\.py\", line \d{1,6}, in (?:run_server\w{0,20}|build_async_engine_client\w{0,20}|init_app_state)"
    r"|entrypoints/cli/serve\.py\", line \d{1,6}, in cmd\b"
    r"|^\W{0,4}(?:rank\d{1,4}\]:|\([\w ]{1,40}pid=\d{1,8}\))?[ ]{1,12}(?:uvloop\.run\(run_server\(args"
    r"|args\.dispatch_function\(args\)|(?:launch_server|run_server)\(server_args\)))"
)
"""Frames of a traceback, as a regular expression, and the code below them, which are called with what was read."""
FAILED_PAST_ARGUMENTS: Final = re.compile(
    r"(?:\w+\.)*OutOfMemoryError\b|(?:RuntimeError: )?(?:CUDA|HIP) out of memory\b"
    r"|(?:RuntimeError: )?Not enough memory\. Please try to increase --mem-fraction-static"
    r"|(?:TimeoutError: )?Timed out waiting for engine core\b|zmq\.error\.ZMQError\b"
    r"|(?:RuntimeError: )?Engine core initialization failed"
)
"""How an error begins that no command line's reader raises."""
QUOTED_PAST_ARGUMENTS: Final = re.compile(
    r"\b(?:CUDA|HIP|NPU) out of memory\.? Tried to allocate \d|\bWorker failed with error ['\"]"
)
"""The same of one that a sentence quotes."""
HOLDS_CACHE: Final = re.compile(rf"{_LEAD}Graph capturing finished in \d")
"""A line of a log that comes once the weights and the cache are there."""
SERVES: Final = re.compile(
    rf"{_LEAD}(?:Application startup complete|The server is fired up and ready|(?:Engine \d{{3}}: )?"
    r"Avg prompt throughput: \d|(?:Prefill|Decode) batch[ .,\[])"
)
"""Lines of a log that only a server writes that has started."""
OF_SERVERS: Final = (
    "Graph capturing finished", "startup complete", "is fired up", "Avg prompt throughput", "Prefill batch",
    "Decode batch",
)  # fmt: skip
"""One of these is in each of them."""
USED_ON_TPUS: Final = re.compile(
    r"\bgoogle\.com/tpu\b|\bgke-tpu-\w|\bvllm[-_/]tpu\b|\btpu[-_]inference\b|\blibtpu\b|\bPJRT_DEVICE\W{1,4}TPU\b"
    r"|\bTPU_(?:WORKER|PROCESS|TOPOLOGY|ACCELERATOR|CHIPS|HOST|BACKEND|VISIBLE|MULTIHOST)\w*\W{0,3}=|--device[ =]tpu\b"
    r"|\btpu-vm\b",
)
"""What only a start on TPUs has: its resource, images, packages and variables
(https://docs.vllm.ai/projects/tpu, https://cloud.google.com/kubernetes-engine/docs/concepts/tpus)."""
GPUS_USED: Final = re.compile(
    r"\b(?:nvidia|amd)\.com/gpu\b|\bCUDA_VISIBLE_DEVICES\b|\b(?:nvidia|rocm|amd)-smi\b|--gpus[ =]|--runtime[ =]nvidia\b"
    r"|\bvllm/vllm-openai(?!-tpu)|\blmsysorg/sglang\b|/dev/kfd\b|\b(?:gke|cloud)[\w.]*-accelerator\W{1,3}nvidia"
)
