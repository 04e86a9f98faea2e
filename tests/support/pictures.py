"""Pictures of pages, which are kept in docs/images/ and must not change unseen.

    check_picture(tab, "runs")          # RAGSTONE_UPDATE_GOLDEN=1 writes it anew: look before you keep it

Two pictures are compared by what an eye at some distance sees: the mean luminance of blocks of 8 by 8 pixels,
each blurred with those around it. So another way to smooth the edges of letters changes nothing, and a column
that is gone, a layout that broke or a page that is no longer dark does. Chromium reads and writes the files,
so nothing but it is needed. Other fonts break lines elsewhere: where those of this machine have other widths
than those that the pictures were made with, nothing is compared, and the test says so.
"""

import base64
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.browser import Tab

IMAGES = Path(__file__).parents[2] / "docs" / "images"
FONTS = Path(__file__).parents[1] / "golden" / "fonts.json"
SIZE = {"width": 1280, "height": 800}
BLOCK = 8  # pixels
MOST_BYTES = 80_000
VISIBLE = 12.0  # of 255: by how much the luminance of a block has to differ to count
MOST_BLOCKS = 0.004  # the share of blocks that may differ: 64 of the 16,000 of a picture
QUALITIES = (0.82, 0.7, 0.6, 0.5)  # of WebP: the first that makes a file small enough

_LOADED = """async (address) => {
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  const on = canvas.getContext("2d", { willReadFrequently: true });
  on.drawImage(image, 0, 0);
"""
_BLOCKS = (
    _LOADED
    + """
  const { data } = on.getImageData(0, 0, image.width, image.height);
  const side = BLOCK_SIDE, across = Math.ceil(image.width / side), down = Math.ceil(image.height / side);
  const sums = new Float64Array(across * down), counts = new Float64Array(across * down);
  for (let y = 0, at = 0; y < image.height; y++) for (let x = 0; x < image.width; x++, at += 4) {
    const block = Math.floor(y / side) * across + Math.floor(x / side);
    sums[block] += 0.2126 * data[at] + 0.7152 * data[at + 1] + 0.0722 * data[at + 2];
    counts[block]++;
  }
  const means = Array.from(sums, (sum, block) => Math.round(100 * sum / counts[block]) / 100);
  return JSON.stringify({ across, down, means });
}""".replace("BLOCK_SIDE", str(BLOCK))
)
_WEBP = (
    _LOADED
    + f"""
  const files = {list(QUALITIES)}.map((quality) => canvas.toDataURL("image/webp", quality));
  return files.find((file) => 0.75 * file.length < {MOST_BYTES}) ?? files.at(-1);
}}"""
)
_WIDTHS = """() => {
  const on = document.createElement("canvas").getContext("2d");
  const said = "Hamburgefonstiv 0123456789";
  return Object.fromEntries(["--serif", "--sans", "--mono"].map((name) => {
    on.font = "600 20px " + getComputedStyle(document.documentElement).getPropertyValue(name);
    return [name, Math.round(on.measureText(said).width)];
  }));
}"""


def screenshot(tab: Tab, clip: dict[str, float] | None = None) -> bytes:
    """Return the part of a page that is in view, or a rectangle of it, as PNG, with nothing that moves."""
    return bytes(tab.page.screenshot(animations="disabled", caret="hide", clip=clip))


def luminance(tab: Tab, image: bytes, kind: str = "png") -> "np.ndarray[Any, np.dtype[np.float64]]":
    """Return the mean luminance of each block, 0 to 255, rows by columns, blurred over three by three blocks.

    tab: any that is on no page with a policy of its own.
    """
    # As text: of 16,000 numbers playwright would take each by itself.
    blocks = json.loads(tab.run_with(_BLOCKS, _address(image, kind)))
    means = np.array(blocks["means"]).reshape(blocks["down"], blocks["across"])
    padded = np.pad(means, 1, mode="edge")
    return (
        sum(
            padded[down : down + means.shape[0], across : across + means.shape[1]]
            for down in range(3)
            for across in range(3)
        )
        / 9
    )


def difference(first: "np.ndarray[Any, Any]", second: "np.ndarray[Any, Any]") -> float:
    """Return the share of blocks whose luminance differs visibly; 1 for pictures of different sizes."""
    return 1.0 if first.shape != second.shape else float(np.mean(np.abs(first - second) > VISIBLE))


def check_picture(tab: Tab, name: str, clip: dict[str, float] | None = None) -> None:
    """Check that what is in view, or a rectangle of it, is as its picture shows it.

    name: without its ending, relative to docs/images. Skips where the fonts are others.
    """
    file = IMAGES / f"{name}.webp"
    widths, taken = tab.run(_WIDTHS), screenshot(tab, clip)
    tab.page.goto("about:blank")
    if os.environ.get("RAGSTONE_UPDATE_GOLDEN") == "1":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(base64.b64decode(tab.run_with(_WEBP, _address(taken, "png")).partition(",")[2]))
        FONTS.write_text(f"{json.dumps(widths)}\n")
    if json.loads(FONTS.read_text()) != widths:
        pytest.skip(f"the pictures were made with fonts of other widths than {widths}: {FONTS}")
    assert file.stat().st_size <= MOST_BYTES
    share = difference(luminance(tab, taken), luminance(tab, file.read_bytes(), "webp"))
    if share > MOST_BLOCKS:
        beside = Path(os.environ.get("RAGSTONE_PICTURES", "/tmp")) / f"{file.stem}.png"
        beside.write_bytes(taken)
        pytest.fail(
            f"{name}: {share:.1%} of the picture differs, and {MOST_BLOCKS:.1%} may. "
            f"Compare {beside} with {file}. "
            "If this is meant: RAGSTONE_UPDATE_GOLDEN=1 pytest -n 0"
        )


def _address(image: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(image).decode()}"
