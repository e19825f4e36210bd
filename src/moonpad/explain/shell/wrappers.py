"""Takes `docker run`, `mpirun`, `ssh`, `sudo` and their like off a command line, and keeps their options."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from moonpad.engines.foreign_names import SPEAKING
from moonpad.explain.commands import Word, Wrapper, WrapperOption, cut, join_words
from moonpad.explain.input_limits import NESTING
from moonpad.explain.programs import (
    base_name,
    choosing_words,
    identify,
    is_server,
    named_by_image,
    program_table,
    runs_python,
    served_by_image,
    served_by_variables,
)
from moonpad.explain.shell import enroot
from moonpad.explain.shell import wrapper_options as table
from moonpad.explain.shell.container_scripts import has_only_options, is_script
from moonpad.explain.shell.sentences import PLAIN, without_prose
from moonpad.values.records import replace

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)=(.*)\Z", re.ASCII | re.S)
SPEAKS_OF: Final = frozenset(
    """
    echo printf print log info warn warning error die say pkill pgrep killall kill grep egrep rg ps
    pip pip3 which type whereis man alias apt apt-get dnf yum brew sed awk tail head less cat git
    curl wget touch mkdir rm cp mv ls read source test trap export
    cmake make ninja gcc g++ cargo go ln chmod chown install rsync scp tar unzip find file stat du md5sum sha256sum
    systemctl journalctl service launchctl taskkill tasklist Get-Process Stop-Process Get-Command Write-Host
    hash patchelf ldd strip upx tee xargs sort uniq wc cut tr basename dirname realpath readlink
    """.split()  # noqa: SIM905
)
"""Commands whose arguments may be the words of an engine's command, which they do not run."""
_WHOLE: Final = re.compile(rf"\s*(?:[A-Z][A-Z0-9_]*=\S+\s+)*(?:exec |python3? )?(?:\S*/)?(?:{SPEAKING.pattern})")
_ASKS: Final = frozenset("pkill pgrep killall grep egrep which echo systemctl journalctl".split())  # noqa: SIM905
"""Of these, those that a wrapper runs, and that are hardly ever the value of its options."""
_SHELLS: Final = ("bash", "sh", "zsh", "dash", "ksh")
_RUNS_TEXT: Final = re.compile(r"-[a-z]*c")
_TERMINALS: Final = frozenset({"tmux", "byobu"})
"""They run one of their words as a shell would, whatever else it holds."""
_NAMES: Final = re.compile(r"--[\w-]*(?:bin|binary|path|exe|executable|server)\Z")
"""Options whose value is where a program lies, which is not run with what follows."""
_FARTHEST: Final = 60
"""Words of an unknown wrapper that are looked through for the command that it runs."""


class Peeled(Struct):
    """A command line and its wrappers. What is left is a program with its arguments, or a text that a shell would read
    (`nested`)."""

    words: tuple[Word, ...]
    env: dict[str, Word]
    containers: dict[str, Wrapper]
    """Those that were started above, by their names."""
    wrappers: tuple[Wrapper, ...] = ()
    position: int = 0
    """Of the first word behind the wrappers."""
    program: str = "other"
    prefix: tuple[Word, ...] = ()
    argv: tuple[Word, ...] = ()
    nested: Word | None = None
    arguments: tuple[Word, ...] = ()
    """`$1`, `$2` … of `nested`."""
    reads_stdin: bool = False
    """A shell without a script: it runs the heredoc that is fed to it."""
    entrypoint: str = ""
    """The program that the image starts: what stands behind the image are its arguments."""

    @property
    def rest(self) -> tuple[Word, ...]:
        return self.words[self.position :]

    def options(self, options: table.Options, behind: int = 1) -> tuple[tuple[WrapperOption, ...], int]:
        """The options `behind` words from the wrapper's name on, and the position behind them."""
        return table.scan(self.words, self.position + behind, options)

    def wrap(self, kind: str, end: int, options: Sequence[WrapperOption] = (), image: Word | None = None) -> bool:
        """The words up to `end` are those of a wrapper. Always True."""
        self.wrappers += (Wrapper(kind, self.words[self.position : end], tuple(options), image),)
        self.position = min(end, len(self.words))
        return True


