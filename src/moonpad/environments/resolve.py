"""What an indexed build would install, found without installing it: every package with its file's address and sha256.

pip looks at all indexes as one and takes the newest version, so with an index of its makers added, `vllm` for ROCm
loses against the newer one for CUDA on PyPI. Here each package of the makers is asked for at its own index alone. For
the rest, pip sees empty wheels in their place, with their names, versions and requirements, and the user's own index.
"""

from __future__ import annotations

import os
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson
from packaging.requirements import InvalidRequirement, Requirement

from moonpad.catalog.package_indexes import IndexedBuild, IndexPlace
from moonpad.catalog.recipes import Lock, lock_of
from moonpad.environments import pip
from moonpad.environments.installed_packages import normal_name
from moonpad.facts.probe import Unknown, run
from moonpad.values.errors import InstallError

DEADLINE_S: Final = 1800.0
"""An index that does not serve metadata apart makes pip fetch whole wheels, of up to several gigabytes."""
TARGET: Final = {
    "sys_platform": "linux",
    "platform_system": "Linux",
    "platform_machine": "x86_64",
    "os_name": "posix",
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
    "extra": "",
}
"""What the markers of requirements are read with: the system that the wheels are for, whatever this one is."""


@dataclass(frozen=True, slots=True)
class ResolvedPackage:
    """`place` is the index that it must come from, "" for the user's own."""

    name: str
    version: str
    url: str
    sha256: str
    place: str = ""
    requirements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Resolution:
    """`packages` begins with the engine's own. `python` is the version of Python that it holds for."""

    build: IndexedBuild
    python: tuple[int, int]
    packages: tuple[ResolvedPackage, ...]

    @property
    def version(self) -> str:
        return self.packages[0].version

    @property
    def placed(self) -> tuple[ResolvedPackage, ...]:
        return tuple(package for package in self.packages if package.place)

    @property
    def lock(self) -> Lock:
        """Installed with `--no-deps --require-hashes`; what has a place is named by its file's address."""
        lines = []
        for package in self.packages:
            what = f"{package.name} @ {package.url}" if package.place else f"{package.name}=={package.version}"
            lines.append(f"{what} --hash=sha256:{package.sha256}")
        return lock_of("\n".join(lines) + "\n", {package.name: package.version for package in self.packages})


def resolve(build: IndexedBuild, ours: tuple[int, int] = sys.version_info[:2]) -> Resolution:
    """`ours` is the Python that an environment would be made of; where the build has no wheels for it, those of its own
    version are resolved.

    Raises:
        InstallError: an index cannot be reached, lacks a package, or names no sha256. Nothing is left.
    """
    python = ours if ours in build.pythons else build.pythons[-1]
    with tempfile.TemporaryDirectory(prefix="moonpad-resolve-") as folder:
        return Resolution(build, python, _Resolver(build, python, python != ours, Path(folder)).resolve())


