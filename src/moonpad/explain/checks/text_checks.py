"""The checks that look at the lines of the text, beside the words of the command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.bench_names import bench_names
from moonpad.explain.checks.clients.bench_options import option_of_bench
from moonpad.explain.checks.clients.bench_targets import bench_target
from moonpad.explain.checks.clients.evaluation_hub import hub_of_datasets
from moonpad.explain.checks.clients.request_fields import request_field
from moonpad.explain.checks.clients.request_names import all_but_a_name, name_of_all, request_names
from moonpad.explain.checks.clients.request_paths import request_path
from moonpad.explain.checks.clients.request_slips import port_below, request_port, sleep_level, thinking_switch
from moonpad.explain.checks.clients.sleeping_servers import weights_left_asleep
from moonpad.explain.checks.clients.swapped_names import name_behind_swap
from moonpad.explain.checks.containers.compose_health import compose_health
from moonpad.explain.checks.containers.compose_quotes import quotes_in_variables
from moonpad.explain.checks.containers.compose_references import compose_references
from moonpad.explain.checks.containers.compose_words import compose_words, refused_at_top
from moonpad.explain.checks.containers.dockerfile_slips import dockerfile_slips
from moonpad.explain.checks.containers.images_nowhere import image_without_owner, model_as_image
from moonpad.explain.checks.containers.insider_images import image_of_insiders
from moonpad.explain.checks.containers.loopback_of_host import loopback_of_host
from moonpad.explain.checks.containers.mounted_places import cache_not_mounted, model_not_mounted, undeclared_volume
from moonpad.explain.checks.containers.tab_images import image_of_other_tab
from moonpad.explain.checks.dynamo.dynamo_components import worker_of_another_kind, worker_without_volume
from moonpad.explain.checks.dynamo.dynamo_events import silent_workers
from moonpad.explain.checks.dynamo.dynamo_frontends import path_of_frontend
from moonpad.explain.checks.dynamo.dynamo_options import gone_options
from moonpad.explain.checks.dynamo.dynamo_parsers import parsers_of_worker
from moonpad.explain.checks.dynamo.dynamo_pools import names_of_pools, nothing_in_front, undeclared_decoder
from moonpad.explain.checks.dynamo.dynamo_values import (
    ports_of_workers,
    request_of_frontend,
    values_of_worker,
    words_of_frontend,
)
from moonpad.explain.checks.dynamo.frontend_options import unknown_to_frontend
from moonpad.explain.checks.dynamo.graph_fields import graph_fields
from moonpad.explain.checks.installs.build_switches import built_for_hosts
from moonpad.explain.checks.installs.cache_roots import cached_root
from moonpad.explain.checks.installs.clone_steps import beside_the_clone
from moonpad.explain.checks.installs.download_parts import download_of_part
from moonpad.explain.checks.installs.download_patterns import code_left_behind
from moonpad.explain.checks.installs.examples_of_clone import examples_of_clone
from moonpad.explain.checks.installs.install_options import unknown_to_installer
from moonpad.explain.checks.installs.install_values import download_by_address, second_index
from moonpad.explain.checks.installs.package_sources import not_installable
from moonpad.explain.checks.installs.shallow_clones import commit_of_shallow
from moonpad.explain.checks.installs.two_caches import cache_of_download, folder_beside, folder_of_download
from moonpad.explain.checks.manifests.api_groups import group_of_kind
from moonpad.explain.checks.manifests.chart_ports import chart_port
from moonpad.explain.checks.manifests.claims_of_nodes import claim_of_one_node
from moonpad.explain.checks.manifests.config_map_files import files_of_maps
from moonpad.explain.checks.manifests.container_fields import misplaced_field
from moonpad.explain.checks.manifests.gateway_labels import label_of_gateway
from moonpad.explain.checks.manifests.helm_charts import chart_of_repository
from moonpad.explain.checks.manifests.key_references import key_references
from moonpad.explain.checks.manifests.manifest_variables import variable_not_set
from moonpad.explain.checks.manifests.pod_ports import (
    exposed_port,
    probed_port,
    published_port,
    service_of_variable_port,
    service_port,
    variable_of_service,
)
from moonpad.explain.checks.manifests.pod_quantities import refused_quantities
from moonpad.explain.checks.manifests.pod_types import requests_and_limits, shared_memory_elsewhere, types_of_fields
from moonpad.explain.checks.manifests.pod_words import pod_words
from moonpad.explain.checks.manifests.port_forwards import forwarded_port
from moonpad.explain.checks.manifests.probe_paths import probe_path
from moonpad.explain.checks.manifests.probe_patience import probe_patience
from moonpad.explain.checks.manifests.resource_names import resource_without_domain
from moonpad.explain.checks.manifests.worker_sets import variables_of_set, workers_behind_service
from moonpad.explain.checks.manifests.worker_specs import size_of_worker_spec
from moonpad.explain.checks.models.bare_names import bare_name
from moonpad.explain.checks.models.heading_models import model_of_heading
from moonpad.explain.checks.models.model_addresses import page_as_model, path_of_host
from moonpad.explain.checks.models.single_files import file_as_model, range_of_devices
from moonpad.explain.checks.nodes.master_ports import MEETING_PORTS
from moonpad.explain.checks.nodes.peer_checks import (
    headless_ranks,
    mode_in_comment,
    target_not_built,
    worker_on_loopback,
)
from moonpad.explain.checks.nodes.profiled_starts import profiled_forks
from moonpad.explain.checks.nodes.rank_checks import unlike_modules, unlike_ranks
from moonpad.explain.checks.nodes.ray_environment import environment_of_ray
from moonpad.explain.checks.nodes.ray_joins import fewer_in_cluster, ray_joins
from moonpad.explain.checks.nodes.ray_nodes import kept_on_one_node
from moonpad.explain.checks.nodes.serving_script import serving_script
from moonpad.explain.checks.options.lone_program import no_subcommand
from moonpad.explain.checks.options.module_names import misspelt_module
from moonpad.explain.checks.options.server_files import keys_of_server_file
from moonpad.explain.checks.options.setting_slips import (
    colon_for_blank,
    file_for_folder,
    number_as_variable,
    switch_as_text,
    variable_for_option,
)
from moonpad.explain.checks.options.subcommand_slips import subcommand_slips
from moonpad.explain.checks.pools.pool_ranks import fewer_ranks_of_decode
from moonpad.explain.checks.pools.pool_sides import pools_without_connector, side_channels, side_without_connector
from moonpad.explain.checks.pools.router_options import joined_selector, pools_of_workers
from moonpad.explain.checks.pools.router_ranks import ranks_of_router
from moonpad.explain.checks.releases.connector_keys import nearly_a_connector_key
from moonpad.explain.checks.releases.minimum_release import minimum_release
from moonpad.explain.checks.releases.moved_imports import moved_import
from moonpad.explain.checks.shell.block_lines import lost_in_block
from moonpad.explain.checks.shell.dead_settings import DEAD_SETTINGS
from moonpad.explain.checks.shell.dollar_slips import filled_in_by_compose, half_escaped
from moonpad.explain.checks.shell.file_slips import (
    backslash_at_end,
    escaped_substitution,
    tag_without_v,
)
from moonpad.explain.checks.shell.json_slips import json_slips
from moonpad.explain.checks.shell.kept_dollars import kept_dollar
from moonpad.explain.checks.shell.kept_quotes import KEPT_SIGNS
from moonpad.explain.checks.shell.line_slips import slips_of_lines
from moonpad.explain.checks.shell.lone_quotes import lone_quote
from moonpad.explain.checks.shell.misspelt_devices import misspelt_file, misspelt_vendor
from moonpad.explain.checks.shell.misspelt_variables import misspelt_variable
from moonpad.explain.checks.shell.outer_variables import filled_in_outside
from moonpad.explain.checks.shell.plain_slips import PLAIN_SLIPS
from moonpad.explain.checks.shell.script_slips import (
    brace_in_default,
    call_sets_another,
    conflict_markers,
    export_alone,
    export_swallows,
    only_in_comment,
    option_as_argument,
    spaced_sign,
    used_before,
)
from moonpad.explain.checks.shell.set_again import set_again
from moonpad.explain.checks.shell.shell_arrays import array_as_scalar
from moonpad.explain.checks.shell.shell_lists import options_behind_text, words_behind_one
from moonpad.explain.checks.shell.size_tests import size_of_one
from moonpad.explain.checks.shell.variable_slips import (
    env_file_comment,
    interface_caret,
    not_exported,
    not_handed_on,
    slurm_header,
)
from moonpad.explain.checks.shell.written_files import written_under_another_name
from moonpad.explain.documents.spoken_devices import fewer_ranks
from moonpad.explain.documents.spoken_instances import devices_of_instance
from moonpad.explain.results import Remark
from moonpad.explain.shell.shell_slips import (
    broken_line,
    broken_value,
    ended_by_comment,
    lost_behind_install,
    lost_options,
    redirected_install,
)

TEXT_CHECKS: Final[tuple[Callable[[Case], Iterator[Remark]], ...]] = (
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
    request_field,
    no_subcommand,
    second_index,
    unknown_to_installer,
    download_by_address,
    misspelt_variable,
    redirected_install,
    broken_line,
    broken_value,
    lost_options,
    lost_behind_install,
    lost_in_block,
    ended_by_comment,
    not_exported,
    env_file_comment,
    not_handed_on,
    slurm_header,
    interface_caret,
    used_before,
    call_sets_another,
    option_as_argument,
    export_alone,
    export_swallows,
    spaced_sign,
    only_in_comment,
    brace_in_default,
    conflict_markers,
    filled_in_by_compose,
    half_escaped,
    written_under_another_name,
    path_of_frontend,
    undeclared_decoder,
    names_of_pools,
    gone_options,
    parsers_of_worker,
    unknown_to_frontend,
    silent_workers,
    nothing_in_front,
    words_behind_one,
    options_behind_text,
    array_as_scalar,
    json_slips,
    *KEPT_SIGNS,
    beside_the_clone,
    commit_of_shallow,
    examples_of_clone,
    cache_of_download,
    folder_beside,
    folder_of_download,
    code_left_behind,
    cached_root,
    colon_for_blank,
    variable_for_option,
    switch_as_text,
    number_as_variable,
    file_for_folder,
    headless_ranks,
    unlike_ranks,
    unlike_modules,
    variable_not_set,
    misplaced_field,
    label_of_gateway,
    compose_references,
    probe_path,
    minimum_release,
    model_not_mounted,
    cache_not_mounted,
    undeclared_volume,
    claim_of_one_node,
    worker_without_volume,
    worker_of_another_kind,
    image_of_insiders,
    model_as_image,
    image_without_owner,
    ranks_of_router,
    *MEETING_PORTS,
    *PLAIN_SLIPS,
    nearly_a_connector_key,
    probe_patience,
    probed_port,
    exposed_port,
    published_port,
    service_port,
    chart_port,
    service_of_variable_port,
    variable_of_service,
    worker_on_loopback,
    mode_in_comment,
    target_not_built,
    fewer_ranks,
    devices_of_instance,
    tag_without_v,
    escaped_substitution,
    backslash_at_end,
    hub_of_datasets,
    kept_dollar,
    lone_quote,
    quotes_in_variables,
    misspelt_vendor,
    misspelt_file,
    profiled_forks,
    serving_script,
    keys_of_server_file,
    pod_words,
    group_of_kind,
    types_of_fields,
    requests_and_limits,
    shared_memory_elsewhere,
    variables_of_set,
    workers_behind_service,
    size_of_worker_spec,
    compose_words,
    refused_at_top,
    loopback_of_host,
    page_as_model,
    path_of_host,
    subcommand_slips,
    bench_target,
    side_channels,
    side_without_connector,
    pools_without_connector,
    fewer_ranks_of_decode,
    ray_joins,
    environment_of_ray,
    fewer_in_cluster,
    kept_on_one_node,
    request_path,
    joined_selector,
    pools_of_workers,
    bare_name,
    moved_import,
    size_of_one,
    set_again,
    model_of_heading,
    built_for_hosts,
    refused_quantities,
    resource_without_domain,
    graph_fields,
    files_of_maps,
    file_as_model,
    range_of_devices,
    values_of_worker,
    words_of_frontend,
    request_of_frontend,
    ports_of_workers,
    *DEAD_SETTINGS,
    compose_health,
    dockerfile_slips,
    key_references,
    slips_of_lines,
    misspelt_module,
    not_installable,
    forwarded_port,
    download_of_part,
    chart_of_repository,
    name_behind_swap,
    image_of_other_tab,
    filled_in_outside,
)
