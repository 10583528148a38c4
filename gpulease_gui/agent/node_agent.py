#!/usr/bin/env python3
"""What do the GPUs, links, disks and processors of this computer do, a line per source and tick, until stdin ends?

Python 3.6 or newer, standard library only. It comes through stdin, leaves no file behind, and ends with its stdin.
NVML is asked through pynvml where that is installed, else through ctypes, else nvidia-smi is; npu-smi for Ascend.
Nothing that a driver can block runs on the main thread, so a wedged driver costs its own lines only.

A line is `MARK SOURCE PAYLOAD`; without a mark it is one JSON object. Payloads: the rows of /proc with the byte 0x1E
between them after the seconds of the node's clock (network, disk, host, rdma), JSON (gpu, agent), the rows of
nvidia-smi and npu-smi as they are. One that starts with "!" says why the source can't be read at this moment.
"""

import contextlib
import glob
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time

try:
    import ctypes
except ImportError:  # a Python that was built without it
    ctypes = None

RECORD_END = "\x1e"
# A driver that is silent for so long counts as wedged; an nvidia-smi of a busy node needs seconds.
DEADLINE_S = 5.0
AGAIN_S = 2.0
IMPORT_S = 10.0  # longer than the slowest disk; what takes longer never ends
SLOW_S = 0.95
FOLDERS = ("/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin", "/usr/local/nvidia/bin", "/usr/local/cuda/bin",
           "/usr/lib/wsl/lib", "/usr/local/Ascend/driver/tools")  # fmt: skip
# What comes and goes with containers and pods: it carries nothing that the node's own interfaces do not.
PASSING = ("lo:", "veth", "cali", "lxc", "lxd", "cilium", "cni", "docker", "flannel", "virbr", "vnet", "tap", "vxlan", "genev",
           "kube-", "nodelocaldns", "dummy", "ifb", "podman", "weave", "azv", "gke", "tunl", "ip6tnl", "sit")  # fmt: skip
RDMA, BLOCK = "/sys/class/infiniband/*/ports/*", "/sys/block"
PCI_VENDORS, NVIDIA, DISPLAY = "/sys/bus/pci/devices/*/vendor", "0x10de", "0x03"
RDMA_ERRORS = ("counters/symbol_error", "counters/port_rcv_errors", "counters/link_downed",
               "counters/local_link_integrity_errors", "hw_counters/out_of_sequence", "hw_counters/packet_seq_err",
               "hw_counters/local_ack_timeout_err")  # fmt: skip
SMI_FIELDS = "index,uuid,utilization.gpu,utilization.memory,memory.used,power.draw,temperature.gpu,clocks.sm,clocks.mem,"
# Asked behind it, where all of it is known; the last two make the driver read for long.
SMI_MORE, SMI_SLOW = ("pci.bus_id", "enforced.power.limit", "temperature.memory"), ("ecc.errors.corrected.aggregate.total",
                                                                                   "ecc.errors.uncorrected.aggregate.total")  # fmt: skip
SMI_REASONS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")
NO_GPU, SILENT, NONE_SHOWN = "no NVIDIA GPU on the node", "the NVIDIA driver does not answer", "the NVIDIA driver shows no GPU"
NONE_OF, SMI_NONE = "the NVIDIA driver shows none of {} NVIDIA GPUs on the PCI bus", "no devices were found"
# A tool that says nothing for so long hangs: it is ended, and asked again. What is longer is no answer, and no row, of one.
TOOL_S, ROWS_S, TOOL_BYTES, TABLE_BYTES, ROW_BYTES, MOST_ROWS = 20.0, 60.0, 1 << 20, 60000, 4096, 256
CHILDREN, KEEPERS, LEDGER = set(), [], threading.Lock()
# Where this program is killed, so that the stdin of the keeper ends, it ends the tools: they and what they start bear a mark.
MARK = {"GPULEASE_TOOL_OF": os.urandom(16).hex()}
KEEPER = ["sh", "-c", 'read -r x; for n in 1 2; do for f in $(grep -lsF "$0" /proc/[0-9]*/environ); do f=${f#/proc/}; '
          'kill -KILL "${f%/environ}"; done; done', "GPULEASE_TOOL_OF=" + MARK["GPULEASE_TOOL_OF"]]  # fmt: skip

