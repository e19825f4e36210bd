"""The checks of prefill and decode pools, their routers and proxies."""

from __future__ import annotations

from typing import Final

from moonpad.explain.checks.check_case import Check
from moonpad.explain.checks.pools.device_transports import device_transports
from moonpad.explain.checks.pools.engine_ids import shared_engine_id
from moonpad.explain.checks.pools.launched_pools import (
    launched_apart,
    name_of_other_pool,
    options_of_proxy,
    table_of_pool,
)
from moonpad.explain.checks.pools.lmcache_servers import LMCACHE_SERVERS
from moonpad.explain.checks.pools.lmcache_settings import LMCACHE_CHECKS
from moonpad.explain.checks.pools.lone_pool import (
    decode_without_mode,
    decode_without_transfer,
    lone_pool,
    no_consumer,
    shared_transfer_rank,
)
from moonpad.explain.checks.pools.one_pool import one_pool_two_engines, two_pools_one_engine, unlike_drafts
from moonpad.explain.checks.pools.pool_drafts import drafts_on_one_side
from moonpad.explain.checks.pools.pool_ranks import fewer_ranks_of_decode
from moonpad.explain.checks.pools.pool_requests import ids_of_sides, request_past_proxy, servers_of_proxy
from moonpad.explain.checks.pools.pool_sides import pools_without_connector, side_channels, side_without_connector
from moonpad.explain.checks.pools.pools_in_containers import devices_apart
from moonpad.explain.checks.pools.proxy_ports import comma_of_proxy, counted_ports, proxy_ports
from moonpad.explain.checks.pools.recipe_sizes import devices_of_role
from moonpad.explain.checks.pools.router_options import joined_selector, policy_past_caches, pools_of_workers
from moonpad.explain.checks.pools.router_ranks import ranks_of_router
from moonpad.explain.checks.pools.router_targets import (
    bootstrap_port,
    bridged_nodes,
    loopback_for_router,
    router_protocol,
    router_target,
    unpublished_bootstrap,
)
from moonpad.explain.checks.pools.transfer_ports import port_within_random

FAMILY: Final[tuple[Check, ...]] = (
    ranks_of_router,
    side_channels,
    devices_apart,
    side_without_connector,
    pools_without_connector,
    fewer_ranks_of_decode,
    joined_selector,
    pools_of_workers,
    policy_past_caches,
    shared_engine_id,
    lone_pool,
    no_consumer,
    shared_transfer_rank,
    decode_without_mode,
    decode_without_transfer,
    one_pool_two_engines,
    two_pools_one_engine,
    unlike_drafts,
    drafts_on_one_side,
    table_of_pool,
    launched_apart,
    options_of_proxy,
    request_past_proxy,
    servers_of_proxy,
    ids_of_sides,
    name_of_other_pool,
    devices_of_role,
    port_within_random,
    router_target,
    proxy_ports,
    counted_ports,
    comma_of_proxy,
    router_protocol,
    bootstrap_port,
    bridged_nodes,
    loopback_for_router,
    device_transports,
    unpublished_bootstrap,
    *LMCACHE_SERVERS,
    *LMCACHE_CHECKS,
)
