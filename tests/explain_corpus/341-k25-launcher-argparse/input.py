#!/usr/bin/env python3
"""vLLM for Kimi K2.5 with our defaults."""

import argparse
import subprocess
import sys

DEFAULTS = {
    "model": "moonshotai/Kimi-K2.5",
    "tensor_parallel_size": 8,
    "max_model_len": 131072,
    "gpu_memory_utilization": 0.92,
    "tool_call_parser": "kimi_k2",
    "reasoning_parser": "kimi_k2",
    "mm_encoder_tp_mode": "data",
    "host": "0.0.0.0",
    "port": 8000,
}

QUANTIZED_VARIANTS = {
    "full": {
        "model": "moonshotai/Kimi-K2.5",
        "description": "INT4 (630GB, 4x H200)",
    },
    "q4": {
        "model": "unsloth/Kimi-K2.5-GGUF",
        "description": "Q4_K_XL (~350GB, 2x H200 + RAM)",
        "quantization": "gguf",
    },
    "q2": {
        "model": "unsloth/Kimi-K2.5-GGUF",
        "description": "Q2_K_XL (~200GB, 1x H200 + RAM)",
        "quantization": "gguf",
    },
}


def build_vllm_command(args: argparse.Namespace) -> list[str]:
    cmd = [
        sys.executable,
        "-m",
        "vllm.entrypoints.openai.api_server",
        "--model",
        args.model,
        "--tensor-parallel-size",
        str(args.tensor_parallel_size),
        "--max-model-len",
        str(args.max_model_len),
        "--gpu-memory-utilization",
        str(args.gpu_memory_utilization),
        "--tool-call-parser",
        args.tool_call_parser,
        "--reasoning-parser",
        args.reasoning_parser,
        "--mm-encoder-tp-mode",
        args.mm_encoder_tp_mode,
        "--host",
        args.host,
        "--port",
        str(args.port),
        "--trust-remote-code",
    ]

    if args.served_model_name:
        cmd.extend(["--served-model-name", args.served_model_name])

    if args.api_key:
        cmd.extend(["--api-key", args.api_key])

    if args.disable_log_requests:
        cmd.append("--disable-log-requests")

    return cmd


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        epilog="""
  # 8 GPUs
  python serve.py

  # fewer
  python serve.py --variant q4 --tensor-parallel-size 4

  python serve.py --served-model-name kimi-k2.5-premium
        """,
    )
    parser.add_argument("--model", default=DEFAULTS["model"])
    parser.add_argument("--variant", choices=QUANTIZED_VARIANTS.keys())
    parser.add_argument("--tensor-parallel-size", "-tp", type=int, default=DEFAULTS["tensor_parallel_size"])
    parser.add_argument("--max-model-len", type=int, default=DEFAULTS["max_model_len"])
    parser.add_argument("--gpu-memory-utilization", type=float, default=DEFAULTS["gpu_memory_utilization"])
    parser.add_argument("--tool-call-parser", default=DEFAULTS["tool_call_parser"])
    parser.add_argument("--reasoning-parser", default=DEFAULTS["reasoning_parser"])
    parser.add_argument("--mm-encoder-tp-mode", default=DEFAULTS["mm_encoder_tp_mode"])
    parser.add_argument("--host", default=DEFAULTS["host"])
    parser.add_argument("--port", type=int, default=DEFAULTS["port"])
    parser.add_argument("--served-model-name")
    parser.add_argument("--api-key")
    parser.add_argument("--disable-log-requests", action="store_true")
    parser.add_argument("--dry-run", action="store_true")

    args = parser.parse_args()

    if args.variant:
        variant = QUANTIZED_VARIANTS[args.variant]
        if args.model == DEFAULTS["model"]:
            args.model = variant["model"]

    return args


def main():
    args = parse_args()
    cmd = build_vllm_command(args)

    if args.dry_run:
        print(" ".join(cmd))
        return

    subprocess.run(cmd, check=True)


if __name__ == "__main__":
    main()
