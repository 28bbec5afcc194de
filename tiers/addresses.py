"""What can be the address of a server. The standard library only: hooks of coding agents ask."""

from __future__ import annotations

from urllib.parse import urlsplit

from .errors import ConfigError


def checked_base_url(url: str, variable: str) -> str:
    """Return an address of a server without the slash at its end.

    Raises:
        ConfigError: It is no plain http or https address. What it is stays unsaid: it may hold a
            password.
    """
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
        parts = urlsplit("")
    if not usable or not url.isprintable():
        raise ConfigError(variable, "is no address like https://host/path")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ConfigError(variable, "holds a password, a query or a fragment; give host and path")
    return url.strip().rstrip("/")
