from pathlib import Path

import pytest

from moonpad.facts.memory import Limit, Ram, cgroup_limits, memory, parse_meminfo, under_limits
from moonpad.facts.probe import Unknown
from moonpad.values.units import GIB, MIB

MEMINFO = "MemTotal:       24684100 kB\nMemFree:        21076704 kB\nMemAvailable:   22215752 kB\nHugetlb: 0 kB\n"


def tree(tmp_path: Path, files: dict[str, str]) -> Path:
    for name, text in {"proc/meminfo": MEMINFO, **files}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_meminfo_is_in_kib() -> None:
    assert parse_meminfo(MEMINFO) == Ram(24684100 * 1024, 22215752 * 1024)


def test_without_a_limit(tmp_path: Path) -> None:
    files = {"proc/self/cgroup": "0::/user.slice\n", "sys/fs/cgroup/user.slice/memory.max": "max\n"}
    assert memory(tree(tmp_path, files)) == parse_meminfo(MEMINFO)


def test_version_2_and_the_page_cache_is_not_used(tmp_path: Path) -> None:
    folder = "sys/fs/cgroup/system.slice/job"
    files = {
        "proc/self/cgroup": "0::/system.slice/job\n",
        f"{folder}/memory.max": f"{8 * GIB}\n",
        f"{folder}/memory.current": f"{5 * GIB}\n",
        f"{folder}/memory.stat": f"anon {2 * GIB}\ninactive_file {3 * GIB}\nactive_file 0\n",
    }
    assert memory(tree(tmp_path, files)) == Ram(8 * GIB, 6 * GIB, "/system.slice/job")


def test_a_parents_limit_counts(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "0::/a/b\n",
        "sys/fs/cgroup/a/memory.max": f"{2 * GIB}\n",
        "sys/fs/cgroup/a/memory.current": f"{GIB}\n",
        "sys/fs/cgroup/a/b/memory.max": f"{4 * GIB}\n",
        "sys/fs/cgroup/a/b/memory.current": f"{512 * MIB}\n",
    }
    assert memory(tree(tmp_path, files)) == Ram(2 * GIB, GIB, "/a")


def test_version_1_inside_a_container(tmp_path: Path) -> None:
    """The path in /proc/self/cgroup is the host's; only the container's own group is mounted."""
    files = {
        "proc/self/cgroup": "9:cpu,cpuacct:/docker/1234\n4:memory:/docker/1234\n0::/\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{3 * GIB}\n",
        "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{GIB}\n",
        "sys/fs/cgroup/memory/memory.stat": "total_inactive_file 1048576\n",
    }
    assert memory(tree(tmp_path, files)) == Ram(3 * GIB, 2 * GIB + MIB, "/")


def test_no_limit_of_version_1_is_a_huge_number(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "4:memory:/\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
        "sys/fs/cgroup/memory/memory.usage_in_bytes": "3900203008\n",
    }
    assert memory(tree(tmp_path, files)) == parse_meminfo(MEMINFO)


def test_an_overfull_cgroup_leaves_nothing_and_never_less() -> None:
    assert under_limits(Ram(8 * GIB, 4 * GIB), (Limit("/x", GIB, 2 * GIB),)).available_bytes == 0


def test_a_broken_line_of_proc_self_cgroup_is_passed_over(tmp_path: Path) -> None:
    assert list(cgroup_limits(tree(tmp_path, {"proc/self/cgroup": "\n4\n:\n"}))) == []


@pytest.mark.parametrize(
    "text", ["", "MemTotal: 5 kB\n", "MemTotal: 5 kB\nMemAvailable:\n", "MemTotal: x\nMemAvailable: 1\n"]
)
def test_a_meminfo_that_does_not_say_is_unknown(tmp_path: Path, text: str) -> None:
    assert isinstance(memory(tree(tmp_path, {"proc/meminfo": text})), Unknown)


def test_other_systems_are_unknown(tmp_path: Path) -> None:
    assert memory(tmp_path) == Unknown(f"{tmp_path}/proc/meminfo: No such file or directory")
