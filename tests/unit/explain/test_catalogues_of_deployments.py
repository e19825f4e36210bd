"""Catalogues in JSON, of which a launcher makes the commands: each entry is read, with its model and its machines."""

from __future__ import annotations

import json

from moonpad.explain.results import Judged

from .judging import ask

ENTRIES = [
    {"vendor": "moonshotai", "model_name": "Kimi-K2.5", "framework": "sglang", "nodes_per_worker": 4,
     "framework_args": "--tp-size 16 --trust-remote-code --tool-call-parser kimi_k2 --reasoning-parser kimi_k2"},
    {"vendor": "openai", "model_name": "gpt-oss-120b", "framework": "sglang", "nodes_per_worker": 2,
     "framework_args": "--tp-size 8"},
    {"vendor": "Qwen", "model_name": "Qwen3-32B", "framework": "vllm", "framework_args": ""},
]  # fmt: skip


def judged_of(entries: object) -> tuple[Judged, ...]:
    return ask(json.dumps(entries, indent=2))


def test_each_entry_is_read_with_its_model() -> None:
    kimi, oss, qwen = judged_of(ENTRIES)
    assert [each.model_written for each in (kimi, oss, qwen)] == [
        "moonshotai/Kimi-K2.5",
        "openai/gpt-oss-120b",
        "Qwen/Qwen3-32B",
    ]
    assert kimi.layout is not None
    assert oss.layout is not None
    assert (kimi.layout.tp, oss.layout.tp) == (16, 8)
    assert (qwen.engine, "tp" in qwen.unknown) == ("vllm", True)
    assert not any("no model is named" in each.unjudged for each in (kimi, oss, qwen))


def test_the_machines_are_those_of_the_entry_and_one_command_does_not_replace_it() -> None:
    kimi, oss, _ = judged_of(ENTRIES)
    assert "--on 4x4x" in kimi.unjudged
    assert not kimi.corrected
    assert not oss.corrected


def test_the_machines_of_a_launcher_are_those_of_its_option() -> None:
    options = "--model-path moonshotai/Kimi-K2-Instruct --tp-size 16 --trust-remote-code"
    launch = f'sml advanced --nodes-per-replica 4 --framework sglang --framework-args "{options}"\n'
    (judged,) = ask(launch)
    assert "--on 4x4x" in judged.unjudged
    assert not judged.corrected


def test_objects_without_an_engine_are_no_catalogue() -> None:
    rows = [{"model_name": "Kimi-K2.5", "args": "--tp-size 8", "framework": "pytorch"}]
    assert not any(each.layout is not None for each in judged_of(rows) if each.model_written)