# NVML's numbers (nvml.h).
UNINITIALIZED, DRIVER_NOT_LOADED, TIMEOUT, NO_LIBRARY, NO_FUNCTION, LOST, RESET = 1, 9, 10, 12, 13, 15, 16
XID_EVENT, ALL_LINKS, MEMORY_V2 = 8, 0xFFFFFFFF, 0x2000028
AWAY = (UNINITIALIZED, DRIVER_NOT_LOADED, LOST, RESET)
MOST_XIDS, DEAF_S, MOST_REFUSALS = 16, 30.0, 3
NOT_AVAILABLE = 0xFFFFFFFFFFFFFFFF
VALUES = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")
# Asked in groups, because a driver that does not know one field may refuse the whole call: (name, field, scope).
FIELDS = (
    (("temperature_memory_c", 82, 0),),
    (("pcie_replays", 94, 0),),
    (("nvlink_tx_kib", 138, ALL_LINKS), ("nvlink_rx_kib", 139, ALL_LINKS)),
    (("nvlink_crc_flit", 38, 0), ("nvlink_crc_data", 45, 0), ("nvlink_replay", 52, 0), ("nvlink_recovery", 59, 0)),
    (("remapped_corrected", 142, 0), ("remapped_uncorrected", 143, 0), ("remap_pending", 144, 0), ("remap_failed", 145, 0)),
    (("pcie_tx_bytes", 197, 0), ("pcie_rx_bytes", 198, 0)),
)
GAUGES = ("temperature_memory_c", "remap_pending", "remap_failed")


class Refusal(Exception):
    """An NVML call that was refused, as pynvml.NVMLError."""

    def __init__(self, value):
        Exception.__init__(self, "NVML error {}".format(value))
        self.value = value


class Gone(Exception):
    """The GPU, or the driver under it, is not there any more."""


class NoneShown(Exception):
    """The driver shows no GPU, though there may be some."""


