"""How a server asks LMCache for its KV cache, and where LMCache's own settings and its release stand in a text."""

from __future__ import annotations

import re
from typing import Final

CONNECTOR: Final = re.compile(r"LMCacheConnector(?:V1)?(?:Dynamic)?\b")
"""Of those that read the settings in the server's own process."""
FILE: Final = "LMCACHE_CONFIG_FILE"
PREFIX: Final = "LMCACHE_"
INSIDE: Final = "lmcache."
"""In front of its keys among the connector's own."""
RELEASE: Final = re.compile(
    r"\blmcache(?:/vllm-openai:|[-_ ]?(?:version)?[ :=@v]{1,4})v?(?P<release>\d+\.\d+\.\d+)", re.IGNORECASE
)
WITHOUT_LATENT: Final = "VLLM_MLA_DISABLE"
"""Set to 1, models with latent attention are served without it."""
SEED: Final = "PYTHONHASHSEED"
"""What the hashes of tokens begin with."""
