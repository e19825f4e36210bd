"""Driver, ROCm, CANN, Python and C library against what the engine's release asks for; its published weaknesses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from moonpad.catalog.host_requirements import HostRequirement, advisories_of, requirement_of
from moonpad.doctor.checks.wording import error, note, unknown, warning
from moonpad.doctor.need import Need
from moonpad.doctor.question import CANN_FILE
from moonpad.doctor.survey import Survey
from moonpad.facts.cann import parse_install_info
from moonpad.facts.probe import Unknown, parsed
from moonpad.values.finding import Code, Finding
from moonpad.values.platform import Platform

_NUMBER: Final = re.compile(r"\d+(?:\.\d+)+|\d+")


def versions(survey: Survey, need: Need) -> Iterator[Finding]:
    """Of what an image brings along nothing is asked: its host needs the driver alone."""
    wanted = _wanted(survey, need)
    if wanted is None or need.image:
        return
    if wanted.glibc:
        yield from _glibc(survey, wanted)
    if wanted.rocm:
        yield from _lowest(survey, "ROCm", survey.text("/opt/rocm/.info/version"), wanted.rocm, need)
    if wanted.cann:
        yield from _lowest(survey, "CANN", _cann(survey), wanted.cann, need)


def python(survey: Survey, need: Need) -> Iterator[Finding]:
    """The Python that the engine's environment was made with."""
    wanted = _wanted(survey, need)
    if wanted is None or not wanted.python or not need.engine_folder:
        return
    text = survey.text(f"{need.engine_folder}/pyvenv.cfg")
    match = (
        re.search(r"^version(?:_info)?\s*=\s*(\d+\.\d+(?:\.\d+)?)", text, re.MULTILINE)
        if isinstance(text, str)
        else None
    )
    if match is None:
        return
    if Version(match[1]) not in SpecifierSet(wanted.python):
        message = f"Python {match[1]}; {_release(need)} is made for {wanted.python}"
        yield error(Code.HOST_SOFTWARE, "python", message, "make the engine's environment with another Python")


def engine(survey: Survey, need: Need) -> Iterator[Finding]:
    """Whether it is there, and of the release that was planned."""
    if not need.engine_folder:
        return
    installed = dict(_packages(survey, need))
    name = need.engine.removesuffix("-cpu").replace("-", "_")
    there = survey.folder(need.engine_folder)
    if isinstance(there, Unknown) or not there["there"]:
        message = f"there is no engine: {need.engine_folder} is not a folder"
        yield error(Code.ENGINE_MISSING, "engine", message, "install it there, or name its python in [engine]")
        return
    version = installed.get(name)
    if version and need.version and _public(version) != _public(need.version):
        message = f"{need.engine} {version} is installed; {need.version} was planned for"
        yield warning(Code.HOST_SOFTWARE, "engine", message, "install that release, or plan for this one")


def known_weaknesses(survey: Survey, need: Need) -> Iterator[Finding]:
    """Of the release that runs: the planned one, as `engine` compares it with what is installed."""
    for row in advisories_of(need.engine, need.version):
        message = f"{need.engine} {need.version}: {row.message}"
        yield warning(Code.ADVISORY, row.id, message, f"take {row.until} or newer")


def _wanted(survey: Survey, need: Need) -> HostRequirement | None:
    return requirement_of(need.engine, str(need.platform or ""), need.version) if need.engine else None


def _glibc(survey: Survey, wanted: HostRequirement) -> Iterator[Finding]:
    kind, number = survey.answer["libc"]
    if kind != "glibc" or not _NUMBER.fullmatch(number):
        yield error(
            Code.HOST_SOFTWARE, "glibc", f"this system has no glibc; the wheels ask for {wanted.glibc}", "use the image"
        )
    elif Version(number) < Version(wanted.glibc):
        message = f"glibc {number}; the wheels of {wanted.engine} ask for {wanted.glibc} or newer"
        yield error(Code.HOST_SOFTWARE, "glibc", message, "use the engine's image, or a newer system")


def _lowest(survey: Survey, name: str, text: str | Unknown, lowest: str, need: Need) -> Iterator[Finding]:
    if isinstance(text, Unknown):
        yield unknown(name, f"the version of {name}", text)
        return
    match = _NUMBER.search(text)
    try:
        older = match is not None and Version(match[0]) < Version(lowest)
    except InvalidVersion:
        older = False
    if match is None:
        yield unknown(name, f"the version of {name}", f"{text[:40]!r} holds no number")
    elif older:
        message = f"{name} {text.strip()[:40]}; {_release(need)} asks for {lowest} or newer"
        yield error(Code.HOST_SOFTWARE, name, message, f"install {name} {lowest}, or use the engine's image")


def _cann(survey: Survey) -> str | Unknown:
    for _, text in survey.texts(CANN_FILE):
        return parsed(text, parse_install_info)
    return Unknown(f"there is no {CANN_FILE}")


def _packages(survey: Survey, need: Need) -> Iterator[tuple[str, str]]:
    """(package, version) of the engine's environment, by pip's folders."""
    for path, _ in survey.texts(f"{need.engine_folder}/lib/python*/site-packages/*.dist-info/WHEEL"):
        name, _, version = path.rsplit("/", 2)[1].removesuffix(".dist-info").partition("-")
        yield name.lower(), version


def _release(need: Need) -> str:
    return f"{need.engine} {need.version}" if need.version else f"the newest {need.engine}"


def _public(version: str) -> str:
    return version.partition("+")[0]


def ascend(survey: Survey, need: Need) -> Iterator[Finding]:
    """For Ascend: the driver's own file beside the firmware's."""
    if need.platform is not Platform.ASCEND:
        return
    for what in ("driver", "firmware"):
        text = survey.text(f"/usr/local/Ascend/{what}/version.info")
        if isinstance(text, Unknown):
            yield unknown(what, f"the version of the Ascend {what}", text)
        elif match := re.search(r"^[Vv]ersion\s*=\s*(\S+)", text, re.MULTILINE):
            yield note(Code.HOST_SOFTWARE, what, f"Ascend {what} {match[1]}")
