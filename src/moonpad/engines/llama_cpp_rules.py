"""What llama.cpp alone refuses or warns of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.values.configuration import Configuration
from moonpad.values.finding import Finding, illegal, invalid, unsupported


def gguf_alone(configuration: Configuration) -> Iterator[Finding]:
    if configuration.scheme != "gguf":
        yield unsupported(
            "quantization",
            f"{configuration.scheme.upper()} weights in safetensors: {configuration.engine.name} reads GGUF files only",
            "take a GGUF repository of the model; `moonpad catalog models` lists those that are known",
        )


def whole_layers(configuration: Configuration) -> Iterator[Finding]:
    layout = configuration.layout
    for name, size in (("tp", layout.tp), ("dp", layout.dp), ("ep", layout.ep), ("dcp", layout.dcp)):
        if size > 1:
            yield illegal(
                name,
                f"{name} {size}: {configuration.engine.name} is planned with whole layers on each device",
                "set pp",
            )


def layers_on_devices(configuration: Configuration) -> Iterator[Finding]:
    count, most = configuration.settings.device_layers, configuration.architecture.layers + 1
    if count is not None and count > most:
        yield invalid(
            "device_layers", f"device_layers {count}: the model has {most}, the output included", "leave it out"
        )


RULES: Final = (gguf_alone, whole_layers, layers_on_devices)
