"""`moonpad watch --prometheus FOLDER`: what a Prometheus and a Grafana need to watch the same endpoints."""

from __future__ import annotations

import json as json_module
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from moonpad.cli.output import emit, next_command
from moonpad.engines import ENGINES
from moonpad.store.atomic_files import replace_text
from moonpad.values.errors import PreflightRefused
from moonpad.values.visible_text import shell_word
from moonpad.watch.asking import Target, look_at
from moonpad.watch.dashboard import dashboard
from moonpad.watch.prometheus import RULES_FILE, Scraped, recorded_names, rules, scrape_config


def write_prometheus(targets: Sequence[Target], folder: Path, exposed: str, *, json: bool) -> None:
    """
    Raises:
        PreflightRefused: a file cannot be written.
    """
    import yaml

    scraped = tuple(_scraped(target) for target in targets)
    used = {each.engine for each in scraped}
    # An endpoint that does not answer yet may turn out to be of any engine.
    engines = [each for each in ENGINES.values() if "" in used or each.api.key in used]
    names = tuple(dict.fromkeys(each.metrics for each in engines))
    texts = {
        "prometheus.yml": yaml.safe_dump(scrape_config(scraped, exposition=exposed), sort_keys=False),
        RULES_FILE: yaml.safe_dump(rules(names), sort_keys=False, width=1_000_000),
        "grafana-dashboard.json": json_module.dumps(dashboard(recorded_names(names)), indent=1) + "\n",
    }
    for name, text in texts.items():
        try:
            replace_text(folder / name, text, 0o644)
        except OSError as error:
            raise PreflightRefused(
                f"cannot write {folder / name}: {error.strerror}", remedy="name another folder"
            ) from None
    files = [str(folder / name) for name in texts]
    document = {
        "files": files,
        "engines": sorted({each.api.key for each in engines}),
        "endpoints": [each.endpoint for each in scraped],
    }
    emit("\n".join(files), document, json=json)
    if not json:
        next_command(f"prometheus --config.file={shell_word(files[0])}")


def _scraped(target: Target) -> Scraped:
    endpoint = target.endpoint
    engine = ENGINES[endpoint.engine].api.key if endpoint.engine in ENGINES else look_at(target, 0.0).engine
    return Scraped(target.name, engine, tuple(map(_address, endpoint.replica_urls or (endpoint.root_url,))))


def _address(url: str) -> tuple[str, str]:
    """Scheme and HOST:PORT."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    return (
        parts.scheme,
        f"{f'[{host}]' if ':' in host else host}:{parts.port or (443 if parts.scheme == 'https' else 80)}",
    )
