"""What does the number of an NVML error mean?"""

from __future__ import annotations

from collections.abc import Mapping

from gpulease_gui.domain.text import Text

# nvmlReturn_t of nvml.h, in the words that its users know.
NVML_ERRORS: Mapping[int, Text] = {
    1: Text("not initialized", "未初始化"),
    2: Text("invalid argument", "参数无效"),
    3: Text("not supported", "不支持"),
    4: Text("insufficient permissions", "权限不足"),
    5: Text("already initialized", "已初始化"),
    6: Text("not found", "未找到"),
    7: Text("insufficient size", "缓冲区不足"),
    8: Text("insufficient external power", "外接供电不足"),
    9: Text("driver not loaded", "驱动未加载"),
    10: Text("timeout", "超时"),
    11: Text("interrupt request issue", "中断请求异常"),
    12: Text("NVML library not found", "未找到 NVML 库"),
    13: Text("function not found", "未找到函数"),
    14: Text("corrupted infoROM", "infoROM 损坏"),
    15: Text("GPU is lost", "GPU 丢失"),
    16: Text("GPU requires reset", "GPU 需要复位"),
    17: Text("blocked by the operating system", "被操作系统阻止"),
    18: Text("driver/library version mismatch", "驱动与库版本不匹配"),
    19: Text("in use by another client", "正被其他程序占用"),
    20: Text("insufficient memory", "内存不足"),
    21: Text("no data", "无数据"),
    22: Text("not available while ECC is enabled", "启用 ECC 时不可用"),
    23: Text("insufficient resources", "资源不足"),
    24: Text("frequency not supported", "不支持此频率"),
    25: Text("argument version mismatch", "参数版本不匹配"),
    26: Text("deprecated", "已弃用"),
    27: Text("not ready", "未就绪"),
    28: Text("GPU not found", "未找到 GPU"),
    29: Text("invalid state", "状态无效"),
    999: Text("unknown error", "未知错误"),
}


def nvml_words(number: int) -> Text:
    """The number, by which it is looked up, and what it means where that is known."""
    meaning = NVML_ERRORS.get(number)
    if meaning is None:
        return Text(f"NVML error {number}", f"NVML 错误 {number}")
    return Text(f"NVML error {number}: {meaning.en}", f"NVML 错误 {number}：{meaning.zh}")
