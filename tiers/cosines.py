"""Dot products of rows: cosines, where the rows have unit length."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def dots(rows: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the dot products of ``rows`` (n by d) with one row (d) or with columns (d by m).

    A BLAS may raise the processor's "invalid" flag for finite rows, because its kernels touch
    lanes that they do not use; numpy then warns of a result that is right (numpy issue 24067).
    """
    with np.errstate(invalid="ignore"):
        products: NDArray[Any] = rows @ others
    return products
