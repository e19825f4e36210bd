"""Which attention backend decodes MLA: those possible on a device, and the one that a configuration gets."""

from __future__ import annotations

from functools import lru_cache

from moonpad.catalog.attention import Backend, backends, orders
from moonpad.values.cluster import Device
from moonpad.values.configuration import Configuration
from moonpad.values.platform import Platform
from moonpad.values.versions import since


def attention_backends(device: Device, engine: str, version: str = "", kv_dtype: str | None = None) -> tuple[str, ...]:
    """The backends of `engine` that decode MLA on `device`, in the order in which it takes them by itself.

    `kv_dtype`: only those that hold such a KV cache (`bf16`, `fp8`, `fp8_e5m2`); None for any. () where there is none.
    """
    return _backends(device.platform, device.sm, engine, version, kv_dtype)


@lru_cache(maxsize=1024)
def _backends(platform: Platform, sm: int | None, engine: str, version: str, kv_dtype: str | None) -> tuple[str, ...]:
    kinds = _kinds(platform, sm)
    names: tuple[str, ...] = ()
    for kind in kinds:  # the narrowest kind that an order knows
        known = [order for order in orders() if order.engine == engine and order.on == kind]
        if known:
            fitting = [order for order in known if since(version, order.since)]
            names = (fitting or known)[-1 if fitting else 0].names
            break
    candidates = (backends()[name] for name in names)
    return tuple(
        backend.name
        for backend in candidates
        if engine in backend.engines
        and any(kind in backend.on for kind in kinds)
        and since(version, backend.since)
        and (kv_dtype is None or _holds(backend, kv_dtype, version, sm))
    )


def _kinds(platform: Platform, sm: int | None) -> tuple[str, ...]:
    """Narrow first. Before SM80 there is no BF16, and nothing here serves."""
    if platform is not Platform.CUDA:
        return (str(platform),)
    if sm is None or sm < 80:
        return ()
    return (f"sm{sm // 10}", "cuda")


def _holds(backend: Backend, kv_dtype: str, version: str, sm: int | None) -> bool:
    first = backend.kv.get(kv_dtype)
    enough = not kv_dtype.startswith("fp8") or sm is None or sm >= backend.fp8_from_sm
    return first is not None and since(version, first) and enough


def find(name: str) -> Backend:
    """Raises KeyError for a name that the catalogue does not know."""
    return backends()[name]


def has_dcp(backend: Backend, version: str) -> bool:
    return backend.dcp_since is not None and since(version, backend.dcp_since)


def takes_draft(configuration: Configuration) -> bool:
    """Whether the backend of a release goes with a draft over a cache that is shared out over ranks."""
    if configuration.layout.dcp == 1 or not configuration.settings.draft_tokens or not configuration.version:
        return True
    backend = chosen(configuration)
    return backend is None or since(configuration.version, backend.dcp_drafts_since)


def fits_block(backend: Backend, block_size: int | None) -> bool:
    return block_size is None or block_size % backend.block == 0


def possible(configuration: Configuration) -> tuple[str, ...]:
    """Those for its device, version, KV format and block, in the order in which the engine takes them."""
    engine = configuration.engine
    names = attention_backends(configuration.device, engine.name, configuration.version, configuration.stored_kv)
    block = configuration.settings.block_size if engine.strict_block_size else None  # the others change the block
    fitting = tuple(name for name in names if fits_block(find(name), block))
    return engine.order_backends(configuration, fitting) if engine.order_backends else fitting


def chosen(configuration: Configuration) -> Backend | None:
    """The one that decodes: what was asked for, else the engine's own choice; None where that is not known."""
    requested = configuration.settings.attention_backend
    if requested is not None:
        return backends().get(requested)
    names = possible(configuration)
    return find(names[0]) if names else None
