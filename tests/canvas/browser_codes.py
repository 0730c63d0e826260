"""Values as the browser reads them from the codes that are sent to it."""

import numpy as np

from attnviz.canvas.shared import packing


def decode16(codes: np.ndarray, top: float, signed: bool) -> np.ndarray:
    """Values of `encode16`'s codes, NaN where masked: what the JavaScript does."""
    if signed:
        root = (codes.astype(np.float64) - 32767) / 32767
        values = np.sign(root) * root**2 * top
    else:
        values = (codes.astype(np.float64) / 65534) ** 2 * top
    return np.where(codes == packing.MASKED_16, np.nan, values)
