"""Which folder of the host a path in a container is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from moonpad.explain.commands import Command


def on_the_host(path: str, commands: Sequence[Command]) -> str:
    """`/models/Kimi-K3` for `/weights`, of `-v /models/Kimi-K3:/weights`; "" where nothing is mounted there, or under
    the same path."""
    if not path.startswith("/") or not commands:
        return ""
    mounts = {target.rstrip("/"): source for source, target in _mounts(commands[0])}
    fitting = [target for target in mounts if target and f"{path.rstrip('/')}/".startswith(f"{target}/")]
    if not fitting:
        return ""
    target = max(fitting, key=len)
    found = mounts[target].rstrip("/") + path.rstrip("/")[len(target) :]
    return "" if found == path else found


def as_published(path: str) -> str:
    """`DeepSeek-R1-0528` of a folder `/models/deepseek_r1_0528`, whose writer takes underscores for all dashes; "" for
    others."""
    own = path.rstrip("/").rpartition("/")[2]
    return own.replace("_", "-") if path.startswith("/") and "_" in own and "-" not in own else ""


def _mounts(command: Command) -> Iterator[tuple[str, str]]:
    """Source and target of each."""
    for wrapper in command.wrappers:
        for value in wrapper.values("--volume"):
            source, _, rest = value.partition(":")
            if rest.startswith("/"):
                yield source, rest.partition(":")[0]
        for value in wrapper.values("--mount"):
            parts = dict(part.partition("=")[::2] for part in value.split(","))
            source = next((parts[name] for name in ("source", "src") if name in parts), "")
            target = next((parts[name] for name in ("target", "destination", "dst") if name in parts), "")
            if source and target:
                yield source, target
