"""A launcher's Deployment for Open MPI over ssh: `node-0/run.sh` starts the ranks on all hosts and stops them there.

With an image, each other host runs a container whose program is an ssh daemon on a port of its own, which lets in the
first host's container alone. So no container is privileged, no password is taken, no key of a person is used, and the
first host needs no daemon.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from moonpad import __version__
from moonpad.render.containers import RUN
from moonpad.render.docker_run import render_docker
from moonpad.render.env_variables import expansion_of, variable_of
from moonpad.render.mpi_script import SCRIPT
from moonpad.render.rendered import Rendered
from moonpad.render.shell import render_shell
from moonpad.values.deployment import (
    AliveProbe,
    Deployment,
    Executable,
    File,
    Image,
    Mount,
    MpiRanks,
    PortSpec,
    Process,
    Role,
)
from moonpad.values.errors import UsageError
from moonpad.values.records import replace
from moonpad.values.references import Arg, HostRef, PathRef, PortRef, Ref

SSH_PORT: Final = 2233
"""Of the containers' ssh daemons: not the hosts' own."""
SCRIPTS: Final = "/moonpad"
"""Where a container finds the folder of its node: the scripts here, and its keys in `ssh`."""


def render_mpirun(deployment: Deployment, ssh_port: int | None) -> tuple[Deployment, Mapping[str, Rendered]]:
    """What is started, the ssh daemons among it, and its files: path → text and mode. `ssh_port`: of the hosts' own
    daemons, or of the containers'; None leaves it to the configuration of ssh, or to SSH_PORT.

    Raises:
        UsageError: no process starts ranks by MPI.
    """
    launcher = next((process for process in deployment.processes if process.ranks), None)
    if launcher is None or launcher.ranks is None:
        raise UsageError(
            "this engine does not start its ranks by MPI, or has one machine alone",
            remedy="use --to shell, docker or slurm",
        )
    ranks, gang = launcher.ranks, deployment.gangs[0]
    if isinstance(launcher.runtime, Image):
        daemons = tuple(_daemon(launcher, node, ssh_port or SSH_PORT) for node in ranks.nodes[1:])
        head = _contained_head(launcher, ranks, gang.name, daemons)
    else:
        daemons, head = (), _head(launcher, ranks, gang.name, ssh_port)
    others = tuple(process for process in gang.processes if process is not launcher)
    started = replace(deployment, gangs=(replace(gang, processes=(head, *others, *daemons)), *deployment.gangs[1:]))
    files = {f"{head.node}/mpi.sh": Rendered(SCRIPT, 0o755)}
    if not isinstance(launcher.runtime, Image):
        return started, {**render_shell(started), **files}
    files |= {f"{daemon.node}/sshd.sh": Rendered(_SSHD, 0o755) for daemon in daemons}
    files["keys.sh"] = Rendered("\n".join(_keys(started, ranks, daemons)) + "\n", 0o755)
    files["image/Containerfile"] = Rendered(_containerfile(launcher.runtime.reference))
    return started, {**render_docker(started), **files}


def _head(launcher: Process, ranks: MpiRanks, name: str, ssh_port: int | None) -> Process:
    """Under the first host's own user, whose ssh reaches the others."""
    words = _words(launcher, ranks, name, f"-p {ssh_port}" if ssh_port else "")
    runtime = Executable(("bash", (PathRef("scripts"), "/mpi.sh")))
    return replace(launcher, runtime=runtime, argv=(*words, *ranks.command), files=_files(launcher, ranks))


def _contained_head(launcher: Process, ranks: MpiRanks, name: str, daemons: tuple[Process, ...]) -> Process:
    entries = [
        part
        for daemon in daemons
        for part in ("Host ", HostRef(daemon.node), "\n  Port ", PortRef(daemon.name, "ssh"), "\n")
    ]
    config = File("ssh_config", (*entries, _SSH_CONFIG))
    return replace(
        launcher,
        runtime=replace(_image(launcher), entrypoint=("bash", f"{SCRIPTS}/mpi.sh")),
        argv=(*_words(launcher, ranks, name, f"-F {RUN}/{config.path}"), *ranks.command),
        files=(*_files(launcher, ranks), config),
        mounts=(*launcher.mounts, _SCRIPTS_MOUNT),
    )


def _daemon(launcher: Process, node: str, port: int) -> Process:
    """The container of another host, in which mpirun starts the ranks: with devices and files as the first one has."""
    name = f"ssh-{node.rpartition('-')[2]}"
    where: tuple[str | Ref, ...] = ("Port ", PortRef(name, "ssh"), "\nListenAddress ", HostRef(node), "\n")
    return replace(
        launcher,
        name=name,
        role=Role.ENGINE,
        node=node,
        runtime=replace(_image(launcher), entrypoint=("bash", f"{SCRIPTS}/sshd.sh")),
        argv=(),
        env={},
        files=(File("sshd_config", (*where, _SSHD_CONFIG)),),
        mounts=(*launcher.mounts, _SCRIPTS_MOUNT),
        ports=(PortSpec("ssh", port, "cluster"),),
        ready=AliveProbe(),
        ranks=None,
    )


