"""Programs that train a model by what it writes itself, and how they hand options to the engine of that rollout.

- slime registers each option of SGLang's server behind `--sglang-`, but for a few that it sets by itself; the size of
  tensor parallelism is `--rollout-num-gpus-per-engine` (https://github.com/THUDM/slime,
  slime/backends/sglang_utils/arguments.py).
- OpenRLHF has options of its own that begin with `--vllm_` (https://github.com/OpenRLHF/OpenRLHF).
- verl has keys of Hydra below `actor_rollout_ref.rollout`, and hands `engine_kwargs.vllm.…` on
  (https://github.com/volcengine/verl).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct


class Trainer(Struct, frozen=True):
    title: str
    """What it is called where the text does not name it."""
    named: re.Pattern[str]
    """How the text names it, the name as a group."""
    model: re.Pattern[str]
    """Where it says which model it trains."""
    option: re.Pattern[str]
    """An option of the engine, `name` and perhaps `value`; perhaps `engine`."""
    engine: str
    """Of options that do not say it; "" where the text has to."""
    own: frozenset[str]
    """Options behind the prefix that are the trainer's own."""
    sizes: Mapping[str, str]
    """Its own options that set one of the engine → that one."""
    spoken: str
    """How its options for the engine begin."""


_VALUE: Final = r"(?:(?:[ \t]+|=)(?P<value>(?!-)[^\s\\'\"#]{1,200}))?"
_MODEL: Final = r"[ =]['\"]?(?P<model>[^\s'\"\\]{2,200})"

SLIME: Final = Trainer(
    "slime",
    re.compile(r"\b(?P<title>slime|miles)\b", re.IGNORECASE),
    re.compile(rf"--hf-checkpoint{_MODEL}"),
    re.compile(rf"(?<![\w-])--(?P<engine>sglang|vllm)-(?P<name>[a-z][\w-]{{1,60}}){_VALUE}"),
    "",
    frozenset({"--server-concurrency", "--config", "--router-ip", "--router-port"}),
    MappingProxyType({"--rollout-num-gpus-per-engine": "--tp-size"}),
    "--{engine}-",
)
OPENRLHF: Final = Trainer(
    "OpenRLHF",
    re.compile(r"(?P<title>openrlhf)", re.IGNORECASE),
    re.compile(rf"--(?:pretrain|actor\.model_name_or_path){_MODEL}"),
    re.compile(rf"(?<![\w-])--(?P<engine>vllm)[_.](?P<name>[a-z][a-z_]{{1,60}}){_VALUE}"),
    "vllm",
    frozenset({"--num-engines", "--sync-backend", "--sync-with-ray", "--enable-sleep", "--generate-batch-size"}),
    MappingProxyType({}),
    "--{engine}_",
)
VERL: Final = Trainer(
    "verl",
    re.compile(r"\b(?P<title>verl)\b", re.IGNORECASE),
    re.compile(r"actor_rollout_ref\.model\.path=['\"]?(?P<model>[^\s'\"\\]{2,200})"),
    re.compile(
        r"actor_rollout_ref\.rollout\.(?:engine_kwargs\.(?:vllm|sglang)\.)?(?P<name>[a-z]\w{1,60})"
        r"=(?P<value>[^\s\\'\"#]{1,200})"
    ),
    "",
    frozenset(),
    MappingProxyType({}),
    "actor_rollout_ref.rollout.",
)
TRAINERS: Final = (SLIME, OPENRLHF, VERL)
ENGINE_OF_VERL: Final = re.compile(r"actor_rollout_ref\.rollout\.name=['\"]?(?P<engine>vllm|sglang)\b")
SPOKEN_SIZES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "sglang": MappingProxyType({"--tp-size": "TP", "--pp-size": "PP", "--dp-size": "DP", "--ep-size": "EP"}),
        "vllm": MappingProxyType(
            {"--tensor-parallel-size": "TP", "--pipeline-parallel-size": "PP", "--data-parallel-size": "DP"}
        ),
    }
)
"""Options that say how the rollout is laid out."""
VERL_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "tensor_model_parallel_size": "tensor-parallel-size",
        "data_parallel_size": "data-parallel-size",
        "expert_parallel_size": "expert-parallel-size",
        "pipeline_model_parallel_size": "pipeline-parallel-size",
    }
)
SIZED: Final = "sglang"
"""The engine of which a trainer's own options set sizes."""
SHARED_ATTENTION: Final = ("--enable-dp-attention", "--dp-size")
"""Of the same engine, and slime ends where the second is above 1 without the first."""
