#!/usr/bin/env python3
"""What do the GPUs, links, disks and processors of this computer do, a line per source and tick, until stdin ends?

Python 3.6 or newer, standard library only. It comes through stdin, leaves no file behind, and ends with its stdin.
NVML is asked through pynvml where that is installed, else through ctypes, else nvidia-smi is; npu-smi for Ascend.
Nothing that a driver can block runs on the main thread, so a wedged driver costs its own lines only.

A line is `MARK SOURCE PAYLOAD`; without a mark it is one JSON object. Payloads: the rows of /proc with the byte 0x1E
between them after the seconds of the node's clock (network, disk, host, rdma), JSON (gpu, agent), the rows of
nvidia-smi and npu-smi as they are. One that starts with "!" says why the source can't be read at this moment.
"""

import glob
import json
import os
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
SLOW_S = 0.95
FOLDERS = ("/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin", "/usr/local/nvidia/bin", "/usr/local/cuda/bin",
           "/usr/lib/wsl/lib", "/usr/local/Ascend/driver/tools")  # fmt: skip
# What comes and goes with containers and pods: it carries nothing that the node's own interfaces do not.
PASSING = ("lo:", "veth", "cali", "lxc", "lxd", "cilium", "cni", "docker", "flannel", "virbr", "vnet", "tap", "vxlan", "genev",
           "kube-", "nodelocaldns", "dummy", "ifb", "podman", "weave", "azv", "gke", "tunl", "ip6tnl", "sit")  # fmt: skip
RDMA = "/sys/class/infiniband/*/ports/*"
PCI_VENDORS, NVIDIA = "/sys/bus/pci/devices/*/vendor", "0x10de"
RDMA_ERRORS = ("counters/symbol_error", "counters/port_rcv_errors", "counters/link_downed",
               "counters/local_link_integrity_errors", "hw_counters/out_of_sequence", "hw_counters/packet_seq_err",
               "hw_counters/local_ack_timeout_err")  # fmt: skip
SMI_FIELDS = "index,uuid,utilization.gpu,utilization.memory,memory.used,power.draw,temperature.gpu,clocks.sm,clocks.mem,"
SMI_REASONS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")
NO_GPU = "no NVIDIA GPU on the node"
CHILDREN = set()

# NVML's numbers (nvml.h).
UNINITIALIZED, DRIVER_NOT_LOADED, TIMEOUT, NO_LIBRARY, NO_FUNCTION, LOST, RESET = 1, 9, 10, 12, 13, 15, 16
XID_EVENT, ALL_LINKS, MEMORY_V2 = 8, 0xFFFFFFFF, 0x2000028
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


if ctypes is not None:

    def _struct(name, *fields):
        return type(name, (ctypes.Structure,), {"_fields_": list(fields)})

    U32, U64, S64, PTR = ctypes.c_uint, ctypes.c_ulonglong, ctypes.c_longlong, ctypes.c_void_p
    Rates = _struct("Rates", ("gpu", U32), ("memory", U32))
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
    NUMBERS = {
        "nvmlDeviceGetPowerUsage": U32, "nvmlDeviceGetEnforcedPowerLimit": U32, "nvmlDeviceGetTemperature": U32,
        "nvmlDeviceGetClockInfo": U32, "nvmlDeviceGetCurrentClocksEventReasons": U64, "nvmlDeviceGetPcieThroughput": U32,
        "nvmlDeviceGetCurrentClocksThrottleReasons": U64, "nvmlDeviceGetTotalEccErrors": U64,
    }  # fmt: skip


