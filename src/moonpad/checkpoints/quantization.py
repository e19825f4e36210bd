"""Which components a checkpoint has quantised, and how those lie in its files, from what its configuration says.

Five ways of saying it are read: `fp8` (DeepSeek's), `compressed-tensors`, `modelopt` (NVIDIA), `quark` (AMD), and
ModelSlim's quant_model_description.json (Huawei). Where the files are there, their headers win over all this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from moonpad.checkpoints.architecture import integer, language_model, short
from moonpad.checkpoints.config import load_object
from moonpad.checkpoints.files import read_bounded
from moonpad.checkpoints.formats import (
    FP16,
    INT4_FORMATS,
    compressed_format,
    fp8_format,
    modelopt_format,
    modelslim_format,
    quark_format,
)
from moonpad.checkpoints.names import MATRICES, modules, place_of
from moonpad.checkpoints.patterns import Patterns
from moonpad.values.checkpoint import Architecture, Component, Quantization, TensorFormat
from moonpad.values.errors import CheckpointError

DTYPES: Final = ("bfloat16", "float16")
MAX_GROUPS: Final = 100
DESCRIPTION: Final = "quant_model_description*.json"
"""ModelSlim's: for each tensor how it is quantised, in words like `W4A8_DYNAMIC`."""
MAX_DESCRIPTION_BYTES: Final = 64_000_000
"""A whole Kimi-K2 has about 200 thousand tensors of about 70 characters each."""

Meant = Callable[[Component, tuple[str, ...]], bool]
"""Whether a rule is meant for a module, given by its component and the spellings of its name."""


@dataclass(frozen=True, slots=True)
class Quantized:
    """`uneven` are components of which some matrices are quantised and others not, or otherwise, which `formats` cannot
    say: it then says what most of them are.
    """

    quantization: Quantization
    uneven: tuple[Component, ...] = ()


@dataclass(frozen=True, slots=True)
class _Rules:
    """The first rule that means a module gives its format, unless the module is left out."""

    method: str
    rules: Sequence[tuple[Meant, TensorFormat]]
    left_out: Patterns
    kv_cache: str | None = None
    int8_activations: bool = False

    def format_of(self, component: Component, names: tuple[str, ...]) -> TensorFormat | None:
        if self.left_out.match(names):
            return None
        return next((tensor_format for means, tensor_format in self.rules if means(component, names)), None)


def read_quantization(
    config: Mapping[str, Any], architecture: Architecture, hf_quant_config: Mapping[str, Any] | None = None
) -> Quantized:
    """Of config.json, else of the hf_quant_config.json that older versions of ModelOpt wrote beside it.

    Raises:
        CheckpointError: it is quantised in a way that is not modelled, or not what it should be.
    """
    text = language_model(config)
    quantization = config.get("quantization_config")
    if quantization is None:
        quantization = text.get("quantization_config")
    if quantization is None and hf_quant_config is not None:
        quantization = _from_hf_quant_config(hf_quant_config)
    dtype = _dtype(config, text)
    if quantization is None and dtype == "float16":
        return Quantized(Quantization("fp16", formats=dict.fromkeys(MATRICES, FP16)))
    if quantization is None:
        return Quantized(Quantization("bf16"))
    if not isinstance(quantization, dict) or not isinstance(quantization.get("quant_method"), str):
        raise CheckpointError("has a quantization_config without quant_method")
    reader = READERS.get(quantization["quant_method"])
    if reader is None:
        method = short(quantization["quant_method"])
        raise CheckpointError(f"is quantised by {method}; only {', '.join(READERS)} and ModelSlim are modelled")
    return _apply(reader(quantization), architecture)


def _dtype(config: Mapping[str, Any], text: Mapping[str, Any]) -> str:
    for holder in (text, config):
        for key in ("dtype", "torch_dtype"):
            value = holder.get(key)
            if value is not None and value not in DTYPES:
                raise CheckpointError(f"has {key} {short(value)}; only {' and '.join(DTYPES)} are modelled")
            if value is not None:
                return str(value)
    return DTYPES[0]


