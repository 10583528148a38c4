"""How does a picture become the bytes of a file?"""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtGui import QImage

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text


def png_bytes(image: QImage) -> bytes:
    """A PNG, to be written as a whole; a worker may make it. Raises UserFacing where there is no memory for the picture."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    # The stubs want the format as bytes; PySide takes words only.
    if not image.save(buffer, "PNG"):  # type: ignore[call-overload]
        raise UserFacing(Text("the picture can't be made", "无法生成图片"), Text("There is not enough memory for it", "内存不足"), Text("Choose fewer rows or a smaller window", "请减少行数或缩小窗口"))
    return bytes(buffer.data().data())
