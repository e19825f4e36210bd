"""Data parallel on a processor: vLLM needs a small plugin of ours for it, which travels with the process as its files.

Found by Python's own means: PYTHONPATH names the folder, and the entry point in it names the module (vLLM's
design/plugin_system). Whatever environment the engine is in stays as it is.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from moonpad.values.deployment import File
from moonpad.values.plan import Plan, Platform
from moonpad.values.refs import Arg, PathRef

FOLDER: Final = "plugin"
MODULE: Final = "moonpad_vllm_cpu"
PATH: Final[Arg] = (PathRef("run"), f"/{FOLDER}")


def needs_plugin(plan: Plan) -> bool:
    return plan.platform is Platform.CPU and plan.layout.dp > 1


def plugin_files() -> tuple[File, ...]:
    """The module, and the metadata by which vLLM finds it."""
    code = files("moonpad.catalog").joinpath("plugins", f"{MODULE}.py").read_text(encoding="utf-8")
    metadata = f"{FOLDER}/{MODULE}-1.0.dist-info"
    return (
        File(f"{FOLDER}/{MODULE}.py", (code,)),
        File(f"{metadata}/METADATA", ("Metadata-Version: 2.1\nName: moonpad-vllm-cpu\nVersion: 1.0\n",)),
        File(f"{metadata}/entry_points.txt", (f"[vllm.general_plugins]\n{MODULE} = {MODULE}:register\n",)),
    )
