"""The checks of what asks the server: requests, benchmarks, clients, tunnels."""

from __future__ import annotations

from typing import Final

from moonpad.explain.checks.check_case import Check
from moonpad.explain.checks.clients.asked_adapters import adapter_not_asked
from moonpad.explain.checks.clients.bench_names import bench_names
from moonpad.explain.checks.clients.bench_options import option_of_bench
from moonpad.explain.checks.clients.bench_paths import (
    backend_of_measurement,
    path_of_requests,
    port_of_measurement,
    prompts_of_measurement,
)
from moonpad.explain.checks.clients.bench_targets import bench_target
from moonpad.explain.checks.clients.client_contexts import context_of_client, wait_of_client, wait_of_proxy
from moonpad.explain.checks.clients.evaluation_hub import hub_of_datasets
from moonpad.explain.checks.clients.request_checks import REQUEST_CHECKS
from moonpad.explain.checks.clients.request_fields import request_field
from moonpad.explain.checks.clients.request_keys import key_of_request, path_without_version, unpublished_port
from moonpad.explain.checks.clients.request_names import all_but_a_name, name_of_all, request_names
from moonpad.explain.checks.clients.request_paths import request_path
from moonpad.explain.checks.clients.request_slips import port_below, request_port, sleep_level, thinking_switch
from moonpad.explain.checks.clients.request_values import (
    endless_answer,
    samples_alike,
    soft_switch,
    strong_penalty,
)
from moonpad.explain.checks.clients.sleeping_servers import asleep_unprepared, weights_left_asleep
from moonpad.explain.checks.clients.swapped_names import name_behind_swap

FAMILY: Final[tuple[Check, ...]] = (
    request_names,
    bench_names,
    option_of_bench,
    all_but_a_name,
    name_of_all,
    request_port,
    port_below,
    thinking_switch,
    sleep_level,
    weights_left_asleep,
    asleep_unprepared,
    request_field,
    hub_of_datasets,
    bench_target,
    request_path,
    name_behind_swap,
    *REQUEST_CHECKS,
    path_of_requests,
    port_of_measurement,
    backend_of_measurement,
    prompts_of_measurement,
    key_of_request,
    path_without_version,
    unpublished_port,
    adapter_not_asked,
    context_of_client,
    wait_of_client,
    wait_of_proxy,
    samples_alike,
    endless_answer,
    strong_penalty,
    soft_switch,
)
