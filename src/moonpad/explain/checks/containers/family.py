"""The checks of containers and images: docker run, Compose, Dockerfiles."""

from __future__ import annotations

from typing import Final

from moonpad.explain.checks.check_case import Check
from moonpad.explain.checks.containers.behind_image import behind_image
from moonpad.explain.checks.containers.closed_places import home_of_root, port_without_root
from moonpad.explain.checks.containers.compose_health import compose_health
from moonpad.explain.checks.containers.compose_quotes import quotes_in_variables
from moonpad.explain.checks.containers.compose_references import compose_references
from moonpad.explain.checks.containers.compose_words import compose_words, refused_at_top
from moonpad.explain.checks.containers.container_devices import container_devices, image_file_devices
from moonpad.explain.checks.containers.container_slips import CONTAINER_SLIPS
from moonpad.explain.checks.containers.containers_beside import (
    containers_on_one_device,
    one_container_name,
    one_published_port,
)
from moonpad.explain.checks.containers.dockerfile_slips import dockerfile_slips
from moonpad.explain.checks.containers.env_file_quotes import quotes_of_env_file
from moonpad.explain.checks.containers.host_of_image import HOST_CHECKS
from moonpad.explain.checks.containers.image_chips import image_of_other_chip, image_of_other_maker, image_of_processor
from moonpad.explain.checks.containers.image_programs import (
    behind_entrypoint,
    options_without_program,
    outside_path,
    sound_without_libraries,
    started_twice,
)
from moonpad.explain.checks.containers.image_references import image_reference
from moonpad.explain.checks.containers.image_variables import behind_variable
from moonpad.explain.checks.containers.images_nowhere import image_without_owner, model_as_image
from moonpad.explain.checks.containers.insider_images import image_of_insiders
from moonpad.explain.checks.containers.listed_devices import listed_devices
from moonpad.explain.checks.containers.loopback_of_host import loopback_of_host
from moonpad.explain.checks.containers.lost_caches import lost_cache
from moonpad.explain.checks.containers.mounted_places import (
    cache_not_mounted,
    download_into_read_only,
    model_not_mounted,
    offline_without_weights,
    undeclared_volume,
)
from moonpad.explain.checks.containers.nameless_user import nameless_user
from moonpad.explain.checks.containers.nomad_ports import port_of_nomad
from moonpad.explain.checks.containers.outside_variables import variables_outside
from moonpad.explain.checks.containers.program_images import left_image, program_of_image
from moonpad.explain.checks.containers.rdma_devices import rdma_of_container
from moonpad.explain.checks.containers.read_only_root import without_temporary_folder
from moonpad.explain.checks.containers.step_mounts import model_outside_of_step
from moonpad.explain.checks.containers.tab_images import image_of_other_tab
from moonpad.explain.checks.containers.variables_of_no_release import variables_of_no_release

FAMILY: Final[tuple[Check, ...]] = (
    *HOST_CHECKS,
    compose_references,
    model_not_mounted,
    cache_not_mounted,
    model_outside_of_step,
    offline_without_weights,
    download_into_read_only,
    undeclared_volume,
    image_of_insiders,
    model_as_image,
    image_without_owner,
    quotes_in_variables,
    compose_words,
    refused_at_top,
    loopback_of_host,
    compose_health,
    dockerfile_slips,
    image_of_other_tab,
    image_of_other_chip,
    image_of_other_maker,
    image_of_processor,
    program_of_image,
    left_image,
    image_reference,
    options_without_program,
    started_twice,
    behind_entrypoint,
    behind_variable,
    variables_outside,
    outside_path,
    sound_without_libraries,
    one_published_port,
    containers_on_one_device,
    without_temporary_folder,
    container_devices,
    image_file_devices,
    nameless_user,
    listed_devices,
    rdma_of_container,
    behind_image,
    variables_of_no_release,
    quotes_of_env_file,
    home_of_root,
    port_without_root,
    port_of_nomad,
    one_container_name,
    *CONTAINER_SLIPS,
    lost_cache,
)
