"""vLLM's API server: options that mend a failed probe, issues, its own pages and fields."""

from typing import Final

from moonpad.engines.api_facts import ApiFacts, Topic

API_FACTS: Final = ApiFacts(
    title="vLLM",
    key="vllm",
    owned_by="vllm",
    repository="vllm-project/vllm",
    remedies={
        Topic.TOOL_PARSER: "--enable-auto-tool-choice --tool-call-parser kimi_k2, and the newest release",
        Topic.REASONING_PARSER: "--reasoning-parser kimi_k2",
        Topic.CHAT_TEMPLATE: "--chat-template FILE, if the checkpoint's own template must not be used",
        Topic.STRUCTURED_OUTPUT: "--structured-outputs-config (before 0.11: --guided-decoding-backend), with "
        "--reasoning-parser kimi_k2",
        "auth": "--api-key; it protects /v1 only",
        "buffering": "leave --stream-interval out",
        "concurrency": "VLLM_BATCH_INVARIANT=1, if an answer must not depend on the load",
        "context_limit": "--max-model-len",
        "empty_content": "0.11.1 or later",
        "end_tokens": "--generation-config auto, which reads generation_config.json",
        "gibberish": "--kv-cache-dtype auto; another --attention-backend",
        "logprobs": "--max-logprobs 20 or more",
        "metrics": "leave --disable-log-stats out",
        "models": "--served-model-name NAME (several names may follow); the default is the checkpoint's path",
        "needle": "--kv-cache-dtype auto, and no rope settings in --hf-overrides",
        "raw_calls": "leave --exclude-tools-when-tool-choice-none out",
        "streaming": "--reasoning-parser kimi_k2 and --tool-call-parser kimi_k2, of the newest release",
        "tool_choice_none": "--exclude-tools-when-tool-choice-none leaves the tools out of the prompt",
        "tool_foreign": "--tool-call-parser kimi_k2, and the newest release",
    },
    known_issues={
        "gibberish": ("vllm#42426",),
        "reasoning": ("vllm#27755", "vllm#28543"),
        "reasoning_history": ("vllm#27755",),
        "streaming": ("vllm#37397",),
        "tool_call": ("vllm#27565", "vllm#38579", "vllm#32216", "vllm#36891"),
        "tool_choice_named": ("vllm#43155", "vllm#46344"),
        "tool_choice_none": ("vllm#43155",),
        "tool_choice_required": ("vllm#43155", "vllm#46344"),
        "tool_long": ("vllm#34442",),
        "tool_result": ("vllm#28543",),
        "tool_schema": ("vllm#41739",),
        "tool_several": ("vllm#24478",),
        "tool_stream": ("vllm#38579", "vllm#28543"),
    },
    open_paths=("/health", "/metrics", "/version", "/load", "/openapi.json", "/server_info"),
    control_paths=("/invocations", "/pause", "/update_weights", "/reset_prefix_cache", "/sleep"),
    obeys_parallel_tool_calls=True,
    returns_token_ids=True,
    renders_by_template=True,
    repeats_by_seed=True,
    # 0.32.0: is_reasoning_end looks for </think> in the whole prompt, and finds that of an earlier turn.
    streams_later_thinking_as_content=True,
    keeps_white_space=True,
    counts_thinking_exactly=True,
    seeds_count_on=True,
    # The second is the name of before 0.12; each release ignores the other's.
    regex_fields=("structured_outputs.regex", "guided_regex"),
)
