"""A section that reproduces the numbers above is about the devices of the section before it."""

from tests.unit.explain.judging import ask

GUIDE = """# Release

Use 8 NVIDIA B300 GPUs or 8 AMD MI355X GPUs.

## Benchmarks

### Serving

{measured}

### Reproduce

{said}

```bash
vllm serve moonshotai/Kimi-K3 --tensor-parallel-size 8 --trust-remote-code --reasoning-parser kimi_k3
```
"""
ABOVE = "Here are the commands for the throughput numbers above:"


def device(measured: str, said: str) -> str:
    (judged,) = ask(GUIDE.format(measured=measured, said=said))
    return judged.cluster.name if judged.cluster is not None else ""


def test_devices_of_the_numbers_above() -> None:
    assert "GB300" in device("Decode throughput was measured on GB300 NVL72 GPUs.", ABOVE)


def test_not_where_nothing_refers_to_them() -> None:
    assert "GB300" not in device("Decode throughput was measured on GB300 NVL72 GPUs.", "Serve it like this:")


def test_not_where_several_kinds_were_measured() -> None:
    several = "Measured on GB300 GPUs.\nMeasured on H200 GPUs as well."
    assert device(several, ABOVE) == device(several, "Serve it like this:")
