"""Builds of an index of their makers, resolved by the real pip against folders as indexes."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest

from moonpad.catalog.package_indexes import IndexedBuild, IndexPlace, indexed_build, indexed_builds
from moonpad.catalog.toml_rows import Provenance
from moonpad.cli import engine_install
from moonpad.environments import pip
from moonpad.environments.indexed import indexed_recipe
from moonpad.environments.paths import EnvironmentFolder
from moonpad.environments.resolve import Resolution, ResolvedPackage, resolve
from moonpad.facts.probe import Output, run
from moonpad.values.errors import InstallError, PreflightRefused
from moonpad.values.platform import Platform
from moonpad.values.records import replace

OURS = sys.version_info[:2]
OTHER = (3, OURS[1] + 1)


@dataclass(frozen=True)
class Index:
    """A folder as `pip --index-url` reads it."""

    folder: Path

    @property
    def url(self) -> str:
        return self.folder.as_uri()

    def add(self, name: str, version: str, *requirements: str, tag: str = "py3-none-any") -> str:
        """The wheel's sha256."""
        stem = f"{name.replace('-', '_')}-{version}"
        wheel = self.folder / name / f"{stem}-{tag}.whl"
        wheel.parent.mkdir(parents=True, exist_ok=True)
        lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
        lines += [f"Requires-Dist: {requirement}" for requirement in requirements]
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(f"{stem}.dist-info/METADATA", "\n".join(lines) + "\n")
            archive.writestr(f"{stem}.dist-info/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
            archive.writestr(f"{stem}.dist-info/RECORD", "")
        sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
        page = wheel.parent / "index.html"
        before = page.read_text() if page.exists() else ""
        page.write_text(f'{before}<a href="{wheel.name.replace("+", "%2B")}#sha256={sha256}">{wheel.name}</a>\n')
        return sha256


@pytest.fixture
def makers(tmp_path: Path) -> Index:
    return Index(tmp_path / "makers")


@pytest.fixture
def public(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    """What the user's pip is configured with."""
    index = Index(tmp_path / "public")
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    configuration = tmp_path / "pip.conf"
    configuration.write_text(f"[global]\nindex-url = {index.url}\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(configuration))
    return index


def build(makers: Index, **changes: object) -> IndexedBuild:
    row = IndexedBuild(
        engine="vllm",
        platform=Platform.ROCM,
        requirement="vllm",
        pythons=(OURS,),
        glibc=(2, 35),
        places=(IndexPlace(makers.url, ("vllm", "torch", "torchaudio")),),
        by_uv="uv pip install vllm",
        provenance=Provenance("here", "2026-11-25", "verified"),
    )
    return replace(row, **changes)  # type: ignore[arg-type]


def by_name(packages: tuple[ResolvedPackage, ...]) -> dict[str, ResolvedPackage]:
    return {package.name: package for package in packages}


@pytest.mark.slow
def test_a_newer_build_on_the_public_index_does_not_take_the_place_of_the_makers(makers: Index, public: Index) -> None:
    """The rest is the public one's, and needs nothing that another torch would need."""
    engine = makers.add(
        "vllm", "0.18.0+rocm700", "torch==2.10.0+rocm700", "plain>=1", 'only-mac; sys_platform == "darwin"'
    )
    torch = makers.add("torch", "2.10.0+rocm700")
    makers.add("plain", "9.0")  # not one of theirs: a place is asked for its own packages alone
    audio = makers.add("torchaudio", "2.10.0+rocm700", "torch==2.10.0+rocm700")
    public.add("torchaudio", "2.11.0")
    public.add("vllm", "0.33.0", "torch==2.11.0")
    public.add("torch", "2.11.0", "nvidia-cublas")
    plain = public.add("plain", "1.5", "torch", "torchaudio")  # alone asks for torchaudio, which has its place
    resolution = resolve(build(makers))
    packages = by_name(resolution.packages)
    assert {name: package.version for name, package in packages.items()} == {
        "vllm": "0.18.0+rocm700",
        "torch": "2.10.0+rocm700",
        "torchaudio": "2.10.0+rocm700",
        "plain": "1.5",
    }
    assert [packages[name].sha256 for name in ("vllm", "torch", "torchaudio", "plain")] == [engine, torch, audio, plain]
    assert [package.name for package in resolution.placed] == ["vllm", "torch", "torchaudio"]
    assert resolution.lock.text.splitlines() == [
        f"vllm @ {packages['vllm'].url} --hash=sha256:{engine}",
        f"torch @ {packages['torch'].url} --hash=sha256:{torch}",
        f"torchaudio @ {packages['torchaudio'].url} --hash=sha256:{audio}",
        f"plain==1.5 --hash=sha256:{plain}",
    ]
    recipe = indexed_recipe(resolution)
    assert (recipe.name, recipe.version, recipe.python) == ("vllm", "0.18.0+rocm700", (OURS, OURS))


@pytest.mark.slow
def test_wheels_for_another_python_are_resolved_and_refused_here(
    makers: Index, public: Index, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tag = f"cp3{OTHER[1]}-cp3{OTHER[1]}-manylinux_2_35_x86_64"
    makers.add("vllm", "1.0", f'newer; python_version >= "3.{OTHER[1]}"', "torch", tag=tag)
    makers.add("torch", "1.0", tag=tag)
    makers.add("vllm", "2.0.dev1", tag=tag)
    public.add("newer", "1.0")
    row = build(makers, pythons=(OTHER,))
    resolution = resolve(row)
    assert resolution.python == OTHER
    assert {package.name for package in resolution.packages} >= {"vllm", "torch"}
    assert resolution.version == "1.0"
    assert resolve(replace(row, nightly=True)).version == "2.0.dev1"
    monkeypatch.setattr(engine_install, "indexed_build", lambda *_, **__: row)
    with pytest.raises(PreflightRefused) as refused:
        engine_install.install("vllm", platform="rocm")
    assert "Python" in {finding.where for finding in refused.value.findings}
    assert "vllm 1.0 for rocm" in capsys.readouterr().out


@pytest.mark.slow
def test_what_is_pinned_can_be_installed(makers: Index, public: Index, tmp_path: Path) -> None:
    """The lock, by pip with --require-hashes; a file that changed since is refused."""
    makers.add("vllm", "1.0+rocm", "torch", "plain")
    makers.add("torch", "1.0+rocm")
    public.add("plain", "1.0")
    lock = tmp_path / "lock.txt"
    lock.write_text(resolve(build(makers)).lock.text)
    place = EnvironmentFolder(tmp_path / f"vllm-1-py3.{OURS[1]}")
    assert isinstance(run(pip.make_environment(Path(sys.executable), place.folder), 120), Output)
    output = run(pip.install_locked(place, lock), 120)
    assert isinstance(output, Output)
    assert "Successfully installed plain-1.0 torch-1.0+rocm vllm-1.0+rocm" in output.stdout
    lock.write_text(lock.read_text().replace("--hash=sha256:", "--hash=sha256:00")[:-3] + "\n")
    changed = run(pip.install_locked(place, lock), 120)
    assert not isinstance(changed, Output) or changed.returncode


@pytest.mark.slow
def test_an_extra_index_alone_takes_the_wrong_build(makers: Index, public: Index, tmp_path: Path) -> None:
    """Which is why it is not done: `--extra-index-url` of pip and `unsafe-best-match` of uv take the newest of all."""
    makers.add("vllm", "0.18.0+rocm700")
    public.add("vllm", "0.33.0")
    file = tmp_path / "report.json"
    command = pip.report(Path(sys.executable), file, ["vllm"], ("--extra-index-url", makers.url), ())
    output = run(command, 120)
    assert isinstance(output, Output)
    assert [item["metadata"]["version"] for item in orjson.loads(file.read_bytes())["install"]] == ["0.33.0"]
    assert resolve(build(makers)).version == "0.18.0+rocm700"


@pytest.mark.slow
def test_what_cannot_be_resolved_is_refused_with_the_other_way(makers: Index, public: Index) -> None:
    makers.add("torch", "1.0")
    with pytest.raises(InstallError, match="could not be resolved from file:") as refused:
        resolve(build(makers))
    assert "uv pip install vllm" in refused.value.remedy


def test_how_an_index_is_reached_is_kept_and_which_one_is_not() -> None:
    configuration = (
        "global.cert='/etc/ca.crt'\nglobal.extra-index-url='https://a/simple'\n:env:.proxy='http://p:1'\n"
        "global.trusted-host='a\\nb'\ninstall.no-binary='x'\nno setting\n"
    )
    environ = {"PIP_INDEX_URL": "https://b", "PIP_PROXY": "http://p:1", "PYTHONPATH": "/x", "HOME": "/h"}
    assert pip.one_index_environment(environ, configuration) == {
        "HOME": "/h",
        "PIP_CERT": "/etc/ca.crt",
        "PIP_PROXY": "http://p:1",
        "PIP_TRUSTED_HOST": "a b",
        "PIP_RETRIES": "2",
        "PIP_CONFIG_FILE": "/dev/null",
    }


@pytest.mark.parametrize("row", indexed_builds(), ids=lambda row: f"{row.engine} {row.platform} {row.cuda}")
def test_each_build_of_the_catalogue(row: IndexedBuild) -> None:
    """Its own package has a place, no package has two, and the command without moonpad names the same build and takes
    no index's word over another's."""
    assert indexed_build(row.engine, row.platform, nightly=row.nightly, cuda=row.cuda) is row
    names = [name for place in row.places for name in place.packages]
    assert row.requirement.partition("==")[0] == row.places[0].packages[0]
    assert len(names) == len(set(names))
    assert row.requirement in row.by_uv
    assert row.places[0].url in row.by_uv
    assert "unsafe" not in row.by_uv
    assert ("--prerelease allow" in row.by_uv) is row.nightly
    assert f"--python 3.{row.pythons[-1][1]}" in row.by_uv


def test_json_names_every_package(makers: Index) -> None:
    package = ResolvedPackage("vllm", "1.0", "https://a/vllm.whl", "00", makers.url)
    document = engine_install.resolution_as_json(Resolution(build(makers), OURS, (package,)))
    assert orjson.loads(orjson.dumps(document))["packages"] == [
        {"name": "vllm", "version": "1.0", "url": "https://a/vllm.whl", "sha256": "00", "index": makers.url}
    ]
