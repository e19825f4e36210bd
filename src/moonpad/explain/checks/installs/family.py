"""The checks of what is installed, built, cloned and downloaded before the start."""

from __future__ import annotations

from typing import Final

from moonpad.explain.checks.check_case import Check
from moonpad.explain.checks.installs.arch_of_name import arch_of_name
from moonpad.explain.checks.installs.build_switches import built_for_hosts
from moonpad.explain.checks.installs.cache_roots import cached_root, links_out_of_mount
from moonpad.explain.checks.installs.clone_steps import beside_the_clone
from moonpad.explain.checks.installs.clone_submodules import clone_without_submodules
from moonpad.explain.checks.installs.copied_programs import program_without_libraries
from moonpad.explain.checks.installs.download_parts import download_of_part, one_file_of_set
from moonpad.explain.checks.installs.download_patterns import code_left_behind
from moonpad.explain.checks.installs.driver_packages import driver_of_blackwell
from moonpad.explain.checks.installs.examples_of_clone import examples_of_clone
from moonpad.explain.checks.installs.install_options import unknown_to_installer
from moonpad.explain.checks.installs.install_values import download_by_address, second_index
from moonpad.explain.checks.installs.lfs_pointers import pointers_of_lfs
from moonpad.explain.checks.installs.order_of_steps import (
    endpoint_after_download,
    other_environment,
    torch_replaced,
)
from moonpad.explain.checks.installs.package_sources import not_installable
from moonpad.explain.checks.installs.python_downloads import folder_in_cache, folder_of_mount
from moonpad.explain.checks.installs.removed_makefile import make_without_makefile
from moonpad.explain.checks.installs.served_folders import file_of_subfolder, folder_beside
from moonpad.explain.checks.installs.shallow_clones import commit_of_shallow
from moonpad.explain.checks.installs.two_caches import cache_of_download, folder_of_download

FAMILY: Final[tuple[Check, ...]] = (
    second_index,
    unknown_to_installer,
    download_by_address,
    beside_the_clone,
    clone_without_submodules,
    commit_of_shallow,
    examples_of_clone,
    cache_of_download,
    folder_beside,
    file_of_subfolder,
    folder_in_cache,
    folder_of_mount,
    folder_of_download,
    code_left_behind,
    cached_root,
    built_for_hosts,
    make_without_makefile,
    not_installable,
    download_of_part,
    arch_of_name,
    program_without_libraries,
    links_out_of_mount,
    one_file_of_set,
    pointers_of_lfs,
    driver_of_blackwell,
    endpoint_after_download,
    other_environment,
    torch_replaced,
)
