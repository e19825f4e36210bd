"""The checks of the requests that a text sends to its own server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.absent_paths import path_not_there, scraped_metrics
from moonpad.explain.checks.clients.asked_at_once import asked_at_once
from moonpad.explain.checks.clients.bench_lengths import (
    data_of_measurement,
    length_of_measurement,
    width_of_measurement,
)
from moonpad.explain.checks.clients.client_addresses import bound_to_itself, path_in_base, scheme_of_client
from moonpad.explain.checks.clients.client_keys import key_of_client
from moonpad.explain.checks.clients.client_models import load_generator, model_of_client, variables_of_client
from moonpad.explain.checks.clients.evaluation_addresses import address_of_evaluation
from moonpad.explain.checks.clients.library_arguments import argument_of_library
from moonpad.explain.checks.clients.nginx_addresses import passed_on
from moonpad.explain.checks.clients.proxied_names import name_behind_proxy
from moonpad.explain.checks.clients.proxied_requests import proxied_request
from moonpad.explain.checks.clients.request_habits import REQUEST_HABITS
from moonpad.explain.checks.clients.request_limits import logprobs_of_request, thoughts_of_request, tokens_of_request
from moonpad.explain.checks.clients.request_parts import media_of_request, tools_of_request
from moonpad.explain.checks.clients.request_releases import field_of_release
from moonpad.explain.checks.clients.request_shapes import shape_of_request
from moonpad.explain.checks.clients.requests_of_gguf import embeddings_of_writer, picture_without_projector
from moonpad.explain.checks.clients.tunnels import environment_not_made, localhost_of_container, target_of_tunnel
from moonpad.explain.checks.clients.web_front import WEB_FRONT
from moonpad.explain.checks.containers.compose_addresses import address_of_service
from moonpad.explain.checks.manifests.ingress_targets import target_of_ingress
from moonpad.explain.checks.pools.router_roles import roles_of_router
from moonpad.explain.results import Remark

REQUEST_CHECKS: Final[tuple[Callable[[Case], Iterator[Remark]], ...]] = (
    key_of_client,
    scheme_of_client,
    path_in_base,
    bound_to_itself,
    tokens_of_request,
    thoughts_of_request,
    logprobs_of_request,
    *REQUEST_HABITS,
    tools_of_request,
    media_of_request,
    picture_without_projector,
    embeddings_of_writer,
    argument_of_library,
    shape_of_request,
    name_behind_proxy,
    proxied_request,
    path_not_there,
    scraped_metrics,
    model_of_client,
    load_generator,
    variables_of_client,
    address_of_evaluation,
    passed_on,
    *WEB_FRONT,
    field_of_release,
    length_of_measurement,
    data_of_measurement,
    width_of_measurement,
    asked_at_once,
    roles_of_router,
    target_of_ingress,
    target_of_tunnel,
    localhost_of_container,
    environment_not_made,
    address_of_service,
)
