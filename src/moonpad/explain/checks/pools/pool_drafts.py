"""Drafts on one side alone of servers that hand a KV cache over: the layers that draft have a part of the cache."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.engines.foreign_names import EXPERTS_BY_VARIABLE
from moonpad.engines.value_checks import as_json
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.pools.pool_sides import by_side_channel
from moonpad.explain.commands import Command
from moonpad.explain.grouping import model_of, value_of
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_DRAFTS: Final = "--speculative-config"
_TRANSFER: Final = "--kv-transfer-config"
_OF_MODELS: Final = frozenset({"eagle", "eagle3", "mtp", "dflash", "dspark", "deepseek_mtp", "draft_model"})
"""Methods whose drafts come from layers with a cache of their own."""
_SIDES: Final = {"kv_producer": "prefill", "kv_consumer": "decode"}
_MOST: Final = 40


def drafts_on_one_side(case: Case) -> Iterator[Remark]:
    """Told of the side that drafts, where the other one is shown and does not."""
    command, place = case.commands[0], case.option(_DRAFTS)
    method = str(_json(command, _DRAFTS).get("method", ""))
    side = _SIDES.get(str(_json(command, _TRANSFER).get("kv_role", "")), "")
    if case.engine.name != EXPERTS_BY_VARIABLE or place is None or method not in _OF_MODELS or not side:
        return
    if not by_side_channel(command):
        return
    for other in case.script.commands[:_MOST]:
        its = _SIDES.get(str(_json(other, _TRANSFER).get("kv_role", "")), "")
        if not its or its == side or not by_side_channel(other) or model_of(other) != model_of(command):
            continue
        if value_of(other.argv, (_DRAFTS,)) is not None:
            return
        message = f"the {side} side drafts by {method} and the {its} side ({case.script.where(other.line)}) does not:"
        message += (
            " the layers that draft have a part of the KV cache, which NIXL then hands over wrongly: long prompts"
        )
        message += " end in an illegal memory access, and from 0.28.0 on the handshake is refused"
        yield make_remark(
            Severity.WARNING, Code.CONFLICT, _DRAFTS, message, f"give both sides the same {_DRAFTS}", at=place.index
        )
        return


def _json(command: Command, option: str) -> Mapping[str, object]:
    word = value_of(command.argv, (option,))
    value = as_json(word.text) if word is not None else None
    return value if isinstance(value, dict) else {}
