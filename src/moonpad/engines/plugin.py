"""Small plugins of ours that an engine needs on a processor; they travel with a process as its files.

Found by Python's own means: PYTHONPATH names the folder, and the entry point in it names the module. Whatever
environment the engine is in stays as it is.
"""

from __future__ import annotations

from typing import Final

from moonpad.values.deployment import File
from moonpad.values.references import Arg, PathRef

FOLDER: Final = "plugin"
PATH: Final[Arg] = (PathRef("run"), f"/{FOLDER}")
"""The value of PYTHONPATH."""


def plugin_files(module: str, group: str) -> tuple[File, ...]:
    """The module of that name in `catalog/plugins`, and the metadata by which the engine finds its `register`.

    `group` is the engine's name for its entry points.
    """
    from importlib.resources import files  # it brings archives and temporary files along, which no device needs

    code = files("moonpad.catalog").joinpath("plugins", f"{module}.py").read_text(encoding="utf-8")
    metadata = f"{FOLDER}/{module}-1.0.dist-info"
    name = module.replace("_", "-")
    return (
        File(f"{FOLDER}/{module}.py", (code,)),
        File(f"{metadata}/METADATA", (f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",)),
        File(f"{metadata}/entry_points.txt", (f"[{group}]\n{module} = {module}:register\n",)),
    )
