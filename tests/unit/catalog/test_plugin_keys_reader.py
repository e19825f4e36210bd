"""What scripts/record_options/plugin_keys.py reads of sources such as a plugin has had."""

from __future__ import annotations

from pathlib import Path

from scripts.record_options.plugin_keys import Keys, read_keys

BY_HAND = """
class Config:
    def __init__(self, vllm_config):
        additional_config = vllm_config.additional_config or {}
        self.balancer = Balancer(additional_config.get("balancer_config", {}))
        graphs = additional_config.get("graph_config", {})
        self.graphs = Graphs(**graphs)
        self.scheduler = Scheduler(additional_config.get("open_config", {}))
        self.fast = self._get_config_value(additional_config, "fast", "PLUGIN_FAST", envs.PLUGIN_FAST)
        self.refresh(additional_config["inner_config"])
        self.sparse = additional_config.get("sparse", {"enabled": False})
        self.is_sparse = self.sparse["enabled"]

    def refresh(self, config):
        self.period = config.get("period", 1)


class Balancer:
    _defaults = {"policy": 1, "map": None}

    def __init__(self, user_config=None):
        for key in user_config:
            if key not in self._defaults:
                raise ValueError(f"Config has no attribute {key}")


class Graphs:
    def __init__(self, enabled: bool = True, **kwargs):
        self.sizes = kwargs.get("sizes", [])


class Scheduler:
    def __init__(self, given: dict):
        self.enabled = given.get("enabled", False)
        for key, value in given.items():
            setattr(self, key, value)
"""
BY_FIELDS = """
@config
class Inner:
    enabled: bool = False
    LEVELS: ClassVar[tuple] = (1, 2)
    derived: int = dataclasses.field(default=0, init=False)


@config
class Outer:
    old_config: Inner = dataclasses.field(default_factory=Inner)


@config
class Offload:
    size: int = 1

    @classmethod
    def from_additional_config(cls, user_config):
        return cls(**user_config)


@config
class AscendConfig:
    outer_config: Outer = dataclasses.field(default_factory=lambda: Outer())
    offload_config: Any = dataclasses.field(kw_only=True)
    _private: int = 0


def init(vllm_config):
    additional_config = vllm_config.additional_config
    offload = Offload.from_additional_config(additional_config.get("offload_config", {}))
    _NON_USER_INPUT_KEYS = {"refresh", "old_config"}
"""


def keys_of(folder: Path, config: str, other: str = "") -> Keys:
    package = folder / "package"
    package.mkdir()
    (package / "config.py").write_text(config)
    (package / "other.py").write_text(other)
    return read_keys(package, "config.py")


def test_keys_that_are_asked_for(tmp_path: Path) -> None:
    other = 'def enabled(config):\n    return "late" in config.additional_config\n'
    keys = keys_of(tmp_path, BY_HAND, other)
    assert keys.tables[""] == {
        *("balancer_config", "graph_config", "open_config", "fast", "inner_config", "sparse", "late")
    }
    assert keys.tables["balancer_config"] == {"policy", "map"}
    assert keys.tables["graph_config"] == {"enabled", "sizes"}
    assert keys.tables["inner_config"] == {"period"}
    assert keys.tables["sparse"] == {"enabled"}
    assert (keys.refusing, keys.open) == ({"balancer_config"}, {"open_config"})
    assert keys.variables == {"PLUGIN_FAST": "fast"}


def test_keys_that_are_fields(tmp_path: Path) -> None:
    keys = keys_of(tmp_path, BY_FIELDS)
    assert keys.tables == {
        "": {"outer_config", "offload_config", "refresh", "old_config"},
        "outer_config": {"old_config"},
        "outer_config.old_config": {"enabled"},
        "old_config": {"enabled"},
        "offload_config": {"size"},
    }
    assert keys.refusing == set(keys.tables)
