"""Wrapper around Kimi K2 behind llama-server."""

from typing import Any

import requests


class KimiK2Tokenizer:
    def __call__(self, text, **kwargs):
        return {"input_ids": [], "attention_mask": []}


def get_model_kimi_k2(
    base_url: str = "http://127.0.0.1:8001/v1", model_name: str = "kimi-k2", test_connection: bool = True
) -> tuple[Any, Any]:
    """
    Wrapper for Kimi K2.

    llama-server has to run already:
        ./llama.cpp/llama-server \\
            --model /path/to/Kimi-K2-Instruct-0905-UD-TQ1_0-00001-of-00005.gguf \\
            --alias "kimi-k2" \\
            -fa on \\
            --n-gpu-layers 999 \\
            -ot ".ffn_.*_exps.=CPU" \\
            --temp 0.6 \\
            --min-p 0.01 \\
            --ctx-size 16384 \\
            --port 8001 \\
            --jinja

    Args:
        base_url: of llama-server
        model_name: its alias
        test_connection: ask it first
    """
    print(f"--- Connecting to Kimi K2 at {base_url} ---")
    if test_connection:
        requests.get(f"{base_url}/models", timeout=5).raise_for_status()
    return None, KimiK2Tokenizer()
