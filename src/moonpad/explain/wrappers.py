"""Takes `docker run`, `mpirun`, `ssh`, `sudo` and their like off a command line, and remembers what they said."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from moonpad.explain import wrapper_options as table
from moonpad.explain.commands import Word, Wrapper, WrapperOption
from moonpad.explain.expand import join_words
from moonpad.explain.limits import NESTING
from moonpad.explain.programs import base_name, identify
from moonpad.explain.wrapper_options import scan

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)=(.*)\Z", re.ASCII | re.S)
_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
_CONTAINERS: Final = frozenset({"docker", "podman", "nerdctl"})
_SERVES_VLLM: Final = re.compile(r"(?:^|/)vllm-(?:openai|cpu-release)[\w.-]*(?::|@|$)", re.ASCII)
"""Images whose entrypoint is `vllm serve` or the API server: what stands behind the image are its arguments."""


@dataclass(slots=True)
class Peeled:
    """What is left: a program with its arguments, or a text that a shell would read (`nested`)."""

    words: tuple[Word, ...]
    program: str = "other"
    argv: tuple[Word, ...] = ()
    prefix: tuple[Word, ...] = ()
    env: dict[str, Word] = field(default_factory=dict)
    wrappers: tuple[Wrapper, ...] = ()
    nested: Word | None = None
    reads_stdin: bool = False
    """A shell without a script: it runs the heredoc that is fed to it."""


@dataclass(slots=True)
class _State:
    words: tuple[Word, ...]
    env: dict[str, Word]
    position: int = 0
    wrappers: list[Wrapper] = field(default_factory=list)
    nested: Word | None = None
    reads_stdin: bool = False
    serves: bool = False
    """The image's own entrypoint is `vllm serve`."""

    @property
    def rest(self) -> tuple[Word, ...]:
        return self.words[self.position :]

    def wrap(self, kind: str, end: int, options: Sequence[WrapperOption] = (), **more: Word | str | None) -> None:
        words = self.words[self.position : end]
        image, host = more.get("image"), more.get("host")
        self.wrappers.append(
            Wrapper(
                kind,
                words,
                tuple(options),
                image if isinstance(image, Word) else None,
                host if isinstance(host, str) else None,
            )
        )
        self.position = end


def peel(words: Sequence[Word], env: Mapping[str, Word], containers: Mapping[str, Wrapper]) -> Peeled:
    """`env` is what the shell would hand down; `containers` are those that were started above, by their names."""
    state = _State(tuple(words), dict(env))
    while state.position < len(state.words) and state.nested is None and len(state.wrappers) < NESTING:
        name = base_name(state.words[state.position])
        handler = _HANDLERS.get(name)
        if handler is None or state.serves or not handler(state, name, containers):
            break
    peeled = Peeled(
        state.words, env=state.env, wrappers=tuple(state.wrappers), nested=state.nested, reads_stdin=state.reads_stdin
    )
    found = ("vllm serve", 0) if state.serves else identify(state.rest)
    if found is None and any(wrapper.kind == "docker run" for wrapper in state.wrappers):
        found = ("docker", 0)  # `docker run IMAGE bash`: a container to work in
    peeled.program, own_words = found or ("other", 1)
    behind = min(state.position + own_words, len(state.words))
    peeled.prefix, peeled.argv = state.words[:behind], state.words[behind:]
    return peeled


def assignment(word: Word) -> tuple[str, Word] | None:
    """`NAME=value` as a word of `env` or `sudo`: the name, and the value at the place of the whole word."""
    match = _ASSIGNMENT.match(word.text)
    return (match.group(1), replace(word, text=match.group(2), pieces=())) if match else None


def _assignments(state: _State, position: int) -> int:
    while position < len(state.words) and (pair := assignment(state.words[position])):
        state.env[pair[0]] = pair[1]
        position += 1
    return position


# --- one function a wrapper: False where it wraps nothing after all ---


def _plain(state: _State, name: str, _: Mapping[str, Wrapper]) -> bool:
    options, more = table.PLAIN[name]
    if name in ("sudo", "env"):
        return _clean_env(state, name, options)
    found, position = scan(state.words, state.position + 1, options)
    # `taskset -c LIST command`: the list is the word behind, as a mask would be.
    state.wrap(name, min(position + more, len(state.words)), found)
    return True


def _clean_env(state: _State, name: str, options: table.Options) -> bool:
    found, position = scan(state.words, state.position + 1, options)
    names = {option.name for option in found}
    if (name == "sudo" and not names & {"-E", "--preserve-env"}) or (
        name == "env" and names & {"-i", "-", "--ignore-environment"}
    ):
        state.env.clear()
    for option in found:
        if name == "env" and option.name in ("-u", "--unset"):
            state.env.pop(option.value or "", None)
    state.wrap(name, _assignments(state, position), found)
    return True


def _shell(state: _State, name: str, _: Mapping[str, Wrapper]) -> bool:
    found, position = scan(state.words, state.position + 1, table.SHELL)
    names = {option.name for option in found}
    rest = state.words[position:]
    if "-c" in names and rest:
        state.nested = rest[0]
        state.wrap(f"{name} -c", position + 1, found)
        return True
    if not rest or "-s" in names:
        state.reads_stdin = True
    return False


