"""Prefill and decode servers of one text, held against each other: each is a deployment of its own, and what both must
have in common is seen in neither alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import orjson

from moonpad.engines import ENGINES
from moonpad.engines.program_words import ROLE_BY_OPTION
from moonpad.engines.value_checks import unresolved
from moonpad.explain.commands import Word
from moonpad.explain.grouping import value_of
from moonpad.explain.pool_pages import pages_of_backends, plain_cache, title_of_other
from moonpad.explain.pool_settings import settings_of_pools
from moonpad.explain.pool_shares import shares_of_pools
from moonpad.explain.results import Judged, Line, Remark
from moonpad.plan.rules.pools import check_pools
from moonpad.values.configuration import KV_FORMATS
from moonpad.values.finding import Finding, Severity
from moonpad.values.pools import Pool, PoolFacts, PoolPair
from moonpad.values.records import replace

_DEFAULT: Final = (None, "auto")
_EXTRA: Final = "kv_connector_extra_config"


def with_pairs(judged: Sequence[Judged]) -> tuple[Judged, ...]:
    """The same, with what is wrong between two pools at the decode server."""
    prefills = [at for at, each in enumerate(judged) if each.kind == "prefill"]
    decodes = [at for at, each in enumerate(judged) if each.kind == "decode"]
    if not prefills or not decodes:
        return tuple(judged)
    alone = len(prefills) == len(decodes) == 1
    result = list(judged)
    for prefill, decode in _pairs(prefills, decodes, [each.sources[0].heading for each in judged]):
        remarks = tuple(_remarks(judged[prefill], judged[decode], alone=alone))
        kept = tuple(remark for remark in remarks if remark not in result[decode].remarks)
        lines = _mended(result[decode].corrected, kept, judged[prefill])
        result[decode] = replace(result[decode], remarks=(*result[decode].remarks, *kept), corrected=lines)
    return tuple(result)


def _mended(lines: tuple[Line, ...], remarks: Sequence[Remark], prefill: Judged) -> tuple[Line, ...]:
    """With prefill's connector, where that is one word; none where another error would be left in them."""
    wrong = {remark.finding.where for remark in remarks if remark.finding.severity is Severity.ERROR}
    facts = ENGINES[prefill.engine].facts.pools if wrong and prefill.engine in ENGINES else None
    if not wrong or facts is None:
        return () if wrong else lines
    value = value_of(prefill.sources[0].argv, (facts.option,))
    if wrong != {facts.option} or facts.key or value is None or value.unresolved:
        return ()
    return tuple(replace(line, argv=_with(line.argv, facts.option, value.text)) for line in lines)


def _with(argv: Sequence[str], flag: str, value: str) -> tuple[str, ...]:
    """Those arguments with this value behind the flag, as far as it is there."""
    result = list(argv)
    for at, word in enumerate(argv):
        name, equals, _ = word.partition("=")
        if name.replace("_", "-") == flag and equals:
            result[at] = f"{name}={value}"
        elif name.replace("_", "-") == flag and at + 1 < len(argv):
            result[at + 1] = value
    return tuple(result)


def _pairs(
    prefills: Sequence[int], decodes: Sequence[int], headings: Sequence[str | None]
) -> Iterator[tuple[int, int]]:
    """Each decode server with the nearest prefill server above it, else below; and prefill servers that are left with
    the nearest decode server below, of several that under the same heading: a guide shows one half alone too. The only
    one has to have no partner under its own heading."""
    partners: dict[int, int] = {}
    for decode in decodes:
        above = [prefill for prefill in prefills if prefill < decode]
        partners[decode] = above[-1] if above else prefills[0]
        yield partners[decode], decode
    for prefill in prefills:
        below = next((decode for decode in decodes if decode > prefill), None)
        if below is None or prefill in partners.values():
            continue
        heading = headings[below]
        if headings[prefill] == heading or (len(decodes) == 1 and headings[partners[below]] != heading):
            yield prefill, below