if ctypes is not None:

    def _struct(name, *fields):
        return type(name, (ctypes.Structure,), {"_fields_": list(fields)})

    U32, U64, S64, PTR = ctypes.c_uint, ctypes.c_ulonglong, ctypes.c_longlong, ctypes.c_void_p
    Rates = _struct("Rates", ("gpu", U32), ("memory", U32))
    Pci = _struct("Pci", ("legacy", ctypes.c_char * 16), ("numbers", U32 * 5), ("busId", ctypes.c_char * 32))
    Memory = _struct("Memory", ("total", U64), ("free", U64), ("used", U64))
    MemoryV2 = _struct("MemoryV2", ("version", U32), ("total", U64), ("reserved", U64), ("free", U64), ("used", U64))
    Value = type("Value", (ctypes.Union,), {"_fields_": [
        ("dVal", ctypes.c_double), ("uiVal", U32), ("ulVal", ctypes.c_ulong), ("ullVal", U64), ("sllVal", S64),
        ("siVal", ctypes.c_int), ("usVal", ctypes.c_ushort),
    ]})  # fmt: skip
    Field = _struct("Field", ("fieldId", U32), ("scopeId", U32), ("timestamp", S64), ("latencyUsec", S64),
                    ("valueType", U32), ("nvmlReturn", U32), ("value", Value))  # fmt: skip
    Process = _struct("Process", ("pid", U32), ("usedGpuMemory", U64), ("gpuInstanceId", U32), ("computeInstanceId", U32))
    Event = _struct("Event", ("device", PTR), ("eventType", U64), ("eventData", U64), ("gpuInstanceId", U32),
                    ("computeInstanceId", U32))  # fmt: skip
    # What a call gives back, behind its arguments; pynvml's name of it is without the version.
    CALLS = {symbol.partition("_v")[0]: (symbol, kind) for kind, symbols in (
        (None, ("nvmlInit_v2", "nvmlShutdown", "nvmlEventSetFree")),
        (U32, ("nvmlDeviceGetCount_v2", "nvmlDeviceGetPowerUsage", "nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetTemperature",
               "nvmlDeviceGetClockInfo", "nvmlDeviceGetPcieThroughput")),
        (U64, ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons", "nvmlDeviceGetTotalEccErrors")),
        (PTR, ("nvmlDeviceGetHandleByIndex_v2", "nvmlEventSetCreate")), (Rates, ("nvmlDeviceGetUtilizationRates",)),
        (Pci, ("nvmlDeviceGetPciInfo_v3",)),
    ) for symbol in symbols}  # fmt: skip


class Direct(object):
    """The calls of pynvml that are needed here, straight from the driver's library, under the same names."""

    NVMLError = Refusal
    via = "ctypes"

    def __init__(self):
        self._lib = ctypes.CDLL("libnvidia-ml.so.1")

    def _call(self, symbol, *arguments):
        code = getattr(self._lib, symbol)(*arguments)
        if code:
            raise Refusal(code)

    def __getattr__(self, name):
        if name not in CALLS:
            raise AttributeError(name)
        symbol, kind = CALLS[name]

        def call(*arguments):
            if kind is None:
                return self._call(symbol, *arguments)
            found = kind()
            self._call(symbol, *(arguments + (ctypes.byref(found),)))
            return found.value if kind in (U32, U64) else found

        setattr(self, name, call)
        return call

    def nvmlDeviceGetUUID(self, handle):
        words = ctypes.create_string_buffer(96)
        self._call("nvmlDeviceGetUUID", PTR(address(handle)), words, U32(96))
        return words.value

    def nvmlDeviceGetMemoryInfo(self, handle, version=None):
        memory = Memory() if version is None else MemoryV2(version=version)
        self._call("nvmlDeviceGetMemoryInfo" + ("" if version is None else "_v2"), handle, ctypes.byref(memory))
        return memory

    def nvmlDeviceGetFieldValues(self, handle, wanted):
        values = (Field * len(wanted))()
        for place, (field, scope) in enumerate(wanted):
            values[place].fieldId, values[place].scopeId = field, scope
        self._call("nvmlDeviceGetFieldValues", handle, ctypes.c_int(len(wanted)), ctypes.byref(values))
        return values

    def nvmlDeviceGetComputeRunningProcesses(self, handle):
        count, found = U32(256), (Process * 256)()
        self._call("nvmlDeviceGetComputeRunningProcesses_v3", handle, ctypes.byref(count), found)
        return list(found)[: count.value]

    def nvmlDeviceRegisterEvents(self, handle, kinds, events):
        self._call("nvmlDeviceRegisterEvents", handle, U64(kinds), events)

    def nvmlEventSetWait_v2(self, events, timeout_ms):
        event = Event()
        self._call("nvmlEventSetWait_v2", events, ctypes.byref(event), U32(timeout_ms))
        return event


def ways_to_nvml():
    """pynvml, then the library by ctypes, as far as they can be used. A module of that name can be anything, and never come back."""
    modules = []

    def load():
        with contextlib.suppress(BaseException):
            import pynvml

            if callable(pynvml.nvmlInit) and issubclass(pynvml.NVMLError, Exception):
                modules.append(pynvml)

    start(load).join(IMPORT_S)
    ways = list(modules)
    if ctypes is not None:
        with contextlib.suppress(OSError):
            ways.append(Direct())
    return ways


def without_cards(trouble):
    """What is to be said where no card is seen: the PCI bus tells whether any is there, as far as it lists anything."""
    try:
        found = [(read(path).strip(), read(os.path.dirname(path) + "/class")) for path in glob.glob(PCI_VENDORS)]
    except OSError:
        return trouble
    count = sum(vendor == NVIDIA and kind.startswith(DISPLAY) for vendor, kind in found)
    if found and not count:
        return NO_GPU
    return NONE_OF.format(count) if count and trouble == NONE_SHOWN else trouble


def address(handle):
    """What all handles of one card have in common."""
    return handle if isinstance(handle, int) else ctypes.cast(handle, ctypes.c_void_p).value


def code_of(error):
    """The number of an NVML error; 0 for one that has none."""
    return getattr(error, "value", 0)


def text(value):
    """NVML words as text: old versions give bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def start(target, *arguments):
    thread = threading.Thread(target=target, args=arguments)
    thread.daemon = True
    thread.start()
    return thread


def keep(voice, source, read_on, *arguments):
    """Read a source for as long as there is one; an end that nobody foresaw is told, and then it is begun again."""
    while True:
        try:
            return read_on(*arguments)
        except BaseException as error:
            voice.say(source, "! its reading broke off ({})".format(type(error).__name__))
        time.sleep(AGAIN_S)


def kill(child):
    """With all that it started, as far as that stayed in its group."""
    with contextlib.suppress(OSError):
        os.killpg(child.pid, signal.SIGKILL)


def leave(code):
    """End at once, with all that was started: a thread that waits for a driver would keep the process."""
    for child in list(CHILDREN) + KEEPERS:
        kill(child)
    os._exit(code)


class Voice(object):
    """Writes whole lines, from any thread; the end of the reader is our end."""

    def __init__(self, mark):
        self._mark, self._lock = mark, threading.Lock()

    def say(self, source, payload):
        if self._mark:
            line = "{} {} {}\n".format(self._mark, source, payload)
        else:
            line = json.dumps({"source": source, "sample": payload}) + "\n"
        left = line.encode("utf-8", "replace")
        try:
            with self._lock:
                while left:
                    left = left[os.write(1, left) :]
        except OSError:
            leave(0)


class Pace(object):
    """Moments an interval apart; those that were missed are left out."""

    def __init__(self, interval_s):
        self._interval_s, self._next = interval_s, time.monotonic()

    def wait(self):
        self._next = max(self._next + self._interval_s, time.monotonic())
        time.sleep(max(0.0, self._next - time.monotonic()))


class Gpus(object):
    """The GPUs of this computer, on a thread of their own. `since` is when the call under way began."""

    def __init__(self, voice, interval_s):
        self._voice, self._interval_s, self._again_s = voice, interval_s, min(AGAIN_S, 5 * interval_s)
        self._nvml, self._known, self._refusals, self._slow_at = None, {}, {}, 0.0
        self._names, self._owners, self._xids = {}, {}, {}
        self._events, self._heard, self._asked, self._deaf_until_s = None, {}, frozenset(), 0.0
        self._deaf, self._told_deaf = frozenset(), set()
        self.via, self.since, self.rounds, self._shown = "", None, 0, False

    def run(self):
        """Go each way until it is none, or breaks off by a fault that is not NVML's; and all of them again where none shows a card."""
        ways, trouble = ways_to_nvml(), NONE_SHOWN
        try:
            while trouble == NONE_SHOWN:
                trouble = ""
                for nvml in ways:
                    self.via = getattr(nvml, "via", "pynvml")
                    try:
                        self._by_nvml(nvml)
                        continue
                    except NoneShown:
                        trouble = NONE_SHOWN
                    except BaseException as error:
                        trouble = trouble or "{} broke off ({})".format(self.via, type(error).__name__)
                    self._let_go(trouble)
                self.via, self.since = "nvidia-smi", None
                self._by_smi(trouble)
                self.rounds += 1
        finally:
            self.since, self.rounds = None, self.rounds + 1

    def _by_nvml(self, nvml):
        """Sample until it shows that there is no library, or that it is too old for this way."""
        pace = Pace(self._interval_s)
        while True:
            self.since, trouble = time.monotonic(), ""
            try:
                if self._nvml is None:
                    nvml.nvmlInit()
                    self._nvml = nvml
                self._round()
            except nvml.NVMLError as error:
                if self._nvml is None and (code_of(error) in (NO_LIBRARY, NO_FUNCTION) or not self._known and not hasattr(nvml, "via")):
                    return  # a pynvml that can't begin has not the last word on the driver
                trouble = "no NVIDIA driver answers here ({})".format(text(error))
                if self._nvml is None and not self._known:
                    trouble = without_cards(trouble)
            except Gone as gone:
                trouble = "the NVIDIA driver stopped answering ({})".format(gone)
            if trouble:
                self._let_go(trouble)
                self._voice.say("gpu", "! " + trouble)
            self.since = None
            self.rounds += 1
            if trouble:
                time.sleep(self._again_s)
            pace.wait()

    def _let_go(self, why):
        """Of the driver; an Xid that nobody told yet says what became of its card."""
        self._take_xids()
        self._turn_away()
        nvml, self._nvml, self._refusals, self._names = self._nvml, None, {}, {}
        for uuid in [uuid for uuid in self._known if uuid in self._xids]:
            self._say(uuid, {"lost": why})
        if nvml is not None:
            with contextlib.suppress(Exception):
                nvml.nvmlShutdown()

    def _hear(self, cards):
        """Note the Xids of these cards (UUID -> handle). Listen anew where one of them came or is lost, and in a while where all refused."""
        if self._take_xids() == TIMEOUT and self._asked.issuperset(cards) or time.monotonic() < self._deaf_until_s:
            return
        self._turn_away()
        with contextlib.suppress(Exception):  # not allowed in many containers; the kernel's log tells the checks
            self._events = self._nvml.nvmlEventSetCreate()
            for uuid, handle in cards.items():
                with contextlib.suppress(self._nvml.NVMLError):  # a refusal is that of this card alone
                    self._nvml.nvmlDeviceRegisterEvents(handle, XID_EVENT, self._events)
                    self._heard[address(handle)] = uuid  # one that is lost can't be asked who it is
        if self._take_xids() not in (TIMEOUT,) + AWAY:  # nobody hears where one can register but not wait
            self._heard = {}
        self._asked = frozenset(cards)
        self._deaf = self._deaf.union(cards).difference(self._heard.values())
        self._deaf_until_s = 0.0 if self._heard else time.monotonic() + DEAF_S

    def _take_xids(self):
        """Note the Xids since the last time; TIMEOUT where more can come, else what NVML refused, or 0."""
        try:
            while self._heard:
                event = self._nvml.nvmlEventSetWait_v2(self._events, 1)
                uuid = self._heard.get(address(event.device)) or text(self._nvml.nvmlDeviceGetUUID(event.device))
                xids = self._xids.setdefault(uuid, [])
                xids += [int(event.eventData)] if len(xids) < MOST_XIDS else []
        except Exception as error:
            return code_of(error)
        return 0

    def _turn_away(self):
        """Listen to no card any more."""
        if self._events is not None:
            with contextlib.suppress(Exception):
                self._nvml.nvmlEventSetFree(self._events)
        self._events, self._heard = None, {}

    def _say(self, uuid, said):
        """A line of a card, with the Xids that it had since the one before, and once whether none of them can be heard."""
        line = {"index": self._known[uuid], "uuid": uuid}
        if (uuid in self._deaf) != (uuid in self._told_deaf):
            line["deaf"] = uuid in self._deaf
            self._told_deaf ^= {uuid}
        if uuid in self._xids:
            line["xids"] = self._xids.pop(uuid)
        line.update(said)
        self._voice.say("gpu", json.dumps(line))

    def _ask(self, call, *arguments):
        """One NVML call; None where the driver has no answer."""
        try:
            return getattr(self._nvml, call)(*arguments)
        except (AttributeError, TypeError):
            return None
        except self._nvml.NVMLError as error:
            if code_of(error) in AWAY:
                raise Gone(text(error)) from error
            return None

    def _round(self):
        """A line for each GPU that is there, and one for each that was."""
        count = self._nvml.nvmlDeviceGetCount()
        if not count and not self._known:
            if without_cards(NONE_SHOWN) != NO_GPU:
                raise NoneShown
            self._voice.say("gpu", "! " + NO_GPU)
            return
        found, why = {}, "not found any more"
        for index in range(count):
            try:
                handle = self._ask("nvmlDeviceGetHandleByIndex", index)
                uuid = None if handle is None else self._ask("nvmlDeviceGetUUID", handle)
                if uuid is not None:
                    found[self._name(text(uuid), handle, index)] = (index, handle)
            except Gone as gone:
                why = str(gone)
        if count and not found:
            raise Gone(why)
        cards = {uuid: handle for uuid, (_, handle) in found.items()}
        self._hear(cards)
        slow = time.monotonic() - self._slow_at >= SLOW_S
        if slow:
            self._slow_at = time.monotonic()
        self._known.update((uuid, index) for uuid, (index, _) in found.items())
        for uuid in self._known:
            try:
                said = self._sample(uuid, cards[uuid], slow) if uuid in cards else {"lost": why}
            except Gone as gone:
                said = {"lost": str(gone)}
            self._say(uuid, said)

    def _name(self, uuid, handle, index):
        """Its UUID; with its bus address behind that, which no two cards share, where another card had the UUID before."""
        key = address(handle), uuid
        if key not in self._names:
            pci = self._ask("nvmlDeviceGetPciInfo", handle)
            bus = "at-{}".format(index) if pci is None else text(pci.busId)
            self._names[key] = uuid if self._owners.setdefault(uuid, bus) == bus else "{}/{}".format(uuid, bus)
        return self._names[key]

    def _sample(self, uuid, handle, slow):
        ask = self._ask
        rates, power_mw, limit_mw = (ask(call, handle) for call in (
            "nvmlDeviceGetUtilizationRates", "nvmlDeviceGetPowerUsage", "nvmlDeviceGetEnforcedPowerLimit"))  # fmt: skip
        memory = ask("nvmlDeviceGetMemoryInfo", handle, MEMORY_V2) or ask("nvmlDeviceGetMemoryInfo", handle)
        reasons = ask("nvmlDeviceGetCurrentClocksEventReasons", handle)
        if reasons is None:  # renamed with driver 535
            reasons = ask("nvmlDeviceGetCurrentClocksThrottleReasons", handle)
        sample = {
            "util_percent": None if rates is None else rates.gpu,
            "memory_util_percent": None if rates is None else rates.memory,
            "memory_used_mib": None if memory is None else memory.used / 1048576.0,
            "power_w": None if power_mw is None else power_mw / 1000.0,
            "power_limit_w": None if limit_mw is None else limit_mw / 1000.0,
            "temperature_c": ask("nvmlDeviceGetTemperature", handle, 0),
            "clock_sm_mhz": ask("nvmlDeviceGetClockInfo", handle, 1),
            "clock_memory_mhz": ask("nvmlDeviceGetClockInfo", handle, 2),
            "event_reasons": reasons,
        }
        if all(value is None for value in sample.values()):
            raise Gone("it answers nothing")
        sample["counters"] = counters = {"at_s": time.monotonic()}
        self._fields(uuid, handle, sample, counters)
        if slow:
            self._slowly(handle, sample, counters)
        return sample

    def _fields(self, uuid, handle, sample, counters):
        for number, group in enumerate(FIELDS):
            values, refusals = None, self._refusals.get((uuid, number), 0)
            if refusals < MOST_REFUSALS:
                values = self._ask("nvmlDeviceGetFieldValues", handle, [(field, scope) for _, field, scope in group])
                self._refusals[uuid, number] = refusals + 1 if values is None else 0
            for place, (name, _, _) in enumerate(group):
                value = None if values is None else values[place]
                told = value is not None and not value.nvmlReturn and value.valueType < len(VALUES)
                (sample if name in GAUGES else counters)[name] = getattr(value.value, VALUES[value.valueType], None) if told else None

    def _slowly(self, handle, sample, counters):
        """What takes the driver long: the PCIe rates are measured over 20 ms each, where there are no counters."""
        if counters["pcie_tx_bytes"] is None:
            sample["pcie_tx_kb_s"] = self._ask("nvmlDeviceGetPcieThroughput", handle, 0)
            sample["pcie_rx_kb_s"] = self._ask("nvmlDeviceGetPcieThroughput", handle, 1)
        counters["ecc_corrected"] = self._ask("nvmlDeviceGetTotalEccErrors", handle, 0, 1)
        counters["ecc_uncorrected"] = self._ask("nvmlDeviceGetTotalEccErrors", handle, 1, 1)
        processes = self._ask("nvmlDeviceGetComputeRunningProcesses", handle)
        sample["processes"] = None if processes is None else len(processes)
        used = [p.usedGpuMemory for p in processes or () if p.usedGpuMemory not in (None, NOT_AVAILABLE)]
        told = processes is not None and len(used) == len(processes)
        sample["process_memory_mib"] = sum(used) / 1048576.0 if told else None

    def _by_smi(self, before=""):
        """Pass the rows of nvidia-smi on; only once where the other ways, by what they say, show no card."""
        while shutil.which("nvidia-smi"):
            self.since = time.monotonic()
            help_text, _ = answer(["nvidia-smi", "--help-query-gpu"])
            asked = [SMI_REASONS[0] if SMI_REASONS[0] in help_text else SMI_REASONS[1]]
            if all('"{}"'.format(field) in help_text for field in SMI_MORE + SMI_SLOW):
                asked += SMI_MORE + (SMI_SLOW if self._interval_s >= 1 else ())
            child = begin(["nvidia-smi", "--query-gpu=" + SMI_FIELDS + ",".join(asked), "--format=csv,noheader,nounits", "-lms",
                           str(int(self._interval_s * 1000))])  # fmt: skip
            trouble = before if before == NONE_SHOWN else "nvidia-smi ended"
            for row in rows(child, self._interval_s):
                if row is None or SMI_NONE in row.lower():
                    trouble = SILENT if row is None else NONE_SHOWN
                    break
                self._voice.say("gpu", row)
                self._shown = self._shown or "GPU-" in row
                self.since, trouble = time.monotonic() + self._interval_s, "nvidia-smi ended"
                self.rounds += 1
            end(child)
            self.since = None
            self._voice.say("gpu", "! " + (trouble if self._shown else without_cards(trouble)))
            time.sleep(self._again_s)
            if before == NONE_SHOWN:
                return
        self._voice.say("gpu", "! " + (without_cards(before) if before else "nvidia-smi is not installed on the node"))
        if before == NONE_SHOWN:
            time.sleep(self._again_s)
        else:
            self.rounds = sys.maxsize - 1


def begin(argv):
    with LEDGER, contextlib.suppress(OSError):
        if not KEEPERS or KEEPERS[0].poll() is not None:
            KEEPERS[:] = [subprocess.Popen(KEEPER, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                           start_new_session=True)]  # fmt: skip
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             bufsize=0, start_new_session=True, env=dict(os.environ, **MARK))  # fmt: skip
    CHILDREN.add(child)
    return child


