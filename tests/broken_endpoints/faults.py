"""The switches of the broken endpoint: what each is, and the probe that must name it.

`row` is that of shared facts about failing endpoints (0: one of the others that a server can have).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    switch: str
    probe: str
    row: int = 0
    key: str = ""
    """The endpoint's key, where the fault is about keys."""


FAULTS = (
    # the rows of the facts
    Fault("no turn of the assistant", "count", 1),
    Fault("empty content is rendered as a list", "empty_content", 2),
    Fault("ids without functions. are not parsed", "tool_call", 3),
    Fault("foreign ids spoil later calls", "tool_foreign", 4),
    Fault("ids without signs are not parsed", "tool_call", 5),
    Fault("calls of foreign ids are dropped", "tool_call", 6),
    Fault("hyphens are not parsed", "tool_hyphen", 7),
    Fault("a line break in the id drops the call", "tool_call", 8),
    Fault("calls are merged", "tool_several", 9),
    Fault("arguments are cut at 8 KB", "tool_long", 10),
    Fault("the last brace is lost", "tool_call", 11),
    Fault("the end token is visible", "reasoning", 12),
    Fault("a special token in the thinking", "reasoning", 12),
    Fault("a call inside the thinking is lost", "tool_call", 13),
    Fault("all in the reasoning", "chat", 14),
    Fault("no thinking in the stream", "streaming", 15),
    Fault("thinking under another name", "reasoning", 16),
    Fault("thinking is not read back", "reasoning_history", 17),
    Fault("thinking is read back by the other name", "reasoning_history", 17),
    Fault("cut thinking is content", "reasoning_cut", 18),
    Fault("calls are dropped at the limit", "tool_cut", 19),
    Fault("tool_choice none is ignored", "tool_choice_none", 20),
    Fault("tool_choice required is ignored", "tool_choice_required", 20),
    Fault("a named tool is ignored", "tool_choice_named", 20),
    Fault("a call of a tool that was not offered", "tool_call", 21),
    Fault("arguments break the schema", "tool_schema", 22),
    Fault("[EOS] does not end", "end_tokens", 23),
    Fault("<|im_end|> does not end", "end_tokens", 23),
    Fault("finish_reason is always length", "chat", 24),
    Fault("no end is known", "chat", 24),
    Fault("nothing behind the thinking", "chat", 25),
    Fault("!!!! behind a long text", "gibberish", 26),
    Fault("repeats itself behind a long text", "gibberish", 27),
    Fault("the stream differs", "streaming", 28),
    Fault("a proxy buffers", "buffering", 29),
    Fault("any model", "wrong_model", 30),
    # others
    Fault("unhealthy", "health"),
    Fault("models are a page", "models"),
    Fault("any key", "auth", key="sk-the-key"),
    Fault("models without a key", "auth", key="sk-the-key"),
    Fault("metrics without requests", "metrics"),
    Fault("no text in completions", "completions"),
    Fault("completions run over", "completions"),
    Fault("system message is dropped", "history"),
    Fault("history is dropped", "history"),
    Fault("parts are dropped", "history"),
    Fault("usage counts the prompt wrongly", "count"),
    Fault("usage counts the answer twice", "logprobs"),
    Fault("usage does not add up", "chat"),
    Fault("no usage", "chat"),
    Fault("thinking is in the content", "reasoning"),
    Fault("thinking is dropped", "reasoning"),
    Fault("stop is ignored", "stop"),
    Fault("the stop string is shown", "stop"),
    Fault("max_tokens is ignored", "limit"),
    Fault("max_completion_tokens is ignored", "limit"),
    Fault("a cut answer ends with stop", "limit"),
    Fault("n is ignored", "choices"),
    Fault("temperature is ignored", "seed"),
    Fault("no logprobs", "logprobs"),
    Fault("logprobs are NaN", "logprobs"),
    Fault("greedy is not the likeliest", "logprobs"),
    Fault("no tool parser", "tool_call"),
    Fault("tools are refused", "tool_call"),
    Fault("ids of another make", "tool_call"),
    Fault("a call ends with stop", "tool_call"),
    Fault("ids begin again", "tool_ids"),
    Fault("the results of tools are lost", "tool_result"),
    Fault("empty arguments are an empty text", "tool_empty"),
    Fault("letters beyond ASCII are lost", "tool_schema"),
    Fault("the name comes with each piece", "tool_stream"),
    Fault("no id in the stream", "tool_stream"),
    Fault("no thinking beside a call in the stream", "tool_stream"),
    Fault("thinking is in the content beside a call", "tool_call"),
    Fault("the stream loses a piece of the arguments", "tool_stream"),
    Fault("json_object is ignored", "json_object"),
    Fault("json_schema is ignored", "json_schema"),
    Fault("regex is ignored", "regex"),
    Fault("500 for broken JSON", "bad_requests"),
    Fault("dies of broken JSON", "bad_requests"),
    Fault("broken JSON is refused late", "bad_requests"),
    Fault("takes every temperature", "bad_requests"),
    Fault("context is shorter than claimed", "context_limit"),
    Fault("long prompts are cut in silence", "context_limit"),
    Fault("500 for a long prompt", "context_limit"),
    Fault("the limit is not named", "context_limit"),
    Fault("runs on when left", "cancellation"),
    Fault("answers of others under load", "concurrency"),
    Fault("the stream is cut", "streaming"),
    Fault("an error inside the stream", "streaming"),
    Fault("no finish_reason in the stream", "streaming"),
    Fault("no usage in the stream", "streaming"),
    Fault("no [DONE]", "streaming"),
    Fault("tools are not in the prompt", "raw_calls"),
    Fault("the model's calls have no section", "raw_calls"),
    Fault("the model's calls are no JSON", "raw_calls"),
)
