"""A machine that a text counts again and again is the one it is about, wherever it mentions another kind in passing."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

TEXT = """# Serving benchmark

## Overview

We deploy on 8x H200.

## Components

### Compute

- Primary instance: p5e.48xlarge (8x H200 141GB)

### Model

#### Engine

```bash
vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size {tp} --trust-remote-code
```

#### Backend

- Kernels are compiled first ({passing})
"""


@pytest.mark.parametrize("passing", ["as for GLM-5 on B200", "B200 takes longer", "not so on H100"])
def test_the_machine_that_is_counted(passing: str) -> None:
    judged = ask_one(TEXT.format(tp=8, passing=passing), "")
    assert judged.cluster is not None
    assert judged.cluster.name == "8xH200"


@pytest.mark.parametrize("passing", ["16x H100 would do", "8x B200 would do"])
def test_two_machines_that_are_counted(passing: str) -> None:
    assert ask_one(TEXT.format(tp=8, passing=passing), "").cluster is None


def test_a_kind_that_is_named_as_often() -> None:
    text = TEXT.format(tp=8, passing="as on B200") + "\n#### B200\n\nB200 has more memory.\n"
    assert ask_one(text, "").cluster is None


def test_a_command_for_another_number_has_the_kind() -> None:
    judged = ask_one(TEXT.format(tp=16, passing="as on B200"), "")
    assert judged.cluster is not None
    assert (judged.cluster.devices, judged.cluster.device.product.split()[0]) == (16, "H200")
