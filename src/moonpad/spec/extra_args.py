"""Arguments that go to the engine unchanged, and those that the spec has a key for.

A flag given in both places would make the plan say one thing and the engine do another: argparse takes the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from moonpad.spec.key_names import LAYOUT_KEYS, key_names
from moonpad.spec.safe_text import refuse_invisible

KEY_FOR_FLAG: Final[Mapping[str, str]] = {
    "--api-key": "api_key_env or api_key_file in [endpoint]",
    "--admin-api-key": "api_key_env or api_key_file in [endpoint]",
    "--hf-token": "HF_TOKEN in the environment",
    "--host": "expose in [endpoint]",
    "--port": "port in [endpoint]",
    "--model": "model",
    "--model-path": "model",
    "--served-model-name": "served_name",
    "--trust-remote-code": "trust_remote_code",
    "--enable-expert-parallel": "expert_parallel in [layout]",
    "--attn-dp-size": "dp in [layout]",
    **{
        f"--{name.replace('_', '-')}": f"{key.strip('!')} in [{'layout' if key in LAYOUT_KEYS else 'settings'}]"
        for name, key in key_names().items()
    },
}
_SHORT: Final = {
    "-tp": "--tensor-parallel-size",
    "-pp": "--pipeline-parallel-size",
    "-dp": "--data-parallel-size",
    "-dcp": "--decode-context-parallel-size",
    "-ep": "--enable-expert-parallel",
}
# argparse takes any unambiguous beginning of a flag; shorter beginnings than this are never unambiguous in vLLM.
_SHORTEST_BEGINNING: Final = len("--xx")


def check_extra_args(args: Iterable[str]) -> None:
    """Raises ValueError that names the key to use instead; never repeats a value, which may be a key."""
    for arg in args:
        refuse_invisible(arg)
        if (flag := flag_with_a_key(arg)) is not None:
            raise ValueError(f"must not hold {flag}; use {KEY_FOR_FLAG[flag]}")


def flag_with_a_key(arg: str) -> str | None:
    """The flag that the spec has a key for, however it is spelled: `--api_key=x`, `--api-k`, `-tp`, `--no-…`."""
    if not arg.startswith("-"):
        return None
    written = arg.split("=", 1)[0].replace("_", "-")
    written = _SHORT.get(written, written)
    if written.startswith("--no-"):
        written = f"--{written.removeprefix('--no-')}"
    if written in KEY_FOR_FLAG:
        return written
    if len(written) < _SHORTEST_BEGINNING:
        return None
    return next((flag for flag in KEY_FOR_FLAG if flag.startswith(written)), None)
