#!/usr/bin/env python3
"""Sample the NVIDIA GPUs of the computer that this runs on, one line per GPU and tick, until stdin or stdout closes.

Python 3.6 or newer, standard library and pynvml. The lines are those of the telemetry source "gpu": index, UUID,
utilization of GPU and memory (%), memory used (MiB), power (W), temperature (C), SM and memory clock (MHz), bit mask
of the clock event reasons. A value that the driver does not give is [N/A]. A line that starts with "!" says why
nothing can be sampled and is the last.
"""

import os
import sys
import time

MISSING = "[N/A]"


def load_nvml():
    """The started NVML module, or a sentence that says why there is none."""
    try:
        import pynvml
    except ImportError:
        return None, "the Python package nvidia-ml-py is not installed"
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return None, "no NVIDIA driver answers here ({})".format(text(error))
    return pynvml, ""


def text(value):
    """NVML words as text: old versions give bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def ask(nvml, call, *arguments):
    """One NVML call; None where the driver has no answer."""
    try:
        return getattr(nvml, call)(*arguments)
    except nvml.NVMLError:
        return None
    except AttributeError:
        return None


def cell(value, form="{}"):
    """A value as it travels."""
    return MISSING if value is None else form.format(value)


def event_reasons(nvml, handle):
    """The bit mask of active clock event reasons; the call was renamed with driver 535."""
    mask = ask(nvml, "nvmlDeviceGetCurrentClocksEventReasons", handle)
    if mask is None:
        mask = ask(nvml, "nvmlDeviceGetCurrentClocksThrottleReasons", handle)
    return mask


def gpu_line(nvml, index):
    """The line of one GPU; None if the GPU can't be reached."""
    handle = ask(nvml, "nvmlDeviceGetHandleByIndex", index)
    uuid = None if handle is None else ask(nvml, "nvmlDeviceGetUUID", handle)
    if uuid is None:
        return None
    rates = ask(nvml, "nvmlDeviceGetUtilizationRates", handle)
    memory = ask(nvml, "nvmlDeviceGetMemoryInfo", handle)
    power_mw = ask(nvml, "nvmlDeviceGetPowerUsage", handle)
    cells = [
        str(index),
        text(uuid),
        cell(None if rates is None else rates.gpu),
        cell(None if rates is None else rates.memory),
        cell(None if memory is None else memory.used // (1024 * 1024)),
        cell(None if power_mw is None else power_mw / 1000.0, "{:.2f}"),
        cell(ask(nvml, "nvmlDeviceGetTemperature", handle, 0)),
        cell(ask(nvml, "nvmlDeviceGetClockInfo", handle, 1)),
        cell(ask(nvml, "nvmlDeviceGetClockInfo", handle, 2)),
        cell(event_reasons(nvml, handle), "0x{:016x}"),
    ]
    return ", ".join(cells)


def main():
    """Sample until the other end goes away."""
    interval_s = float(os.environ.get("GPULEASE_INTERVAL", "1"))
    ticks = int(os.environ.get("GPULEASE_TICKS", "0"))
    nvml, trouble = load_nvml()
    count = None if nvml is None else ask(nvml, "nvmlDeviceGetCount")
    if not count:
        print("! " + (trouble or "no NVIDIA GPU in this computer"), flush=True)
        return 0
    done = 0
    while True:
        for index in range(count):
            line = gpu_line(nvml, index)
            if line is not None:
                print(line, flush=True)
        done += 1
        if done == ticks:
            return 0
        time.sleep(interval_s)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (BrokenPipeError, KeyboardInterrupt):
        sys.exit(0)