def _apply(rules: _Rules, architecture: Architecture) -> Quantized:
    formats: dict[Component, TensorFormat] = {}
    uneven: list[Component] = []
    for component in MATRICES:
        counts = Counter(
            rules.format_of(component, names)
            for layer in _layers(component, architecture)
            for names in modules(component, layer)
        )
        most = max(counts, key=counts.__getitem__, default=None)
        if most is not None:
            formats[component] = most
        if len(counts) > 1:
            uneven.append(component)
    scheme = _scheme(formats, int8_activations=rules.int8_activations)
    return Quantized(Quantization(scheme, rules.method, formats, rules.kv_cache), tuple(uneven))


def _layers(component: Component, architecture: Architecture) -> Sequence[int]:
    """The layers that have it."""
    dense, layers = architecture.dense_layers, range(architecture.layers)
    if component is Component.DENSE_MLP:
        return layers[:dense]
    if component in (Component.ROUTED_EXPERTS, Component.SHARED_EXPERTS):
        return layers[dense:] if component is Component.ROUTED_EXPERTS or architecture.shared_experts else ()
    if component in (Component.KDA, Component.KDA_LATENT):
        return [layer for layer in layers if not architecture.is_mla(layer)]
    if component is Component.OUTPUT_GATE:
        return [layer for layer in layers if architecture.output_gate or not architecture.is_mla(layer)]
    if component is Component.Q_A and not architecture.q_lora_rank:
        return ()
    return layers if component is Component.O_PROJ else [layer for layer in layers if architecture.is_mla(layer)]


def _scheme(formats: Mapping[Component, TensorFormat], *, int8_activations: bool) -> str:
    """Our short name: that of the routed experts, which are 98.9 % of the weights, else of what is quantised at all."""
    first = formats.get(Component.ROUTED_EXPERTS) or next(iter(formats.values()), None)
    if first is None:
        return "bf16"
    if first.name == "int8":
        return "w8a8" if int8_activations else "w8a16"
    if first.name == "int4":
        if int8_activations:
            return "w4a8"
        # Moonshot's own INT4, trained in groups of 32, is called by its format; others by what they do.
        return "int4" if first in INT4_FORMATS else "w4a16"
    return first.name


def _all(component: Component, names: tuple[str, ...]) -> bool:
    return True


def _fp8(config: Mapping[str, Any]) -> _Rules:
    left_out = config.get("modules_to_not_convert", config.get("ignored_layers"))
    return _Rules("fp8", ((_all, fp8_format(config)),), Patterns(left_out))


def _compressed(config: Mapping[str, Any]) -> _Rules:
    groups = config.get("config_groups")
    if not isinstance(groups, dict) or not 0 < len(groups) <= MAX_GROUPS:
        raise CheckpointError("has a quantization_config without config_groups")
    rules: list[tuple[Meant, TensorFormat]] = []
    int8_activations = False
    for group in groups.values():
        if not isinstance(group, dict):
            raise CheckpointError("has a config group that is not an object")
        rules.append((_targets(group.get("targets")), compressed_format(group, config.get("format"))))
        inputs = group.get("input_activations")
        int8_activations = int8_activations or (
            isinstance(inputs, dict) and inputs.get("type") == "int" and inputs.get("num_bits") == 8
        )
    kv_cache = _kv_scheme(config.get("kv_cache_scheme"))
    return _Rules("compressed-tensors", rules, Patterns(config.get("ignore")), kv_cache, int8_activations)


def _targets(targets: object) -> Meant:
    """`Linear` means every matrix. vLLM-Ascend wants `MoE` there, which means the routed experts."""
    if not isinstance(targets, list) or not targets:
        raise CheckpointError("has a config group without targets")
    if "Linear" in targets:
        return _all
    experts = "MoE" in targets or "FusedMoE" in targets
    patterns = Patterns([name for name in targets if name not in ("MoE", "FusedMoE")])
    return lambda component, names: (experts and component is Component.ROUTED_EXPERTS) or patterns.match(names)