@dataclass(frozen=True, slots=True)
class _Resolver:
    """`for_other`: `version` is not that of the Python that runs pip, in `folder`."""

    build: IndexedBuild
    version: tuple[int, int]
    for_other: bool
    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "environment" / "bin" / "python"

    def resolve(self) -> tuple[ResolvedPackage, ...]:
        self._run(pip.make_environment(Path(sys.executable), self.folder / "environment"), dict(os.environ))
        place_of = {normal_name(name): place for place in self.build.places for name in place.packages}
        placed: dict[str, ResolvedPackage] = {}
        wanted = [self.build.requirement]
        while wanted:
            self._take(wanted, place_of, placed)
            others = self._others(placed)
            # What only a package of the user's own index asks for has its place all the same.
            wanted = [package.name for package in others if normal_name(package.name) in place_of]
        return (*placed.values(), *sorted(others, key=lambda package: package.name))

    def _take(
        self, requirements: Sequence[str], place_of: Mapping[str, IndexPlace], placed: dict[str, ResolvedPackage]
    ) -> None:
        """Adds the makers' packages that are asked for and those that they need, by normal name."""
        environment = pip.one_index_environment(os.environ, self._configuration())
        wanted = [*requirements]
        while wanted:
            requirement = wanted.pop(0)
            name = normal_name(Requirement(requirement).name)
            if name not in placed:
                placed[name] = self._from_place(requirement, place_of[name], environment)
                needed = _needed(placed[name].requirements, self.version)
                wanted += [str(each) for each in needed if normal_name(each.name) in place_of]

    def _others(self, placed: Mapping[str, ResolvedPackage]) -> tuple[ResolvedPackage, ...]:
        stubs = [f"{package.name} @ {self._stub(package).as_uri()}" for package in placed.values()]
        reported = self._report(stubs, (), pip.clean_environment(os.environ), "the user's own index")
        return tuple(package for package in reported if normal_name(package.name) not in placed)

    def _from_place(self, requirement: str, place: IndexPlace, environment: Mapping[str, str]) -> ResolvedPackage:
        options = ("--no-deps", "--index-url", place.url, *(("--pre",) if self.build.nightly else ()))
        (package,) = self._report([requirement], options, environment, place.url)
        return ResolvedPackage(
            package.name, package.version, package.url, package.sha256, place.url, package.requirements
        )

    def _report(
        self, requirements: Sequence[str], options: Sequence[str], environment: Mapping[str, str], source: str
    ) -> tuple[ResolvedPackage, ...]:
        file = self.folder / "report.json"
        other = pip.for_other_python(self.version, self.build.glibc, self.folder / "target") if self.for_other else ()
        command = pip.report(self.python, file, requirements, options, other)
        self._run(command, environment, source)
        packages = tuple(_reported(orjson.loads(file.read_bytes())))
        for package in packages:
            if not package.sha256 and not package.url.startswith(self.folder.as_uri()):
                raise InstallError(
                    f"{source} names no sha256 for {package.name} {package.version}, so it cannot be pinned",
                    remedy=self._instead(),
                )
        return packages

    def _configuration(self) -> str:
        """What pip itself says of the user's configuration; "" where it cannot be read."""
        output = run((str(self.python), "-m", "pip", "config", "list"), 60)
        return "" if isinstance(output, Unknown) else output.stdout

    def _run(self, command: Sequence[str], environment: Mapping[str, str], source: str = "") -> None:
        output = run(tuple(command), DEADLINE_S, dict(environment))
        if isinstance(output, Unknown):
            raise InstallError(f"{self.build.engine} could not be resolved: {output.reason}", remedy=self._instead())
        if output.returncode:
            problem = pip.first_error((output.stdout + "\n" + output.stderr).splitlines())
            raise InstallError(
                f"{self.build.engine} for {self.build.platform} could not be resolved from {source}: {problem}"
                if source
                else f"Python could not make an environment: {problem}",
                remedy=self._instead(),
            )

    def _instead(self) -> str:
        return f"on a machine that reaches it, the same command, or without moonpad: {self.build.by_uv}"

    def _stub(self, package: ResolvedPackage) -> Path:
        """An empty wheel with the package's name, version and requirements."""
        stem = f"{normal_name(package.name).replace('-', '_')}-{package.version}"
        path = self.folder / f"{stem}-py3-none-any.whl"
        metadata = ["Metadata-Version: 2.1", f"Name: {package.name}", f"Version: {package.version}"]
        metadata += [f"Requires-Dist: {requirement}" for requirement in package.requirements]
        with zipfile.ZipFile(path, "w") as wheel:
            wheel.writestr(f"{stem}.dist-info/METADATA", "\n".join(metadata) + "\n")
            wheel.writestr(f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{stem}.dist-info/RECORD", "")
        return path


def _reported(document: Mapping[str, Any]) -> Iterator[ResolvedPackage]:
    """The packages of pip's installation report (https://pip.pypa.io/en/stable/reference/installation-report/)."""
    for item in document["install"]:
        metadata, download = item["metadata"], item["download_info"]
        hashes = download.get("archive_info", {}).get("hashes", {})
        yield ResolvedPackage(
            metadata["name"],
            metadata["version"],
            download["url"],
            hashes.get("sha256", ""),
            requirements=tuple(metadata.get("requires_dist", ())),
        )


def _needed(requirements: Sequence[str], python: tuple[int, int]) -> Iterator[Requirement]:
    """Those that hold for the target, without their markers; one that cannot be read is pip's to report."""
    dotted = f"{python[0]}.{python[1]}"
    target = TARGET | {"python_version": dotted, "python_full_version": f"{dotted}.0"}
    for text in requirements:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if requirement.marker is None or requirement.marker.evaluate(target):
            requirement.marker = None
            yield requirement
