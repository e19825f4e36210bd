"""Names that an engine knows beside its options: values that its parser does not check, and environment variables."""

from __future__ import annotations

from moonpad.catalog.options.sets import base_version, option_set
from moonpad.catalog.options.tables import holds, nearest, programs, read


def known_environment(program: str, version: str | None = None) -> frozenset[str]:
    """The variables that the engine declares in a release, found as `option_set` finds one."""
    files = programs().get(program)
    if files is None or not files.names:
        return frozenset()
    table = read(files.names)
    at = nearest(table, version).at
    own = frozenset(name for name, runs in table["environment"]["names"].items() if holds(runs, at))
    return own | known_environment(files.built_on, base_version(program, version)) if files.built_on else own


def values_of(program: str, version: str | None, dest: str) -> tuple[str, ...]:
    """The names that an option's value can have in a release: `values_of("vllm serve", "0.32.0", "tool_call_parser")`.

    From the engine's own register (vLLM: tool_call_parser, reasoning_parser, load_format, attention_backend,
    quantization; a plugin may add to it at start), else the parser's choices. () is "not known", never "none".
    """
    registered: tuple[str, ...] = ()
    files = programs().get(program)
    if files is not None and files.names:
        table = read(files.names)
        if files.built_on:
            registered = values_of(files.built_on, base_version(program, version), dest)
        names = table["values"].get(dest, {"names": {}})["names"]
        at = nearest(table, version).at
        registered += tuple(name for name, runs in names.items() if holds(runs, at))
    if registered:
        return tuple(sorted(set(registered)))
    options = option_set(program, version)
    choices = [option.choices for option in options.options if option.dest == dest] if options else []
    return choices[0] if choices else ()
