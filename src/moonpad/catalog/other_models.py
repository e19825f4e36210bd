"""What is known of models that moonpad does not plan: data/other_models.toml."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final, Literal

from msgspec import Struct, field

from moonpad.catalog.cached_names import REVISION
from moonpad.catalog.kept_rows import table
from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "other_models.toml"
_FORMATS: Final = r"w\d+a\d+(?:c\d+)?|fp\d|nvfp4(?:a16)?|mxfp[48]|bf16|int\d|awq|gptq|gguf|quarot|i?q\d\w*|\d+bit"
_HOW: Final = r"sym|asym|inc|autoround|gptqmodel|g\d+|gs\d+|channel|block|dynamic|quantized|bnb|qat|ct"
"""How weights were converted."""
COMMIT: Final = re.compile(r"[0-9a-f]{40}")
"""The folder of one state of a repository."""
_BEHIND: Final = re.compile(rf"-(?:{_FORMATS}|{_HOW}|quantized\.w\d+a\d+|\d{{4}}|mtp|base|hf|v\d)\Z")
_ACTIVE: Final = re.compile(r"(?P<whole>\S+-\d+B)-A\d+B")
"""Of a title: all weights, and those that a token goes through."""
_FORMAT: Final = re.compile(rf"(?:(?<=-)|(?<=-quantized\.))(?:{_FORMATS})(?=-|\Z)")
_BYTES: Final[Mapping[str, float]] = {"bf16": 2, "fp8": 1}
_BLOCK: Final = 128
_HALVED: Final = 32
"""Columns of a scale in these publishers' FP8 weights, and in a group of AWQ and GPTQ as a rule."""
_COUNTS: Final = re.compile(r"(?<![a-z0-9.])(\d{1,3}(?:\.\d{1,2})?)([bt])(?![a-z0-9])")
"""`70b`, `1t`; of `30b-a3b` all weights."""
_NAMED: Final = re.compile(r"[a-z]{3}[\w.]*-")
"""A family before it: `/models/70b` may be anything."""
_NOT_ALL: Final = re.compile(
    r"lora|adapter|draft|eagle|dflash|dspark|medusa|speculat|prun|reap|mlx|exl\d|hqq|aqlm|vptq|nf4|bnb|bitnet|ternary|onnx"
    r"|gguf|quip|squeeze|[123](?:\.\d+)?-?bit|[123]bpw|encoder|embed"
)
"""Parts of a model, and formats with less than four bits a weight or that no engine's figure is known of."""
_FOUR_BITS: Final = 0.5
_ROUNDED: Final = 0.9
"""A name rounds: `8b` has been 7.6."""
_REPOSITORY: Final = re.compile(r"([\w.-]+)/[\w.-]+/?", re.ASCII)
_PUBLISHERS: Final = frozenset({"qwen", "zai-org", "minimaxai", "deepseek-ai", "stepfun-ai", "xiaomimimo"})
_PLAIN_IS_16_BIT: Final = frozenset({"qwen", "meta-llama", "01-ai", "internlm", "baichuan-inc", "lmsys", "codellama"})
"""Publishers whose weights with less than 16 bits say so in their names: Qwen3-32B-FP8, Llama-4-…-FP8."""
_OWNER: Final = re.compile(rf"(?:{'|'.join(sorted(_PUBLISHERS, key=len, reverse=True))})-(?=.*-)")