class Direct(object):
    """The calls of pynvml that are needed here, straight from the driver's library, under the same names."""

    NVMLError = Refusal
    via = "ctypes"

    def __init__(self):
        self._lib = ctypes.CDLL("libnvidia-ml.so.1")

    def _call(self, name, *arguments):
        code = getattr(self._lib, name)(*arguments)
        if code:
            raise Refusal(code)

    def _read(self, kind, name, *arguments):
        value = kind()
        self._call(name, *(arguments + (ctypes.byref(value),)))
        return value

    def __getattr__(self, name):
        if name not in NUMBERS:
            raise AttributeError(name)
        return lambda *arguments: self._read(NUMBERS[name], name, *arguments).value

    def nvmlInit(self):
        self._call("nvmlInit_v2")

    def nvmlShutdown(self):
        self._call("nvmlShutdown")

    def nvmlDeviceGetCount(self):
        return self._read(U32, "nvmlDeviceGetCount_v2").value

    def nvmlDeviceGetHandleByIndex(self, index):
        return self._read(PTR, "nvmlDeviceGetHandleByIndex_v2", U32(index))

    def nvmlDeviceGetUUID(self, handle):
        words = ctypes.create_string_buffer(96)
        self._call("nvmlDeviceGetUUID", PTR(handle) if isinstance(handle, int) else handle, words, U32(96))
        return words.value

    def nvmlDeviceGetUtilizationRates(self, handle):
        return self._read(Rates, "nvmlDeviceGetUtilizationRates", handle)

    def nvmlDeviceGetMemoryInfo(self, handle, version=None):
        if version is None:
            return self._read(Memory, "nvmlDeviceGetMemoryInfo", handle)
        memory = MemoryV2(version=version)
        self._call("nvmlDeviceGetMemoryInfo_v2", handle, ctypes.byref(memory))
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

    def nvmlEventSetCreate(self):
        return self._read(PTR, "nvmlEventSetCreate")

    def nvmlEventSetFree(self, events):
        self._call("nvmlEventSetFree", events)

    def nvmlDeviceRegisterEvents(self, handle, kinds, events):
        self._call("nvmlDeviceRegisterEvents", handle, U64(kinds), events)

    def nvmlEventSetWait_v2(self, events, timeout_ms):
        event = Event()
        self._call("nvmlEventSetWait_v2", events, ctypes.byref(event), U32(timeout_ms))
        return event


def ways_to_nvml():
    """pynvml, where it is installed, then the library by ctypes, where it can be loaded."""
    found = []
    try:
        import pynvml

        found.append(pynvml)
    except ImportError:
        found.clear()
    if ctypes is not None:
        try:
            found.append(Direct())
        except OSError:
            return found
    return found


def no_card_is_listed():
    """Whether the kernel lists PCI devices, and none of NVIDIA: then no driver is to blame for silence."""
    vendors = []
    for path in glob.glob(PCI_VENDORS):
        try:
            with open(path) as file:
                vendors.append(file.read().strip().lower())
        except OSError:
            return False
    return bool(vendors) and NVIDIA not in vendors


