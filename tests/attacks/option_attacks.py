"""Attacks by values of options, and by the environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.attacks.attack import ANY, URL, Attack, at, both, good_files, good_run
from tests.attacks.runner import REFUSALS

NUMBERS = ("-1", "0", "9223372036854775808", "18446744073709551616", "1" + "0" * 400, "9" * 5_000, "nan", "inf", "-inf")
NUMBERS += ("1e400", "0x10", "1_000", "", " ", "\u0663", "1.5", "--", "-0", "1e-400")
OPTIONS: Mapping[str, tuple[str, ...]] = {
    **{
        f"bench{option}": ("bench", *URL, option)
        for option in (
            "--requests", "--concurrency", "--rate", "--burstiness", "--warmup", "--seed", "--workers", "--repeat",
            "--requests-per-stream", "--input-tokens", "--output-tokens", "--temperature", "--turns", "--tool-tokens",
            "--prefix-tokens", "--prefixes", "--speed", "--sweep", "--slo", "--dataset", "--arrivals", "--resume",
        )
    },
    "bench-burst": ("bench", *URL, "--rate", "1", "--arrivals", "gamma", "--burstiness"),
    "bench-sweep": ("bench", *URL, "--sweep", "concurrency=1,2", "--requests-per-stream"),
    "verify--repeat": ("verify", *URL, "--repeat"),
    "verify--loop": ("verify", *URL, "--loop"),
    "verify--only": ("verify", *URL, "--only"),
    "verify--seed": ("verify", *URL, "--loop", "3", "--seed"),
    "verify--concurrency": ("verify", *URL, "--vendor", "own", "--out", "o.jsonl", "--concurrency"),
    "verify--floor": ("verify", *URL, "--vendor", "own", "--out", "o.jsonl", "--reference", "r.jsonl", "--floor"),
    "chat--temperature": ("chat", *URL, "--once", "hi", "--temperature"),
    "chat--max-tokens": ("chat", *URL, "--once", "hi", "--max-tokens"),
    "plan--concurrency": ("plan", "--model", "moonshotai/Kimi-K2-Thinking", "--on", "8xH200", "--concurrency"),
    "plan--context": ("plan", "--model", "moonshotai/Kimi-K2-Thinking", "--on", "8xH200", "--context"),
    "plan--on": ("plan", "--model", "moonshotai/Kimi-K2-Thinking", "--on"),
    "plan--engine": ("plan", "--model", "moonshotai/Kimi-K2-Thinking", "--on", "8xH200", "--engine"),
    "plan--engine-version": (
        "plan", "--model", "moonshotai/Kimi-K2-Thinking", "--on", "8xH200", "--engine", "vllm", "--engine-version",
    ),
    "plan--set": ("plan", "--model", "moonshotai/Kimi-K2-Thinking", "--on", "8xH200", "--set"),
    "explain--on": ("explain", "--file", "good.sh", "--on"),
    "explain--engine": ("explain", "--file", "good.sh", "--engine"),
    "explain--engine-version": ("explain", "--file", "good.sh", "--engine-version"),
    "logs--tail": ("logs", "--tail"),
    "logs--node": ("logs", "--node"),
    "down--drain": ("down", "--drain"),
    "report--devices": ("report", "run", "--devices"),
    "compare--min-ratio": ("compare", "run", "run", "--min-ratio"),
    "up--despite": ("up", "good.toml", "--despite"),
    "render--to": ("render", "good.toml", "--out", "out", "--to"),
    "engine-install": ("engine", "install"),
    "engine-remove": ("engine", "remove"),
    "engine--platform": ("engine", "install", "vllm", "--platform"),
    "chat--key-env": ("chat", *URL, "--key-env"),
    "chat--url": ("chat", "--once", "hi", "--url"),
    "verify--url": ("verify", "--url"),
    "bench--url": ("bench", "--url"),
}  # fmt: skip
SETTINGS = ("tp", "pp", "dp", "ep", "dcp", "max_num_seqs", "max_model_len", "gpu_memory_utilization", "port")
CLUSTERS = ("8x", "xH200", "8xH200x", "0xH200", "-1xH200", "99999999999999999999xH200", "9" * 5000 + "xH200")
CLUSTERS += ("1000000x8xH200", "8x1000000xH200", "8xH200-" + "9" * 5000 + "G", "8xH200-nanG", "8x" * 5000 + "H200")
URLS = (
    "http://", "http://[", "http://[::1", "http://a:b", "http://a:99999", "http://a:-1", "http://x:18446744073709551616",
    "http://" + "a" * 300, "http://" + "a." * 50_000, "http://\u0000", "http://a b", "http://%zz", "ftp://x", "http://a@b:c@d",
    "http://127.0.0.1:9" + "/x" * 20_000, "http://127.0.0.1:" + "9" * 5_000, "http://xn--\u00e9", "http://\u2100", "http://.",
    "http://..", "http://1.2.3.4.5:1", "http://0x7f.1:9", "http://127.0.0.1:0",
)  # fmt: skip


def options() -> Iterator[Attack]:
    base = both(good_files, at("run", good_run))
    for option, words in OPTIONS.items():
        for number, text in enumerate(NUMBERS):
            yield Attack(f"option-{option}-{number}", (*words, text), base, ANY)
            if words[-1].startswith("--") and number in (0, 6):
                yield Attack(f"option-{option}={number}", (*words[:-1], f"{words[-1]}={text}"), base, ANY)
        yield Attack(f"option-{option}-not-utf8", (*words, b"\xff\xfe"), base, ANY)
        yield Attack(f"option-{option}-long", (*words, "z" * 120_000), base, ANY)
    for setting in SETTINGS:
        for number, text in enumerate(NUMBERS):
            yield Attack(f"set-{setting}-{number}", (*OPTIONS["plan--set"], f"{setting}={text}"), base, ANY)
    for number, text in enumerate(CLUSTERS):
        yield Attack(f"cluster-{number}", (*OPTIONS["plan--on"], text), base, REFUSALS)
        yield Attack(f"cluster-explain-{number}", (*OPTIONS["explain--on"], text), base, REFUSALS)
    for number, text in enumerate(URLS):
        for verb in ("chat--url", "verify--url", "bench--url"):
            if "\0" not in text:
                yield Attack(f"url-{verb}-{number}", (*OPTIONS[verb], text), base, REFUSALS | {6})
    for number, text in enumerate(
        ("ttft=9e99h", "ttft=nans", "ttft=" + "9" * 5000 + "s", "tpot=-1s", "e2el=inf", "=", ",,,")
    ):
        yield Attack(f"slo-{number}", ("bench", *URL, "--slo", text), base, REFUSALS | {6})
    for number, text in enumerate(
        ("concurrency=" + "9" * 5000, "requests=" + "1," * 50_000, "x=1", "requests=99999999999999")
    ):
        yield Attack(f"sweep-{number}", ("bench", *URL, "--sweep", text), base, REFUSALS | {6})
    for number, text in enumerate(
        ("lognormal:nan,1", "lognormal:1,nan", "lognormal:1e400,1", "1..", "..", "1..9" + "9" * 5000)
    ):
        yield Attack(f"lengths-{number}", ("bench", *URL, "--input-tokens", text), base)
    for number, text in enumerate(("output_throughput=nan", "output_throughput=1e400", "=1", "x" * 100_000 + "=1")):
        yield Attack(f"ratio-{number}", ("compare", "run", "run", "--min-ratio", text), base, ANY)


VARIABLES = (
    "HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "TMPDIR",
    "PATH",
    "LANG",
    "NO_COLOR",
    "COLUMNS",
    "LINES",
    "TERM",
)
ENVIRONMENTS: Mapping[str, str | bytes] = {
    "empty": "", "relative": "rel/ative", "long": "/" + "n" * 300, "deep": "/d" * 3_000, "longest": "/" + "n" * 100_000,
    "not-utf8": b"/tmp/\xff\xfe", "null": "/dev/null", "below-null": "/dev/null/x", "proc": "/proc", "file": "good.sh",
    "control": "/tmp/\x1b[31m\n", "number": "99999999999999999999", "negative": "-1", "tilde": "~", "dot": ".",
}  # fmt: skip
ENVIRONMENT_VERBS: Mapping[str, tuple[str, ...]] = {
    "help": ("--help",),
    "version": ("--version",),
    "plan": ("plan", "--model", "moonshotai/Kimi-K2-Thinking", "--on", "8xH200"),
    "status": ("status",),
    "runs": ("runs",),
    "logs": ("logs",),
    "down": ("down",),
    "explain": ("explain", "--file", "good.sh"),
    "engine-list": ("engine", "list"),
    "engine-remove": ("engine", "remove", "vllm-cpu"),
    "verify": ("verify", *URL),
    "bench": ("bench", *URL),
    "compare": ("compare", "last-1", "last"),
    "up": ("up", "good.toml"),
    "checkpoint": ("checkpoint", "show", "kimi-k2-tiny"),
}


def environments() -> Iterator[Attack]:
    for name in VARIABLES:
        for kind, value in ENVIRONMENTS.items():
            for verb, words in ENVIRONMENT_VERBS.items():
                if name in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME") or verb in ("plan", "explain", "status"):
                    yield Attack(f"env-{name}-{kind}-{verb}", words, good_files, ANY, {name: value})
