"""TensorRT-LLM's API server: options that mend a failed probe. Its name in the model list: serve/openai_protocol.py."""

from typing import Final

from moonpad.engines.api_facts import ApiFacts, Topic

API_FACTS: Final = ApiFacts(
    title="TensorRT-LLM",
    key="trtllm",
    owned_by="tensorrt_llm",
    repository="NVIDIA/TensorRT-LLM",
    remedies={
        Topic.TOOL_PARSER: "--tool_parser kimi_k2; earlier releases have no such option",
        Topic.REASONING_PARSER: "--reasoning_parser",
        Topic.CHAT_TEMPLATE: "--chat_template FILE, if the checkpoint's own template must not be used",
        "auth": "it has no key of its own: put a proxy that checks keys before it",
        "context_limit": "--max_seq_len",
        "models": "clients must ask for the name of the checkpoint's folder: older releases have no option for it",
        "streaming": "--reasoning_parser and --tool_parser, of the newest release",
        "tool_choice_none": "leave tools out of such a request",
    },
)
