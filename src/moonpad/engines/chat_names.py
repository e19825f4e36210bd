"""Programs of an engine that chat in a terminal, with the options by which they differ from its server.

`llama-cli` since December 2025: https://github.com/ggml-org/llama.cpp/pull/18053 and /issues/27214.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CHATS: Final[Mapping[str, Mapping[str, str]]] = {
    "llama-cli": {},
    "llama-mtmd-cli": {},
    "llama-simple-chat": {},
    "llama-run": {
        **dict.fromkeys(("-c", "--context-size"), "--ctx-size"),
        **dict.fromkeys(("-n", "--ngl", "-ngl"), "--n-gpu-layers"),
        "-t": "--threads",
    },
}
"""Programs that load a model and chat in the terminal → their own names of the options of `llama-server`."""
CHATS_BY_PLACE: Final = frozenset({"llama-run"})
"""Of these, those whose first argument without a dash is the model."""
CHAT_SERVER: Final = "llama-server"
CHAT_MODELS: Final = frozenset({"-m", "--model", "-hf", "-hfr", "--hf-repo"})
ALWAYS_CHAT: Final[Mapping[str, tuple[str, str]]] = {"llama-cli": ("b7400", "llama-completion")}
"""Programs that from about that build on do nothing but chat, and the one that completes a prompt and ends."""
NO_CHAT: Final = ("-no-cnv", "--no-conversation")
ONE_TURN: Final = ("-st", "--single-turn")
