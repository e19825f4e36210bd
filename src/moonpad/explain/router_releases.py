"""The release of a router, which is none of its engine's."""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines.router_programs import IMAGES
from moonpad.explain.commands import Command, Script
from moonpad.explain.target_detection import Version

_LONGEST: Final = 2000


def router_release(command: Command, script: Script) -> Version:
    """That of its image, else the one that the text installs; "" where neither names one."""
    name, container = command.program, command.container
    image = container.image.text if container is not None and container.image is not None else ""
    held = IMAGES[name].search(image) if name in IMAGES else None
    if held is not None:
        return Version(held["version"], f"the text names {name} {held['version']}")
    package = name.replace("-", "[-_]")
    pin = re.compile(rf"(?<![\w-]){package}(?:\[[\w,-]{{1,40}}\])?==(?P<version>\d[\w.]{{0,30}})(?![\w.*])")
    script.budget.once(f"releases of {name}", len(script.lines), "the text around its engine commands")
    pins = {match["version"] for line in script.lines if (match := pin.search(line[:_LONGEST]))}
    if len(pins) == 1:
        version = pins.pop()
        return Version(version, f"the text names {name} {version}")
    return Version("", "the newest known")
