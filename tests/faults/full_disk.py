"""In mounts of its own: a download to a disk that is too small, to one that others fill, and to one that was grown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.faults.mounts import mount_tmpfs, remount_tmpfs

MODEL = "moonshotai/Kimi-K2-Tiny"
MIB = 1 << 20


def download(out: Path) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-m", "moonpad", "checkpoint", "get", MODEL, "--out", str(out))
    return subprocess.run(command, capture_output=True, text=True, check=False)


def main(home: Path) -> None:
    disk = home / "disk"
    disk.mkdir()
    mount_tmpfs(disk, 30 * MIB)
    out = disk / "model"

    refused = download(out)
    assert refused.returncode == 3, refused.stderr
    assert "has no room for" in refused.stderr
    assert "are still to come, and" in refused.stderr
    assert not list(out.rglob("*.incomplete"))

    # The sizes fit when it is asked, and do not when it is written: tmpfs counts what the number of free blocks hides.
    remount_tmpfs(disk, f"size={45 * MIB}")
    filler = subprocess.Popen(
        (
            sys.executable,
            "-c",
            "import glob, sys, time\n"
            "while not glob.glob(sys.argv[1] + '/model/.cache/huggingface/download/large*'): time.sleep(0.001)\n"
            "open(sys.argv[1] + '/other', 'wb').write(b'x' * (20 << 20))\n",
            str(disk),
        )
    )
    full = download(out)
    filler.wait()
    assert full.returncode == 3, full.stderr
    assert "are still to come, and" in full.stderr
    assert "Traceback" not in full.stderr
    (part,) = out.rglob("large.bin*.incomplete")
    assert part.stat().st_size > 0

    remount_tmpfs(disk, f"size={90 * MIB}")
    done = download(out)
    assert done.returncode == 0, done.stderr
    assert (out / "large.bin").stat().st_size == 40 * MIB


if __name__ == "__main__":
    main(Path(sys.argv[1]))
