"""Which settings are tried, in which order, and how they stand in a spec."""

from __future__ import annotations

import tomllib

import pytest

from moonpad.catalog.knobs import knobs, knobs_of
from moonpad.catalog.options import option_set
from moonpad.engines import ENGINES
from moonpad.spec.edit import edited
from moonpad.spec.layout_tables import SettingsTable
from moonpad.spec.loader import parse_spec
from moonpad.tune.candidate import LAYOUT, Candidate, Change
from moonpad.tune.candidates import InForce, combined, single_changes
from moonpad.tune.order import Judged, measuring_order
from moonpad.tune.spec_change import changed_text, layout_sizes, with_flags
from tests.unit.tune.world import change

SPEC = """\
# ours
model = "kimi-k2-tiny"  # the small one
engine = "vllm-cpu"

[settings]
max_num_seqs = 8  # few
extra_args = ["--seed", "1", "--no-async-scheduling"]

[launch]
restarts = 0
"""


# --- the data ---------------------------------------------------------------------------------------------------------


def test_every_knob_is_of_known_engines_and_keys() -> None:
    for knob in knobs().values():
        assert set(knob.engines) <= set(ENGINES), knob.name
        assert not knob.key or knob.key in SettingsTable.model_fields, knob.name


def test_every_flag_is_an_option_of_a_recorded_release() -> None:
    for knob in knobs().values():
        if knob.flag:
            programs = {ENGINES[name].program for name in knob.engines}
            sets = [options for program in programs if (options := option_set(program)) is not None]
            assert any(options.named(knob.flag) for options in sets), knob.name
            assert not knob.negated or any(options.named(knob.negated) for options in sets), knob.name


def test_the_engine_for_processors_has_its_own_knobs() -> None:
    names = {knob.name for knob in knobs_of("vllm-cpu", "cpu")}
    assert {"cpu_binding", "kv_cache_gib", "max_num_batched_tokens", "max_num_seqs"} <= names
    assert "gpu_memory_utilization" not in names
    assert "cpu_binding" not in {knob.name for knob in knobs_of("vllm", "cuda")}


def test_limits_and_types_are_kept() -> None:
    seqs = knobs()["max_num_seqs"]
    assert seqs.allows(1)
    assert not seqs.allows(0)
    assert not seqs.allows(True)
    assert not seqs.allows(2.5)
    assert not knobs()["prefix_caching"].allows("yes")


# --- candidates -------------------------------------------------------------------------------------------------------


def in_force(**values: object) -> InForce:
    settings = {"max_num_seqs": 8, "max_num_batched_tokens": 2048, "prefix_caching": None, "kv_cache_gib": 1}
    return InForce({**settings, **values.pop("settings", {})}, **values)  # type: ignore[arg-type, dict-item]


def ids(before: InForce, engine: str = "vllm-cpu", platform: str = "cpu") -> list[str]:
    return [one.id for one in single_changes(knobs_of(engine, platform), before)]


def test_what_is_in_force_is_not_tried() -> None:
    tried = ids(in_force())
    assert "max_num_batched_tokens = 2048" not in tried
    assert "max_num_batched_tokens = 1024" in tried
    assert [one for one in tried if one.startswith("max_num_seqs")] == [
        "max_num_seqs = 1",
        "max_num_seqs = 2",
        "max_num_seqs = 4",
        "max_num_seqs = 16",
        "max_num_seqs = 32",
    ]


def test_cores_make_bindings() -> None:
    tried = ids(in_force(cores=4))
    assert {"cpu_binding = nobind", "cpu_binding = 0-3", "cpu_binding = 0-2", "cpu_binding = 0-1"} <= set(tried)
    assert not [one for one in ids(in_force()) if "cpu_binding" in one]


def test_a_flag_of_the_spec_counts_as_in_force() -> None:
    tried = ids(in_force(extra_args=("--no-async-scheduling",)), "vllm", "cuda")
    assert "--async-scheduling" in tried
    assert "--no-async-scheduling" not in tried


def test_what_the_release_does_not_have_is_not_tried() -> None:
    tried = ids(in_force(has_option=lambda flag, value: "async" not in flag))
    assert not [one for one in tried if "async" in one]


def test_a_draft_and_shared_experts_have_knobs_of_their_own() -> None:
    plain = ids(in_force(), "vllm", "cuda")
    assert not [one for one in plain if "draft_tokens" in one or "all2all" in one]
    more = ids(in_force(has_draft=True, shares_experts=True), "vllm", "cuda")
    assert "draft_tokens = 5" in more
    assert "--all2all-backend deepep_low_latency" in more
    assert not [one for one in more if "ngram" in one]


def test_other_layouts_are_tried() -> None:
    found = single_changes((), in_force(layout="TP8"), ("TP8", "TP4 DP2", "TP8 DCP8"))
    assert [one.id for one in found] == ["TP4 DP2", "TP8 DCP8"]


def test_combinations_have_each_knob_once_at_its_best() -> None:
    a, b, c = change("max_num_seqs", 32), change("max_num_seqs", 16), change("async_scheduling", True)
    idle = change("prefix_caching", False)
    found = combined([(a, 1.4), (b, 1.3), (c, 1.2), (idle, 1.01)], [])
    assert [one.id for one in found] == ["--async-scheduling; max_num_seqs = 32", "max_num_seqs = 23"]
    assert combined([(a, 1.4)], []) == ()
    assert combined([(a, 1.4), (c, 1.2)], [a.with_changes(c.changes)]) == ()


