"""The bytes of one streamed chat completion."""

from __future__ import annotations

from typing import Any

import orjson

from moonpad.load.prompts import random_prompt
from moonpad.load.record import LoadRequest
from moonpad.load.target import Target


def chat_body(
    model: str, prompt: str, output_tokens: int, *, ignore_eos: bool = False, temperature: float | None = None
) -> dict[str, Any]:
    """Where no temperature is given, sampling is left to the server's defaults, as `vllm bench serve` does."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": output_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if ignore_eos:
        body["ignore_eos"] = True  # vLLM and SGLang read it; the OpenAI API has no such key
    if temperature is not None:
        body["temperature"] = temperature
    return body


def chat_request(
    target: Target,
    model: str,
    *,
    seed: int,
    index: int,
    words: int,
    input_tokens: int,
    output_tokens: int,
    ignore_eos: bool = False,
    temperature: float | None = None,
) -> LoadRequest:
    prompt = random_prompt(seed, index, words)
    body = chat_body(model, prompt, output_tokens, ignore_eos=ignore_eos, temperature=temperature)
    wire = target.post(f"{target.api_path}/chat/completions", orjson.dumps(body))
    return LoadRequest(index, wire, input_tokens, output_tokens)
