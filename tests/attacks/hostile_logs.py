"""Start logs that no engine wrote: sizes that cannot be, text that never ends, and what must not reach a terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from tests import start_logs as logs

KEY = "not-to-be-seen-1234"


def _told(arguments: str) -> Callable[[], bytes]:
    return lambda: logs.vllm(arguments=arguments).encode("utf-8", "surrogatepass")


def _with(line: str, times: int = 1) -> Callable[[], bytes]:
    return lambda: logs.vllm(more=(line,) * times).encode("utf-8", "surrogatepass")


def _sglang(more: str) -> Callable[[], bytes]:
    return lambda: logs.sglang(more=more).encode()


SIZES = (
    "0",
    "-8",
    "1000000",
    "999999999999999999",
    "'8'",
    "'$TP'",
    "None",
    "True",
    "[8]",
    "{'a': 8}",
    "1e400",
    "nan",
    "8.5",
)
NUMBERS = ("0", "-1", "7", "1e400", "nan", "inf", "'0.9'", "[0.9]", "0.9.9", "9" * 400)

LOGS: Mapping[str, Callable[[], bytes]] = {
    **{f"tp-{number}": _told(f"'tensor_parallel_size': {size}, ") for number, size in enumerate(SIZES)},
    **{f"dp-{number}": _told(f"'data_parallel_size': {size}, ") for number, size in enumerate(SIZES)},
    **{f"pp-{number}": _told(f"'pipeline_parallel_size': {size}, ") for number, size in enumerate(SIZES)},
    **{f"dcp-{number}": _told(f"'decode_context_parallel_size': {size}, ") for number, size in enumerate(SIZES)},
    **{
        f"seqs-{number}": _told(f"'tensor_parallel_size': 8, 'max_num_seqs': {size}, ")
        for number, size in enumerate(SIZES)
    },
    **{
        f"length-{number}": _told(f"'tensor_parallel_size': 8, 'max_model_len': {size}, ")
        for number, size in enumerate(SIZES)
    },
    **{
        f"block-{number}": _told(f"'tensor_parallel_size': 8, 'block_size': {size}, ")
        for number, size in enumerate(SIZES)
    },
    **{
        f"fraction-{number}": lambda text=text: (
            logs.vllm().replace("'gpu_memory_utilization': 0.9", f"'gpu_memory_utilization': {text}").encode()
        )
        for number, text in enumerate(NUMBERS)
    },
    **{
        f"static-{number}": _sglang(f"mem_fraction_static={text}, tp_size={text}, ")
        for number, text in enumerate(NUMBERS)
    },
    **{
        f"kv-{number}": lambda text=text: logs.vllm().replace("40.00 GiB", f"{text} GiB").encode()
        for number, text in enumerate((*NUMBERS, "0.00", "-0.00", "-99999999.00", "99999999999999.99"))
    },
    **{
        f"tokens-{number}": lambda text=text: logs.vllm(kv_gib=()).replace("611,136", text).encode()
        for number, text in enumerate((*NUMBERS, ",,,", "1", "999999999999999"))
    },
    "model-control": lambda: logs.vllm(model="a/\x1b]0;title\x07\x1b[2J\u202e").encode(),
    "model-long": lambda: logs.vllm(model="m" * 100_000).encode(),
    "model-path": lambda: logs.vllm(model="/proc/self/" + "root/dev/zero").encode(),
    "model-user": lambda: logs.vllm(model="~nobody-there/x").encode(),
    "model-null": lambda: logs.vllm(model="a\x00b").encode(),
    "version-control": lambda: logs.vllm(version="0.\x1b[31m").encode(),
    "version-long": lambda: logs.vllm(version="0." + "9" * 10_000).encode(),
    "version-other": lambda: logs.vllm(version="1!2.dev+x/../../y").encode(),
    "device-control": _with("device_name=NVIDIA_\x1b[2J_H200.json"),
    "devices": _with("x device_name=NVIDIA_H200.json y", 50_000),
    "kv-dtype": _told("'tensor_parallel_size': 8, 'kv_cache_dtype': '\x1b[31mfp8\u202e; rm -rf /', "),
    "backend": _told("'tensor_parallel_size': 8, 'attention_backend': '" + "X" * 50_000 + "', "),
    "names": _told("".join(f"'name_{number}': {number}, " for number in range(5_000))),
    "same-name": _told("'tensor_parallel_size': 8, " * 5_000),
    "deep": _told("'a': " + "[" * 50_000 + "]" * 50_000 + ", "),
    "deep-calls": _told("'a': " + "f(" * 30_000 + ")" * 30_000 + ", "),
    "open-quote": _told("'a': 'never closed, "),
    "config-json": _told("'speculative_config': {'method': 'eagle3', 'num_speculative_tokens': 99999999999}, "),
    "keys": _told("".join(f"'k{number}_api_key': 'sk-{number:020d}', " for number in range(300))),
    "one-key": lambda: logs.vllm(ready=False).encode() + f"ValueError: the key {KEY} is wrong\n".encode(),
    "failure-control": lambda: (
        logs.vllm(ready=False, kv_gib=()).encode() + b"ValueError: \x1b[2J\xe2\x80\xae" + b"x" * 50_000
    ),
    "no-newline": lambda: logs.vllm().replace("\n", " ").encode() * 500,
    "returns": lambda: logs.vllm().replace("\n", "\r").encode() * 500,
    "starts": lambda: logs.vllm().encode() * 2_000,
    "ranks": lambda: "".join(
        f"(Worker_TP{n} pid={n}) Available KV cache memory: 1.0 GiB\n" for n in range(150_000)
    ).encode(),
    "hints": lambda: b"INFO 9 GiB of tokens, version args blocks\n" * 350_000,
    "errors": lambda: (
        logs.vllm(ready=False, kv_gib=()).encode() + b"Exception: Engine core initialization failed Error\n" * 250_000
    ),
    "json-lines": lambda: b'{"log": "Available KV cache memory: 1.00 GiB\\n", "stream": "x"}\n' * 200_000,
    "json-partial": lambda: b'{"log": "x", "stream": "x"}\n' * 500_000,
    "json-list": lambda: json.dumps({"MESSAGE": [999, -1, "x"]}).encode() + b"\n" + logs.vllm().encode(),
    "json-deep": lambda: b'{"log": ' + b"[" * 90_000 + b"\n" + logs.vllm().encode(),
    "cri-partial": lambda: b"2026-06-05T09:10:15Z stderr P x\n" * 400_000,
    "utf-16": lambda: logs.vllm().encode("utf-16"),
    "utf-16-torn": lambda: b"\xff\xfe" + logs.vllm().encode()[:9_999],
    "not-utf8": lambda: logs.vllm().encode("utf-8").replace("█".encode(), b"\xff\xfe"),
    "both-engines": lambda: (logs.vllm() + logs.sglang()).encode(),
    "dp-attention": _sglang("dp_size=3, enable_dp_attention=True, "),
    "just-large-enough": lambda: (logs.vllm().encode() + b"x" * 16_000_000)[:16_000_000],
}
