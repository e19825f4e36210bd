"""SGLang's API server: options that mend a failed probe, issues, its own pages and fields."""

from typing import Final

from moonpad.engines.api_facts import ApiFacts, Topic

API_FACTS: Final = ApiFacts(
    title="SGLang",
    key="sglang",
    owned_by="sglang",
    repository="sgl-project/sglang",
    remedies={
        Topic.TOOL_PARSER: "--tool-call-parser kimi_k2, and the newest release",
        Topic.REASONING_PARSER: "--reasoning-parser kimi_k2",
        Topic.CHAT_TEMPLATE: "--chat-template FILE, if the checkpoint's own template must not be used",
        Topic.STRUCTURED_OUTPUT: "--grammar-backend xgrammar, with --reasoning-parser kimi_k2",
        "auth": "--api-key",
        "buffering": "leave --stream-interval out",
        "concurrency": "--enable-deterministic-inference, if an answer must not depend on the load",
        "context_limit": "--context-length; leave --allow-auto-truncate out; it reserves a few tokens for itself",
        "gibberish": "--kv-cache-dtype auto; another --attention-backend",
        "metrics": "--enable-metrics",
        "models": "--served-model-name NAME",
        "needle": "--kv-cache-dtype auto, and no rope settings in --json-model-override-args",
        "streaming": "--reasoning-parser kimi_k2 and --tool-call-parser kimi_k2, of the newest release",
        "tool_choice_none": "the newest release",
        "tool_foreign": "--tool-call-parser kimi_k2: it numbers the calls itself",
        "wrong_model": "it answers requests for any model name: let a gateway check the name",
    },
    known_issues={
        "tool_call": ("sglang#21377", "sglang#25362"),
        "tool_several": ("sglang#25362",),
    },
    open_paths=("/health", "/metrics", "/openapi.json", "/server_info", "/get_server_info"),
    control_paths=("/pause", "/flush_cache", "/generate"),
    model_path_page="/model_info",
    answers_any_model=True,  # 0.5.23 looks in the name for a LoRA adapter at most
    survives_500=frozenset({"a JSON list"}),  # docs/engine-findings.md
    numbers_calls=True,  # _process_tool_call_id of entrypoints/openai/serving_chat.py, 0.5.23, with the parser kimi_k2
    regex_fields=("regex",),
)
