from __future__ import annotations

from pathlib import Path

import pytest

from moonpad.store.run_folder import RunFolder
from tests.unit.run.rig import Rig


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(RunFolder("kimi", tmp_path))
