"""The checks of objects of Kubernetes, and of what is rendered to them."""

from __future__ import annotations

from typing import Final

from moonpad.explain.checks.check_case import Check
from moonpad.explain.checks.manifests.api_groups import group_of_kind
from moonpad.explain.checks.manifests.chart_ports import chart_port
from moonpad.explain.checks.manifests.claims_of_nodes import claim_of_one_node
from moonpad.explain.checks.manifests.config_map_files import files_of_maps
from moonpad.explain.checks.manifests.container_fields import misplaced_field, options_as_command
from moonpad.explain.checks.manifests.copies_of_pods import port_of_host, rollout_without_room
from moonpad.explain.checks.manifests.described_pods import described_patience
from moonpad.explain.checks.manifests.gateway_labels import label_of_gateway
from moonpad.explain.checks.manifests.group_pods import idle_devices, ranks_of_cluster, unlike_images
from moonpad.explain.checks.manifests.helm_charts import chart_of_repository
from moonpad.explain.checks.manifests.host_paths import weights_of_node
from moonpad.explain.checks.manifests.ingress_patience import patience_of_ingress
from moonpad.explain.checks.manifests.key_references import key_references
from moonpad.explain.checks.manifests.manifest_variables import variable_not_set
from moonpad.explain.checks.manifests.merged_lists import list_of_patch
from moonpad.explain.checks.manifests.namespace_quota import namespace_quota
from moonpad.explain.checks.manifests.pod_devices import POD_DEVICES
from moonpad.explain.checks.manifests.pod_memory import memory_of_container
from moonpad.explain.checks.manifests.pod_names import port_name_twice, spaces_of_one_graph
from moonpad.explain.checks.manifests.pod_ports import (
    exposed_port,
    probed_port,
    published_port,
    service_of_variable_port,
    service_port,
    variable_of_service,
)
from moonpad.explain.checks.manifests.pod_quantities import refused_quantities
from moonpad.explain.checks.manifests.pod_rdma import handshake_on_loopback, rdma_of_pod
from moonpad.explain.checks.manifests.pod_selectors import port_by_name, selectors
from moonpad.explain.checks.manifests.pod_strings import texts_alone
from moonpad.explain.checks.manifests.pod_types import requests_and_limits, shared_memory_elsewhere, types_of_fields
from moonpad.explain.checks.manifests.pod_words import pod_words
from moonpad.explain.checks.manifests.port_forwards import forwarded_port
from moonpad.explain.checks.manifests.probe_paths import probe_path
from moonpad.explain.checks.manifests.probe_patience import probe_patience
from moonpad.explain.checks.manifests.ray_services import ranks_of_service
from moonpad.explain.checks.manifests.refused_objects import refused_objects
from moonpad.explain.checks.manifests.refused_words import refused_by_tools
from moonpad.explain.checks.manifests.repeated_keys import repeated_key
from moonpad.explain.checks.manifests.resource_names import resource_without_domain
from moonpad.explain.checks.manifests.root_steps import packages_without_root
from moonpad.explain.checks.manifests.shell_words import words_behind_script
from moonpad.explain.checks.manifests.single_device_nodes import more_than_a_node_has
from moonpad.explain.checks.manifests.slow_pods import cache_of_pod, processors_of_ranks, scaled_by_processors
from moonpad.explain.checks.manifests.stateful_groups import ordered_pods, rank_of_template, service_of_set
from moonpad.explain.checks.manifests.template_slips import template_slip
from moonpad.explain.checks.manifests.worker_sets import variables_of_set, workers_behind_service
from moonpad.explain.checks.manifests.worker_specs import pipeline_of_one_machine, size_of_worker_spec

FAMILY: Final[tuple[Check, ...]] = (
    variable_not_set,
    misplaced_field,
    options_as_command,
    label_of_gateway,
    probe_path,
    claim_of_one_node,
    weights_of_node,
    probe_patience,
    described_patience,
    list_of_patch,
    ordered_pods,
    rank_of_template,
    service_of_set,
    words_behind_script,
    probed_port,
    exposed_port,
    published_port,
    service_port,
    chart_port,
    service_of_variable_port,
    variable_of_service,
    pod_words,
    group_of_kind,
    types_of_fields,
    requests_and_limits,
    shared_memory_elsewhere,
    variables_of_set,
    workers_behind_service,
    size_of_worker_spec,
    pipeline_of_one_machine,
    refused_quantities,
    resource_without_domain,
    files_of_maps,
    key_references,
    refused_objects,
    refused_by_tools,
    forwarded_port,
    chart_of_repository,
    template_slip,
    port_name_twice,
    repeated_key,
    selectors,
    port_by_name,
    texts_alone,
    spaces_of_one_graph,
    unlike_images,
    ranks_of_cluster,
    ranks_of_service,
    idle_devices,
    memory_of_container,
    packages_without_root,
    namespace_quota,
    rdma_of_pod,
    handshake_on_loopback,
    more_than_a_node_has,
    port_of_host,
    rollout_without_room,
    patience_of_ingress,
    *POD_DEVICES,
    processors_of_ranks,
    scaled_by_processors,
    cache_of_pod,
)
