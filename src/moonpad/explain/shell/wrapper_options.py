"""Which options of a wrapper take a value: all that is needed to find the command that it runs.

The tables list the shorter side, switches or options with a value. Verified on 2026-11-20 with the programs' --help:
docker (28.2), ssh, env, nice, ionice, taskset, timeout, setsid. Reported, from manual pages: podman, mpirun, srun,
numactl, sudo, uv, conda. An option in none of the lists may make the wrong word the command, which then is "other".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from moonpad.explain.commands import Word, WrapperOption

_LONGEST_CLUSTER: Final = 4096
"""A longer word with one dash is taken to be an option of its own."""


class Options:
    """How a wrapper writes its options; names are separated by blanks.

    `switches`, `valued` and `doubled` name options with no value, one and two; `others_valued` decides for those in
    none of them. `clusters`: `-itd` is three switches, and `-p8000:8000` an option with its value, as with getopt.
    `names` are the names to remember options by: `-p=--publish`. `stops` are options that end the list and belong to
    the command: `-c` of bash, `-m` of uv run.
    """

    def __init__(
        self,
        valued: str = "",
        *,
        switches: str = "",
        doubled: str = "",
        others_valued: bool = False,
        clusters: bool = True,
        names: str = "",
        stops: str = "",
    ) -> None:
        self.valued, self.switches, self.doubled = valued.split(), switches.split(), doubled.split()
        self.others_valued, self.clusters, self.stops = others_valued, clusters, stops.split()
        self.names = dict(pair.split("=") for pair in names.split())

    def arity(self, name: str) -> int:
        if name in self.doubled:
            return 2
        return int(name in self.valued or (self.others_valued and name not in self.switches))


def scan(words: Sequence[Word], position: int, options: Options) -> tuple[tuple[WrapperOption, ...], int]:
    """The options from `position` on, and the place of the first word behind them."""
    given: list[WrapperOption] = []
    while position < len(words):
        text = words[position].text
        if text == "--":
            return tuple(given), position + 1
        name, equals, value = text.partition("=")
        if len(text) < 2 or text[0] != "-" or name in options.stops:
            break
        if options.clusters and text[1] != "-" and len(text) <= _LONGEST_CLUSTER:
            position = _cluster(words, position, options, given)
            continue
        taken = 0 if equals else options.arity(name)
        own = tuple(words[position : position + 1 + taken])
        text = value if equals else "=".join(word.text for word in own[1:])
        given.append(WrapperOption(options.names.get(name, name), text if equals or taken else None, own))
        position += 1 + taken
    return tuple(given), min(position, len(words))


def _cluster(words: Sequence[Word], position: int, options: Options, given: list[WrapperOption]) -> int:
    word = words[position]
    for at, letter in enumerate(word.text[1:], 2):
        name = options.names.get(f"-{letter}", f"-{letter}")
        if not options.arity(f"-{letter}"):
            given.append(WrapperOption(name, None, (word,)))
            continue
        if rest := word.text[at:]:
            given.append(WrapperOption(name, rest.removeprefix("="), (word,)))
            return position + 1
        value = words[position + 1 : position + 2]
        given.append(WrapperOption(name, value[0].text if value else "", (word, *value)))
        return position + 1 + len(value)
    return position + 1


DOCKER_GLOBAL: Final = Options("--context -c -H --host --config -l --log-level --tlscacert --tlscert --tlskey")
OF_CONTAINERS: Final = frozenset({
    *("-v", "--volume", "--mount", "-w", "--workdir", "-e", "--env", "--env-file", "--name", "--rm", "-it"),
    *("--network", "--net", "--add-host", "--ipc", "--shm-size", "--ulimit", "--gpus", "--runtime", "--privileged"),
    *("--restart", "--cap-add", "--cap-drop", "--security-opt", "--group-add", "--entrypoint", "--publish", "--init"),
    *("--stop-timeout", "--stop-signal", "--log-driver", "--log-opt", "--label", "--pid", "--hostname", "--pull"),
})  # fmt: skip
"""Options that stand before an image."""
DOCKER_RUN: Final = Options(
    switches="-d -i -t -P -q --detach --interactive --tty --rm --privileged --init --read-only --oom-kill-disable"
    " --help --quiet --no-healthcheck --sig-proxy --publish-all --disable-content-trust --use-api-socket"
    " --replace --tls-verify --rmi --env-host --http-proxy --no-hosts --no-hostname --passwd --read-only-tmpfs",
    others_valued=True,
    names="-p=--publish -P=--publish-all -e=--env -v=--volume -w=--workdir -u=--user -m=--memory -d=--detach"
    " -i=--interactive -t=--tty --net=--network",
)
DOCKER_EXEC: Final = Options(
    switches="-d -i -t -T --detach --interactive --tty --no-TTY --privileged --latest -l",
    others_valued=True,
    names="-e=--env -w=--workdir -u=--user",
)
MPIRUN: Final = Options(
    "-np -n -c --np --n -N -H -host --host -hostfile --hostfile -machinefile --machinefile -x -npernode --npernode"
    " -map-by --map-by -bind-to --bind-to -rank-by --rank-by -wdir --wdir -wd -ppn --prefix -path --path"
    " --output-filename --output -rf --rankfile --timeout -f -iface --host-file -perhost",
    doubled="-mca --mca -gmca --gmca -genv -env --genv --env",
    clusters=False,
    names="-n=-np -c=-np --np=-np --n=-np -host=-H --host=-H -hostfile=--hostfile -machinefile=--hostfile"
    " --machinefile=--hostfile -f=--hostfile --host-file=--hostfile --mca=-mca",
)
SRUN: Final = Options(
    switches="-l --label --overlap --exclusive -K --kill-on-bad-exit -u --unbuffered --pty -v --verbose -Q --quiet -Z"
    " -E -H -s -k --container-writable --no-container-mount-home --container-mount-home --container-remap-root"
    " --container-readonly --no-kill --oversubscribe --spread-job --preserve-env --multi-prog",
    others_valued=True,
    names="-N=--nodes -n=--ntasks -w=--nodelist -G=--gpus",
)
APPTAINER: Final = Options(
    "--env --env-file -B --bind --mount -H --home --pwd --cwd -W --workdir --overlay --app -S --scratch --network"
    " --network-args --security --hostname --dns --add-caps --drop-caps --apply-cgroups --memory --cpus --pid-file",
    names="-B=--bind",
)
ENROOT: Final = Options("-c -e -m --conf --env --mount --rc -r", names="-e=--env -m=--mount")
TORCHRUN: Final = Options(
    switches="--standalone --no-python --no_python --run-path --run_path",
    others_valued=True,
    clusters=False,
    stops="-m --module",
)
SSH: Final = Options("-p -i -o -l -F -J -L -R -D -b -c -e -E -I -m -O -Q -S -W -w -B -P", names="-p=--port")
SHELL: Final = Options("-o -O +O +o --rcfile --init-file")
UV_RUN: Final = Options(
    switches="-q -v --no-sync --frozen --locked --isolated --active --no-project --all-extras --no-dev --dev --only-dev"
    " --offline --no-config --exact --no-editable --no-cache -n --quiet --verbose --native-tls --managed-python"
    " --no-env-file --refresh --reinstall --all-groups --all-packages -U --upgrade",
    others_valued=True,
    clusters=False,
    stops="-m --module -s --script",
)
CONDA_RUN: Final = Options("-n --name -p --prefix --cwd")
PYTHON: Final = Options("-W -X --check-hash-based-pycs", stops="-m -c")
SUDO: Final = Options("-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir")
ENV: Final = Options("-u -C -S --unset --chdir --split-string", names="--split-string=-S")

PLAIN: Final[Mapping[str, Options]] = {
    **dict.fromkeys(("nohup", "command", "builtin", "setsid", "unbuffer", "infera-exec"), Options()),
    "time": Options("-f -o --format --output"),
    "exec": Options("-a"),
    "numactl": Options(
        "-i -w -p -P -m -N -C --interleave --weighted-interleave --preferred --preferred-many --membind --cpunodebind"
        " --physcpubind"
    ),
    "taskset": Options(switches="-a -c -p --all-tasks --cpu-list --pid", clusters=False),
    "nice": Options("-n --adjustment"),
    "ionice": Options("-c -n -p -P -u --class --classdata"),
    "timeout": Options("-k -s --kill-after --signal"),
    "stdbuf": Options("-i -o -e --input --output --error"),
    "srun": SRUN,
}
"""Wrappers that run what stands behind their options."""
OWN_WORDS: Final[Mapping[str, int]] = {"taskset": 1, "timeout": 1}
"""Words of their own behind the options: the mask (or, with -c, the list of processors), the duration."""


def assignments(value: str, name: str) -> Sequence[str]:
    """`--env A=1,B=2` is two for Apptainer, which leaves one with commas in its value whole; Enroot takes one.
    Source: https://github.com/spf13/pflag/blob/master/string_to_string.go"""
    return (value,) if name == "enroot" or value.count("=") == 1 else value.split(",")


def stands_for_options(words: Sequence[Word]) -> bool:
    """`$MORE --name x`: options that are not known, for those of a container follow them, and no engine has these."""
    return len(words) == 2 and bool(words[0].unresolved) and words[1].text.partition("=")[0] in OF_CONTAINERS
