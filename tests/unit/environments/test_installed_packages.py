import subprocess
import sys
from pathlib import Path

import pytest

from moonpad.environments.installed_packages import drop_damaged, folder_bytes, normal_name, packages, write_alias


@pytest.fixture
def site(tmp_path: Path) -> Path:
    info = tmp_path / "some_thing-1.0.dist-info"
    info.mkdir()
    (tmp_path / "some_thing.py").write_text("x = 1\n")
    (info / "METADATA").write_text("Name: some-thing\n")
    rows = (
        "some_thing.py,sha256=x,6\nsome_thing-1.0.dist-info/METADATA,sha256=x,17\nsome_thing-1.0.dist-info/RECORD,,\n"
    )
    (info / "RECORD").write_text(rows + "__pycache__/some_thing.cpython-311.pyc,,\n")
    return tmp_path


def names(site: Path) -> list[tuple[str, str]]:
    return [(package.name, package.version) for package in packages(site)]


def test_a_whole_package_stays(site: Path) -> None:
    assert drop_damaged(site) == ()
    assert names(site) == [("some-thing", "1.0")]


@pytest.mark.parametrize(
    "name", ["some_thing.py", "some_thing-1.0.dist-info/RECORD", "some_thing-1.0.dist-info/METADATA"]
)
@pytest.mark.parametrize("content", [None, "", "\0" * 20])
def test_a_file_that_is_gone_or_of_another_size_makes_it_forgotten(site: Path, name: str, content: str | None) -> None:
    (site / name).unlink()
    if content is not None:
        (site / name).write_text(content)
    assert drop_damaged(site) == ("some-thing",)
    assert names(site) == []


def test_what_pip_put_aside_is_cleared(site: Path) -> None:
    (site / "~ome_thing").mkdir()
    (site / "~ome.py").write_text("")
    drop_damaged(site)
    assert not list(site.glob("~*"))


def test_an_environment_that_is_not_there_has_nothing(tmp_path: Path) -> None:
    assert drop_damaged(tmp_path / "none") == ()
    assert folder_bytes(tmp_path / "none") == 0


def test_the_alias_answers_and_is_whole(site: Path) -> None:
    write_alias(site, "vllm", "0.32.0+cpu")
    write_alias(site, "vllm", "0.32.0+cpu")  # a repair writes it again
    code = f"import sys; sys.path.insert(0, {str(site)!r}); import importlib.metadata as m; print(m.version('vllm'))"
    answer = subprocess.run((sys.executable, "-I", "-c", code), capture_output=True, text=True, check=True)
    assert answer.stdout == "0.32.0+cpu\n"
    assert drop_damaged(site) == ()


def test_names_are_compared_as_the_packaging_specification_says() -> None:
    assert normal_name("Jinja2") == "jinja2"
    assert normal_name("some__Thing.x-y") == "some-thing-x-y"


def test_bytes_of_a_folder_count_a_link_as_a_link(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 1000)
    (tmp_path / "b").symlink_to("a")
    assert folder_bytes(tmp_path) == 1000 + len("a")