def is_over(child, how=os.WNOHANG):
    """Whether it ended. It isn't reaped by that, so that its processor time stays where it is counted."""
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | how) is not None


def end(child):
    """With all that it started. What the kernel holds is waited for: another one would only be held beside it."""
    kill(child)
    child.stdout.close()
    is_over(child, 0)
    CHILDREN.discard(child)
    child.wait()


def hear(child, seconds):
    """What it says next; b"" after its last word, None where it says nothing for so long."""
    return os.read(child.stdout.fileno(), 65536) if select.select([child.stdout], [], [], max(0.0, seconds))[0] else None


def answer(argv, late=None):
    """(What a tool prints, its exit code). One that does not end, or prints without end, is ended; `late` is called before."""
    child, until_s, said = begin(argv), time.monotonic() + TOOL_S, b""
    while len(said) <= TOOL_BYTES and time.monotonic() < until_s:
        more = hear(child, 0.2)
        said += more or b""
        if not more and is_over(child):
            break  # what it started and left behind may hold its output for ever
        if more == b"":
            time.sleep(0.01)
    else:
        if late is not None:
            late()
    end(child)
    return said.decode("utf-8", "replace"), child.returncode


def rows(child, interval_s):
    """The lines of a tool as they come, and None where it falls silent. What is too long is left out; a flood has to wait."""
    left, now, since_s, count = b"", time.monotonic(), 0.0, 0
    while True:
        some = hear(child, now + ROWS_S + 2 * interval_s - time.monotonic())
        if not some:
            if some is None:
                yield None
            return
        lines = (left + some).split(b"\n")
        left = lines.pop()[: ROW_BYTES + 1]
        for line in lines:
            if len(line) <= ROW_BYTES:
                yield line.decode("utf-8", "replace").strip()
                now = time.monotonic()
                since_s, count = (now, 0) if now - since_s >= interval_s else (since_s, count + 1)
                if count >= MOST_ROWS:
                    time.sleep(interval_s)


