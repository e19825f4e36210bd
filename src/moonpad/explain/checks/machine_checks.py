"""The checks of what a command is started on, with and by: image, processor, machines, draft, launcher."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.bench_paths import path_of_requests, port_of_measurement
from moonpad.explain.checks.clients.request_keys import key_of_request, path_without_version, unpublished_port
from moonpad.explain.checks.containers.behind_image import behind_image
from moonpad.explain.checks.containers.container_devices import container_devices
from moonpad.explain.checks.containers.container_slips import CONTAINER_SLIPS
from moonpad.explain.checks.containers.image_chips import image_of_other_chip, image_of_other_maker
from moonpad.explain.checks.containers.image_programs import (
    behind_entrypoint,
    options_without_program,
    outside_path,
    sound_without_libraries,
    started_twice,
)
from moonpad.explain.checks.containers.image_references import image_reference
from moonpad.explain.checks.containers.image_variables import behind_variable
from moonpad.explain.checks.containers.listed_devices import listed_devices
from moonpad.explain.checks.containers.nameless_user import nameless_user
from moonpad.explain.checks.dynamo.graphs_apart import graphs_apart
from moonpad.explain.checks.dynamo.worker_options import option_of_worker
from moonpad.explain.checks.manifests.group_pods import idle_devices, ranks_of_cluster, unlike_images
from moonpad.explain.checks.manifests.pod_devices import POD_DEVICES
from moonpad.explain.checks.manifests.pod_memory import memory_of_container
from moonpad.explain.checks.manifests.pod_names import port_name_twice, spaces_of_one_graph
from moonpad.explain.checks.manifests.pod_rdma import handshake_on_loopback, rdma_of_pod
from moonpad.explain.checks.manifests.pod_selectors import port_by_name, selectors
from moonpad.explain.checks.manifests.pod_strings import texts_alone
from moonpad.explain.checks.manifests.template_slips import template_slip
from moonpad.explain.checks.memory.exchange_buffer import exchange_buffer
from moonpad.explain.checks.memory.largest_alone import largest_alone
from moonpad.explain.checks.memory.memory_binding import binding_in_container
from moonpad.explain.checks.memory.model_storage import storage_of_weights
from moonpad.explain.checks.memory.processor_cores import pools_of_nodes, threads_of_cores
from moonpad.explain.checks.memory.spoken_machines import spoken_machines
from moonpad.explain.checks.models.draft_names import draft_at_address, draft_is_method
from moonpad.explain.checks.models.start_checks import model_in_file
from moonpad.explain.checks.nodes.asked_machines import asked_devices, devices_of_predictor, rank_of_job
from moonpad.explain.checks.nodes.counted_words import devices_in_words, ranks_of_pods
from moonpad.explain.checks.nodes.meeting_places import unlike_sizes
from moonpad.explain.checks.nodes.mpi_starts import ranks_that_all_serve
from moonpad.explain.checks.nodes.node_ports import met_elsewhere, more_than_machine, one_own_address, ranks_twice
from moonpad.explain.checks.nodes.rank_ranges import launched_ranks, ranks_beyond
from moonpad.explain.checks.nodes.same_rank import rank_of_another
from moonpad.explain.checks.nodes.side_by_side import one_bootstrap_port, one_port, one_set_of_devices, one_side_channel
from moonpad.explain.checks.nodes.slurm_jobs import slurm_devices, slurm_idle_nodes, slurm_tasks
from moonpad.explain.checks.nodes.slurm_ranks import rank_of_batch
from moonpad.explain.checks.nodes.started_in_turn import started_in_turn
from moonpad.explain.checks.nodes.step_ranks import step_ranks
from moonpad.explain.checks.nodes.visible_devices import numbered_anew, visible_devices
from moonpad.explain.checks.pools.engine_ids import shared_engine_id
from moonpad.explain.checks.pools.launched_pools import (
    launched_apart,
    name_of_other_pool,
    options_of_proxy,
    table_of_pool,
)
from moonpad.explain.checks.pools.lone_pool import (
    decode_without_mode,
    decode_without_transfer,
    lone_pool,
    no_consumer,
    shared_transfer_rank,
)
from moonpad.explain.checks.pools.one_pool import one_pool_two_engines, two_pools_one_engine, unlike_drafts
from moonpad.explain.checks.pools.pool_requests import ids_of_sides, request_past_proxy, servers_of_proxy
from moonpad.explain.checks.pools.proxy_ports import comma_of_proxy, counted_ports, proxy_ports
from moonpad.explain.checks.pools.recipe_sizes import devices_of_role
from moonpad.explain.checks.pools.router_targets import (
    bootstrap_port,
    bridged_nodes,
    router_target,
    unpublished_bootstrap,
)
from moonpad.explain.checks.pools.transfer_ports import port_within_random
from moonpad.explain.checks.releases.paired_packages import PACKAGE_CHECKS
from moonpad.explain.checks.releases.plugin_keys import plugin_key
from moonpad.explain.checks.releases.plugin_names import connector_keys, connector_name
from moonpad.explain.checks.shell.handed_environment import blanks_in_export, left_by_sudo
from moonpad.explain.checks.shell.unlike_neighbours import unlike_neighbours
from moonpad.explain.checks.shell.variable_prefixes import variable_prefix
from moonpad.explain.checks.shell.variable_values import variable_value
from moonpad.explain.checks.shell.windows_programs import json_in_powershell, path_of_wsl
from moonpad.explain.results import Remark

MACHINE_CHECKS: Final[tuple[Callable[[Case], Iterator[Remark]], ...]] = (
    image_of_other_chip,
    image_of_other_maker,
    image_reference,
    template_slip,
    model_in_file,
    options_without_program,
    started_twice,
    behind_entrypoint,
    behind_variable,
    outside_path,
    sound_without_libraries,
    container_devices,
    binding_in_container,
    nameless_user,
    port_name_twice,
    selectors,
    port_by_name,
    texts_alone,
    spaces_of_one_graph,
    graphs_apart,
    storage_of_weights,
    shared_engine_id,
    listed_devices,
    lone_pool,
    no_consumer,
    shared_transfer_rank,
    decode_without_mode,
    decode_without_transfer,
    connector_name,
    connector_keys,
    plugin_key,
    one_pool_two_engines,
    two_pools_one_engine,
    unlike_drafts,
    exchange_buffer,
    table_of_pool,
    launched_apart,
    options_of_proxy,
    request_past_proxy,
    servers_of_proxy,
    ids_of_sides,
    name_of_other_pool,
    rank_of_another,
    unlike_neighbours,
    ranks_beyond,
    launched_ranks,
    threads_of_cores,
    pools_of_nodes,
    devices_of_role,
    asked_devices,
    devices_of_predictor,
    rank_of_job,
    behind_image,
    path_of_requests,
    port_of_measurement,
    blanks_in_export,
    left_by_sudo,
    unlike_sizes,
    key_of_request,
    path_without_version,
    unpublished_port,
    spoken_machines,
    largest_alone,
    draft_is_method,
    draft_at_address,
    path_of_wsl,
    json_in_powershell,
    started_in_turn,
    visible_devices,
    numbered_anew,
    rank_of_batch,
    unlike_images,
    ranks_of_cluster,
    ranks_of_pods,
    devices_in_words,
    idle_devices,
    one_port,
    one_set_of_devices,
    one_side_channel,
    one_bootstrap_port,
    step_ranks,
    slurm_devices,
    slurm_tasks,
    slurm_idle_nodes,
    memory_of_container,
    rdma_of_pod,
    handshake_on_loopback,
    port_within_random,
    variable_value,
    option_of_worker,
    variable_prefix,
    met_elsewhere,
    one_own_address,
    ranks_twice,
    more_than_machine,
    router_target,
    proxy_ports,
    counted_ports,
    comma_of_proxy,
    bootstrap_port,
    bridged_nodes,
    unpublished_bootstrap,
    *PACKAGE_CHECKS,
    ranks_that_all_serve,
    *CONTAINER_SLIPS,
    *POD_DEVICES,
)