class OtherModel(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is 0 or "" is not known."""

    name: Text
    title: Text
    model_type: str = ""
    """Of config.json, where Transformers has to know it."""
    heads: int = 0
    kv_heads: int = 0
    """0 with latent attention, which shares none out."""
    cache_layers: int = 0
    """Layers that keep keys and values of every token: none with linear, sliding or chunked attention."""
    head_values: int = 0
    """Of one such layer, what it keeps of a token for a KV head, of latent attention for all of them: two times
    `head_dim`, or `kv_lora_rank` + `qk_rope_head_dim`."""
    vocabulary: int = 0
    hidden: int = 0
    dense_columns: int = 0
    """Of the MLP in layers without experts, `intermediate_size`."""
    positions: int = 0
    """The tokens of a sequence that config.json has, without any scaling."""
    experts: int = 0
    expert_columns: int = 0
    """Of one routed expert, `moe_intermediate_size`."""
    shared_columns: int = 0
    """Of what every token passes beside the routed experts, `shared_expert_intermediate_size`."""
    expert_layers: int = 0
    """Layers that have routed experts."""
    block: int = 0
    """Columns that share a scale in the publisher's own FP8 weights."""
    billions: float = 0
    """Weights, in 10^9, rounded down."""
    published: str = ""
    """`bf16` or `fp8`: what a weight of the plain repository takes."""
    least_bytes: int = 0
    """Of the weights as published, without what was not counted, where it does not follow from `billions`."""
    any_format: bool = False
    """`least_bytes` holds for weights that others made too."""
    least_of_others: int = 0
    """What holds for those in its place, where the name says their format."""
    own_drafts: Literal["", "own", "none"] = ""
    """Whether the checkpoint has a layer for multi-token prediction."""
    rope_theta: int = 0
    """The base of its rotary positions."""
    sinks: bool = False
    """Attention with a sink for each head."""
    first: Mapping[str, str] = field(default_factory=dict)
    """The engine → its first release that has the class of this model."""
    asked: Mapping[str, str] = field(default_factory=dict)
    """The engine → the release that its own guide to this model asks for, where a class of an older model serves it:
    the model itself came out shortly before that."""
    early: Mapping[str, str] = field(default_factory=dict)
    """A build of an engine → its one release that brought the class of its own, before the engine had it."""
    gone: Mapping[str, str] = field(default_factory=dict)
    """The engine → its first release that has the class no more."""
    own_code: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """The engine → the first and the last release that was read in which the code of the repository has to be run, for
    neither the engine nor Transformers knows the type of its config.json."""
    provenance: Provenance


@cache
def other_models() -> Mapping[str, OtherModel]:
    """By their keys."""
    return table((FILE,), dict[str, OtherModel], _built)


def _built() -> Mapping[str, OtherModel]:
    return {key: row.build(OtherModel) for key, row in rows(FILE, "models")}


@lru_cache(maxsize=256)  # each check of a command asks for the same few names
def other_model(written: str) -> OtherModel | None:
    """What a repository or a path means; None for one that was pruned, or made into something else."""
    shorter, stem = _last_part(written), ""
    while shorter != stem:  # `-v3` may be a part of the name, or stand behind it
        stem = shorter
        if row := next((row for row in other_models().values() if re.fullmatch(row.name, stem)), None):
            return row
        shorter = _BEHIND.sub("", stem)
    owner = _OWNER.match(_last_part(written))  # `Qwen_Qwen3-30B-A3B`, a folder as some download it
    return other_model(_last_part(written)[owner.end() :]) if owner else None


def with_active(repository: str) -> str:
    """The publisher's repository that is meant where the size of what is active was left out: `Qwen/Qwen3-235B-A22B` of
    `Qwen/Qwen3-235B`; "" for other names. They have no such one without it."""
    owner, slash, name = repository.partition("/")
    if not slash or owner.casefold() not in _PUBLISHERS:
        return ""
    for model in other_models().values():
        title = _ACTIVE.fullmatch(model.title)
        if title is None or not name.casefold().startswith(title["whole"].casefold()):
            continue
        rest = name[len(title["whole"]) :]
        if not rest or (rest.startswith("-") and not re.match(r"-A\d", rest, re.IGNORECASE)):
            return f"{owner}/{title[0]}{rest}"
    return ""


def expert_weights(model: OtherModel) -> int:
    """The weights of one routed expert in one layer: gate, up and down. 0: not known."""
    return 3 * model.hidden * model.expert_columns


def shared_evenly(model: OtherModel, ranks: int) -> bool:
    """Whether so many ranks share out its heads and its vocabulary in every engine, as far as its sizes are known."""
    copied = model.kv_heads and ranks % model.kv_heads == 0
    return not (model.heads % ranks or model.vocabulary % ranks or (model.kv_heads % ranks and not copied))


def in_other_classes(written: str) -> bool:
    """Whether the name ends in `-hf`: the same weights for classes of Transformers."""
    return re.search(r"-hf(?=-|\Z)", _last_part(written)) is not None


def as_published(written: str) -> bool:
    """Whether the name says no other format of the weights."""
    return _FORMAT.search(_last_part(written)) is None


def of_publisher(written: str) -> bool:
    """Whether the repository is one of the publishers' own."""
    repository = _REPOSITORY.fullmatch(written)
    return repository is not None and repository[1].casefold() in _PUBLISHERS


def in_four_bits(written: str) -> bool:
    """Whether the name says so: no option makes such weights smaller."""
    return any(_width(form) == 0.5 for form in _FORMAT.findall(_last_part(written)))


def least_bytes(model: OtherModel, written: str) -> int:
    """Of the weights that a name stands for: the publisher's, or those in the name's format. 0: not known."""
    formats = _FORMAT.findall(_last_part(written))
    if not formats:
        of_weight = _BYTES.get(model.published, 0)
        return int(of_weight * model.billions * 1e9) or model.least_bytes
    if model.any_format:
        return model.least_of_others or model.least_bytes
    least = min(_width(form) for form in formats)
    return int(least * model.billions * 1e9)


def least_bytes_by_name(written: str, *, of_plain: float | None = None) -> int:
    """Of the weights of a repository or a folder that is in no table, where its name says how many billions they are:
    `of_plain` bytes each, one since some publish FP8 under a plain name, half of one where the name says four bits, and
    of a folder, which may hold any. 0: the name does not say."""
    name = _last_part(written)
    sizes = [float(count) * (1e12 if unit == "t" else 1e9) for count, unit in _COUNTS.findall(name)]
    if _NAMED.search(name) is None or len(sizes) != 1 or _NOT_ALL.search(name):
        return 0
    widths = [_width(form) for form in _FORMAT.findall(name)]
    owner = _REPOSITORY.fullmatch(written)
    if of_plain is None and owner is not None and owner[1].casefold() in _PLAIN_IS_16_BIT and not widths:
        of_plain = 2.0
    if of_plain is None:
        of_plain = 1.0 if _REPOSITORY.fullmatch(written) is not None else _FOUR_BITS
    return int(min((of_plain, *widths)) * sizes[0] * _ROUNDED)


def context_bytes(model: OtherModel, tokens: int, tp: int, pp: int, bytes_of_value: float) -> float:
    """What so many tokens of one sequence take in the KV cache of one device, at the least. 0: not known."""
    heads = max(1, model.kv_heads // tp)  # beyond their number, ranks have copies
    return tokens * model.cache_layers / pp * heads * model.head_values * bytes_of_value


def fp8_block(model: OtherModel, written: str) -> int:
    """How many columns of its weights share a scale, where they are FP8 in blocks; 0 where they are not, or it is not
    known."""
    formats, repository = set(_FORMAT.findall(_last_part(written))), _REPOSITORY.fullmatch(written)
    if repository is not None and repository[1].casefold() not in _PUBLISHERS:
        return 0  # others make FP8 weights in other ways
    own = formats == {"fp8"} or (not formats and model.published == "fp8")
    return model.block if own else 0


def in_fp8(model: OtherModel, written: str) -> bool:
    """Whether the weights that a name stands for are FP8, scaled in whatever way."""
    formats = set(_FORMAT.findall(_last_part(written)))
    return formats == {"fp8"} or (not formats and model.published == "fp8")


def group_of_four_bits(written: str) -> int:
    """How many columns share a scale in what the usual four-bit conversions make; 0 for other formats. `-AWQ-4bit` ends
    what one publisher makes, with groups of 32."""
    name = _last_part(written)
    formats = set(_FORMAT.findall(name))
    if {"awq", "4bit"} <= formats:
        return 0
    return _BLOCK if {"awq", "gptq"} & formats or name.endswith(("-w4a16", "-quantized.w4a16")) else 0


def least_group_of_four_bits(written: str) -> int:
    """The smallest group that the engines make of it for experts: where ranks cut through groups, those of AWQ and GPTQ
    go to the WNA16 kernels, which halve the group down to 32 and repeat its scales."""
    group = group_of_four_bits(written)
    return min(group, _HALVED) if {"awq", "gptq"} & set(_FORMAT.findall(_last_part(written))) else group


def _width(form: str) -> float:
    """Bytes of a weight, at the least. A GGUF file or a format of mixed sizes says nothing."""
    if form.startswith(("gguf", "q", "iq")):
        return 0
    digits = re.search(r"\d+", form)
    bits = int(digits[0]) if digits else 4
    return bits / 8 if bits in (4, 8, 16) else 0


def _last_part(written: str) -> str:
    parts = [part for part in written[-400:].casefold().replace("_", "-").split("/") if part]
    cached = next((part.rpartition("--")[2] for part in parts if part.startswith("models--")), "")
    if len(parts) > 1 and (COMMIT.fullmatch(parts[-1]) or REVISION.fullmatch(parts[-1])):
        del parts[-1]
    return cached or (parts[-1] if parts else "")