def npus(voice, interval_s):
    """Pass the table of npu-smi on as one line. It bears no two calls at once: what failed once is tried once more first."""
    failed, silent = 0, "! npu-smi does not answer"
    while shutil.which("npu-smi"):
        said, code = answer(["npu-smi", "info"], lambda: voice.say("npu", silent))
        table = RECORD_END.join(said.splitlines()) + RECORD_END
        failed = failed + 1 if code or len(table) > TABLE_BYTES else 0
        if failed != 1:
            voice.say("npu", silent if failed else table)
        time.sleep(max(interval_s, min(ROWS_S, AGAIN_S * failed)))
    voice.say("npu", "! npu-smi is not installed on the node")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as lines:
        return lines.read()


def number(path):
    """A counter of one file; None if there is none."""
    try:
        return int(read(path).split()[0])
    except (OSError, ValueError, IndexError):
        return None


RDMA_FAULTS = {}  # which error counters a port had at first: a sum with one more or less of them is another sum


def rdma_rows():
    """Device/port, words received, words sent (4 bytes each), errors of all kinds; "-" while one of their files is away."""
    rows = []
    for port in sorted(glob.glob(RDMA)):
        got, sent = number(port + "/counters/port_rcv_data"), number(port + "/counters/port_xmit_data")
        counts = {name: number(port + "/" + name) for name in RDMA_ERRORS}
        known = RDMA_FAULTS.setdefault(port, [name for name in RDMA_ERRORS if counts[name] is not None])
        faults = [] if any(counts[name] is None for name in known) else [counts[name] for name in known]
        if got is not None and sent is not None:
            parts = port.split("/")
            rows.append("{}/{} {} {} {}".format(parts[-3], parts[-1], got, sent, sum(faults) if faults else "-"))
    return rows


