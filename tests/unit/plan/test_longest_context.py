"""The longest context that is stated, and what more or fewer sequences would hold.

The oracle asks the memory model setting by setting, over a grid that the search does not walk.
"""

from __future__ import annotations

from itertools import product

import pytest

from moonpad.catalog.clusters import parse_cluster
from moonpad.engines import ENGINES
from moonpad.plan.effective_settings import limits_of
from moonpad.plan.memory import memory_of
from moonpad.values.configuration import Configuration
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout, Settings
from moonpad.values.plan_answer import Choice, TradeRow
from moonpad.values.records import replace
from tests.unit.plan.test_search import THINKING, checkpoint, plan, with_layout

K2_6 = "moonshotai/Kimi-K2.6"


def memory(choice: Choice, model: str, on: str, **settings: object) -> Memory:
    engine = ENGINES[choice.plan.engine].facts
    made = Settings(**settings)  # type: ignore[arg-type]
    return memory_of(Configuration(checkpoint(model), parse_cluster(on), engine, "", choice.plan.layout, made))


def holds(choice: Choice, model: str, on: str, **settings: object) -> int:
    """Tokens of one sequence that the layout of a choice likely holds with these settings."""
    return int(memory(choice, model, on, **settings).max_context.low)


@pytest.mark.parametrize(
    ("model", "on"), [(K2_6, "8xH20"), (THINKING, "8xH20"), (K2_6, "8xH200"), (THINKING, "2x8xA100-80G")]
)
@pytest.mark.parametrize(("goal", "sequences"), [("latency", (1024, 256, 128, 64)), ("throughput", (1024, 512, 256))])
def test_the_longest_context_is_what_settings_reach_that_may_be_turned_down(
    model: str, on: str, goal: str, sequences: tuple[int, ...]
) -> None:
    """Not fewer tokens a step than 4,096, not a higher fraction than 0.95, graphs stay."""
    for choice in plan(model, on, goal=goal, engine="vllm").choices:
        grid = product(sequences, (8192, 4096), (None, 0.95))
        reach = [
            holds(choice, model, on, max_num_seqs=most, max_num_batched_tokens=tokens, gpu_memory_utilization=fraction)
            for most, tokens, fraction in grid
        ]
        assert choice.memory.context >= max(reach) // 1024 * 1024


def test_fewer_sequences_give_twice_the_context_and_the_plan_says_so() -> None:
    tensor = with_layout(plan(K2_6, "8xH20"), Layout(tp=8))
    settings = tensor.plan.settings
    untouched = holds(tensor, K2_6, "8xH20")
    assert tensor.memory.context > 1.2 * untouched
    assert (settings.max_num_seqs, settings.enforce_eager) == (64, False)
    for words in ("4,096 batched tokens and 256 sequences", "64 sequences", "gpu_memory_utilization 0.95"):
        (bought,) = [reason for reason in tensor.reasons if reason.startswith(f"With {words}")]
        assert "more tokens" in bought
    assert tensor.turned_down[0].what == "4,096 batched tokens and 256 sequences"
    gained = sum(change.kv_tokens for change in tensor.turned_down)
    expected = memory(tensor, K2_6, "8xH20").kv_tokens.value
    assert gained == pytest.approx(tensor.memory.kv_tokens.value - expected, abs=64)


def test_nothing_is_turned_down_where_all_of_the_models_context_fits() -> None:
    settings = with_layout(plan(THINKING, "8xH200"), Layout(tp=8)).plan.settings
    assert (settings.max_num_seqs, settings.max_num_batched_tokens) == (1024, 8192)
    assert not settings.enforce_eager


def test_what_frees_nothing_is_left_as_it_is() -> None:
    """SGLang's static fraction follows from the tokens of a step, not from the sequences that are pinned here."""
    choice = plan(K2_6, "8xH20", "max_num_batched_tokens=8192", "tp=8", "dcp=1", "ep=1", engine="vllm").choices[0]
    with_64 = replace(choice.plan.settings, max_num_seqs=64)
    configuration = Configuration(
        checkpoint(K2_6), parse_cluster("8xH20"), ENGINES["vllm"].facts, "", choice.plan.layout, with_64
    )
    assert choice.plan.settings == with_64
    with_8 = replace(configuration, settings=replace(with_64, max_num_seqs=8, enforce_eager=True))
    more = replace(configuration, settings=replace(with_64, enforce_eager=True))
    assert memory_of(with_8).max_context.value == memory_of(more).max_context.value, "the forward pass takes more"


def test_one_that_holds_a_useful_context_stands_first() -> None:
    first, *others = plan(K2_6, "8xH100").choices
    tensor = next(choice for choice in others if choice.plan.layout == Layout(tp=8) and choice.plan.engine == "vllm")
    assert first.plan.layout == Layout(tp=8, dcp=8)
    assert first.memory.context >= 3 * tensor.memory.context


# The trade.


