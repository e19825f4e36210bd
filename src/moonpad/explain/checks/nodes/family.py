"""The checks of several machines, ranks, ports and devices."""

from __future__ import annotations

from typing import Final

from moonpad.explain.checks.check_case import Check
from moonpad.explain.checks.nodes.asked_machines import (
    asked_devices,
    devices_of_predictor,
    machines_not_joined,
    rank_of_job,
)
from moonpad.explain.checks.nodes.batch_lines import BATCH_LINES
from moonpad.explain.checks.nodes.counted_words import devices_in_words, nodes_of_section, ranks_of_pods
from moonpad.explain.checks.nodes.data_parallel import data_parallel
from moonpad.explain.checks.nodes.given_to_nothing import given_to_nothing
from moonpad.explain.checks.nodes.head_address import HEAD_CHECKS
from moonpad.explain.checks.nodes.master_ports import MEETING_PORTS
from moonpad.explain.checks.nodes.meeting_places import unlike_sizes
from moonpad.explain.checks.nodes.mpi_starts import ranks_that_all_serve
from moonpad.explain.checks.nodes.node_ports import met_elsewhere, more_than_machine, one_own_address, ranks_twice
from moonpad.explain.checks.nodes.peer_checks import (
    headless_ranks,
    mode_in_comment,
    target_not_built,
    worker_on_loopback,
)
from moonpad.explain.checks.nodes.profiled_starts import profiled_forks
from moonpad.explain.checks.nodes.rank_checks import unlike_modules, unlike_ranks
from moonpad.explain.checks.nodes.rank_ranges import launched_ranks, nodes_beyond, ranks_beyond
from moonpad.explain.checks.nodes.ray_daemons import ray_without_block, two_ray_heads
from moonpad.explain.checks.nodes.ray_environment import environment_of_ray
from moonpad.explain.checks.nodes.ray_joins import fewer_in_cluster, ray_joins
from moonpad.explain.checks.nodes.ray_nodes import kept_on_one_node
from moonpad.explain.checks.nodes.ray_ranks import ranks_kept_from_ray
from moonpad.explain.checks.nodes.reach_checks import loopback_in_container, quantization_name, unreachable
from moonpad.explain.checks.nodes.same_rank import no_first_rank, rank_of_another
from moonpad.explain.checks.nodes.serving_script import folder_of_script, serving_script
from moonpad.explain.checks.nodes.shown_devices import shown_devices
from moonpad.explain.checks.nodes.side_by_side import one_bootstrap_port, one_port, one_set_of_devices, one_side_channel
from moonpad.explain.checks.nodes.slurm_jobs import (
    slurm_devices,
    slurm_idle_nodes,
    slurm_same_rank,
    slurm_tasks,
    slurm_without_ray,
)
from moonpad.explain.checks.nodes.slurm_ranks import rank_of_batch, rank_of_mpirun
from moonpad.explain.checks.nodes.slurm_steps import SLURM_STEPS
from moonpad.explain.checks.nodes.started_in_turn import started_in_turn
from moonpad.explain.checks.nodes.step_ranks import step_ranks
from moonpad.explain.checks.nodes.torchrun_servers import servers_of_torchrun
from moonpad.explain.checks.nodes.visible_devices import filtered_twice, numbered_anew, slices_of_ranks, visible_devices
from moonpad.explain.checks.nodes.without_nodes import (
    cluster_not_used,
    devices_beside_command,
    rank_without_nodes,
    ranks_on_one_machine,
)
from moonpad.explain.documents.counts_beside_layouts import count_beside_layout
from moonpad.explain.documents.spoken_devices import fewer_ranks
from moonpad.explain.documents.spoken_instances import devices_of_instance

FAMILY: Final[tuple[Check, ...]] = (
    ranks_on_one_machine,
    devices_beside_command,
    data_parallel,
    headless_ranks,
    unlike_ranks,
    unlike_modules,
    *MEETING_PORTS,
    worker_on_loopback,
    mode_in_comment,
    target_not_built,
    profiled_forks,
    serving_script,
    folder_of_script,
    ray_joins,
    environment_of_ray,
    fewer_in_cluster,
    kept_on_one_node,
    ranks_kept_from_ray,
    *HEAD_CHECKS,
    rank_of_another,
    no_first_rank,
    ranks_beyond,
    nodes_beyond,
    launched_ranks,
    asked_devices,
    devices_of_predictor,
    rank_of_job,
    machines_not_joined,
    unlike_sizes,
    started_in_turn,
    visible_devices,
    shown_devices,
    numbered_anew,
    filtered_twice,
    slices_of_ranks,
    rank_of_batch,
    rank_of_mpirun,
    ranks_of_pods,
    devices_in_words,
    nodes_of_section,
    one_port,
    one_set_of_devices,
    one_side_channel,
    one_bootstrap_port,
    step_ranks,
    slurm_devices,
    slurm_tasks,
    slurm_idle_nodes,
    slurm_without_ray,
    slurm_same_rank,
    met_elsewhere,
    one_own_address,
    ranks_twice,
    more_than_machine,
    ranks_that_all_serve,
    servers_of_torchrun,
    unreachable,
    loopback_in_container,
    quantization_name,
    fewer_ranks,
    count_beside_layout,
    devices_of_instance,
    ray_without_block,
    two_ray_heads,
    *SLURM_STEPS,
    *BATCH_LINES,
    cluster_not_used,
    rank_without_nodes,
    given_to_nothing,
)
