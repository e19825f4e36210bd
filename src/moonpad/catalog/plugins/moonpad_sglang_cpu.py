"""SGLang's published wheel on a processor: `python -m moonpad_sglang_cpu` in place of `python -m sglang.launch_server`.

Three things are missing there (0.5.23). The processes that SGLang spawns import the main module again, so they have
all of this too.
"""

import json
import os
import sys
import types
from pathlib import Path

import torch
from torch import library as operators

GIB = 2**30


def kernels():
    """`sgl_kernel` is a package of CUDA kernels, whose names are imported everywhere; none is called on this way."""

    def missing(name):
        if name.startswith("__"):
            raise AttributeError(name)

        def call(*_, **__):
            raise NotImplementedError(f"sgl_kernel.{name} on a processor")

        return call

    module = types.ModuleType("sgl_kernel")
    module.__getattr__ = missing
    return module


def declare_operators():
    """torchvision gives shapes to operators that its C++ part declares, and that part asks for CUDA's libraries."""
    library = operators.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, name):
            library.define(f"{name}(Tensor boxes, Tensor scores, float threshold) -> Tensor")
    return library


sys.modules.setdefault("sgl_kernel", kernels())
LIBRARY = declare_operators()  # its declarations live as long as it does


def register():
    """Loaded by SGLang in every process (entry point `sglang.srt.plugins`): without this its plain attention goes the
    way of Triton's, which there is none of."""
    from sglang.srt.models.deepseek_common.attention_backend_handler import AttentionBackendRegistry
    from sglang.srt.models.deepseek_common.attention_forward_methods.forward_methods import AttnForwardMethod

    AttentionBackendRegistry.register("torch_native", lambda attention, batch: AttnForwardMethod.MLA)


def sized(argv):
    """SGLang is told its KV cache in tokens. One of MLA takes a latent and a rotary key a layer, in BF16."""
    gib = os.environ.get("MOONPAD_KV_CACHE_GIB")
    if not gib or "--max-total-tokens" in argv:
        return argv
    folder = Path(argv[argv.index("--model-path") + 1])
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config = config.get("text_config", config)
    token_bytes = 2 * config["num_hidden_layers"] * (config["kv_lora_rank"] + config["qk_rope_head_dim"])
    return [*argv, "--max-total-tokens", str(int(gib) * GIB // token_bytes)]


def main():
    from sglang import launch_server

    launch_server.load_plugins()
    try:
        launch_server.run_server(launch_server.prepare_server_args(sized(sys.argv[1:])))
    finally:
        launch_server.kill_process_tree(os.getpid(), include_parent=False)


if __name__ == "__main__":
    main()