def sglangs_own(choice: Choice, row: TradeRow) -> float:
    """The fraction that SGLang calculates for these settings, as the plan writes it."""
    asked = Settings(
        max_num_seqs=row.max_num_seqs,
        max_num_batched_tokens=row.max_num_batched_tokens,
        enforce_eager=row.enforce_eager,
    )
    engine = ENGINES["sglang"].facts
    of = Configuration(checkpoint(K2_6), parse_cluster("8xH20"), engine, "", choice.plan.layout, asked)
    return round(limits_of(of).memory_fraction, 3)


@pytest.mark.parametrize(("model", "on", "engine"), [(K2_6, "8xH20", "vllm"), (K2_6, "8xH20", "sglang")])
def test_the_trade_is_what_the_memory_model_says_of_each_row(model: str, on: str, engine: str) -> None:
    choice = plan(model, on, "tp=8", "dcp=1", "ep=1", engine=engine).choices[0]
    assert [row.chosen for row in choice.trade].count(True) == 1
    assert {1024, 256, 64, 8, 1} <= {row.max_num_seqs for row in choice.trade}
    for row in choice.trade:
        fraction = choice.plan.settings.gpu_memory_utilization if engine == "vllm" else sglangs_own(choice, row)
        held = holds(
            choice,
            model,
            on,
            max_num_seqs=row.max_num_seqs,
            max_num_batched_tokens=row.max_num_batched_tokens,
            gpu_memory_utilization=fraction,
            enforce_eager=row.enforce_eager,
        )
        assert abs(row.context - held) < 2048  # SGLang's fraction is written with three digits
    graphs = [row for row in choice.trade if not row.enforce_eager and row.max_num_seqs]
    assert [row.context for row in graphs] == sorted(row.context for row in graphs)


def test_the_trade_keeps_what_is_fixed_and_asked_for() -> None:
    rows = plan(K2_6, "8xH20", "max_num_batched_tokens=2048", "enforce_eager=false", concurrency=8).choices[0].trade
    assert {row.max_num_batched_tokens for row in rows} == {2048}
    assert not any(row.enforce_eager for row in rows)
    assert min(row.max_num_seqs or 0 for row in rows) >= 8


@pytest.mark.parametrize("goal", ["latency", "throughput", "context"])
@pytest.mark.parametrize("tokens", [8, 100, 512])
def test_no_more_sequences_than_tokens_of_a_step(goal: str, tokens: int) -> None:
    (choice, *_) = plan(K2_6, "8xH20", f"max_num_batched_tokens={tokens}", goal=goal, engine="vllm").choices
    for settings in (choice.plan.settings, *choice.trade):
        assert 0 < (settings.max_num_seqs or 0) <= tokens == settings.max_num_batched_tokens


def test_what_a_replica_holds_and_all_of_them() -> None:
    (choice,) = plan(K2_6, "8xH20", "tp=4", "dp=2", "ep=8", "dcp=1", engine="vllm").choices
    memory, shown = choice.memory, choice.memory.as_json()
    blocks = memory.kv_tokens.value / 16
    # By hand: two replicas, each with so many whole sequences.
    assert memory.concurrency_at_context.value == pytest.approx(2 * blocks / -(-memory.context // 16), rel=1e-3)
    assert shown["replicas"] == 2
    assert shown["kv_tokens_total"]["value"] == 2 * memory.kv_tokens.value  # type: ignore[index]
    assert shown["concurrency_total"] == shown["concurrency_at_context"]
    each, total = shown["concurrency_per_replica"], shown["concurrency_total"]
    assert 2 * each["value"] == pytest.approx(total["value"])  # type: ignore[index]


def test_there_is_no_trade_where_sequences_take_no_memory() -> None:
    assert plan("kimi-k2-tiny", "cpu").choices[0].trade == ()
    assert plan(THINKING, "4xRTX4090-48G", engine="ktransformers").choices[0].trade == ()


@pytest.mark.parametrize("on", ["8xH20", "8xH200", "2x8xH100", "4xGB200"])
def test_what_is_stated_is_what_the_settings_of_the_command_hold(on: str) -> None:
    """SGLang's fraction is written with three digits, and the memory is that of what is written."""
    for choice in plan(K2_6, on, engine="sglang").choices:
        written, facts = choice.plan.settings, ENGINES["sglang"].facts
        configuration = Configuration(checkpoint(K2_6), parse_cluster(on), facts, "", choice.plan.layout, written)
        assert memory_of(configuration, context=1).max_context.value >= choice.memory.context
        assert choice.confidence != "tight"


def test_an_engine_that_counts_sequences_itself_is_told_fewer() -> None:
    """SGLang 0.5: its graphs are captured for as many, and its static fraction leaves room for them."""
    for layout in (("tp=2", "dp=2", "ep=4", "dcp=2"), ("tp=4", "dp=1", "ep=1", "dcp=1")):
        words = (*layout, "max_num_seqs=256", "max_num_batched_tokens=4096", "enforce_eager=false")
        fixed = plan(K2_6, "4xGB200", *words, engine="sglang", goal="throughput").choices[0]
        free = plan(K2_6, "4xGB200", *layout, engine="sglang", goal="throughput").choices[0]
        assert free.memory.context >= fixed.memory.context
