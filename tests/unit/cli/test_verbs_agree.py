"""plan, up, render and explain say the same of a spec: all accept it, or all refuse it with the same codes.

The verbs are asked as a person asks them, by their words, in this process.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.models import models
from moonpad.catalog.options import newest_stable
from moonpad.cli import command_line, output
from moonpad.engines import ENGINES as KNOWN
from moonpad.engines.base import settled_version
from moonpad.render.targets import THERE
from moonpad.spec.loader import load_spec
from moonpad.values.errors import MoonpadError
from tests.drawn import of_the_day

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.toml"))
UNKNOWN = "checkpoint-unknown"
NOT_PLANNED = "platform-unsupported"
ACCEPTED: frozenset[str] = frozenset()

MODELS = sorted(model.id for model in models().values() if not model.refused)
ENGINES = ("vllm", "vllm", "sglang", "vllm-ascend", "ktransformers", "tensorrt-llm", "llama-cpp")
WIDESPREAD = (
    "moonshotai/Kimi-K2-Thinking", "moonshotai/Kimi-K2.5", "moonshotai/Kimi-K2-Instruct",
    "unsloth/Kimi-K2-Instruct-GGUF:UD-TQ1_0",
)  # fmt: skip
CLUSTERS = (
    "8xH200", "8xH100", "8xH20", "4xH200", "8xB200", "2x8xH800", "2x8xH200", "8xMI300X", "8xMI355X", "16xA3", "2x16xA3",
    "1xRTX4090", "2xRTX5090", "GB200-NVL72",
)  # fmt: skip
SIZE = st.sampled_from((1, 1, 1, 2, 3, 4, 6, 8, 16, 32))
MOST_RANKS = 64
"""Each machine gets a file of its own, and explain reads a megabyte."""


class Verbs:
    """Runs verbs and keeps the error that each ended with."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.error: MoonpadError | None = None
        monkeypatch.setattr(output, "print_error", self._keep)

    def _keep(self, error: MoonpadError) -> None:
        self.error = error

    def __call__(self, *words: str) -> tuple[int, str, frozenset[str]]:
        """(exit code, stdout, codes of the errors)."""
        self.error = None
        self._capsys.readouterr()
        code = command_line.run(list(words))
        findings = getattr(self.error, "findings", ())
        return code, self._capsys.readouterr().out, frozenset(str(finding.code) for finding in findings)


@pytest.fixture
def verbs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Verbs:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Verbs(monkeypatch, capsys)


def refusal_of_plan(verbs: Verbs, spec: Path) -> frozenset[str]:
    """The codes for which `plan` refuses the spec; none where it has a plan."""
    code, text, codes = verbs("plan", str(spec), "--json")
    assert code in (0, 3), (code, codes)
    if not text.strip():
        assert code == 3
        return codes
    answer = json.loads(text)
    assert (code == 0) == answer["fits"]
    if answer["fits"]:
        return ACCEPTED
    errors = [finding for finding in answer["refused"][0]["findings"] if finding["severity"] == "error"]
    return frozenset(finding["code"] for finding in errors)


def check_agreement(verbs: Verbs, spec: Path, target: str, out: Path) -> tuple[frozenset[str], bool]:
    """What plan, up and render refuse it for, which is the same; what render writes, explain refuses for the same.
    Whether explain was asked."""
    refused = refusal_of_plan(verbs, spec)
    up_code, _, up_codes = verbs("up", str(spec), "--dry-run", "--json")
    assert (up_code, up_codes) == (3 if refused else 0, refused)
    render_code, _, render_codes = verbs("render", str(spec), "--to", target, "--out", str(out), "--json")
    if not refused and render_code == 2 and target != "shell":
        return refused, False  # no image is known: the spec is to name one
    assert (render_code, render_codes) == (3 if refused else 0, refused)
    overridden = [word for code in sorted(refused) for word in ("--despite", code)]
    code, text, _ = verbs("render", str(spec), "--to", target, "--out", str(out), "--json", *overridden)
    if code or UNKNOWN in refused:
        return refused, False  # what no engine can be told is not written, and of an unknown model nothing is judged
    loaded = load_spec(spec).spec
    files = [word for file in json.loads(text)["files"] for word in ("--file", file["path"]) if is_read(file["path"])]
    about = ["--on", loaded.hardware.cluster] if loaded.hardware.cluster else []
    model = loaded.model if not loaded.model.startswith("..") else str(spec.parent / loaded.model)
    # No file says for which release it was planned, where the spec names none.
    engine = KNOWN[loaded.engine.name]
    about += ["--engine-version", loaded.engine.version or settled_version(engine) or newest_stable(engine.program)]
    explained, text, _ = verbs("explain", *files, *about, "--model", model, "--engine", loaded.engine.name, "--json")
    assert text, (explained, verbs.error)
    findings = [finding for deployment in json.loads(text)["deployments"] for finding in deployment["findings"]]
    # That an engine is not planned for a platform is no fault of a command that starts it there.
    found = frozenset(finding["code"] for finding in findings if finding["severity"] == "error")
    # And what was not measured on such devices is a warning where somebody runs it already.
    milder = {finding["code"] for finding in findings if finding["severity"] == "warning"} & {"does-not-fit"} & refused
    assert (found | milder) - {NOT_PLANNED} == refused - {NOT_PLANNED}, findings
    assert explained == (3 if found else 0)
    return refused, True