def text(value):
    """NVML words as text: old versions give bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def start(target, *arguments):
    thread = threading.Thread(target=target, args=arguments)
    thread.daemon = True
    thread.start()
    return thread


def leave(code):
    """End at once, with all that was started: a thread that waits for a driver would keep the process."""
    for child in list(CHILDREN):
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except OSError:
            continue
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
        self._voice, self._interval_s = voice, interval_s
        self._nvml, self._known, self._refused, self._xids = None, {}, set(), {}
        self._watching, self._eyes, self._slow_at = False, None, 0.0
        self.via, self.since, self.rounds = "", None, 0

    def run(self):
        for nvml in ways_to_nvml():
            self.via = getattr(nvml, "via", "pynvml")
            if self._by_nvml(nvml):
                return
        self.via = "nvidia-smi"
        self._by_smi()

    def _by_nvml(self, nvml):
        """Sample for ever; False if there is no library, or if it is too old for this way."""
        pace, trouble = Pace(self._interval_s), ""
        while True:
            self.since = time.monotonic()
            try:
                if self._nvml is None:
                    nvml.nvmlInit()
                    self._nvml = nvml
                self._round()
                trouble = ""
            except nvml.NVMLError as error:
                if self._nvml is None and getattr(error, "value", 0) in (NO_LIBRARY, NO_FUNCTION):
                    self.since = None
                    return False
                trouble = "no NVIDIA driver answers here ({})".format(text(error))
                if self._nvml is None and not self._known and no_card_is_listed():
                    trouble = NO_GPU
            except Gone as gone:
                trouble = "the NVIDIA driver stopped answering ({})".format(gone)
            if trouble:
                self._voice.say("gpu", "! " + trouble)
                self._let_go()
            self.since = None
            self.rounds += 1
            if trouble:
                time.sleep(min(AGAIN_S, 5 * self._interval_s))
            pace.wait()

    def _let_go(self):
        nvml, self._nvml, self._watching = self._nvml, None, False
        if self._eyes is not None:
            self._eyes.join(1.0)
        self._eyes = None
        if nvml is not None:
            try:
                nvml.nvmlShutdown()
            except nvml.NVMLError:
                return

    def _ask(self, call, *arguments):
        """One NVML call; None where the driver has no answer."""
        try:
            return getattr(self._nvml, call)(*arguments)
        except (AttributeError, TypeError):
            return None
        except self._nvml.NVMLError as error:
            if getattr(error, "value", 0) in (UNINITIALIZED, DRIVER_NOT_LOADED, LOST, RESET):
                raise Gone(text(error)) from error
            return None

    def _round(self):
        """A line for each GPU that is there, and one for each that was."""
        count = self._nvml.nvmlDeviceGetCount()
        if not count and not self._known:
            self._voice.say("gpu", "! " + NO_GPU)
            return
        found, why = {}, "not found any more"
        for index in range(count):
            try:
                handle = self._ask("nvmlDeviceGetHandleByIndex", index)
                uuid = None if handle is None else self._ask("nvmlDeviceGetUUID", handle)
            except Gone as gone:
                why = str(gone)
                continue
            if uuid is not None:
                found[text(uuid)] = (index, handle)
        if count and not found:
            raise Gone(why)
        self._listen([handle for _, handle in found.values()])
        now = time.monotonic()
        slow = now - self._slow_at >= SLOW_S
        self._slow_at = now if slow else self._slow_at
        for uuid, (index, handle) in found.items():
            self._known[uuid] = index
            self._tell(uuid, index, handle, slow)
        for uuid, index in self._known.items():
            if uuid not in found:
                self._voice.say("gpu", json.dumps({"index": index, "uuid": uuid, "lost": why}))

    def _tell(self, uuid, index, handle, slow):
        line = {"index": index, "uuid": uuid}
        try:
            line.update(self._sample(handle, slow))
            xids = self._xids.pop(uuid, None)
            if xids:
                line["xids"] = xids
        except Gone as gone:
            line = {"index": index, "uuid": uuid, "lost": str(gone)}
        self._voice.say("gpu", json.dumps(line))

    def _sample(self, handle, slow):
        rates = self._ask("nvmlDeviceGetUtilizationRates", handle)
        power_mw = self._ask("nvmlDeviceGetPowerUsage", handle)
        limit_mw = self._ask("nvmlDeviceGetEnforcedPowerLimit", handle)
        memory = self._ask("nvmlDeviceGetMemoryInfo", handle, MEMORY_V2) or self._ask("nvmlDeviceGetMemoryInfo", handle)
        reasons = self._ask("nvmlDeviceGetCurrentClocksEventReasons", handle)
        if reasons is None:  # renamed with driver 535
            reasons = self._ask("nvmlDeviceGetCurrentClocksThrottleReasons", handle)
        sample = {
            "util_percent": None if rates is None else rates.gpu,
            "memory_util_percent": None if rates is None else rates.memory,
            "memory_used_mib": None if memory is None else memory.used / 1048576.0,
            "power_w": None if power_mw is None else power_mw / 1000.0,
            "power_limit_w": None if limit_mw is None else limit_mw / 1000.0,
            "temperature_c": self._ask("nvmlDeviceGetTemperature", handle, 0),
            "clock_sm_mhz": self._ask("nvmlDeviceGetClockInfo", handle, 1),
            "clock_memory_mhz": self._ask("nvmlDeviceGetClockInfo", handle, 2),
            "event_reasons": reasons,
        }
        if all(value is None for value in sample.values()):
            raise Gone("it answers nothing")
        counters = {"at_s": time.monotonic()}
        self._fields(handle, sample, counters)
        if slow:
            self._slowly(handle, sample, counters)
        sample["counters"] = counters
        return sample

    def _fields(self, handle, sample, counters):
        for number, group in enumerate(FIELDS):
            values = None
            if number not in self._refused:
                values = self._ask("nvmlDeviceGetFieldValues", handle, [(field, scope) for _, field, scope in group])
                if values is None:
                    self._refused.add(number)
            for place, (name, _, _) in enumerate(group):
                into = sample if name in GAUGES else counters
                into[name] = None if values is None else self._value(values[place])

    @staticmethod
    def _value(value):
        if value.nvmlReturn or value.valueType >= len(VALUES):
            return None
        return getattr(value.value, VALUES[value.valueType], None)

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

    def _listen(self, handles):
        """Wait for Xids beside the sampling, until the library is let go."""
        if self._eyes is None:
            self._watching = True
            self._eyes = start(self._see, self._nvml, handles)

    def _see(self, nvml, handles):
        try:
            events = nvml.nvmlEventSetCreate()
            for handle in handles:
                nvml.nvmlDeviceRegisterEvents(handle, XID_EVENT, events)
            while self._watching:
                try:
                    event = nvml.nvmlEventSetWait_v2(events, 500)
                except nvml.NVMLError as error:
                    if getattr(error, "value", 0) != TIMEOUT:
                        raise
                    continue
                uuid = text(nvml.nvmlDeviceGetUUID(event.device))
                self._xids.setdefault(uuid, []).append(int(event.eventData))
            nvml.nvmlEventSetFree(events)
        except (nvml.NVMLError, AttributeError):
            return  # not allowed in many containers; the kernel's log tells the checks

    def _by_smi(self):
        """Pass the rows of nvidia-smi on."""
        while shutil.which("nvidia-smi"):
            help_text = self._help()
            reasons = SMI_REASONS[0] if SMI_REASONS[0] in help_text else SMI_REASONS[1]
            child = begin(["nvidia-smi", "--query-gpu=" + SMI_FIELDS + reasons, "--format=csv,noheader,nounits", "-lms",
                           str(int(self._interval_s * 1000))])  # fmt: skip
            self.since = time.monotonic()
            for row in child.stdout:
                self._voice.say("gpu", row.decode("utf-8", "replace").strip())
                self.since = time.monotonic() + self._interval_s
                self.rounds += 1
            end(child)
            self.since = None
            self._voice.say("gpu", "! " + (NO_GPU if no_card_is_listed() else "nvidia-smi ended"))
            time.sleep(min(AGAIN_S, 5 * self._interval_s))
        self._voice.say("gpu", "! nvidia-smi is not installed on the node")
        self.rounds = sys.maxsize

    def _help(self):
        self.since = time.monotonic()
        child = begin(["nvidia-smi", "--help-query-gpu"])
        words = child.stdout.read().decode("utf-8", "replace")
        end(child)
        return words


def begin(argv):
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             start_new_session=True)  # fmt: skip
    CHILDREN.add(child)
    return child


def end(child):
    child.stdout.close()
    child.wait()
    CHILDREN.discard(child)


def npus(voice, interval_s):
    """Pass the table of npu-smi on as one line. It bears no two calls at once: what failed once is tried once more first."""
    failed = 0
    while shutil.which("npu-smi"):
        child = begin(["npu-smi", "info"])
        alarm = threading.Timer(20.0, child.kill)
        alarm.start()
        rows = child.stdout.read().decode("utf-8", "replace").splitlines()
        end(child)
        alarm.cancel()
        failed = failed + 1 if child.returncode else 0
        if failed != 1:
            voice.say("npu", "! npu-smi does not answer" if failed else RECORD_END.join(rows) + RECORD_END)
        time.sleep(max(interval_s, AGAIN_S if child.returncode else 0.0))
    voice.say("npu", "! npu-smi is not installed on the node")


def read(path):
    with open(path) as lines:
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
    """Devices of the kernel's own making (loop, ram) say nothing about disks."""
    return [row for row in read("/proc/diskstats").splitlines() if row.split()[2][:4] not in ("loop", "ram0", "zram")]