def peel(words: Sequence[Word], env: Mapping[str, Word], containers: dict[str, Wrapper]) -> Peeled:
    """`env` is what the shell would hand down; `containers` are those that were started above, by their names."""
    peeled = Peeled(tuple(words), dict(env), containers)
    while peeled.rest and peeled.nested is None and not peeled.entrypoint and len(peeled.wrappers) < NESTING:
        name = base_name(peeled.rest[0])
        handler = _HANDLERS.get(name) or (_plain if name in program_table().launchers else None)
        if handler is None or not handler(peeled, name):
            break
    started = peeled.entrypoint
    identified = (started, choosing_words(started, peeled.rest)) if started else identify(peeled.rest)
    if identified is None and peeled.nested is None:
        identified = _behind_unknown_wrapper(peeled)
    if identified is None and peeled.nested is None and not _shell_behind(peeled):
        peeled.nested = _handed_on(peeled)
    if identified is None and any(wrapper.kind == "docker run" for wrapper in peeled.wrappers):
        identified = ("docker", 0)  # `docker run IMAGE bash`: a container to work in
    peeled.program, own_words = identified or ("other", 1)
    behind = peeled.position + own_words
    peeled.prefix, peeled.argv = peeled.words[:behind], without_prose(peeled.program, peeled.words[behind:])
    return peeled


def is_known(wrapper: Wrapper) -> bool:
    """Whether it is one of the tables, and no words of a sentence, a log or another tool before a command."""
    kind = wrapper.kind
    return " " in kind or kind in _HANDLERS or kind in table.PLAIN or kind in program_table().launchers