def _modelopt(config: Mapping[str, Any]) -> _Rules:
    left_out = config.get("ignore", config.get("exclude_modules"))
    kv_cache = config.get("kv_cache_quant_algo", config.get("kv_cache_scheme"))
    return _Rules("modelopt", ((_all, modelopt_format(config)),), Patterns(left_out), _kv_scheme(kv_cache))


def _quark(config: Mapping[str, Any]) -> _Rules:
    layers = config.get("layer_quant_config") or {}
    everywhere = config.get("global_quant_config")
    if not isinstance(layers, dict) or not isinstance(everywhere, dict):
        raise CheckpointError("has a quantization_config without global_quant_config")
    rules: list[tuple[Meant, TensorFormat]] = []
    by_format: dict[TensorFormat, list[str]] = {}
    for pattern, entry in layers.items():
        by_format.setdefault(quark_format(entry), []).append(pattern)
    for tensor_format, names in by_format.items():
        rules.append((_meant_by(Patterns(names)), tensor_format))
    if everywhere.get("weight") is not None:
        rules.append((_all, quark_format(everywhere)))
    return _Rules("quark", rules, Patterns(config.get("exclude")))


def _meant_by(patterns: Patterns) -> Meant:
    return lambda component, names: patterns.match(names)


def _kv_scheme(scheme: object) -> str | None:
    """`fp8` for what ModelOpt and compressed-tensors say of scales for the KV cache."""
    if scheme is None:
        return None
    eight_bit_float = isinstance(scheme, dict) and (scheme.get("type"), scheme.get("num_bits")) == ("float", 8)
    if eight_bit_float or (isinstance(scheme, str) and scheme.upper() == "FP8"):
        return "fp8"
    raise CheckpointError(f"has scales for a KV cache of {short(scheme)}, which are not modelled")


def _from_hf_quant_config(document: Mapping[str, Any]) -> dict[str, Any]:
    quantization = document.get("quantization")
    if not isinstance(quantization, dict):
        raise CheckpointError("has an hf_quant_config.json without quantization")
    integer({"group_size": 16, **quantization}, "group_size", 1, 1 << 20)
    return {**quantization, "quant_method": "modelopt"}


READERS: Final[Mapping[str, Callable[[Mapping[str, Any]], _Rules]]] = {
    "fp8": _fp8,
    "compressed-tensors": _compressed,
    "modelopt": _modelopt,
    "quark": _quark,
}


def find_description(folder: Path) -> str | None:
    """The name of the file, the first in order where there are several."""
    names = sorted(path.name for path in folder.glob(DESCRIPTION))
    return names[0] if names else None


def read_description(folder: Path, name: str, architecture: Architecture) -> Quantized:
    """Raises CheckpointError, whose message continues the file's name."""
    return modelslim_quantization(load_object(read_bounded(folder, name, MAX_DESCRIPTION_BYTES)), architecture)


def modelslim_quantization(description: Mapping[str, Any], architecture: Architecture) -> Quantized:
    """What most matrices of each component are, and which components are of several kinds."""
    kinds: dict[Component, Counter[str]] = {}
    for name, kind in description.items():
        if not name.endswith(".weight"):
            continue
        component = place_of(name).component
        if component not in MATRICES:
            continue
        if not isinstance(kind, str):
            raise CheckpointError(f"says {short(kind)} of {short(name)}, which is not a kind of weight")
        kinds.setdefault(component, Counter())[kind] += 1
    if not kinds:
        raise CheckpointError("names no weight of this architecture")
    modes = {component: counts.most_common(1)[0][0] for component, counts in kinds.items()}
    formats = {
        component: tensor_format
        for component, kind in modes.items()
        if (tensor_format := modelslim_format(kind, architecture.hidden)) is not None
    }
    uneven = tuple(component for component, counts in kinds.items() if len(counts) > 1)
    return Quantized(Quantization(_scheme(formats, int8_activations=True), "ascend", formats), uneven)
