"""What `moonpad render` writes, whole: of every example, for every target that it has."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from moonpad.render.leftovers import FUNCTIONS
from moonpad.render.targets import FOR_POOLS, THERE, render_for, render_pools
from moonpad.run.planning import plan_spec
from moonpad.run.pool_planning import plan_pools
from moonpad.spec.loader import LoadedSpec, load_spec
from moonpad.values.errors import MoonpadError, PreflightRefused, UsageError
from moonpad.values.finding import Code
from moonpad.values.records import replace

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))
POOLS = sorted((Path(__file__).parents[2] / "examples" / "pools").glob("*.toml"))
DESPITE = frozenset({Code.CHECKPOINT_UNKNOWN})

EXPOSED = """
model = "/models/of-ours"
engine = "vllm-cpu"
served_name = "it's $(touch pwned)"

[endpoint]
port = 9000
expose = true
api_key_env = "MY_KEY"

[layout]
tp = 2

[settings]
max_model_len = 8192
kv_cache_gib = 4
extra_args = ["--seed", "7"]
"""


@pytest.fixture(autouse=True)
def _no_measured_starts_of_this_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def written(loaded: LoadedSpec, target: str) -> Mapping[str, str]:
    """As `moonpad render` does it."""
    try:
        planned = plan_spec(loaded, despite=DESPITE)
        rendered = render_for(target, loaded.spec, planned.plan)
    except MoonpadError as refused:
        findings = refused.findings if isinstance(refused, PreflightRefused) else ()
        lines = [f"{finding.code}: {finding.message}" for finding in findings]
        return {"refused": "\n".join([refused.message, *lines, f"remedy: {refused.remedy}"]) + "\n"}
    return {path: file.text for path, file in rendered.files.items()}


def written_pools(loaded: LoadedSpec, target: str) -> Mapping[str, str]:
    """As `moonpad render` does it for a spec with a prefill and a decode pool."""
    try:
        pools = plan_pools(loaded, despite=DESPITE).pools
        rendered = render_pools(target, loaded.spec, {role: planned.plan for role, planned in pools.items()})
    except UsageError as refused:
        return {"refused": f"{refused.message}\nremedy: {refused.remedy}\n"}
    return {path: file.text for path, file in rendered.files.items()}


def as_one(files: Mapping[str, str]) -> str:
    """Of `stop.sh` without its functions, which mpi.sh has too."""
    files = {
        name: text.replace(FUNCTIONS, "[functions]\n") if name.endswith("/stop.sh") else text
        for name, text in files.items()
    }
    return "".join(f"==> {name}\n{text}" for name, text in files.items())


@pytest.mark.parametrize("target", THERE)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path: Path, target: str, golden: Callable[[str, str], None]) -> None:
    golden(f"rendered/{path.stem}/{target}.txt", as_one(written(load_spec(path), target)))


@pytest.mark.parametrize("target", FOR_POOLS)
@pytest.mark.parametrize("path", POOLS, ids=lambda path: path.stem)
def test_pools(path: Path, target: str, golden: Callable[[str, str], None]) -> None:
    golden(f"rendered/pools/{path.stem}/{target}.txt", as_one(written_pools(load_spec(path), target)))


@pytest.mark.parametrize("image", ["", "nvcr.io/nvidia/tensorrt-llm/release@sha256:" + "0" * 64])
def test_ranks_by_mpi(image: str, golden: Callable[[str, str], None]) -> None:
    loaded = load_spec(next(path for path in EXAMPLES if path.stem == "instruct-2x8xh200-trtllm"))
    engine = loaded.spec.engine.model_copy(update={"image": image or None})
    loaded = replace(loaded, spec=loaded.spec.model_copy(update={"engine": engine}))
    name = "mpirun-containers" if image else "mpirun"
    golden(f"rendered/instruct-2x8xh200-trtllm/{name}.txt", as_one(written(loaded, "mpirun")))


@pytest.mark.parametrize("target", THERE)
def test_unpleasant_words(target: str, golden: Callable[[str, str], None], tmp_path: Path) -> None:
    spec = tmp_path / "exposed.toml"
    spec.write_text(EXPOSED)
    golden(f"rendered/exposed/{target}.txt", as_one(written(load_spec(spec), target)))


def test_nothing_is_turned_off_in_any_of_them() -> None:
    """Faults 34 and 61: no host key unchecked, nothing privileged, no world-wide bind that the spec did not ask for."""
    of_pools = [(path, target, written_pools) for path in POOLS for target in FOR_POOLS]
    for path, target, write in [*((path, target, written) for path in EXAMPLES for target in THERE), *of_pools]:
        loaded = load_spec(path)
        for name, text in write(loaded, target).items():
            off = re.search(r"StrictHostKeyChecking=no|(?<!un)privileged|hostPath|hostNetwork", text)
            assert not off, (name, target)
            if not loaded.spec.endpoint.expose and target in ("shell", "docker", "compose"):
                alone = "network_mode: host" not in text and "--network host" not in text
                for listens in re.findall(r"--host[\s'-]+([0-9.]+)", text):
                    assert listens == "127.0.0.1" or (alone and target != "shell"), (name, target)
                assert "0.0.0.0:" not in text
