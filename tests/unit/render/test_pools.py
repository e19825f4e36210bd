"""Prefill and decode pools in files: clean scripts, objects of Kubernetes' schemas whose names meet, and read back by
`moonpad explain` as the plans that they are."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from moonpad.engines import ENGINES
from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question
from moonpad.render.targets import render_pools
from moonpad.run.pool_planning import PlannedPools, plan_pools
from moonpad.spec.loader import load_spec
from moonpad.values.errors import PreflightRefused, SpecError, UsageError
from moonpad.values.finding import Code, errors_of
from moonpad.values.pools import POOL_ROLES

POOLS = Path(__file__).parents[3] / "examples" / "pools"
SHELLCHECK = Path(sys.executable).with_name("shellcheck")
NAMES = sorted(path.stem for path in POOLS.glob("*.toml"))
SGLANG = "instruct-16x8xh200-sglang-4p12d"
VLLM = "instruct-4x8xh200-vllm-2p2d"
UNREAD = {Code.UNKNOWN_FLAG, Code.PREFIX_FLAG, Code.INVALID_VALUE, Code.MISSING_FLAG}


@pytest.fixture(autouse=True)
def _no_measured_starts_of_this_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


@cache
def planned(name: str) -> PlannedPools:
    return plan_pools(load_spec(POOLS / f"{name}.toml"))


@cache
def files(name: str, target: str) -> Mapping[str, str]:
    plans = {role: pool.plan for role, pool in planned(name).pools.items()}
    rendered = render_pools(target, load_spec(POOLS / f"{name}.toml").spec, plans)
    return {path: file.text for path, file in rendered.files.items()}


def objects(name: str) -> dict[tuple[str, str], dict[str, Any]]:
    documents = yaml.safe_load_all(files(name, "kubernetes")["kubernetes.yaml"])
    return {(each["kind"], each["metadata"]["name"]): each for each in documents}


def altered(name: str, old: str, new: str, tmp_path: Path) -> Path:
    text = (POOLS / f"{name}.toml").read_text()
    assert old in text
    path = tmp_path / f"{name}.toml"
    path.write_text(text.replace(old, new))
    return path


@pytest.mark.parametrize("name", NAMES)
def test_one_script_a_machine_and_one_router(name: str) -> None:
    pools = planned(name).pools
    nodes = {f"{role}-{rank}" for role in POOL_ROLES for rank in range(pools[role].plan.nodes)}
    for target in ("shell", "slurm"):
        scripts = {path for path in files(name, target) if path.endswith("run.sh")}
        assert scripts == {f"{node}/run.sh" for node in nodes}
        assert "prefill-0/router.sh" in files(name, target)


@pytest.mark.parametrize("name", NAMES)
def test_shellcheck(name: str, tmp_path: Path) -> None:
    scripts = {path: text for path, text in files(name, "slurm").items() if path.endswith((".sh", ".sbatch"))}
    for path, text in scripts.items():
        (tmp_path / path.replace("/", "-")).write_text(text)
    checked = subprocess.run(
        (str(SHELLCHECK), *(str(tmp_path / path.replace("/", "-")) for path in scripts)),
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("name", NAMES)
def test_what_is_rendered_is_read_back_as_two_pools(name: str) -> None:
    for role, server in servers(name).items():
        pool = planned(name).pools[role]
        assert (server.layout, server.settings) == (pool.plan.layout, pool.plan.settings)
        assert len(server.sources) == pool.plan.nodes
        assert errors_of(server.findings) == ()
        assert [finding for finding in server.findings if finding.code in UNREAD] == []


def servers(name: str, old: str = "", new: str = "") -> dict[str, Judged]:
    """What explain makes of the scripts, with a change in those of decode."""
    texts = [
        (path, text.replace(old, new) if old and path.startswith("decode") else text)
        for path, text in files(name, "shell").items()
        if path.endswith("run.sh")
    ]
    pool = planned(name).pools["decode"]
    # One name of a machine stands for those of both pools: each takes as many as its commands say.
    question = Question(checkpoint=None, cluster=None, engine=pool.plan.engine, version=pool.plan.engine_version)
    return {each.kind: each for each in judge(read_files(tuple(texts)), question) if each.layout is not None}


@pytest.mark.parametrize(
    ("name", "old", "new", "word"),
    [
        (SGLANG, "--disaggregation-transfer-backend mooncake", "--disaggregation-transfer-backend nixl", "mooncake"),
        (VLLM, '"NixlConnector"', '"MooncakeConnector"', "nixl"),
    ],
)
def test_a_connector_that_differs_is_found_in_rendered_scripts(name: str, old: str, new: str, word: str) -> None:
    server = servers(name, old, new)["decode"]
    (finding,) = errors_of(server.findings)
    assert word in finding.message
    facts = ENGINES[server.engine].facts.pools
    assert facts is not None
    assert finding.where == facts.option


def test_objects_of_kubernetes() -> None:
    """The router finds both pools by services that lead to their first pods, on the ports that those listen on."""
    found = objects(SGLANG)
    kinds = sorted(kind for kind, _ in found)
    assert kinds == ["Deployment", *["LeaderWorkerSet"] * 2, "NetworkPolicy", *["Service"] * 3]
    for document in found.values():
        if document["kind"] != "LeaderWorkerSet":
            kubernetes_validate.validate(document, "1.30.0", strict=True)
    (router,) = (each for (kind, _), each in found.items() if kind == "Deployment")
    (container,) = router["spec"]["template"]["spec"]["containers"]
    words = container["args"]
    for role, port in (("prefill", 8001), ("decode", 8002)):
        assert words[words.index(f"--{role}") + 1] == f"http://{SGLANG}-{role}-api:{port}"
        service, group = found["Service", f"{SGLANG}-{role}-api"], found["LeaderWorkerSet", f"{SGLANG}-{role}"]
        leader = group["spec"]["leaderWorkerTemplate"]["leaderTemplate"]
        assert service["spec"]["selector"] == leader["metadata"]["labels"]
        opened = {each["name"]: each["containerPort"] for each in leader["spec"]["containers"][0]["ports"]}
        assert {each["name"]: each["port"] for each in service["spec"]["ports"]} == opened
        assert opened["api"] == port
    assert words[words.index("--prefill") + 2] == "8998"
    assert "volumeMounts" not in container or container["volumeMounts"] == []
    api = found["Service", f"{SGLANG}-api"]["spec"]
    assert api["selector"] == router["spec"]["template"]["metadata"]["labels"]


def test_deepep_sends_as_many_tokens_as_decode_has_sequences() -> None:
    assert "SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK=480" in files(SGLANG, "shell")["decode-7/run.sh"]
    assert "SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK" not in files(SGLANG, "shell")["prefill-0/run.sh"]


def test_more_sequences_than_deepep_dispatches(tmp_path: Path) -> None:
    path = altered(SGLANG, "max_num_seqs = 46080", "max_num_seqs = 115200", tmp_path)
    with pytest.raises(PreflightRefused) as refused:
        plan_pools(load_spec(path))
    assert "1,200 tokens" in refused.value.findings[0].message


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("nodes = 12", "nodes = 11", ("4", "11", "15", "16")),
        ("[decode]\nnodes = 12\n", "", ("[decode.layout]",)),
    ],
)
def test_machines_that_do_not_add_up(old: str, new: str, words: tuple[str, ...], tmp_path: Path) -> None:
    path = altered(SGLANG, old, new, tmp_path)
    if "nodes = 11" in new:
        with pytest.raises(SpecError) as refused:
            plan_pools(load_spec(path))
        assert all(word in refused.value.message for word in words)
        return
    with pytest.raises(SpecError, match="prefill has 4 and decode 1"):
        plan_pools(load_spec(path))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[decode]\nnodes = 2\n\n[decode.layout]\ndp = 16\nexpert_parallel = true\n\n[decode.settings]", "[x]", "x"),
        ('connector = "nixl"', 'connector = "carrier"', "connector in \\[transfer\\]"),
        ("nodes = 2\n\n[prefill.layout]\ndp", "nodes = 2\n\n[prefill.layout]\ndq", "dq"),
        ("[settings]", '[settings]\nextra_args = ["--kv-transfer-config", "{}"]', "--kv-transfer-config"),
        ("[transfer]", "[layout]\ntp = 8\n\n[transfer]", "\\[layout\\] beside"),
        ('name = "vllm"\nversion = "0.32.0"', 'name = "tensorrt-llm"', "moonpad writes for"),
    ],
)
def test_specs_that_are_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=message):
        load_spec(altered(VLLM, old, new, tmp_path))


def test_what_is_not_written_says_so(tmp_path: Path) -> None:
    loaded = load_spec(POOLS / f"{VLLM}.toml")
    plans = {role: pool.plan for role, pool in planned(VLLM).pools.items()}
    with pytest.raises(UsageError, match="not written for compose"):
        render_pools("compose", loaded.spec, plans)
    with pytest.raises(UsageError, match="hold no vllm-router"):
        render_pools("kubernetes", loaded.spec, plans)
    keyed = altered(VLLM, "[transfer]", '[endpoint]\napi_key_env = "KEY"\n\n[transfer]', tmp_path)
    with pytest.raises(UsageError, match="takes no key"):
        plan_pools(load_spec(keyed))


def test_an_open_endpoint_has_a_front_before_the_router(tmp_path: Path) -> None:
    path = altered(SGLANG, "[transfer]", "[endpoint]\nexpose = true\n\n[transfer]", tmp_path)
    loaded = load_spec(path)
    plans = {role: pool.plan for role, pool in plan_pools(loaded).pools.items()}
    rendered = render_pools("shell", loaded.spec, plans).files
    assert "MOONPAD_PORT_ROUTER_API" in rendered["prefill-0/front.sh"].text
    router = rendered["prefill-0/router.sh"].text
    assert 'MOONPAD_PORT_ROUTER_API="${MOONPAD_PORT_ROUTER_API:-8003}"' in router
    assert "--host 127.0.0.1" in router


def test_the_firewall_shuts_a_port_for_each_data_parallel_rank() -> None:
    text = files(VLLM, "shell")["prefill-1/firewall.sh"]
    port = "MOONPAD_PORT_PREFILL_1_SIDE_CHANNEL"
    assert f"tcp dport ${{{port}}}-$(({port} + 15)) drop" in text
