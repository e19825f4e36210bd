"""What is read of a start log: engines, releases, wrappers, ranks, several starts, and hostile text."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.engines import ENGINES
from moonpad.engines.logged_arguments import arguments_in, argv_of
from moonpad.engines.start_log import LoggedStart, read_start
from tests import start_logs as logs
from tests.processor import in_time

ALL = tuple(ENGINES.values())


def read(text: str) -> LoggedStart:
    start = read_start(text, ALL)
    assert start is not None
    return start


def test_vllm_of_today() -> None:
    start = read(logs.vllm())
    assert (start.engine, start.version, start.model) == ("vllm", "0.25.1", logs.K2)
    assert start.ready
    assert start.failure is None
    assert start.arguments["max_num_seqs"] == 128
    assert start.arguments["max_num_batched_tokens"] == 8192
    assert start.arguments["served_model_name"] == ("kimi",)
    expected = {"weights_gib": 71.16, "kv_gib": 40.0, "kv_tokens": 611136, "concurrency": 9.33, "at_tokens": 65536}
    expected |= {"graphs_gib": 0.41, "graphs_estimated_gib": 0.53, "load_s": 48.8}
    assert start.figures == expected


def test_vllm_0_8_has_all_arguments_and_a_line_of_every_rank() -> None:
    start = read(logs.VLLM_0_8)
    assert (start.version, start.arguments["pipeline_parallel_size"]) == ("0.8.5.post1", 2)
    assert start.arguments["enforce_eager"] is True
    assert start.figures["kv_tokens"] == 398_400
    assert start.figures["concurrency"] == 12.16
    assert (start.figures["weights_gib"], start.ranks) == (61.2345, 2)


def test_the_v0_engine_says_what_takes_the_memory() -> None:
    figures = read(logs.VLLM_V0).figures
    assert (figures["kv_gib"], figures["non_torch_gib"], figures["activation_gib"]) == (57.89, 2.53, 1.24)
    assert (figures["blocks"], figures["device_gib"]) == (55285, 139.81)


def test_what_was_used_in_the_end() -> None:
    line = (
        "(Worker_TP0 pid=9) INFO [gpu_worker.py:391] Free memory on device (77.92/79.18 GiB) on startup. Desired GPU "
        "memory utilization is (0.9, 71.26 GiB). Actual usage is 66.14 GiB for weight, 1.31 GiB for peak activation, "
        "0.62 GiB for non-torch memory, and 0.88 GiB for CUDAGraph memory. Replace gpu_memory_utilization config with …"
    )
    figures = read(logs.vllm(more=(line,))).figures
    assert (figures["activation_gib"], figures["non_torch_gib"], figures["device_gib"]) == (1.31, 0.62, 79.18)


@pytest.mark.parametrize(
    "said",
    [
        "Available memory: 11434508288, total memory: 65464696832",
        "Available memory: 10.649216 GiB, total memory: 60.9688 GiB",
    ],
)
def test_vllm_ascend_has_words_of_its_own(said: str) -> None:
    start = read(
        "INFO [__init__.py:41] Platform plugin ascend is activated\n(APIServer pid=1) vLLM API server version 0.13.0\n"
        "(Worker_TP0_EP0 pid=99) INFO [model_runner_v1.py:2345] Loading model weights took 38.4512 GB\n"
        f"(Worker_TP0_EP0 pid=99) INFO [worker_v1.py:187] {said}\n"
    )
    assert (start.platform, start.figures["weights_gib"]) == ("ascend", 38.4512)
    assert start.figures["kv_gib"] == pytest.approx(11_434_508_288 / 2**30, abs=1e-4)
    assert start.figures["device_gib"] == pytest.approx(60.9688, abs=1e-3)


def test_the_rank_with_least_decides() -> None:
    assert read(logs.vllm(kv_gib=(40.0, 39.2, 39.9))).figures["kv_gib"] == 39.2


def test_what_is_missing_may_be_less_than_nothing() -> None:
    error = "(EngineCore pid=446) ERROR [core.py:866] ValueError: No available memory for the cache blocks. Try it."
    start = read(logs.vllm(kv_gib=(-3.32,), kv_tokens=0, ready=False) + error)
    assert start.figures["kv_gib"] == -3.32
    assert start.failure is not None
    assert "nothing is left for the KV cache" in start.failure.message
    assert "No available memory" in start.failure.line


def test_sglang_says_gb_and_means_gib() -> None:
    start = read(logs.sglang())
    assert (start.engine, start.model, start.version, start.ranks) == ("sglang", logs.K2, "", 8)
    figures = start.figures
    assert (figures["weights_gib"], figures["kv_gib"], figures["kv_tokens"]) == (71.21, 52.36, 800_000)
    assert (figures["graphs_gib"], figures["free_gib"]) == (1.3, 12.9)
    # 52.36 of them hold 800,000 tokens of 70,272 bytes: only of 2^30.
    assert pytest.approx(52.36, abs=0.005) == 800_000 * logs.KV_TOKEN_BYTES / 2**30


def test_keys_and_values_are_one_cache() -> None:
    assert read(logs.sglang(kv="#tokens: 9, K size: 13.15 GB, V size: 13.20 GB")).figures["kv_gib"] == pytest.approx(
        26.35
    )


@pytest.mark.parametrize("ranks", [1, 8])
def test_a_draft_is_not_the_model(ranks: int) -> None:
    figures = read(logs.sglang(ranks=ranks, more="speculative_algorithm='EAGLE3', ")).figures
    assert (figures["weights_gib"], figures["kv_gib"]) == (71.21, 52.36)


WRAPPERS: list[Callable[[str], str]] = [
    logs.in_docker_json,
    lambda text: logs.in_docker_json(text, cut=100),
    logs.in_cri,
    lambda text: logs.in_cri(text, cut=100),
    logs.in_journal,
    lambda text: logs.in_journal_json(logs.coloured(text)),
    logs.coloured,
    lambda text: logs.coloured(text, "#033"),
    lambda text: text.replace("\n", "\r\n"),
    lambda text: "".join(f"kimi-1  | {line}\n" for line in text.splitlines()),
    lambda text: "".join(f"> {line}\n" for line in text.splitlines()),
]


@pytest.mark.parametrize("wrap", WRAPPERS)
@pytest.mark.parametrize(
    "log", [logs.vllm(kv_gib=(40.0, 39.2)), logs.sglang(), logs.VLLM_0_8], ids=["vllm", "sglang", "0.8"]
)
def test_wrapped_lines_say_the_same(wrap: Callable[[str], str], log: str) -> None:
    plain, wrapped = read(log), read(wrap(log))
    assert wrapped.figures == plain.figures
    assert (wrapped.model, wrapped.version, wrapped.arguments) == (plain.model, plain.version, plain.arguments)


def test_of_several_starts_the_last_that_measured_something() -> None:
    failed = logs.vllm(kv_gib=(), kv_tokens=0, ready=False)
    start = read(logs.vllm(kv_gib=(41.0,)) + logs.vllm(kv_gib=(42.0,)) + failed)
    assert (start.figures["kv_gib"], start.starts) == (42.0, 3)


def test_figures_alone_say_which_engine_it_was() -> None:
    assert read("INFO GPU KV cache size: 715,072 tokens\n").engine == "vllm"
    assert read("KV Cache is allocated. #tokens: 233016, KV size: 1.00 GB\n").engine == "sglang"
    assert read_start("nothing of it\n" * 10, ALL) is None


def test_the_device_is_named_where_kernels_are_looked_for() -> None:
    path = "Using configuration from /x/configs/E=385,N=128,device_name=NVIDIA_H200.json for MoE layer."
    assert read(logs.vllm(more=(path,))).devices == ("NVIDIA_H200",)
    path = "Config file not found at /x/E=1,device_name=NVIDIA_H20-3e,dtype=fp8_w8a8,block_shape=[128,128].json"
    assert read(logs.vllm(more=(path,))).devices == ("NVIDIA_H20-3e",)


def test_arguments_with_objects_among_them() -> None:
    text = (
        "a=1, b='x, y', c=[1, 'two'], d=None, e=Config(method='mtp', n=3), f=<Mode.FULL: (2, 1)>, "
        "'g': {'h': [1], 'i': -0.5}, "
        'j=torch.bfloat16, k="it\'s", l=LoadFormat.AUTO, m=1e-3) and more=2'
    )
    assert arguments_in(text) == {
        "a": 1, "b": "x, y", "c": (1, "two"), "d": None, "e": {"method": "mtp", "n": 3}, "f": "<Mode.FULL: (2, 1)>",
        "g": {"h": (1,), "i": -0.5}, "j": "torch.bfloat16", "k": "it's", "l": "LoadFormat.AUTO", "m": 0.001,
    }  # fmt: skip


def test_arguments_as_words() -> None:
    words = argv_of(
        {"max_num_seqs": 4, "enforce_eager": True, "prefix": False, "bs": (1, 2), "spec": {"n": 3}, "x": None}
    )
    assert words == ("--max-num-seqs=4", "--enforce-eager", "--no-prefix", "--bs", "1", "2", '--spec={"n": 3}')


@given(st.text(alphabet="a1='\"[](){}<>,.\\ \n:é", max_size=200))
def test_arguments_of_any_text(text: str) -> None:
    argv_of(arguments_in(text))


@given(
    st.lists(st.sampled_from(logs.vllm().splitlines() + logs.sglang(ranks=2).splitlines()), max_size=20),
    st.integers(0, 300),
)
def test_any_order_and_any_cut(lines: list[str], cut: int) -> None:
    read_start("\n".join(line[cut:] if number % 2 else line[: -cut or None] for number, line in enumerate(lines)), ALL)


HOSTILE = {
    "brackets": "non-default args: {" + "[" * 200_000,
    "quotes": "non-default args: {" + "'" * 200_000,
    "names": "non-default args: {" + "a=1," * 60_000,
    "equals": "non-default args: {" + "a" * 200_000 + "=1",
    "anchors": "Capture cuda graph end." * 8_000,
    "weights": "Load weight end." * 8_000 + "\n" + "Free memory on device (1/1 GiB) on startup. Desired " * 2_000,
    "numbers": "GPU KV cache size: " + "9" * 100_000 + " tokens\nAvailable KV cache memory: 1.2.3.4 GiB\n" * 2_000,
    "figures": "Available KV cache memory: 1.00 GiB\n" * 100_000,
    "banners": "█ █ version 1 model  x " * 8_000,
    "devices": "device_name=" * 20_000,
    "json": '{"log":' * 30_000 + "\n" + '{"log": "x"}\n' * 30_000,
    "partial": "2026-06-05T09:10:15Z stderr P x\n" * 100_000,
    "infinite": "Available KV cache memory: " + "9" * 400 + " GiB",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_no_time(name: str) -> None:
    began = time.process_time()
    read_start("vLLM API server version 0.25.1\n" + HOSTILE[name], ALL)
    read_start("server_args=ServerArgs(a=1)\n" + HOSTILE[name], ALL)
    assert in_time(time.process_time() - began, 3.0)