def _behind_unknown_wrapper(peeled: Peeled) -> tuple[str, int] | None:
    """`nsys profile -o x vllm serve …`: the server that a wrapper in none of the tables runs, which is taken off."""
    rest = peeled.rest
    if not rest or base_name(rest[0]) in SPEAKS_OF or base_name(rest[0]) in _HANDLERS:
        return None
    table = program_table()
    if any(base_name(word) in _ASKS for word in rest[1 : _FARTHEST // 10]):
        return None
    for at in range(1, min(len(rest) - 1, _FARTHEST)):
        name = base_name(rest[at])
        if (name not in table.first_words and not name.startswith("python")) or _NAMES.search(rest[at - 1].text):
            continue
        identified = identify(rest[at:])
        if identified is None or not is_server(identified[0]):
            continue
        behind = rest[at + identified[1] :]
        # A program of one word is a word of sentences too: `prompts that exceed llama-server capacity`.
        alone = identified[1] == 1 and not (behind and behind[0].text.startswith("-")) and PLAIN.match(rest[at].text)
        if not alone and not _goes_on(behind):
            peeled.wrap(base_name(rest[0]), peeled.position + at)
            return identified
    return None


def _shell_behind(peeled: Peeled) -> bool:
    """`./in_container.sh bash -lc "… vllm serve …"`: the shell that a wrapper in none of the tables runs. Its text has
    the quotes of the outer shell around it, so that its lines alone would be read wrongly."""
    rest = peeled.rest
    if not rest or base_name(rest[0]) in SPEAKS_OF or base_name(rest[0]) in _HANDLERS:
        return False
    for at in range(1, min(len(rest) - 2, _FARTHEST)):
        name = base_name(rest[at])
        if name in _SHELLS and _RUNS_TEXT.fullmatch(rest[at + 1].text) and SPEAKING.search(rest[at + 2].text):
            peeled.wrap(base_name(rest[0]), peeled.position + at)
            return _shell(peeled, name)
    return False


def _goes_on(behind: Sequence[Word]) -> bool:
    """Words and no option behind the program are a sentence, "vllm serve crashes after requests", or nothing."""
    return not behind or (len(behind) > 1 and not any(word.text.startswith("-") for word in behind))


def _handed_on(peeled: Peeled) -> Word | None:
    """`tool add --command "vllm serve …"`: the command that one word of an unknown tool holds. Read by its lines alone
    it would keep the outer shell's quotes."""
    rest = peeled.rest
    if not rest or base_name(rest[0]) in SPEAKS_OF or base_name(rest[0]) in _HANDLERS:
        return None
    whole = base_name(rest[0]) not in _TERMINALS
    held = next((word for word in rest[1:_FARTHEST] if " " in word.text and _is_command(word.text, whole=whole)), None)
    if held is None or set("[(") & set(held.text):
        return held
    return cut(held, 0, len(held.text.rstrip(",;)]")))  # `cmd: "vllm serve …",` of a program


def _is_command(text: str, *, whole: bool) -> bool:
    """`llama-server LAN` is the name of something: behind a program of one word an option has to stand."""
    match = _WHOLE.match(text) if whole else SPEAKING.search(text)
    # The pattern ends with the first letter of what follows.
    return match is not None and (" " in match[0].strip()[:-2] or " -" in text)


def assignment(word: Word) -> tuple[str, Word] | None:
    """`NAME=value` as a word of `env` or `sudo`: the name, and the value at the place of the whole word."""
    match = _ASSIGNMENT.match(word.text)
    return (match.group(1), replace(word, text=match.group(2), pieces=())) if match else None


# --- one function for each wrapper: False where it runs nothing ---


def _plain(peeled: Peeled, name: str) -> bool:
    options, position = peeled.options(table.PLAIN.get(name, table.Options()))
    if name == "command" and any(option.name in ("-v", "-V") for option in options):
        return False  # it only asks where the program is
    return peeled.wrap(name, position + table.OWN_WORDS.get(name, 0), options)


def _sudo(peeled: Peeled, name: str) -> bool:
    """`sudo` and `env`, with the assignments behind their options."""
    options, position = peeled.options(table.SUDO if name == "sudo" else table.ENV)
    given = {option.name for option in options}
    keeps = given & {"-E", "--preserve-env"} if name == "sudo" else not given & {"-i", "-", "--ignore-environment"}
    if not keeps:
        peeled.env.clear()
    for option in options:
        if name == "env" and option.name in ("-u", "--unset"):
            peeled.env.pop(option.value or "", None)
    while position < len(peeled.words) and (pair := assignment(peeled.words[position])):
        peeled.env[pair[0]] = pair[1]
        position += 1
    return peeled.wrap(name, position, options)


def _shell(peeled: Peeled, name: str) -> bool:
    options, position = peeled.options(table.SHELL)
    given = {option.name for option in options}
    if "-c" in given and position < len(peeled.words):
        peeled.nested, peeled.arguments = peeled.words[position], peeled.words[position + 2 :]
        return peeled.wrap(f"{name} -c", position + 1, options)
    peeled.reads_stdin |= position >= len(peeled.words) or "-s" in given
    return False


def _ssh(peeled: Peeled, _: str) -> bool:
    options, host = peeled.options(table.SSH)
    if host >= len(peeled.words):
        return False
    more, position = table.scan(peeled.words, host + 1, table.SSH)
    peeled.env.clear()
    peeled.wrap("ssh", position, (*options, *more))
    peeled.nested = join_words(peeled.rest) if peeled.rest else None
    peeled.reads_stdin |= peeled.nested is None
    return True


def _eval(peeled: Peeled, _: str) -> bool:
    peeled.nested = join_words(peeled.rest[1:])
    return peeled.wrap("eval", len(peeled.words))


def _mpirun(peeled: Peeled, _: str) -> bool:
    options, position = peeled.options(table.MPIRUN)
    for option in options:
        if option.name == "-x" and len(option.words) == 2 and (pair := assignment(option.words[1])):
            peeled.env[pair[0]] = pair[1]
        elif option.name in ("-env", "-genv", "--env", "--genv") and len(option.words) == 3:
            peeled.env[option.words[1].text] = option.words[2]
    return peeled.wrap("mpirun", position, options)


def _runner(peeled: Peeled, name: str) -> bool:
    """`uv run`, `poetry run`, `conda run -n NAME`: `run` and its options are taken off."""
    if name != "uvx" and [word.text for word in peeled.rest[1:2]] != ["run"]:
        return False
    known = table.UV_RUN if name in ("uv", "uvx") else table.CONDA_RUN
    options, position = peeled.options(known, 1 if name == "uvx" else 2)
    left = peeled.words[position:]
    if name == "uv" and len(left) > 1 and left[0].text in ("-m", "--module"):
        # `uv run -m MODULE` is `uv run python -m MODULE`.
        python, option = (replace(left[0], text=text, pieces=()) for text in ("python", "-m"))
        peeled.words = (*peeled.words[:position], python, option, *left[1:])
    return peeled.wrap(f"{name} run", position, options)


def _container(peeled: Peeled, _: str) -> bool:
    position = peeled.options(table.DOCKER_GLOBAL)[1]
    verbs = [word.text for word in peeled.words[position : position + 2]]
    if verbs[:1] == ["container"] or verbs == ["compose", "exec"]:
        position, verbs = position + 1, verbs[1:]
    if verbs[:1] == ["run"]:
        return _container_run(peeled, position + 1)
    return verbs[:1] == ["exec"] and _container_exec(peeled, position + 1)


def _container_run(peeled: Peeled, position: int) -> bool:
    options, position = table.scan(peeled.words, position, table.DOCKER_RUN)
    while table.stands_for_options(peeled.words[position : position + 2]):
        further, position = table.scan(peeled.words, position + 1, table.DOCKER_RUN)
        options = (*options, *further)
    peeled.env = _container_env(options, peeled.env)
    image = peeled.words[position] if position < len(peeled.words) else None
    peeled.wrap("docker run", position + 1, options, image)
    entry = next((option for option in reversed(options) if option.name == "--entrypoint"), None)
    if image is not None and entry is not None and entry.value:
        word = replace(entry.words[-1], text=entry.value, pieces=())
        peeled.words = (*peeled.words[: peeled.position], word, *peeled.rest)
    elif image is not None and entry is None and not peeled.rest:
        peeled.entrypoint = served_by_variables(image.text, peeled.env)
    elif image is not None and entry is None and peeled.rest:
        # Behind some tags of these images people write the whole command, as behind images without an entrypoint.
        is_program = identify(peeled.rest) is not None or runs_python(peeled.rest) or is_script(peeled.rest[0])
        if not is_program and base_name(peeled.rest[0]) not in _HANDLERS:
            only_options = has_only_options(peeled.rest)
            peeled.entrypoint = served_by_image(image.text) or (named_by_image(image.text) if only_options else "")
    return True


def _container_exec(peeled: Peeled, position: int) -> bool:
    options, position = table.scan(peeled.words, position, table.DOCKER_EXEC)
    if position >= len(peeled.words):
        return False
    started = peeled.containers.get(peeled.words[position].text)
    options = (*(started.options if started else ()), *options)
    peeled.env = _container_env(options, peeled.env)
    return peeled.wrap("docker exec", position + 1, options, started.image if started else None)


def _container_env(options: Sequence[WrapperOption], outside: Mapping[str, Word]) -> dict[str, Word]:
    """A container has the environment that it is given; `-e NAME` alone takes the value from outside."""
    env: dict[str, Word] = {}
    for option in options:
        if option.name != "--env" or option.value is None:
            continue
        name, equals, value = option.value.partition("=")
        word = option.words[-1]
        unknown = replace(word, text=f"${name}", unresolved=(name,), pieces=())
        env[name] = replace(word, text=value, pieces=()) if equals else outside.get(name) or unknown
    return env


def _kubectl(peeled: Peeled, name: str) -> bool:
    """`kubectl run NAME --image=IMAGE [--command] -- WORDS`, and what `exec` runs behind its `--`."""
    texts = [word.text for word in peeled.rest]
    verb = next((text for text in texts[1:4] if text in ("run", "exec")), "")
    if not verb or "--" not in texts:
        return False
    behind = texts.index("--") + 1
    if verb == "exec":
        return peeled.wrap(f"{name} exec", peeled.position + behind)
    given = {text.partition("=")[0]: at for at, text in enumerate(texts[:behind])}
    at = given.get("--image")
    if at is None:
        return False
    word = peeled.rest[at if "=" in texts[at] else at + 1]
    image = replace(word, text=word.text.removeprefix("--image="), pieces=())
    return _in_image(peeled, behind, image, chosen="--command" in given)


def _rented(peeled: Peeled, _: str) -> bool:
    """`vastai create instance ID --image IMAGE --disk 500 --args ARGUMENTS`: a container on a rented machine."""
    texts = [word.text for word in peeled.rest]
    before = texts[: texts.index("--args")] if "--args" in texts else []
    return "--image" in before[:-1] and _in_image(peeled, len(before) + 1, peeled.rest[before.index("--image") + 1])


def _in_image(peeled: Peeled, behind: int, image: Word, *, chosen: bool = False) -> bool:
    peeled.wrap("docker run", peeled.position + behind, (), image)
    if not chosen and identify(peeled.rest) is None:
        peeled.entrypoint = served_by_image(image.text) or named_by_image(image.text)
    return True


def _image_runner(peeled: Peeled, name: str) -> bool:
    """`apptainer exec --nv IMAGE COMMAND`, `enroot start IMAGE COMMAND`: the environment outside reaches inside."""
    if name == "enroot" and (made := enroot.imported(peeled.rest)) is not None:
        peeled.containers[enroot.IMPORTED] = made
    position = peeled.options(table.Options(), 1)[1]
    verb = peeled.words[position].text if position < len(peeled.words) else ""
    if verb not in (("start", "exec") if name == "enroot" else ("exec", "run", "shell")):
        return False
    options, position = table.scan(peeled.words, position + 1, table.ENROOT if name == "enroot" else table.APPTAINER)
    for option in options:
        if option.name == "--env" and option.words:
            for given in table.assignments(option.value or "", name):
                if pair := assignment(replace(option.words[-1], text=given, pieces=())):
                    peeled.env[pair[0]] = pair[1]
    image = peeled.words[position] if position < len(peeled.words) else None
    if name == "enroot" and image is not None:
        image, peeled.entrypoint = enroot.started(image, peeled.words[position + 1 :], peeled.containers)
    elif verb == "run" and image is not None:
        peeled.entrypoint = enroot.run_by_image(image, peeled.words[position + 1 :])
    return peeled.wrap(name, position + 1, options, image)


def _torchrun(peeled: Peeled, name: str) -> bool:
    """`torchrun --nproc-per-node 8 -m MODULE` runs MODULE as `python -m MODULE` does."""
    options, position = peeled.options(table.TORCHRUN)
    left = peeled.words[position:]
    if not left:
        return False
    python = replace(left[0], text="python", pieces=())
    peeled.words = (*peeled.words[:position], python, *left)
    return peeled.wrap(name, position, options)


_HANDLERS: Final[Mapping[str, Callable[[Peeled, str], bool]]] = {
    **dict.fromkeys(table.PLAIN, _plain),
    **dict.fromkeys(_SHELLS, _shell),
    **dict.fromkeys(("docker", "podman", "nerdctl"), _container),
    **dict.fromkeys(("mpirun", "mpiexec", "orterun", "mpirun.openmpi", "mpiexec.hydra"), _mpirun),
    **dict.fromkeys(("uv", "uvx", "poetry", "conda", "mamba", "pixi", "pdm", "hatch"), _runner),
    **dict.fromkeys(("sudo", "env"), _sudo),
    **dict.fromkeys(("apptainer", "singularity", "enroot"), _image_runner),
    **dict.fromkeys(("kubectl", "oc"), _kubectl),
    **{"torchrun": _torchrun, "vastai": _rented, "ssh": _ssh, "eval": _eval},
}