def network_rows():
    return [row for row in read("/proc/net/dev").splitlines() if not row.lstrip().startswith(PASSING)]


def disk_rows():
    """Whole devices, as far as the kernel lists them. Those of its own making (loop, ram) say nothing about disks."""
    found = [row for row in read("/proc/diskstats").splitlines() if not row.split()[2].startswith(("loop", "ram", "zram"))]
    try:
        whole = {name.replace("!", "/") for name in os.listdir(BLOCK)}
    except OSError:
        return found
    return [row for row in found if row.split()[2] in whole] if whole else found


def host_rows():
    return [read("/proc/stat").split("\n", 1)[0]] + read("/proc/meminfo").splitlines()[:5]


ROWS = (("host", host_rows), ("network", network_rows), ("disk", disk_rows), ("rdma", rdma_rows))


def tell_rows(voice):
    for source, rows in ROWS:
        try:
            at_s, found = time.monotonic(), rows()
        except Exception as error:
            voice.say(source, "! {} can't be read: {}".format(source, error))
            continue
        if found:
            voice.say(source, RECORD_END.join(["{:.6f}".format(at_s)] + found) + RECORD_END)


def spent(pid):
    """(processor seconds, pages of memory) of a process and of what it started; (0, 0) for one that is not there any more."""
    try:
        words = read("/proc/{}/stat".format(pid)).rpartition(")")[2].split()
        used_s, pages = sum(map(int, words[11:15])) / float(os.sysconf("SC_CLK_TCK")), int(words[21])
        kids = [spent(kid) for path in glob.glob("/proc/{}/task/*/children".format(pid)) for kid in read(path).split()]
    except (OSError, ValueError, IndexError):
        return 0.0, 0
    return used_s + sum(kid[0] for kid in kids), pages + sum(kid[1] for kid in kids)


