"""GGUF files that are not recorded one by one: their size by the bits of their type."""

from __future__ import annotations

import pytest

from moonpad.catalog.gguf import type_bits, weights_in_gguf
from moonpad.catalog.models import find_model, models, uncounted_file
from moonpad.plan.tensors import catalog_checkpoint


@pytest.mark.parametrize("name", sorted(weights_in_gguf()))
def test_the_weights_are_those_of_the_tensors(name: str) -> None:
    model = next(each for each in models().values() if each.architecture_name == name and each.formats_known)
    assert model.architecture is not None
    layers = model.architecture.layers
    groups = catalog_checkpoint(model).groups
    counted = sum(group.parameters for group in groups if group.layer is None or group.layer < layers)
    assert counted - weights_in_gguf()[name].count == (model.architecture.vision_parameters or 0)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("bartowski/moonshotai_Kimi-K2-Thinking-Q4_K_M-00001-of-00016.gguf", "Kimi-K2-Thinking-GGUF:Q4_K_M"),
        ("/models/Kimi-K2.5-UD-Q3_K_XL.gguf", "Kimi-K2.5-GGUF:UD-Q3_K_XL"),
        ("unsloth/Kimi-K2.7-Code-GGUF:UD-IQ2_M", "Kimi-K2.7-Code-GGUF:UD-IQ2_M"),
        ("DeepSeek-V3.1-Terminus-IQ4_XS-00001-of-00008.gguf", "DeepSeek-V3.1-Terminus-GGUF:IQ4_XS"),
        (
            "unsloth/Kimi-K2.6-GGUF/UD-Q2_K_XL/Kimi-K2.6-UD-Q2_K_XL-00001-of-0008.gguf",
            "unsloth/Kimi-K2.6-GGUF:UD-Q2_K_XL",
        ),
        ("unsloth/Kimi-K2.6-GGUF:UD-Q2_K_XL", "unsloth/Kimi-K2.6-GGUF:UD-Q2_K_XL"),
    ],
)
def test_named(name: str, model: str) -> None:
    found = find_model(name)
    assert found is not None
    assert found.id == model
    assert found.quantization is not None
    assert found.quantization.scheme == "gguf"


@pytest.mark.parametrize(
    "name",
    [
        "Kimi-K2.5-BF16",
        "Some-Other-Q4_K_M.gguf",
        "Kimi-K2.5-IQ2_KS.gguf",
        "Kimi-K2.5-Q9_K.gguf",
    ],
)
def test_not_named(name: str) -> None:
    assert find_model(name) is None


@pytest.mark.parametrize("model", [each for each in models().values() if each.architecture_name in weights_in_gguf()])
def test_what_is_recorded_lies_within_its_type(model: object) -> None:
    """The files whose sizes were published, against the bits that their type is said to take."""
    assert isinstance(model, type(next(iter(models().values()))))
    known = type_bits().get(model.id.rpartition(":")[2].casefold())
    if known is None or model.total_bytes is None or model.standing != "reported":
        return
    if weights_in_gguf()[model.architecture_name].plain_types_alone and ":UD-" in model.id:
        return
    low, high = (weights_in_gguf()[model.architecture_name].count * bits / 8 for bits in known.bits)
    assert 0.985 * low <= model.total_bytes <= 1.015 * high


@pytest.mark.parametrize("name", ["/m/Kimi-K2.6-BF16-00001-of-00046.gguf", "unsloth/Kimi-K2.6-GGUF:BF16"])
def test_all_weights_in_bf16_take_two_bytes_each(name: str) -> None:
    model = find_model(name)
    assert model is not None
    assert model.total_bytes is not None
    assert 2.04e12 < model.total_bytes < 2.07e12


@pytest.mark.parametrize("name", ["/m/Kimi-K2.6-BF16", "someone/Kimi-K2.6-BF16"])
def test_folder_in_bf16_is_not_a_gguf(name: str) -> None:
    model = find_model(name)
    assert model is None or model.quantization is None or model.quantization.scheme != "gguf"
    assert uncounted_file(name) == ""