def host_rows():
    return [read("/proc/stat").split("\n", 1)[0]] + read("/proc/meminfo").splitlines()[:5]


ROWS = (("host", host_rows), ("network", network_rows), ("disk", disk_rows), ("rdma", rdma_rows))


def tell_rows(voice):
    for source, rows in ROWS:
        try:
            at_s, found = time.monotonic(), rows()
        except (OSError, IndexError) as error:
            voice.say(source, "! {} can't be read: {}".format(source, error))
            continue
        if found:
            voice.say(source, RECORD_END.join(["{:.6f}".format(at_s)] + found) + RECORD_END)


class Cost(object):
    """What this program itself takes: share of one processor, children included, and memory."""

    def __init__(self):
        self._before = self._now()

    @staticmethod
    def _now():
        times = os.times()
        return time.monotonic(), time.process_time() + times[2] + times[3]

    def line(self, via):
        before, self._before = self._before, self._now()
        passed_s, used_s = self._before[0] - before[0], self._before[1] - before[1]
        try:
            memory_mib = int(read("/proc/self/statm").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1048576.0
        except (OSError, ValueError, IndexError):
            memory_mib = None
        share = 100.0 * used_s / passed_s if passed_s > 0.01 else None
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
    start(gpus.run)
    start(npus, voice, interval_s)
    while True:
        tell_rows(voice)
        voice.say("agent", cost.line(gpus.via))
        since = gpus.since
        wedged = since is not None and time.monotonic() - since > deadline_s
        if wedged:
            voice.say("gpu", "! the NVIDIA driver does not answer")
        done += 1
        if ticks and done >= ticks and (wedged or gpus.rounds >= ticks):
            leave(0)
        pace.wait()


if __name__ == "__main__":
    # What brought this program through stdin left its reader under this name.
    main(globals().get("b"))