def _image(launcher: Process) -> Image:
    if not isinstance(launcher.runtime, Image):
        raise ValueError(f"process {launcher.name} runs in no container image")
    return launcher.runtime


def _words(launcher: Process, ranks: MpiRanks, name: str, ssh_words: str) -> tuple[Arg, ...]:
    """The arguments of mpi.sh before the ranks' command."""
    grace_s = f"{launcher.stop.grace_s:.0f}"
    return (name, grace_s, str(ranks.count), (PathRef("run"), "/hosts"), ssh_words, " ".join(launcher.env))


def _files(launcher: Process, ranks: MpiRanks) -> tuple[File, ...]:
    hosts = [part for node in ranks.nodes for part in (HostRef(node), f" slots={ranks.per_node}\n")]
    return (*launcher.files, File("hosts", tuple(hosts)))


def _keys(deployment: Deployment, ranks: MpiRanks, daemons: tuple[Process, ...]) -> Iterator[str]:
    """A script for the keys of this deployment alone; a second run keeps those that there are."""
    first, name = ranks.nodes[0], deployment.gangs[0].name
    yield from (
        "#!/usr/bin/env bash",
        f"# Written by moonpad {__version__}. Makes the keys with which the containers reach one another, once:",
        "#   bash keys.sh",
        f"# {first} gets a key, and each other node its daemon's own. Then take the folder of each other node there,",
        "# with the rights of its files: scp -p -r node-1 HOST:",
        "set -euo pipefail",
        "",
    )
    used: tuple[Ref, ...] = (*map(HostRef, ranks.nodes), *(PortRef(daemon.name, "ssh") for daemon in daemons))
    for ref in used:
        yield f'{variable_of(ref, deployment)}="{expansion_of(ref, deployment)}"'
    client = f"{first}/ssh/id_ed25519"
    yield from (
        "",
        'cd -- "$(dirname -- "$0")"',
        "umask 077",
        f"mkdir -p {' '.join(f'{node}/ssh' for node in ranks.nodes)}",
        f"[ -e {client} ] || ssh-keygen -q -t ed25519 -N '' -C moonpad-{name} -f {client}",
        f": >{first}/ssh/known_hosts",
    )
    for daemon in daemons:
        own = f"{daemon.node}/ssh/host_key"
        host = f"${{{variable_of(HostRef(daemon.node), deployment)}}}"
        port = f"${{{variable_of(PortRef(daemon.name, 'ssh'), deployment)}}}"
        yield from (
            f"[ -e {own} ] || ssh-keygen -q -t ed25519 -N '' -C {daemon.name} -f {own}",
            f'echo "[{host}]:{port} $(cut -d " " -f 1,2 {own}.pub)" >>{first}/ssh/known_hosts',
            f'echo "restrict,from=\\"${{{variable_of(HostRef(first), deployment)}}}\\" $(cat {client}.pub)" \\',
            f"  >{daemon.node}/ssh/authorized_keys",
        )


def _containerfile(reference: str) -> str:
    return "\n".join(
        (
            "# The image with an ssh daemon: build it, push it, and name its digest as [engine] image.",
            f"FROM {reference}",
            "RUN apt-get update && apt-get install -y --no-install-recommends openssh-client openssh-server \\",
            "  && rm -rf /var/lib/apt/lists/* /etc/ssh/ssh_host_*",
            "",
        )
    )


_SCRIPTS_MOUNT: Final = Mount(PathRef("scripts"), SCRIPTS)
_SSH_CONFIG: Final = f"""\
Host *
  User root
  IdentityFile {SCRIPTS}/ssh/id_ed25519
  IdentitiesOnly yes
  UserKnownHostsFile {SCRIPTS}/ssh/known_hosts
  StrictHostKeyChecking yes
"""
# Only the first host's key, which may run commands and forward nothing, and no password of any kind.
_SSHD_CONFIG: Final = """\
HostKey /etc/ssh/moonpad_host_key
AuthorizedKeysFile /etc/ssh/moonpad_authorized_keys
AllowUsers root
PermitRootLogin prohibit-password
PubkeyAuthentication yes
PasswordAuthentication no
KbdInteractiveAuthentication no
DisableForwarding yes
UsePAM no
PidFile none
"""
# The keys are copied, since the daemon takes none that another user owns.
_SSHD: Final = f"""\
#!/usr/bin/env bash
set -eu
sshd=$(command -v sshd || echo /usr/sbin/sshd)
[ -x "$sshd" ] || {{ echo "this image has no ssh daemon: image/Containerfile makes one that has" >&2; exit 2; }}
install -d -m 0755 /run/sshd
for name in host_key authorized_keys; do install -m 0600 "{SCRIPTS}/ssh/$name" "/etc/ssh/moonpad_$name"; done
ulimit -s 65536 2>/dev/null || true
exec "$sshd" -D -e -f {RUN}/sshd_config
"""
