import re
from importlib.resources import files

import pytest

from moonpad.catalog.recipes import parse_lock, read_lock
from moonpad.engines import ENGINES
from moonpad.engines.install_recipe import Recipe
from moonpad.engines.router_programs import ROUTERS
from moonpad.engines.tools import TOOLS
from moonpad.environments.installed_packages import normal_name

ENGINE_RECIPES = [engine.recipe for engine in ENGINES.values() if engine.recipe is not None]
RECIPES = [*ENGINE_RECIPES, *(tool.recipe for tool in (*TOOLS.values(), *ROUTERS.values()))]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_the_lock_of_every_recipe(recipe: Recipe) -> None:
    lock = read_lock(recipe.lock)
    assert lock.pins[recipe.package or recipe.name] == recipe.version
    names = [normal_name(name) for name in lock.pins]
    assert len(names) == len(set(names)) > 20
    assert not {normal_name(package.partition("==")[0]) for package in recipe.unlocked} & set(names)
    # Nothing of the machine that made it: no index, no path. No marker either: one list for every Python.
    assert not re.search(r"^(?!#).*(?:://|;|@)|^-", lock.text, re.MULTILINE)
    assert "://" not in lock.text


@pytest.mark.parametrize(
    "recipe", [recipe for recipe in ENGINE_RECIPES if not recipe.cuda], ids=lambda recipe: recipe.name
)
def test_what_text_on_a_cpu_does_not_need_is_left_out(recipe: Recipe) -> None:
    unneeded = {
        "torchaudio",
        "torchcodec",
        "opencv-python-headless",
        "sglang-kernel",
        "flashinfer-python",
        "cuda-python",
    }
    if recipe.name != "sglang-cpu":  # SGLang imports them whatever it serves
        unneeded |= {"triton", "torchvision"}
    assert not unneeded & set(read_lock(recipe.lock).pins)


def test_an_evaluation_needs_no_engine() -> None:
    """lm-eval builds prompts and scores answers here; what would run a model by itself is not there."""
    assert not {"torch", "transformers", "vllm", "accelerate"} & set(read_lock("lm-eval-0.4.13.txt").pins)


def test_every_lock_belongs_to_a_recipe() -> None:
    there = {entry.name for entry in files("moonpad.catalog.recipes").iterdir() if entry.name.endswith(".txt")}
    assert there == {recipe.lock for recipe in RECIPES}


def test_a_lock_is_named_by_its_content() -> None:
    lock = parse_lock("a==1 --hash=sha256:00\n")
    assert dict(lock.pins) == {"a": "1"}
    assert lock.sha256 != parse_lock("a==1 --hash=sha256:01\n").sha256


@pytest.mark.parametrize("line", ["a", "a>=1 --hash=sha256:00", "a==1", "a==1 --hash=md5:00"])
def test_what_is_not_pinned_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="is not pinned"):
        parse_lock(line)
