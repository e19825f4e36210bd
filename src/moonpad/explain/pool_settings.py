"""Settings that the servers for prefill and for decode compare when they meet: each starts, and no request between them
is answered, or is answered wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines.value_checks import unresolved
from moonpad.explain.commands import Word
from moonpad.explain.grouping import value_of
from moonpad.explain.results import Judged
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.versions import since

_READ: Final = "0.5.23"
"""The release whose source was read: srt/disaggregation/common/conn.py."""
_CHECKSUM: Final = "--disaggregation-enable-kv-checksum"
_SHARDED: Final = "--enable-kv-cache-sharding"
_DECODE_CONTEXT: Final = ("--dcp-size", "--decode-context-parallel-size")
_PREFILL_CONTEXT: Final = ("--attn-cp-size", "--attention-context-parallel-size")


def settings_of_pools(prefill: Judged, decode: Judged) -> Iterator[Finding]:
    """Where both commands are known whole: by flags that only SGLang has."""
    if prefill.engine != decode.engine or any(each.sources[0].more for each in (prefill, decode)):
        return
    first, second = prefill.sources[0].argv, decode.sources[0].argv
    if _has(first, _CHECKSUM) != _has(second, _CHECKSUM):
        side = "prefill" if _has(first, _CHECKSUM) else "decode"
        message = f"only the server for {side} keeps checksums of the cache: the two hand over different metadata, and "
        message += "what one sends the other reads at another place"
        yield Finding(Severity.WARNING, Code.CONFLICT, _CHECKSUM, message, f"give {_CHECKSUM} to both, or to neither")
    ranks = _number(second, _DECODE_CONTEXT)
    if ranks < 2:
        return
    severity = Severity.ERROR if _from_read(prefill) and _from_read(decode) else Severity.WARNING
    if (cut := _number(first, _PREFILL_CONTEXT)) > 1:
        message = (
            f"decode context parallelism ({ranks}) takes no cache from a prefill side with context parallelism of "
        )
        message += f"attention ({cut}): requests fail when the two meet"
        remedy = f"leave {_PREFILL_CONTEXT[0]} out on the prefill side, or {_DECODE_CONTEXT[0]} on the decode side"
        yield Finding(severity, Code.CONFLICT, _DECODE_CONTEXT[0], message, remedy)
    if _has(first, _SHARDED):
        message = f"decode context parallelism ({ranks}) takes no cache from a prefill side that cuts its own over the "
        message += f"ranks ({_SHARDED}): requests fail when the two meet"
        remedy = f"leave {_SHARDED} out on the prefill side, or {_DECODE_CONTEXT[0]} on the decode side"
        yield Finding(severity, Code.CONFLICT, _DECODE_CONTEXT[0], message, remedy)


def _from_read(judged: Judged) -> bool:
    return bool(judged.version) and since(judged.version, _READ)


def _has(argv: tuple[Word, ...], flag: str) -> bool:
    return any(word.text.partition("=")[0].replace("_", "-") == flag for word in argv)


def _number(argv: tuple[Word, ...], names: tuple[str, ...]) -> int:
    """0 where it is not given or not known."""
    word = value_of(argv, names)
    return int(word.text) if word is not None and not unresolved(word.text) and word.text.isdecimal() else 0
