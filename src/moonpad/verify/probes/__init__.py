"""The probes, in the order in which they run: liveness first."""

from collections.abc import Sequence
from typing import Final

from moonpad.verify.probe import ApiProbe
from moonpad.verify.probes import (
    access,
    answer_ends,
    chat,
    concurrency,
    context,
    liveness,
    prompts,
    raw_calls,
    reasoning,
    sampling,
    stream_timing,
    streaming,
    structured,
    tool_call,
    tool_choice,
    tool_kinds,
    tool_turns,
    wrong_requests,
)

PROBES: Final[Sequence[ApiProbe]] = (
    liveness.health,
    liveness.models,
    access.auth,
    liveness.metrics,
    chat.chat,
    chat.completions,
    streaming.streaming,
    stream_timing.buffering,
    prompts.history,
    prompts.count,
    answer_ends.limit,
    answer_ends.stop,
    answer_ends.end_tokens,
    sampling.choices,
    sampling.seed,
    sampling.logprobs,
    reasoning.reasoning,
    reasoning.reasoning_cut,
    reasoning.reasoning_history,
    tool_call.tool_call,
    tool_call.tool_stream,
    tool_choice.none,
    tool_choice.required,
    tool_choice.named,
    tool_kinds.several,
    tool_kinds.hyphen,
    tool_kinds.no_arguments,
    tool_kinds.schema,
    tool_call.tool_cut,
    tool_turns.ids,
    tool_turns.result,
    tool_turns.foreign,
    prompts.empty_content,
    structured.json_object,
    structured.json_schema,
    structured.regex,
    context.gibberish,
    wrong_requests.wrong_model,
    wrong_requests.bad_requests,
    context.context_limit,
    stream_timing.cancellation,
    concurrency.concurrency,
)
"""The quick set."""

LONG_PROBES: Final[Sequence[ApiProbe]] = (raw_calls.raw_calls, context.needle, tool_kinds.long)
"""Run only when named: for servers without a parser, or minutes long on a large model."""