def _remarks(prefill: Judged, decode: Judged, *, alone: bool) -> Iterator[Remark]:
    """Of a text with several pairs, those of other engines and models are other examples."""
    facts = ENGINES[prefill.engine].facts.pools if prefill.engine in ENGINES else None
    if facts is None or prefill.engine != decode.engine or prefill.layout is None or decode.layout is None:
        return
    pair = PoolPair(_pool(prefill, facts), _pool(decode, facts), facts)
    if not alone and pair.prefill.model != pair.decode.model:
        return
    findings = [each for each in check_pools(pair) if each.where != "connector" or _says_its_role(decode)]
    for finding in findings:
        yield _placed(finding, decode, facts)
    if all(finding.where != "block_size" for finding in findings):
        yield from (_placed(finding, decode, facts) for finding in pages_of_backends(prefill, decode, pair))
    if all(finding.where != "tp" for finding in findings):
        yield from (_placed(finding, decode, facts) for finding in shares_of_pools(prefill, decode, pair))
    yield from (_placed(finding, decode, facts) for finding in settings_of_pools(prefill, decode))


def _says_its_role(decode: Judged) -> bool:
    """A server that is not told to decode receives by nothing."""
    lacks = decode.engine in ROLE_BY_OPTION and value_of(decode.sources[0].argv, ("--disaggregation-mode",)) is None
    return not lacks


def _pool(judged: Judged, facts: PoolFacts) -> Pool:
    settings, layout, checkpoint = judged.settings, judged.layout, judged.checkpoint
    if settings is None or layout is None:
        raise ValueError("a server that was read has a layout and settings")
    connector, unknown = _connector(judged, facts), set(judged.unknown)
    if not connector:
        unknown.add("connector")
    dtype = settings.kv_cache_dtype
    if dtype and unresolved(dtype):
        unknown.add("kv_cache_dtype")
    written = "" if dtype in _DEFAULT else KV_FORMATS.get(dtype or "", dtype or "")
    if checkpoint is not None:
        written = written or checkpoint.quantization.kv_cache or "bf16"
    elif not written and dtype in _DEFAULT:
        written = plain_cache(judged.model_written)
    context = settings.max_model_len or (checkpoint.architecture.max_context if checkpoint else None)
    return Pool(
        engine=judged.engine,
        version=judged.version,
        model=checkpoint.name if checkpoint else title_of_other(judged.model_written),
        model_written=judged.model_written,
        layout=layout,
        settings=settings,
        kv_format=written,
        connector=connector,
        context=context,
        unknown=frozenset(unknown),
    )


def _connector(judged: Judged, facts: PoolFacts) -> str:
    """ "" where the text leaves it open."""
    value = value_of(judged.sources[0].argv, (facts.option,))
    if value is None:
        return facts.default
    text: object = value.text
    if facts.key:
        try:
            config = orjson.loads(value.text)
        except ValueError:
            return ""
        if not isinstance(config, dict) or _holds_others(config):
            return ""
        text = config.get(facts.key)
    return facts.ours(text) if isinstance(text, str) and not unresolved(text) else ""


def _holds_others(config: Mapping[str, object]) -> bool:
    """Whether it is a connector of several, by whatever name: one of those in it speaks with the other pool."""
    extra = config.get(_EXTRA)
    return isinstance(extra, dict) and isinstance(extra.get("connectors"), list)


def _placed(finding: Finding, decode: Judged, facts: PoolFacts) -> Remark:
    """At the option of the decode server, where it has one."""
    options = ENGINES[decode.engine].command_line.options
    flag = facts.option if finding.where == "connector" else options.get(finding.where, finding.where)
    at = _index(decode.sources[0].argv, flag)
    return Remark(replace(finding, where=flag), command=0 if at is not None else None, at=at)


def _index(argv: Sequence[Word], flag: str) -> int | None:
    return next((at for at, word in enumerate(argv) if word.text.partition("=")[0].replace("_", "-") == flag), None)
