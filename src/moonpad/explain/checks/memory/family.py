"""The checks of memory: of devices, of the host, of disks."""

from __future__ import annotations

from typing import Final

from moonpad.explain.checks.check_case import Check
from moonpad.explain.checks.memory.any_devices import any_devices
from moonpad.explain.checks.memory.bus_errors import bus_error
from moonpad.explain.checks.memory.device_formats import FORMAT_CHECKS
from moonpad.explain.checks.memory.exchange_buffer import exchange_buffer
from moonpad.explain.checks.memory.gguf_of_others import gguf_of_others
from moonpad.explain.checks.memory.host_caches import host_caches
from moonpad.explain.checks.memory.host_expert_checks import HOST_EXPERT_CHECKS
from moonpad.explain.checks.memory.largest_alone import largest_alone
from moonpad.explain.checks.memory.least_of_named import least_of_converted, least_of_named
from moonpad.explain.checks.memory.memory_binding import binding_in_container
from moonpad.explain.checks.memory.model_storage import storage_of_weights
from moonpad.explain.checks.memory.offered_machines import offered_machine
from moonpad.explain.checks.memory.offload_checks import cpu_offload
from moonpad.explain.checks.memory.processor_cores import pools_of_nodes, processor_threads
from moonpad.explain.checks.memory.ram_of_container import ram_of_container
from moonpad.explain.checks.memory.ram_of_mapped import ram_of_mapped
from moonpad.explain.checks.memory.room_of_others import cache_of_others, weights_of_others, whole_before_conversion
from moonpad.explain.checks.memory.sequence_workspace import sequence_workspace
from moonpad.explain.checks.memory.serving_checks import (
    cache_of_workers,
    no_such_module,
    plain_server,
    prefill_context,
    step_budget,
)
from moonpad.explain.checks.memory.shared_devices import shares_of_devices
from moonpad.explain.checks.memory.shared_memory import SHARED_MEMORY_CHECKS, image_without_ray
from moonpad.explain.checks.memory.shown_memory import shown_memory
from moonpad.explain.checks.memory.spoken_machines import spoken_machines
from moonpad.explain.checks.memory.spoken_single_device import spoken_single_device
from moonpad.explain.checks.memory.stack_memory import memory_of_stack
from moonpad.explain.checks.memory.told_blocks import told_blocks
from moonpad.explain.checks.memory.unified_memory import unified_memory
from moonpad.explain.checks.memory.weights_of_unnamed import weights_of_unnamed
from moonpad.explain.checks.memory.whole_command import WHOLE_COMMAND_CHECKS
from moonpad.explain.checks.memory.whole_machine import best_layout, other_release
from moonpad.explain.counted_memory import counted_devices, spoken_memory, spoken_precision, stated_devices

FAMILY: Final[tuple[Check, ...]] = (
    cpu_offload,
    any_devices,
    *FORMAT_CHECKS,
    weights_of_others,
    weights_of_unnamed,
    gguf_of_others,
    least_of_named,
    least_of_converted,
    cache_of_others,
    sequence_workspace,
    whole_before_conversion,
    best_layout,
    other_release,
    offered_machine,
    unified_memory,
    told_blocks,
    no_such_module,
    plain_server,
    step_budget,
    prefill_context,
    cache_of_workers,
    *WHOLE_COMMAND_CHECKS,
    *HOST_EXPERT_CHECKS,
    binding_in_container,
    storage_of_weights,
    exchange_buffer,
    processor_threads,
    pools_of_nodes,
    spoken_machines,
    ram_of_mapped,
    host_caches,
    ram_of_container,
    largest_alone,
    *SHARED_MEMORY_CHECKS,
    shown_memory,
    memory_of_stack,
    image_without_ray,
    bus_error,
    shares_of_devices,
    counted_devices,
    spoken_memory,
    spoken_single_device,
    stated_devices,
    spoken_precision,
)
