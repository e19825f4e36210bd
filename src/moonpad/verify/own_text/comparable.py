"""Which answers can be compared with the model's own text: what a request asks for. Pure."""

from __future__ import annotations

from typing import Final

from moonpad.verify.api import Body
from moonpad.verify.own_text.continuation import SAMPLING_FIELDS

COMPARABLE: Final = frozenset(
    (
        *SAMPLING_FIELDS,
        *(
            "model",
            "messages",
            "tools",
            "tool_choice",
            "parallel_tool_calls",
            "n",
            "max_tokens",
            "max_completion_tokens",
        ),
        *("stream", "stream_options", "logprobs", "top_logprobs", "skip_special_tokens", "return_token_ids"),
    )
)
"""Fields that do not keep an answer from being compared. Others, as a form that is asked for, change the text."""


def limit_of(body: Body) -> int | None:
    """The tokens that an answer may have; None where the request sets no limit."""
    limits = [body[name] for name in ("max_tokens", "max_completion_tokens") if type(body.get(name)) is int]
    return min(int(str(limit)) for limit in limits) if limits else None


def is_greedy(body: Body) -> bool:
    return body.get("temperature") == 0 or body.get("top_k") == 1


def comparable(body: Body, *, seeded: bool = False) -> bool:
    """Whether the model must write the same after the same prompt: decoded greedily, in no form that is asked for.
    `seeded`: this engine draws the same for one seed in both APIs."""
    messages = body.get("messages")
    return (
        isinstance(messages, list | tuple)
        and (is_greedy(body) or (seeded and body.get("seed") is not None))
        and COMPARABLE.issuperset(body)
        and body.get("tool_choice") in (None, "auto", "none")
    )
