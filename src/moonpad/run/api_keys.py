"""API keys: from an environment variable, or from a file that only its owner can read."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from moonpad.spec.input_file import read_regular
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.secret import Secret

KEY_BYTES: Final = 64_000


def read_key(*, env: str | None, file: str | None, environ: Mapping[str, str]) -> Secret | None:
    """The key, None where the spec names no source. Raises PreflightRefused: the variable is not set, the file cannot
    be read, is empty, or is open to others."""
    if env:
        if not environ.get(env):
            raise _refused("endpoint.api_key_env", f"{env} is not set", f"export {env}=…")
        return Secret(environ[env])
    if not file:
        return None
    where = "endpoint.api_key_file"
    try:
        path = Path(file).expanduser()
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077:
            raise _refused(where, f"{path} has mode {mode:04o}", f"chmod 600 {path}", Code.KEY_EXPOSED)
        text = read_regular(path, KEY_BYTES).decode("utf-8").strip()
    except RuntimeError:  # of expanduser
        raise _refused(where, f"{file}: there is no user of that name", "write the full path") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise _refused(where, f"{path}: {reason}", "name a readable file") from None
    if not text:
        raise _refused(where, f"{path} is empty", "write the key into it")
    return Secret(text)


def _refused(where: str, message: str, remedy: str, code: Code = Code.KEY_MISSING) -> PreflightRefused:
    finding = Finding(Severity.ERROR, code, where, message, remedy)
    return PreflightRefused("the API key cannot be read", findings=(finding,))
