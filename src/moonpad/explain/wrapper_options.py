"""Which options of a wrapper take a value: all that is needed to find the command that it runs.

The tables list the shorter side, switches or options with a value. Verified on 2026-11-20 with the programs' --help:
docker (28.2), ssh, env, nice, ionice, taskset, timeout, setsid. Reported, from manual pages: podman, mpirun, srun,
numactl, sudo, uv, conda. An option in none of the lists may make the wrong word the command, which then is "other".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from moonpad.explain.commands import Word, WrapperOption


@dataclass(frozen=True, slots=True)
class Options:
    """How a wrapper writes its options.

    `switches` and `valued` name options without and with a value; `others_valued` decides for those in neither.
    `clusters`: `-itd` is three switches, and `-p8000:8000` an option with its value, as with getopt.
    """

    switches: frozenset[str] = frozenset()
    valued: Mapping[str, int] | frozenset[str] = frozenset()
    others_valued: bool = False
    clusters: bool = True
    names: Mapping[str, str] | None = None
    """The name to remember an option by: `-p` → `--publish`."""
    stops: frozenset[str] = frozenset()
    """Options that end the list, and belong to the command: `-c` of bash, `-m` of uv run."""

    def arity(self, name: str) -> int:
        if isinstance(self.valued, Mapping):
            return self.valued.get(name, int(self.others_valued and name not in self.switches))
        return int(name in self.valued or (self.others_valued and name not in self.switches))

    def named(self, name: str) -> str:
        return (self.names or {}).get(name, name)


def scan(words: Sequence[Word], position: int, options: Options) -> tuple[tuple[WrapperOption, ...], int]:
    """The options from `position` on, and the place of the first word behind them."""
    found: list[WrapperOption] = []
    while position < len(words):
        text = words[position].text
        if text == "--":
            return tuple(found), position + 1
        name, equals, value = text.partition("=")
        if len(text) < 2 or text[0] != "-" or name in options.stops:
            break
        if options.clusters and text[1] != "-":
            position = _cluster(words, position, options, found)
            continue
        taken = 0 if equals else options.arity(name)
        given = words[position + 1 : position + 1 + taken]
        values = value if equals else "=".join(word.text for word in given) if taken else None
        found.append(WrapperOption(options.named(name), values, tuple(words[position : position + 1 + taken])))
        position += 1 + taken
    return tuple(found), min(position, len(words))


def _cluster(words: Sequence[Word], position: int, options: Options, found: list[WrapperOption]) -> int:
    word = words[position]
    for at, letter in enumerate(word.text[1:], 2):
        name = options.named(f"-{letter}")
        if not options.arity(f"-{letter}"):
            found.append(WrapperOption(name, None, (word,)))
            continue
        if rest := word.text[at:]:
            found.append(WrapperOption(name, rest.removeprefix("="), (word,)))
            return position + 1
        value = words[position + 1 : position + 2]
        found.append(WrapperOption(name, value[0].text if value else "", (word, *value)))
        return position + 1 + len(value)
    return position + 1


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


DOCKER_GLOBAL: Final = Options(
    valued=_set("--context -c -H --host --config -l --log-level --tlscacert --tlscert --tlskey")
)
DOCKER_RUN: Final = Options(
    switches=_set(
        "-d -i -t -P -q --detach --interactive --tty --rm --privileged --init --read-only --oom-kill-disable --help"
        " --quiet --no-healthcheck --sig-proxy --publish-all --disable-content-trust --use-api-socket"
        " --replace --tls-verify --rmi --env-host --http-proxy --no-hosts --no-hostname --passwd --read-only-tmpfs"
    ),
    others_valued=True,
    names={
        "-p": "--publish",
        "-P": "--publish-all",
        "-e": "--env",
        "-v": "--volume",
        "-w": "--workdir",
        "-u": "--user",
        "-m": "--memory",
        "-d": "--detach",
        "-i": "--interactive",
        "-t": "--tty",
        "--net": "--network",
    },
)
DOCKER_EXEC: Final = Options(
    switches=_set("-d -i -t --detach --interactive --tty --privileged --latest -l"),
    others_valued=True,
    names={"-e": "--env", "-w": "--workdir", "-u": "--user"},
)
MPIRUN: Final = Options(
    valued={
        **dict.fromkeys(
            _set(
                "-np -n -c --np --n -N -H -host --host -hostfile --hostfile -machinefile --machinefile -x -npernode"
                " --npernode -map-by --map-by -bind-to --bind-to -rank-by --rank-by -wdir --wdir -wd -ppn --prefix"
                " -path --path --output-filename --output -rf --rankfile --timeout -f -iface --host-file -perhost"
            ),
            1,
        ),
        **dict.fromkeys(_set("-mca --mca -gmca --gmca -genv -env --genv --env"), 2),
    },
    clusters=False,
    names={
        **dict.fromkeys(_set("-n -c --np --n"), "-np"),
        **dict.fromkeys(_set("-host --host"), "-H"),
        **dict.fromkeys(_set("-hostfile -machinefile --machinefile -f --host-file"), "--hostfile"),
        "--mca": "-mca",
    },
)
SRUN: Final = Options(
    switches=_set(
        "-l --label --overlap --exclusive -K --kill-on-bad-exit -u --unbuffered --pty -v --verbose -Q --quiet -Z -E -H"
        " -s -k --container-writable --no-container-mount-home --container-mount-home --container-remap-root"
        " --container-readonly --no-kill --oversubscribe --spread-job --preserve-env --multi-prog"
    ),
    others_valued=True,
    names={"-N": "--nodes", "-n": "--ntasks", "-w": "--nodelist", "-G": "--gpus"},
)
SUDO: Final = Options(valued=_set("-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir"))
ENV: Final = Options(valued=_set("-u -C -S --unset --chdir --split-string"), names={"--split-string": "-S"})
NUMACTL: Final = Options(
    valued=_set(
        "-i -w -p -P -m -N -C --interleave --weighted-interleave --preferred --preferred-many --membind --cpunodebind"
        " --physcpubind"
    )
)
SSH: Final = Options(
    valued=_set("-p -i -o -l -F -J -L -R -D -b -c -e -E -I -m -O -Q -S -W -w -B -P"),
    names={"-p": "--port"},
)
SHELL: Final = Options(valued=_set("-o -O +O +o --rcfile --init-file"))
UV_RUN: Final = Options(
    switches=_set(
        "-q -v --no-sync --frozen --locked --isolated --active --no-project --all-extras --no-dev --dev --only-dev"
        " --offline --no-config --exact --no-editable --no-cache -n --quiet --verbose --native-tls --managed-python"
        " --no-env-file --refresh --reinstall --all-groups --all-packages -U --upgrade"
    ),
    others_valued=True,
    clusters=False,
    stops=_set("-m --module -s --script"),
)
CONDA_RUN: Final = Options(valued=_set("-n --name -p --prefix --cwd"))
PYTHON: Final = Options(valued=_set("-W -X --check-hash-based-pycs"), stops=_set("-m -c"))

PLAIN: Final[Mapping[str, tuple[Options, int]]] = {
    "nohup": (Options(), 0),
    "time": (Options(valued=_set("-f -o --format --output")), 0),
    "exec": (Options(valued=_set("-a")), 0),
    "command": (Options(), 0),
    "builtin": (Options(), 0),
    "sudo": (SUDO, 0),
    "env": (ENV, 0),
    "numactl": (NUMACTL, 0),
    "taskset": (Options(switches=_set("-a -c -p --all-tasks --cpu-list --pid"), clusters=False), 1),
    "nice": (Options(valued=_set("-n --adjustment")), 0),
    "ionice": (Options(valued=_set("-c -n -p -P -u --class --classdata")), 0),
    "timeout": (Options(valued=_set("-k -s --kill-after --signal")), 1),
    "stdbuf": (Options(valued=_set("-i -o -e --input --output --error")), 0),
    "setsid": (Options(), 0),
    "unbuffer": (Options(), 0),
    "trtllm-llmapi-launch": (Options(), 0),
}
"""Wrappers that run what stands behind their options and so many words more (the mask of taskset)."""
