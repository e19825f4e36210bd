"""`verify --record` and `--against`: what the model of a sound endpoint wrote, and another endpoint of that model."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path

import pytest

from moonpad.cli.command_line import run
from moonpad.values.endpoint import Endpoint
from tests.broken_endpoints.content_faults import WHOLE_FAULTS
from tests.broken_endpoints.content_proxy import SOUND, ContentFault, ContentProxy, proxied
from tests.broken_endpoints.server import BrokenEndpoint, serve
from tests.threaded import threaded

Capture = pytest.CaptureFixture[str]
EVERYWHERE = next(fault for fault in WHOLE_FAULTS if fault.completion)
"""Spoils chats and plain completions alike: only a recording tells."""
OPTIONS = ("--only", "chat", "own_answers", "own_cuts")


@asynccontextmanager
async def both(fault: ContentFault) -> AsyncIterator[Endpoint]:
    async with serve(BrokenEndpoint()) as endpoint, proxied(ContentProxy(endpoint.root_url, fault)) as url:
        yield Endpoint(url, endpoint.model)


def behind(fault: ContentFault = SOUND) -> AbstractContextManager[str]:
    return threaded(both(fault))


def test_a_sound_endpoint_is_recorded_and_others_are_compared(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "sound.json"
    with behind() as url:
        assert run(["verify", "--url", url, *OPTIONS, "--record", str(file)]) == 0
        assert f"answers of {json.loads(file.read_text())['model']} are recorded in {file}" in capsys.readouterr().err
        assert run(["verify", "--url", url, *OPTIONS, "--against", str(file)]) == 0
    with behind(EVERYWHERE) as url:
        assert run(["verify", "--url", url, *OPTIONS]) == 0  # both ways agree, so nothing shows
        capsys.readouterr()
        assert run(["verify", "--url", url, *OPTIONS, "--against", str(file)]) == 5
    assert "in the recording of vLLM at http://127.0.0.1" in " ".join(capsys.readouterr().out.split())


def test_a_broken_endpoint_is_not_recorded(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "broken.json"
    with behind(next(fault for fault in WHOLE_FAULTS if fault.name == "the content is doubled")) as url:
        assert run(["verify", "--url", url, *OPTIONS, "--record", str(file)]) == 5
    assert not file.exists()


def test_nothing_is_recorded_where_the_models_text_is_not_seen(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "nothing.json"
    with behind() as url:
        assert run(["verify", "--url", url, "--only", "health", "--record", str(file)]) == 5
    assert "nothing is recorded" in capsys.readouterr().err
    assert not file.exists()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"model": "m", "made_by": "x", "at": "", "texts": {}}', '{"texts": 7}']
)
def test_what_is_no_recording_is_refused(text: str, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "other.json"
    file.write_text(text)
    assert run(["verify", "--url", "http://127.0.0.1:9", "--against", str(file)]) == 2
    assert "is not a recording of answers" in capsys.readouterr().err


def test_a_recording_that_is_not_there(tmp_path: Path, capsys: Capture) -> None:
    assert run(["verify", "--url", "http://127.0.0.1:9", "--against", str(tmp_path / "none.json")]) == 2
    assert "--record FILE" in capsys.readouterr().err
