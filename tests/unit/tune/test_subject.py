"""A spec that is tuned: its candidates as specs of their own, judged by the planner, known again by a fingerprint."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from moonpad.bench.config import Slo
from moonpad.engines import ENGINES
from moonpad.plan.from_spec import runtime_of
from moonpad.run.planning import plan_spec
from moonpad.run.prepare import prepare
from moonpad.spec.loader import load_spec
from moonpad.tune.candidate import UNCHANGED
from moonpad.tune.load import TuneLoad
from moonpad.tune.subject import Subject, prepare_one
from moonpad.values.deployment import Role
from moonpad.values.errors import UsageError
from moonpad.values.records import replace
from moonpad.values.workload import Lengths, Workload
from tests.unit.tune.world import change

LOAD = TuneLoad(Workload(Lengths.fixed(64), Lengths.fixed(8), concurrency=4), "64:8", "throughput", Slo(), 16)


@pytest.fixture
def subject(fake_spec: Path, monkeypatch: pytest.MonkeyPatch) -> Subject:
    monkeypatch.setenv("HOME", str(fake_spec.parent))
    fake_spec.write_text(f"# mine\n{fake_spec.read_text()}")
    return Subject.of(load_spec(fake_spec), LOAD)


def test_a_candidate_has_a_name_and_a_port_of_its_own(subject: Subject) -> None:
    loaded = subject.spec_of(change("max_num_seqs", 16), 12345)
    assert loaded.spec.name == "fake-tune"
    assert loaded.spec.endpoint.port == 12345
    assert loaded.spec.settings.max_num_seqs == 16
    assert loaded.spec.launch.restarts == 0
    assert loaded.path == subject.loaded.path, "relative paths stay relative to the user's spec"
    assert loaded.text.startswith("# mine\n")


def test_the_planner_refuses_what_does_not_fit_with_its_figures(subject: Subject) -> None:
    judged = subject.judge(change("kv_cache_gib", 500))
    assert "500" in judged.refused or "GiB" in judged.refused
    assert judged.predicted is None
    fits = subject.judge(change("max_num_seqs", 16))
    assert not fits.refused


def test_the_candidates_are_of_this_engine_and_release(subject: Subject) -> None:
    ids = [one.id for one in subject.candidates()]
    assert [id_ for id_ in ids if id_.startswith("--speculative-config")]
    assert "--async-scheduling" not in ids, "on processors it does nothing"
    assert "max_num_seqs = 64" not in ids, "the planner's own choice"
    assert not [id_ for id_ in ids if "gpu_memory" in id_ or "cudagraph" in id_]


def test_the_knobs_that_may_be_changed_can_be_named(subject: Subject) -> None:
    some = Subject.of(subject.loaded, LOAD, only=("prefix_caching", "max_num_seqs"))
    assert {one.changes[0].knob for one in some.candidates()} == {"prefix_caching", "max_num_seqs"}
    assert some.digest != subject.digest, "another search"
    assert not Subject.of(subject.loaded, LOAD, only=("layout",)).candidates(), "one processor has one layout"
    with pytest.raises(UsageError, match="vllm-cpu has no knob 'block_sise'"):
        Subject.of(subject.loaded, LOAD, only=("block_sise",))


def test_the_same_is_known_again_whatever_its_port(subject: Subject) -> None:
    def print_(seqs: int, port: int, requests: int) -> str:
        return subject.fingerprint(prepare(subject.spec_of(change("max_num_seqs", seqs), port)), requests)

    assert print_(16, 1111, 8) == print_(16, 2222, 8)
    assert len({print_(16, 1111, 8), print_(8, 1111, 8), print_(16, 1111, 16)}) == 3
    assert subject.fingerprint(prepare(subject.spec_of(UNCHANGED, 1111)), 8) != print_(16, 1111, 8)


def test_of_copies_behind_a_router_one_is_tuned_for_its_share(subject: Subject) -> None:
    path = subject.loaded.path
    path.write_text(f'{path.read_text()}\n[router]\nname = "sglang-router"\nreplicas = 3\n')
    copies = Subject.of(load_spec(path), LOAD)
    assert copies.load.workload.concurrency == 2
    assert copies.load.words == "64:8, 2 users of each of 3 copies"
    whole = replace(LOAD.workload, concurrency=None, rate_per_s=6.0)
    assert Subject.of(load_spec(path), replace(LOAD, workload=whole)).load.workload.rate_per_s == 2.0
    loaded = copies.spec_of(change("max_num_seqs", 16), 12345)
    prepared = prepare_one(loaded)
    assert (prepared.name, prepared.group, list(prepared.ports.values())) == ("fake-tune", "", [12345])
    assert [process.role for process in prepared.deployment.processes] == [Role.ENGINE], "one copy, and no router"
    assert "[router]" in loaded.text, "what is written at the end still has its copies"
    assert copies.digest != subject.digest


def test_of_the_devices_of_a_machine_a_copy_has_its_part(tmp_path: Path) -> None:
    path = tmp_path / "k2.toml"
    path.write_text(
        'name = "k2"\nmodel = "moonshotai/Kimi-K2.5"\n[hardware]\ncluster = "8xMI355X"\n[engine]\nname = "vllm"\n'
        'version = "0.33.0"\n[layout]\ntp = 4\n[router]\nname = "sglang-router"\nreplicas = 2\n'
    )
    planned = plan_spec(load_spec(path))
    assert planned.cluster.per_node == 4
    assert planned.plan.layout.words == "TP4"


def test_pools_are_refused(subject: Subject) -> None:
    spec = subject.loaded.spec.model_copy(update={"prefill": ("something",)})
    with pytest.raises(UsageError, match="a spec with pools is not tuned"):
        Subject.of(replace(subject.loaded, spec=spec), LOAD)


def test_on_devices_layouts_are_tried_and_the_planner_refuses_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "k2.toml"
    path.write_text(
        'model = "moonshotai/Kimi-K2-Thinking"\n[hardware]\ncluster = "8xH200"\n[engine]\nname = "vllm"\n'
        'version = "0.33.0"\n[layout]\ntp = 8\n[settings]\nmax_model_len = 32768\nmax_num_seqs = 1024\n'
    )
    loaded = load_spec(path)
    planned, engine = plan_spec(loaded), ENGINES["vllm"]
    prepared = SimpleNamespace(
        planned=planned,
        plan=planned.plan,
        engine=engine,
        engine_version=None,
        checkpoint=SimpleNamespace(contents=planned.checkpoint, folder=tmp_path),
        deployment=engine.processes(planned.plan, runtime_of(loaded.spec)),
    )
    subject = Subject(loaded, prepared, LOAD)  # type: ignore[arg-type]  # no engine is installed here
    candidates = {one.id: one for one in subject.candidates()}
    assert "TP8 DCP8" in candidates
    assert "TP8" not in candidates
    context_parallel = subject.judge(candidates["TP8 DCP8"])
    assert context_parallel.predicted is not None
    assert context_parallel.predicted != 1.0
    few = subject.judge(candidates["max_num_batched_tokens = 512"])
    assert "a step of 512 tokens for 1,024 sequences" in few.refused