def _ssh(state: _State, name: str, _: Mapping[str, Wrapper]) -> bool:
    found, position = scan(state.words, state.position + 1, table.SSH)
    if position >= len(state.words):
        return False
    host = state.words[position].text.removeprefix("ssh://").rpartition("@")[2]
    more, position = scan(state.words, position + 1, table.SSH)
    rest = state.words[position:]
    state.env.clear()
    state.wrap("ssh", position, (*found, *more), host=host)
    if rest:
        state.nested = join_words(rest)
    else:
        state.reads_stdin = True
    return True


def _eval(state: _State, name: str, _: Mapping[str, Wrapper]) -> bool:
    state.nested = join_words(state.words[state.position + 1 :])
    state.wrap("eval", len(state.words))
    return True


def _mpirun(state: _State, name: str, _: Mapping[str, Wrapper]) -> bool:
    found, position = scan(state.words, state.position + 1, table.MPIRUN)
    for option in found:
        if option.name == "-x" and len(option.words) == 2 and (pair := assignment(option.words[1])):
            state.env[pair[0]] = pair[1]
        elif option.name in ("-env", "-genv", "--env", "--genv") and len(option.words) == 3:
            state.env[option.words[1].text] = option.words[2]
    state.wrap("mpirun", position, found)
    return True


def _srun(state: _State, name: str, _: Mapping[str, Wrapper]) -> bool:
    found, position = scan(state.words, state.position + 1, table.SRUN)
    state.wrap("srun", position, found)
    return True


def _runner(state: _State, name: str, _: Mapping[str, Wrapper]) -> bool:
    """`uv run`, `poetry run`, `conda run -n NAME`: `run` and its options are taken off."""
    verb = [word.text for word in state.words[state.position + 1 : state.position + 2]]
    if name != "uvx" and verb != ["run"]:
        return False
    options = table.UV_RUN if name in ("uv", "uvx") else table.CONDA_RUN
    found, position = scan(state.words, state.position + (1 if name == "uvx" else 2), options)
    if name == "uv" and position + 1 < len(state.words) and state.words[position].text in ("-m", "--module"):
        # `uv run -m MODULE` is `uv run python -m MODULE`.
        module = state.words[position]
        state.words = (
            *state.words[:position],
            replace(module, text="python", pieces=()),
            replace(module, text="-m", pieces=()),
            *state.words[position + 1 :],
        )
    state.wrap(f"{name} run", position, found)
    return True


def _container(state: _State, name: str, containers: Mapping[str, Wrapper]) -> bool:
    _, position = scan(state.words, state.position + 1, table.DOCKER_GLOBAL)
    if position < len(state.words) and state.words[position].text == "container":
        position += 1
    verb = state.words[position].text if position < len(state.words) else ""
    if verb == "run":
        return _container_run(state, position + 1)
    if verb == "exec":
        return _container_exec(state, position + 1, containers)
    return False


def _container_run(state: _State, position: int) -> bool:
    found, position = scan(state.words, position, table.DOCKER_RUN)
    state.env = _container_env(found, state.env)
    if position >= len(state.words):
        state.wrap("docker run", position, found)
        return True
    image = state.words[position]
    state.wrap("docker run", position + 1, found, image=image)
    entry = next((option for option in reversed(found) if option.name == "--entrypoint"), None)
    if entry is not None and entry.value:
        word = replace(entry.words[-1], text=entry.value, pieces=())
        state.words = (*state.words[: state.position], word, *state.rest)
    elif entry is None and state.rest and _SERVES_VLLM.search(image.text):
        # Behind some tags of these images people write the whole command, as behind images without an entrypoint.
        state.serves = identify(state.rest) is None and base_name(state.rest[0]) not in _HANDLERS
    return True


def _container_exec(state: _State, position: int, containers: Mapping[str, Wrapper]) -> bool:
    found, position = scan(state.words, position, table.DOCKER_EXEC)
    if position >= len(state.words):
        return False
    name = state.words[position].text
    started = containers.get(name)
    state.env = _container_env((*(started.options if started else ()), *found), state.env)
    image = started.image if started else None
    state.wrap("docker exec", position + 1, (*(started.options if started else ()), *found), image=image, host=name)
    return True


def _container_env(options: Sequence[WrapperOption], outside: Mapping[str, Word]) -> dict[str, Word]:
    """A container has the environment that it is given; `-e NAME` alone takes the value from outside."""
    env: dict[str, Word] = {}
    for option in options:
        if option.name != "--env" or option.value is None:
            continue
        name, equals, value = option.value.partition("=")
        word = option.words[-1]
        if equals:
            env[name] = replace(word, text=value, pieces=())
        else:
            env[name] = outside.get(name) or replace(word, text=f"${name}", unresolved=(name,), pieces=())
    return env


_Handler = Callable[[_State, str, Mapping[str, Wrapper]], bool]
_HANDLERS: Final[Mapping[str, _Handler]] = {
    **dict.fromkeys(table.PLAIN, _plain),
    **dict.fromkeys(_SHELLS, _shell),
    **dict.fromkeys(_CONTAINERS, _container),
    **dict.fromkeys(("mpirun", "mpiexec", "orterun", "mpirun.openmpi", "mpiexec.hydra"), _mpirun),
    **dict.fromkeys(("uv", "uvx", "poetry", "conda", "mamba", "pixi", "pdm", "hatch"), _runner),
    "srun": _srun,
    "ssh": _ssh,
    "eval": _eval,
}
