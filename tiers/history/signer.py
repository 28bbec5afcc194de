"""The key that signs belief logs: from a setting, from a file, or made when first needed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from pydantic import SecretStr

from ..errors import ConfigError
from .receipts import ErasureReceipt, signed_receipt
from .rotation import Rotation, load_key, rotate, rotations_of
from .signing import SigningKey

KEY_FILE = "signing-key.pem"


class Signer:
    """Signs on behalf of the installation.

    Args:
        key: The key itself; it is in no file then.
        file: A file that holds it.
        home: The installation's folder: the key is made there where neither is given; ``None``
            where it has none.
        clock: Where the time comes from.
    """

    def __init__(
        self,
        key: SecretStr | None,
        file: Path | None,
        home: Path | None,
        clock: Callable[[], datetime],
    ) -> None:
        self._key = key
        self._made = home / KEY_FILE if home is not None and key is None and file is None else None
        self._path = file if key is None and file is not None else self._made
        self._clock = clock

    async def check(self) -> None:
        """Refuse a key that is configured, or there already, and no key; none is made.

        Raises:
            ConfigError: It is not acceptable.
        """
        if self._made is None or await asyncio.to_thread(self._made.exists):
            await self.key()

    async def key(self) -> SigningKey | None:
        """Return the key; ``None`` where none is configured and no folder of ours could hold one.

        Raises:
            ConfigError: The key, or its file, is not acceptable.
        """
        # Read anew each time: another process may have put a new key in its place.
        return await asyncio.to_thread(self._read)

    async def needed(self) -> SigningKey:
        """Return the key.

        Raises:
            ConfigError: There is none, or it is not acceptable.
        """
        key = await self.key()
        if key is None:
            reason = "no key: set it, or EZRA_SIGNING_KEY_FILE, to sign belief logs"
            raise ConfigError("EZRA_SIGNING_KEY", reason)
        return key

    async def rotations(self) -> tuple[Rotation, ...]:
        """Return how the key came to follow earlier ones, the first change first."""
        path = self._path
        return () if path is None else await asyncio.to_thread(rotations_of, path)

    async def rotate(self) -> SigningKey:
        """Make a new key, for which the present one vouches, and use it from now on.

        Raises:
            ConfigError: The key is in a setting, where only its owner can change it.
        """
        path = self._path
        if path is None:
            reason = "a key that is no file of this installation is changed where it is kept"
            raise ConfigError("EZRA_SIGNING_KEY", reason)
        await self.needed()
        await asyncio.to_thread(rotate, path, self._clock())
        return await asyncio.to_thread(load_key, path)

    async def receipt(self, receipt: ErasureReceipt) -> ErasureReceipt:
        """Return a receipt, signed where there is a key."""
        key = await self.key()
        return receipt if key is None else signed_receipt(receipt, key)

    def _read(self) -> SigningKey | None:
        if self._key is not None:
            return SigningKey.from_text(self._key.get_secret_value())
        if self._path is None:
            return None
        if self._made is not None:
            SigningKey.generate(self._made)
        return load_key(self._path)