class Cost(object):
    """What this program itself takes, with all that it started: share of one processor, and memory."""

    def __init__(self):
        self._at_s, (self._used_s, _) = time.monotonic(), self._now()

    @staticmethod
    def _now():
        """Those that ended first: who ends in between is missing once, and is never counted twice."""
        ended_s, living = sum(os.times()[2:4]), [spent(child.pid) for child in list(CHILDREN) + KEEPERS]
        return time.process_time() + ended_s + sum(used_s for used_s, _ in living), sum(pages for _, pages in living)

    def line(self, via):
        at_s, (used_s, pages) = time.monotonic(), self._now()
        # What a process used that outlived its parent is counted no more: first the rest must make up for it.
        used_s = max(used_s, self._used_s)
        share = 100.0 * (used_s - self._used_s) / (at_s - self._at_s) if at_s - self._at_s > 0.01 else None
        self._at_s, self._used_s = at_s, used_s
        try:
            memory_mib = (int(read("/proc/self/statm").split()[1]) + pages) * os.sysconf("SC_PAGE_SIZE") / 1048576.0
        except (OSError, ValueError, IndexError):
            memory_mib = None
        return json.dumps({"cpu_percent": share, "memory_mib": memory_mib, "via": via})


def lifeline():
    """Our stdin is the other end's hand: when it lets go, all ends."""
    try:
        while os.read(0, 4096):
            pass
    except OSError:
        pass
    leave(0)