def test_partners_join_though_alone_they_keep_no_limit() -> None:
    a, b = change("max_num_seqs", 8), change("max_num_seqs", 16)
    graphs, idle = change("enforce_eager", False), change("prefix_caching", False)
    singles = [(a, 14.0), (b, 1.0), (idle, 1.0), (graphs, 1.0)]
    graphs_with = ["enforce_eager = false; max_num_seqs = 8", "enforce_eager = false; max_num_seqs = 16"]
    assert [one.id for one in combined(singles, [], [graphs])] == graphs_with
    both = [graphs_with[0], "max_num_seqs = 8; prefix_caching = false", graphs_with[1]]
    assert [one.id for one in combined(singles, [], [graphs, idle])] == both
    assert combined([(a, 14.0)], [], [b]) == (), "another value of the same knob is no partner"
    most = combined([(a, 14.0), (b, 12.0)], [], [graphs])
    assert [one.id for one in most] == [graphs_with[0], "enforce_eager = false; max_num_seqs = 11"]
    assert [one.id for one in combined([(a, 1.4), (b, 1.3)], [])] == ["max_num_seqs = 11"]
    assert combined([(change("max_num_seqs", 8), 1.4), (change("max_num_seqs", 9), 1.3)], []) == ()
    assert combined([(b, 1.0), (graphs, 1.0)], [], [graphs]) == (), "nothing keeps the limits: nothing to join"


def test_a_candidate_is_the_same_in_any_order() -> None:
    a, c = change("max_num_seqs", 32), change("async_scheduling", True)
    assert a.with_changes(c.changes) == c.with_changes(a.changes)
    assert Candidate.of(a.as_json()) == a
    with pytest.raises(ValueError, match="twice"):
        a.with_changes(change("max_num_seqs", 16).changes)


# --- order ------------------------------------------------------------------------------------------------------------


def test_a_predicted_gain_comes_first_and_a_predicted_loss_last() -> None:
    rows = [
        Judged(change("max_num_seqs", 32), predicted=0.5, order=1),
        Judged(change("async_scheduling", True), predicted=1.0, order=5),
        Judged(change("max_num_batched_tokens", 512), predicted=1.3, order=2),
        Judged(change("prefix_caching", False), order=8),
    ]
    assert [one.candidate.changes[0].knob for one in measuring_order(rows)] == [
        "max_num_batched_tokens",
        "async_scheduling",
        "prefix_caching",
        "max_num_seqs",
    ]


def test_knobs_take_turns_and_what_needs_no_start_comes_first() -> None:
    many = [Judged(change("max_num_batched_tokens", value), order=1) for value in (512, 1024, 4096)]
    rows = [*many, Judged(change("prefix_caching", False), order=8)]
    assert measuring_order(rows)[1].candidate.id == "prefix_caching = false"
    at_once = Judged(change("async_scheduling", True), order=99, restart=False)
    assert measuring_order([*rows, at_once])[0] == at_once


def test_what_is_refused_is_in_no_order() -> None:
    assert measuring_order([Judged(change("prefix_caching", False), refused="no room")]) == ()


# --- the spec ---------------------------------------------------------------------------------------------------------


def test_a_spec_keeps_its_comments() -> None:
    candidate = Candidate((*change("max_num_seqs", 32).changes, *change("async_scheduling", True).changes))
    text = changed_text(SPEC, ("--seed", "1", "--no-async-scheduling"), candidate, "tuned\nfor us")
    assert text.startswith("# tuned\n# for us\n# ours\n")
    assert "max_num_seqs = 32  # few\n" in text
    assert "# the small one" in text
    assert tomllib.loads(text)["settings"]["extra_args"] == ["--seed", "1", "--async-scheduling"]
    assert parse_spec(text, name="a").settings.max_num_seqs == 32


def test_a_spec_without_settings_gets_them() -> None:
    text = changed_text('model = "a"\nengine = "vllm"\n', (), change("max_num_seqs", 32))
    assert parse_spec(text, name="a").settings.max_num_seqs == 32


def test_nothing_else_changes() -> None:
    assert edited(SPEC, {}) == SPEC


def test_a_switch_that_the_spec_has_is_changed_and_keeps_its_comment() -> None:
    text = 'model = "a"\n\n[settings]\nenforce_eager = true  # starts sooner\nprefix_caching = false\n'
    changed = edited(text, {"settings": {"enforce_eager": False, "prefix_caching": True}})
    assert tomllib.loads(changed)["settings"] == {"enforce_eager": False, "prefix_caching": True}
    assert "enforce_eager = false  # starts sooner\n" in changed


def test_a_layout_replaces_the_former_one() -> None:
    text = 'model = "a"\nengine = "vllm"\n\n[layout]\ntp = 8  # all\ndcp = 8\nexpert_parallel = true\n'
    changed = changed_text(text, (), Candidate((Change(LAYOUT, "TP4 DP2"),)))
    assert tomllib.loads(changed)["layout"] == {"tp": 4, "dp": 2}
    assert layout_sizes("DP16 EP16") == {"tp": 1, "dp": 16, "ep": 16}


def test_a_flag_replaces_its_former_value() -> None:
    backend = Change("all2all", "naive", flag="--all2all-backend")
    assert with_flags(["--all2all-backend", "x", "--seed", "1"], [backend]) == (
        "--seed",
        "1",
        "--all2all-backend",
        "naive",
    )
    assert with_flags(["--all2all-backend=x"], [backend]) == ("--all2all-backend", "naive")