def is_read(path: str) -> bool:
    """Not variables, and of Slurm the scripts that its job starts."""
    return path.endswith((".sh", ".yaml", ".yml", ".service"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path: Path, verbs: Verbs, tmp_path: Path) -> None:
    check_agreement(verbs, path, "shell", tmp_path / "out")


@st.composite
def specs(draw: st.DrawFn) -> str:
    """A spec that the schema takes; about every second one names an engine for the devices, and fills them."""
    sensible = draw(st.booleans())
    engine, model, cluster = (draw(st.sampled_from(values)) for values in (ENGINES, MODELS, CLUSTERS))
    devices = parse_cluster(cluster).devices
    if sensible:
        model = draw(st.sampled_from(WIDESPREAD))
        able = [engine for engine in ENGINES if parse_cluster(cluster).device.platform in KNOWN[engine].platforms]
        of_model = [engine for engine in able if KNOWN[engine].facts.reads_gguf] if "GGUF" in model else able
        engine = draw(st.sampled_from(of_model or able))
    goal = draw(st.sampled_from(("latency", "throughput", "context")))
    lines = [
        'name = "drawn"', f'model = "{model}"', f'goal = "{goal}"', "[hardware]", f'cluster = "{cluster}"',
        "[engine]", f'name = "{engine}"',
    ]  # fmt: skip
    if sensible and draw(st.booleans()):
        pp = draw(st.sampled_from([size for size in (1, 1, 2, 4) if devices % size == 0]))
        tp = draw(st.sampled_from([size for size in (1, 2, 4, 8, 16) if devices // pp % size == 0]))
        lines += ["[layout]", f"tp = {tp}", f"pp = {pp}", f"dp = {devices // pp // tp}"]
        lines += draw(st.sampled_from((["expert_parallel = true"], [], [])))
    elif draw(st.booleans()):
        sizes = {name: draw(SIZE) for name in ("tp", "pp", "dp") if draw(st.booleans())}
        assume(math.prod(sizes.values()) <= MOST_RANKS)
        lines += ["[layout]", *(f"{name} = {size}" for name, size in sizes.items())]
        lines += draw(st.sampled_from((["expert_parallel = true"], ["dcp = 8"], [], [])))
    values: dict[str, st.SearchStrategy[object]] = {
        "max_model_len": st.sampled_from((1024, 14_000, 32_768, 131_072, 262_144, 1_000_000)),
        "max_num_seqs": st.sampled_from((1, 16, 64, 256, 1024)),
        "max_num_batched_tokens": st.sampled_from((512, 4096, 8192, 32_768)),
        "gpu_memory_utilization": st.sampled_from((0.3, 0.8, 0.9, 0.95, 1.0)),
        "kv_cache_dtype": st.sampled_from(('"auto"', '"fp8"', '"bfloat16"', '"fp8_e4m3"', '"q8_0"')),
        "enforce_eager": st.sampled_from(("true", "false")),
        "prefix_caching": st.sampled_from(("true", "false")),
        "block_size": st.sampled_from((1, 16, 64, 128)),
        "host_expert_layers": st.sampled_from((0, 30, 60)),
        "gpu_experts": st.sampled_from((0, 8, 400)),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(values)), max_size=1 if sensible else 3, unique=True))
    if chosen:
        lines += ["[settings]", *(f"{name} = {draw(values[name])}" for name in chosen)]
    return "\n".join(lines) + "\n"


def agree(text: str, target: str, verbs: Verbs, tmp_path: Path) -> None:
    spec = tmp_path / "moonpad.toml"
    spec.write_text(text)
    refused, explained = check_agreement(verbs, spec, target, tmp_path / "out" / target)
    event(f"{'refused' if refused else 'accepted'}, {'read back' if explained else 'not written'}")


FIXTURES = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow)


@settings(max_examples=25, deadline=None, suppress_health_check=FIXTURES)
@given(text=specs(), target=st.sampled_from(THERE))
def test_drawn(text: str, target: str, verbs: Verbs, tmp_path: Path) -> None:
    agree(text, target, verbs, tmp_path)


@pytest.mark.slow
def test_sixty_four_machines_are_read_back(verbs: Verbs, tmp_path: Path) -> None:
    """Three files each, of which one names all the others."""
    spec = tmp_path / "moonpad.toml"
    spec.write_text(
        'name = "many"\nmodel = "moonshotai/Kimi-K2-Thinking"\n[hardware]\ncluster = "1xRTX4090"\n'
        '[engine]\nname = "vllm"\n[layout]\npp = 64\n'
    )
    assert check_agreement(verbs, spec, "shell", tmp_path / "out") == (frozenset({"illegal-layout"}), True)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@settings(max_examples=of_the_day(500), deadline=None, suppress_health_check=FIXTURES)
@given(text=specs(), target=st.sampled_from(THERE))
def test_many_drawn(text: str, target: str, verbs: Verbs, tmp_path: Path) -> None:
    agree(text, target, verbs, tmp_path)
