#!/usr/bin/env python
"""Writes Helm values for Kimi-K2.5 from the manifest of a fine-tuning run.

  python render_values.py --manifest /models/kimi-k25/serving_manifest.json > values.generated.yaml
  helm upgrade --install agents deployment/helm/agents -n agents -f values.generated.yaml
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any


def build_values(manifest: dict[str, Any], *, model_path: str | None = None, gcs: str | None = None) -> dict[str, Any]:
    model_id = manifest.get("model")
    if not isinstance(model_id, str) or not model_id.strip():
        raise ValueError("model is empty")

    merged = manifest.get("merged_model_dir")
    finetuned = isinstance(merged, str) and bool(merged.strip()) or bool(gcs)
    recommended = manifest.get("recommended") or {}

    tensor_parallel = recommended.get("tensor_parallel_size", 8)
    max_model_len = recommended.get("max_model_len", 256000)
    trust_remote_code = recommended.get("trust_remote_code", True)

    args = [
        f"--tensor-parallel-size={tensor_parallel}",
        "--mm-encoder-tp-mode=data",
        "--tool-call-parser=kimi_k2",
        "--reasoning-parser=kimi_k2",
        f"--max-model-len={max_model_len}",
        "--gpu-memory-utilization=0.90",
        "--enable-chunked-prefill",
        "--enable-prefix-caching",
        "--host=0.0.0.0",
        "--port=8000",
    ]
    if trust_remote_code:
        args.insert(len(args) - 2, "--trust-remote-code")

    values: dict[str, Any] = {
        "api": {"env": {"INFERENCE_DEFAULT_MODEL": model_id}},
        "vllm": {"modelId": model_id, "finetuned": finetuned, "args": args},
    }
    if finetuned:
        values["vllm"]["modelPath"] = model_path or str(merged or "") or "/models/kimi-k25/merged"
        if gcs:
            values["vllm"]["modelSync"] = {"enabled": True, "gcsUri": gcs, "localDir": values["vllm"]["modelPath"]}
    return values


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--manifest", required=True)
    parser.add_argument("--model-path", default=None)
    parser.add_argument("--gcs-uri", default=None)
    args = parser.parse_args()
    manifest = json.loads(Path(args.manifest).read_text())
    json.dump(build_values(manifest, model_path=args.model_path, gcs=args.gcs_uri), sys.stdout)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
