"""What a run of `up` keeps of its log: the figures of the model and of the rank with least, as `plan --from-log`."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.models import models
from moonpad.engines import ENGINES
from moonpad.plan.judgement import judge
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.run.memory_check import Expected, keep_measured
from moonpad.store.calibrations import own_calibrations
from moonpad.values.configuration import Configuration
from moonpad.values.plan import Layout, Settings
from moonpad.values.units import GIB


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def keep(engine: str, version: str, events: list[dict[str, str]]) -> None:
    checkpoint = catalog_checkpoint(models()["moonshotai/Kimi-K2-Thinking"])
    cluster, facts = parse_cluster("8xH200"), ENGINES[engine].facts
    judgement = judge(Configuration(checkpoint, cluster, facts, version, Layout(tp=8), Settings(max_num_seqs=64)))
    assert judgement.memory is not None
    folder = SimpleNamespace(events=lambda: events, run_id="k2-20261125-000000-ab12")
    prepared = SimpleNamespace(engine=ENGINES[engine], log=ENGINES[engine].log)
    keep_measured(cast(Any, folder), cast(Any, prepared), Expected(judgement, judgement.memory))


def test_the_rank_with_least() -> None:
    keep("vllm", "0.25.1", [{"kv_gib": "40.00"}, {"kv_gib": "39.20"}, {"kv_gib": "39.90"}, {"kv_tokens": "598912"}])
    (start,) = own_calibrations()
    assert start.kv_bytes == pytest.approx(39.20 * GIB, rel=1e-3)
    assert (start.kv_tokens, start.settings.max_num_seqs) == (598_912, 64)
    assert start.settings.gpu_memory_utilization is not None, "the defaults are written down"


def test_the_pool_of_a_draft_is_not_that_of_the_model() -> None:
    events = [{"kv_tokens": "800000", "kv_gib": "52.36"}, {"kv_tokens": "800000", "kv_gib": "0.86"}]
    keep("sglang", "0.5.10.post1", events)
    assert own_calibrations()[0].kv_bytes == pytest.approx(52.36 * GIB, rel=1e-3)


@pytest.mark.parametrize("figure", ["0.00", "1.2.3", "-3.32", "9" * 400])
def test_what_is_no_size_is_not_kept(figure: str) -> None:
    keep("vllm", "0.25.1", [{"kv_gib": figure}])
    assert own_calibrations() == ()
