"""A key comes from the environment or from a file that only its owner reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpad.run.api_keys import read_key
from moonpad.values.errors import PreflightRefused


def test_from_the_environment() -> None:
    key = read_key(env="KEY", file=None, environ={"KEY": "abc"})
    assert key is not None
    assert key.reveal() == "abc"
    with pytest.raises(PreflightRefused) as refused:
        read_key(env="KEY", file=None, environ={})
    assert refused.value.findings[0].code == "key-missing"


def test_from_a_private_file_only(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text("abc\n")
    path.chmod(0o644)
    with pytest.raises(PreflightRefused) as refused:
        read_key(env=None, file=str(path), environ={})
    assert refused.value.findings[0].code == "key-exposed"
    path.chmod(0o600)
    key = read_key(env=None, file=str(path), environ={})
    assert key is not None
    assert key.reveal() == "abc"


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_file_is_no_key(tmp_path: Path, text: str) -> None:
    path = tmp_path / "key"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(PreflightRefused, match="API key"):
        read_key(env=None, file=str(path), environ={})


def test_the_home_of_an_unknown_user() -> None:
    with pytest.raises(PreflightRefused) as refused:
        read_key(env=None, file="~nobody-of-that-name/key", environ={})
    assert "no user of that name" in refused.value.findings[0].message
