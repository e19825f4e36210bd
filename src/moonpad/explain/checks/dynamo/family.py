"""The checks of Dynamo's workers, frontends and graphs."""

from __future__ import annotations

from typing import Final

from moonpad.explain.checks.check_case import Check
from moonpad.explain.checks.dynamo.dynamo_components import worker_of_another_kind, worker_without_volume
from moonpad.explain.checks.dynamo.dynamo_events import silent_workers
from moonpad.explain.checks.dynamo.dynamo_frontends import path_of_frontend
from moonpad.explain.checks.dynamo.dynamo_options import gone_options
from moonpad.explain.checks.dynamo.dynamo_parsers import parsers_of_worker, thoughts_of_worker
from moonpad.explain.checks.dynamo.dynamo_pools import names_of_pools, nothing_in_front, undeclared_decoder
from moonpad.explain.checks.dynamo.dynamo_values import (
    ports_of_workers,
    request_of_frontend,
    values_of_worker,
    words_of_frontend,
)
from moonpad.explain.checks.dynamo.frontend_options import unknown_to_frontend
from moonpad.explain.checks.dynamo.graph_fields import graph_fields
from moonpad.explain.checks.dynamo.graphs_apart import graphs_apart
from moonpad.explain.checks.dynamo.transceiver_files import transceiver_of_pool
from moonpad.explain.checks.dynamo.worker_options import option_of_worker

FAMILY: Final[tuple[Check, ...]] = (
    path_of_frontend,
    undeclared_decoder,
    names_of_pools,
    gone_options,
    parsers_of_worker,
    thoughts_of_worker,
    unknown_to_frontend,
    silent_workers,
    nothing_in_front,
    worker_without_volume,
    worker_of_another_kind,
    graph_fields,
    values_of_worker,
    words_of_frontend,
    request_of_frontend,
    ports_of_workers,
    transceiver_of_pool,
    graphs_apart,
    option_of_worker,
)