def main(stdin=None):
    """Sample until the other end goes away, or as often as was wished."""
    wish = json.loads(stdin.readline().decode("utf-8")) if stdin is not None else {}
    interval_s = min(60.0, max(0.1, float(wish.get("interval_s", os.environ.get("GPULEASE_INTERVAL", "1")))))
    ticks = int(wish.get("ticks", os.environ.get("GPULEASE_TICKS", "0")))
    os.environ["LC_ALL"] = "C"
    os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", "")] + list(FOLDERS))
    deadline_s = float(wish.get("deadline_s", DEADLINE_S))
    voice = Voice(wish.get("mark", ""))
    if stdin is not None:
        start(lifeline)
    gpus, cost, pace, done = Gpus(voice, interval_s), Cost(), Pace(interval_s), 0
    start(keep, voice, "gpu", gpus.run)
    start(keep, voice, "npu", npus, voice, interval_s)
    while True:
        tell_rows(voice)
        voice.say("agent", cost.line(gpus.via))
        since = gpus.since
        wedged = since is not None and time.monotonic() - since > deadline_s
        if wedged:
            voice.say("gpu", "! " + SILENT)
        done += 1
        if ticks and done >= ticks and (wedged or gpus.rounds >= ticks):
            leave(0)
        pace.wait()


if __name__ == "__main__":
    # What brought this program through stdin left its reader under this name.
    main(globals().get("b"))
