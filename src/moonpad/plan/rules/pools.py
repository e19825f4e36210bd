"""Whether a prefill and a decode pool can work together: rules of a pair, where the others are of one deployment.

A new rule is one function here, one entry of RULES, one row in catalog/data/rules.toml, and two test cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from moonpad.values.finding import Code, Finding, Severity, illegal, invalid, suboptimal, unsupported
from moonpad.values.pools import PoolPair


def pools_engine(pair: PoolPair) -> Iterator[Finding]:
    prefill, decode = pair.prefill, pair.decode
    if prefill.engine != decode.engine:
        message = f"prefill runs {prefill.engine} and decode {decode.engine}: neither reads the other's KV cache"
        yield illegal("engine", message, f"use {prefill.engine} for both")


def pools_release(pair: PoolPair) -> Iterator[Finding]:
    """Where both are named."""
    prefill, decode = pair.prefill.version, pair.decode.version
    if pair.compares and prefill and decode and prefill != decode:
        message = f"prefill runs release {prefill} and decode {decode}, which refuse each other's KV cache"
        yield Finding(Severity.ERROR, Code.CONFLICT, "engine version", message, f"use {decode} for both")


def pools_model(pair: PoolPair) -> Iterator[Finding]:
    prefill, decode = pair.prefill, pair.decode
    if prefill.model and decode.model and prefill.model != decode.model:
        message = f"prefill serves {prefill.model} and decode {decode.model}"
        yield Finding(Severity.ERROR, Code.CONFLICT, "model", message, "serve the same checkpoint from both")
    elif (
        pair.compares
        and prefill.model_written
        and decode.model_written
        and prefill.model_written != decode.model_written
    ):
        message = (
            f"prefill calls the model {prefill.model_written} and decode {decode.model_written}: the name is part of "
            "what they compare before a transfer"
        )
        yield Finding(Severity.ERROR, Code.CONFLICT, "model", message, "use the same path on all machines")


def pools_connector(pair: PoolPair) -> Iterator[Finding]:
    prefill, decode = pair.prefill.connector, pair.decode.connector
    for role, pool in pair.both:
        if not pool.connector and pair.known("connector"):
            message = f"the {role} server has no connector, so no KV cache reaches the other pool"
            yield Finding(
                Severity.ERROR, Code.MISSING_FLAG, "connector", message, f"add {pair.facts.option}, on both sides"
            )
    if prefill and decode and prefill != decode and pair.known("connector"):
        message = f"prefill sends by {prefill} and decode receives by {decode}"
        yield Finding(Severity.ERROR, Code.CONFLICT, "connector", message, f"use {prefill} for both")


def pools_kv_dtype(pair: PoolPair) -> Iterator[Finding]:
    prefill, decode = pair.prefill.kv_format, pair.decode.kv_format
    if prefill and decode and prefill != decode and pair.known("kv_cache_dtype"):
        message = f"the KV cache is {prefill} in prefill and {decode} in decode"
        yield unsupported("kv_cache_dtype", message, f"use {decode} for both")


def pools_block_size(pair: PoolPair) -> Iterator[Finding]:
    """Where both are named: what an engine takes by itself depends on its attention backend."""
    prefill, decode = pair.prefill.settings.block_size, pair.decode.settings.block_size
    if prefill is None or decode is None or prefill == decode or not pair.known("block_size"):
        return
    sizes = f"blocks of the KV cache have {prefill} tokens in prefill and {decode} in decode"
    if pair.facts.equal_blocks:
        yield invalid("block_size", f"{sizes}, and must be equal", f"use {decode} for both")
    elif decode % prefill:
        yield invalid("block_size", f"{sizes}, which is not a multiple of {prefill}", f"use {decode} for both")


def pools_backend(pair: PoolPair) -> Iterator[Finding]:
    prefill, decode = pair.prefill.settings.attention_backend, pair.decode.settings.attention_backend
    same = not prefill or not decode or prefill.upper() == decode.upper()
    if pair.compares and not same and pair.known("attention_backend"):
        message = f"prefill computes attention by {prefill} and decode by {decode}, and they compare that"
        yield Finding(Severity.ERROR, Code.CONFLICT, "attention_backend", message, f"use {decode} for both")


def pools_tp(pair: PoolPair) -> Iterator[Finding]:
    prefill, decode = pair.prefill.layout.tp, pair.decode.layout.tp
    if not pair.known("tp", "dp") or not (prefill % decode and decode % prefill):
        return
    message = f"tensor parallel {prefill} in prefill and {decode} in decode: neither divides the other"
    remedy = "choose sizes of which one divides the other"
    if pair.facts.sizes_divide:
        yield illegal("tp", message, remedy)
    else:
        yield suboptimal("tp", f"{message}, and ranks are matched by whole numbers", remedy)


def pools_pp(pair: PoolPair) -> Iterator[Finding]:
    prefill, decode = pair.prefill.layout.pp, pair.decode.layout.pp
    if pair.facts.stages_match and pair.known("pp") and decode not in (1, prefill):
        message = f"decode has {decode} pipeline stages and prefill {prefill}: decode takes prefill's number, or one"
        yield illegal("pp", message, f"set pp = 1 or pp = {prefill} for decode")


def pools_dcp(pair: PoolPair) -> Iterator[Finding]:
    prefill, decode = pair.prefill.layout.dcp, pair.decode.layout.dcp
    if pair.facts.sizes_divide and pair.known("dcp") and prefill % decode and decode % prefill:
        message = f"decode context parallel {prefill} in prefill and {decode} in decode: neither divides the other"
        yield illegal("dcp", message, "choose sizes of which one divides the other")


def pools_context(pair: PoolPair) -> Iterator[Finding]:
    prefill, decode = pair.prefill.context, pair.decode.context
    if prefill and decode and decode < prefill and pair.known("max_model_len"):
        message = (
            f"prefill takes {prefill:,} tokens and decode {decode:,}: a longer request is computed by prefill and "
            "then refused"
        )
        remedy = f"give prefill a context of {decode:,} too"
        yield Finding(Severity.NOTE, Code.SUBOPTIMAL, "max_model_len", message, remedy)
    if prefill and decode and prefill < decode and pair.facts.asked_at_once and pair.known("max_model_len"):
        message = (
            f"prefill takes {prefill:,} tokens and decode {decode:,}: the router asks both at once, prefill refuses a "
            "request between the two, and decode waits for a cache that does not come"
        )
        remedy = f"give decode a context of {prefill:,} too"
        yield Finding(Severity.WARNING, Code.SUBOPTIMAL, "max_model_len", message, remedy)


RULES: Final[tuple[Callable[[PoolPair], Iterator[Finding]], ...]] = (
    pools_engine,
    pools_release,
    pools_model,
    pools_connector,
    pools_kv_dtype,
    pools_block_size,
    pools_backend,
    pools_tp,
    pools_pp,
    pools_dcp,
    pools_context,
)


def check_pools(pair: PoolPair) -> tuple[Finding, ...]:
    """What is wrong with the pair, whatever is right with each of them. `where` is as `plan.rules.check` says.

    Different engines are reported alone: nothing else of the two can be compared.
    """
    if engines := tuple(pools_engine(pair)):
        return engines
    return tuple(finding for rule in RULES for finding in rule(pair))
