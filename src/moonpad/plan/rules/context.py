"""How long a sequence may be, and what the checkpoint has for guessing ahead."""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.values.checkpoint import Architecture
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Finding, invalid


def context_limit(case: Configuration) -> Iterator[Finding]:
    asked, limit = case.settings.max_model_len, case.architecture.max_context
    if asked is not None and asked < 1:
        yield invalid("max_model_len", f"max_model_len is {asked}", "set 1 or more, or leave it out")
    elif asked is not None and asked > limit:
        yield invalid(
            "max_model_len",
            f"max_model_len {asked:,}: the checkpoint's YaRN reaches {limit:,} tokens, and beyond that "
            "answers fall apart",
            f"set max_model_len = {limit}, or take a checkpoint whose rope_scaling reaches further",
        )


def speculative_findings(method: str, architecture: Architecture) -> tuple[Finding, ...]:
    """What is wrong with a method of speculative decoding (`mtp`, `deepseek_mtp`, `NEXTN`, `eagle3` …)."""
    name = method.strip().lower()
    own_layers = "mtp" in name or name in ("nextn", "eagle")
    if not own_layers or architecture.nextn_layers > 0 or name == "eagle":
        return ()
    return (
        invalid(
            "speculative",
            f'speculative method "{method}": the checkpoint has {architecture.nextn_layers} layers for multi-token '
            "prediction (num_nextn_predict_layers)",
            "leave it out, or give a draft model of its own (eagle3)",
        ),
    )
