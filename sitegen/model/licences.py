"""Name the licences of texts, by their identifiers of SPDX."""

from __future__ import annotations

from collections.abc import Mapping

LICENCES: Mapping[str, str] = {
    **{
        f"CC-{kind}-4.0": f"https://creativecommons.org/licenses/{kind.lower()}/4.0/"
        for kind in ("BY", "BY-SA", "BY-NC", "BY-NC-SA", "BY-ND", "BY-NC-ND")
    },
    "CC0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
    "MIT": "https://opensource.org/license/mit",
    "Apache-2.0": "https://www.apache.org/licenses/LICENSE-2.0",
}
"""The address of each licence."""
