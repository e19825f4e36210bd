"""Options whose value an engine's parser takes as a word too, for a loader or platform that a plugin brings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

WORDS_FOR_PLUGINS: Final[Mapping[str, frozenset[str]]] = {
    "vllm serve": frozenset({"--model-loader-extra-config", "--additional-config"}),
}
"""`union_dict_and_str` of vllm/engine/arg_utils.py (0.21.0 to 0.33.0) returns what does not stand in braces as it is,
and the configurations take any class there. vLLM's own loader refuses the word: `model_loader_extra_config must be a
dict for load format auto, got str` (0.32.0, tried). That of a plugin may read it: recipes for
Trainium by optimum-neuron give `allow_non_cached_model` (https://github.com/huggingface/optimum-neuron).
"""
PLUGIN_VARIABLES: Final = frozenset({"VLLM_PLUGINS"})
PLUGIN_CLASSES: Final = frozenset({"--worker-cls"})
"""With these a command names a plugin, or a class of one."""
