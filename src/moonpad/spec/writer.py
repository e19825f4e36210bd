"""A plan as the text of a `moonpad.toml`: what is decided, with the reasons as comments. `loader.py` reads it back."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Final

from moonpad.spec.safe_text import refuse_invisible
from moonpad.values.plan import Layout, Platform, Settings
from moonpad.values.plan_answer import Choice, Goal
from moonpad.values.records import field_names

WIDTH: Final = 110
_COMMENTS: Final = {
    "max_model_len": "tokens of the longest sequence, prompt and answer together",
    "max_num_seqs": "sequences in one step",
    "max_num_batched_tokens": "tokens in one step",
    "gpu_memory_utilization": "of each device's memory",
    "kv_free_fraction": "of what weights and activations leave free",
    "kv_cache_gib": "for the KV cache, in the host's memory",
    "enforce_eager": "true: no graphs, which saves memory or time at the start, and slows decoding",
    "gpu_experts": "experts of each layer on the devices; the others lie in host RAM",
    "host_expert_layers": "the routed experts of so many layers, from the first, lie in host RAM",
}


def spec_text(choice: Choice, *, model: str, cluster: str, goal: Goal, weights_here: bool) -> str:
    """`model` and `cluster` as the spec is to name them. The text ends with a line break.

    Raises:
        ValueError: the model's name holds a character that no spec may hold.
    """
    return "\n".join(_lines(choice, model, cluster, goal, weights_here)) + "\n"


def _lines(choice: Choice, model: str, cluster: str, goal: Goal, weights_here: bool) -> Iterator[str]:
    plan = choice.plan
    yield from _comment(f"Written by `moonpad init`: the best plan for {goal}; confidence: {choice.confidence}.")
    for reason in choice.reasons:
        yield from _comment(reason, "- ")
    yield ""
    yield f"name = {quoted(plan.name)}"
    if not weights_here:
        yield from _comment("`up` needs the folder of the weights here; `plan` and `render` do with the name.")
    yield f"model = {quoted(model)}"
    yield f"served_name = {quoted(plan.serving.served_name)}"
    yield f"goal = {quoted(goal)}"
    if plan.serving.trust_remote_code:
        yield from _comment("The tokenizer is Python in the checkpoint, which the engine runs: read it first.")
        yield "trust_remote_code = true"
    yield from ("", "[weights]", f"scheme = {quoted(plan.scheme)}  # another format is refused")
    yield from ("", "[hardware]", f"cluster = {quoted(cluster)}", "", "[engine]", f"name = {quoted(plan.engine)}")
    if plan.engine_version:
        yield f"version = {quoted(plan.engine_version)}  # what the memory was calculated for"
    yield from ("", "[layout]", *_layout(plan.layout), "", "[settings]", *_settings(choice))


def _layout(layout: Layout) -> Iterator[str]:
    names = {"tp": "tensor", "pp": "pipeline", "dp": "data", "ep": "expert", "dcp": "decode context"}
    for name, what in names.items():
        size = getattr(layout, name)
        if size > 1 or name == "tp":
            yield f"{name} = {size}  # {what} parallel"


def _settings(choice: Choice) -> Iterator[str]:
    defaults = Settings()
    for name in field_names(Settings):
        value = getattr(choice.plan.settings, name)
        always = name == "enforce_eager" and choice.plan.platform is Platform.CPU
        if not always and (value is None or value == getattr(defaults, name)):
            continue
        if name == "draft_tokens" and choice.plan.settings.draft is None:
            yield 'draft = "draft"  # the folder of the draft'
        comment = f"  # {_COMMENTS[name]}" if name in _COMMENTS else ""
        yield f"{name} = {literal(value)}{comment}"


def literal(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
    return quoted(str(value))


def quoted(text: str) -> str:
    """A basic string of TOML. Raises ValueError for what a spec refuses anyway: control characters, line breaks."""
    escaped = refuse_invisible(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _comment(sentence: str, mark: str = "") -> Iterator[str]:
    plain = "".join(char if char.isprintable() else "?" for char in sentence)
    lines = textwrap.wrap(plain, WIDTH, break_long_words=False, break_on_hyphens=False) or [""]
    for number, line in enumerate(lines):
        yield f"# {mark if number == 0 else ' ' * len(mark)}{line}"
