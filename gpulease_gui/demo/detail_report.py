"""What do the finer shell facts find on a simulated node?"""

from __future__ import annotations

import hashlib
import json

from gpulease_gui.demo.host_report import driver_version_lines, keyed
from gpulease_gui.demo.machine import GpuCard, Machine

_CAPABILITY = {"Hopper": "9.0", "Ampere": "8.0"}


def edac(machine: Machine) -> str:
    """Two memory controllers for each socket without an error."""
    pairs = [("edac", "yes")]
    for n in range(machine.host.sockets * 2):
        pairs += [("controller", f"mc{n}"), ("mc_name", "i10nm_edac"), ("ce_count", "0"), ("ue_count", "0")]
    return keyed(pairs)


def smi_extra(machine: Machine) -> str:
    """The columns that no XML report has; the card that can't repair itself has an intact inforom all the same."""
    rows = [
        ("row", f"{card.index}, {card.uuid}, {_CAPABILITY[card.board.architecture]}, valid") for card in machine.gpus
    ]
    return keyed([("columns", "index,uuid,compute_cap,inforom.checksum_validation"), ("smi_code", "0"), *rows])


def nvlink_errors(machine: Machine) -> str:
    """`nvidia-smi nvlink -e`."""
    return "".join(f"GPU {c.index}: {c.name} (UUID: {c.uuid})\n" + _counters(machine, c) for c in machine.gpus)


def _counters(machine: Machine, card: GpuCard) -> str:
    if not card.board.links or not machine.nvlink_up:
        return "NVML: Unable to retrieve NVLink information as all links are inActive\n"
    names = ("Replay", "Recovery", "CRC")
    return "".join(f"\t Link {n}: {name} Errors: 0\n" for n in range(card.board.links) for name in names)


def device_nodes(machine: Machine) -> str:
    """A file for each card, and the modules that were loaded."""
    pairs = [("kernel", machine.host.kernel)]
    if machine.driver is not None:
        pairs += [("node", f"/dev/nvidia{n}") for n in range(len(machine.gpus) + len(machine.lost))]
        pairs += [("node", f"/dev/{name}") for name in ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")]
        pairs += [("module", name) for name in ("nvidia_uvm", "nvidia_peermem", "nvidia")]
        pairs += [("params", "ResmanDebugLevel: 4294967295"), ("params", "RmProfilingAdminOnly: 1")]
    pairs += [("node", f"/dev/davinci{npu.index}") for npu in machine.npus]
    if any(port.driver == "mlx5_core" for port in machine.ports):
        pairs += [("node", "/dev/infiniband/uverbs0"), ("module", "mlx5_ib"), ("module", "mlx5_core"), ("module", "ib_core")]
    return keyed(pairs)


def load_now(machine: Machine) -> str:
    """A host that does nothing, without swap."""
    calm = "some avg10=0.00 avg60=0.00 avg300=0.00 total=4821733"
    return keyed([
        ("loadavg", "0.21 0.18 0.12 2/2317 90411"), ("nproc", str(machine.host.threads)), ("pressure.cpu", calm),
        ("pressure.io", calm), ("pressure.memory", calm), ("swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority"),
        ("pgmajfault", "20114"), ("oom_kill", "0"),
    ])  # fmt: skip


def access(machine: Machine) -> str:
    """Root, one key, and nothing but SSH to the outside."""
    return keyed([
        ("uid", "0"), ("groups", "root"), ("account", "root 0 /root"), ("key", "root ssh-ed25519 renter@example"), ("group", "sudo "),
        ("ss_code", "0"), ("listen", 'LISTEN 0      128          0.0.0.0:22        0.0.0.0:*    users:(("sshd",pid=1411,fd=3))'),
        ("listen", 'LISTEN 0      128             [::]:22           [::]:*    users:(("sshd",pid=1411,fd=4))'),
        ("listen", 'LISTEN 0      4096   127.0.0.53%lo:53        0.0.0.0:*    users:(("systemd-resolve",pid=982,fd=14))'),
    ])  # fmt: skip


def preload(machine: Machine) -> str:
    """Nothing is preloaded; the shell has the C library and the linker."""
    folder = f"/usr/lib/{machine.host.arch}-linux-gnu"
    return keyed([("preload_file", "no"), ("mapped", f"{folder}/libc.so.6"), ("mapped", f"{folder}/ld-linux-{machine.host.arch}.so.2")])


def smi_binary(machine: Machine) -> str:
    """The maker's program, of a package, unchanged."""
    driver, path = machine.driver, "/usr/bin/nvidia-smi"
    assert driver is not None
    digest = hashlib.sha256(f"nvidia-smi of {driver.version}".encode()).hexdigest()
    package = f"nvidia-utils-{driver.branch}"
    return keyed([
        ("path", path), ("real", path), ("magic", " 7f 45 4c 46"), ("sha256", f"{digest}  {path}"), ("stat", "root 755 1181904"),
        ("dir", "root 755"), ("copy", path), ("driver", driver_version_lines(driver)[0][1]), ("named", "2"),
        ("modinfo", driver.version), ("owner", f"{package}: {path}"), ("verified", "0"),
    ])  # fmt: skip


def cpu_state(machine: Machine) -> str:
    """All processors on, at full speed."""
    threads = machine.host.threads
    lists = [("present", f"0-{threads - 1}"), ("online", f"0-{threads - 1}")]
    counts = [("cpuinfo", str(threads)), ("lscpu", f"                              {threads}")]
    return keyed([("cpus", "yes"), *lists, *counts, ("driver", "acpi-cpufreq"), *([("governor", "performance")] * threads)])


def limits(machine: Machine) -> str:
    """Half of the memory may be shared; nothing is limited."""
    head = "Limit                     Soft Limit           Hard Limit           Units     "
    kib = machine.host.memory_kib // 2
    return keyed([
        ("limit", head), ("limit", "Max processes             unlimited            unlimited            processes "),
        ("limit", "Max open files            1048576              1048576              files     "),
        ("limit", "Max locked memory         unlimited            unlimited            bytes     "),
        ("shm", "Filesystem     1024-blocks     Used Available Capacity Mounted on"), ("shm", f"tmpfs {kib} 0 {kib} 0% /dev/shm"),
        ("max_map_count", "65530"),
    ])  # fmt: skip


def port_counters(machine: Machine) -> str:
    """Traffic and no error."""
    pairs = [("counters", "yes")]
    for port in (p for p in machine.ports if p.pci):
        pairs += [("link", port.name), ("carrier_changes", "2" if port.up else "1")]
        pairs += [("rx_packets", "81934722" if port.up else "0"), ("tx_packets", "60219377" if port.up else "0")]
        pairs += [(name, "0") for name in ("rx_errors", "tx_errors", "rx_dropped", "tx_dropped", "rx_crc_errors", "rx_frame_errors")]
    for n in range(sum(p.driver == "mlx5_core" for p in machine.ports)):
        names = ("symbol_error", "link_downed", "link_error_recovery", "port_rcv_errors", "local_link_integrity_errors", "port_xmit_discards")
        pairs += [("rdma", f"mlx5_{n}/1"), *((name, "0") for name in names)]
    return keyed(pairs)


def net_shape(machine: Machine) -> str:
    """Neither bundle nor shaper."""
    queues = [("qdisc", f"qdisc mq 0: dev {port.name} root") for port in machine.ports if port.pci]
    return keyed([("shape", "yes"), ("tc_code", "0"), ("qdisc", "qdisc noqueue 0: dev lo root refcnt 2"), *queues])


def containers(machine: Machine) -> str:
    """Docker, with the NVIDIA toolkit where there is a driver of theirs."""
    if machine.driver is None:
        return keyed([("tools", " docker"), ("docker_code", "0"), ("runtimes", '{"ascend":{"path":"ascend-docker-runtime"},"runc":{"path":"runc"}}')])
    runtimes = '{"nvidia":{"path":"nvidia-container-runtime"},"runc":{"path":"runc"}}'
    return keyed([("tools", " docker nvidia-ctk"), ("docker_code", "0"), ("runtimes", runtimes), ("ctk", "NVIDIA Container Toolkit CLI version 1.16.2")])


def smart(machine: Machine) -> str:
    """`smartctl -j -a` of disks in their first year."""
    pairs = [("smart", "yes")]
    for disk in (d for d in machine.disks if d.transport == "nvme"):
        told = {
            "model_name": disk.model, "serial_number": disk.serial, "smart_status": {"passed": True},
            "nvme_smart_health_information_log": {"critical_warning": 0, "percentage_used": 4, "media_errors": 0},
            "power_on_time": {"hours": 5120},
        }  # fmt: skip
        lines = json.dumps(told, indent=2).split("\n")
        pairs += [("disk", f"/dev/{disk.name.split('n1')[0]}"), ("code", "0"), *(("json", line) for line in lines)]
    return keyed(pairs)


def roce_ports(machine: Machine) -> str:
    """A RoCE v2 address on each port that is up."""
    ports = [port for port in machine.ports if port.driver == "mlx5_core"]
    pairs = [("roce", "yes" if ports else "no")]
    for n, port in enumerate(ports):
        pairs += [("port", f"mlx5_{n}/1"), ("link_layer", "Ethernet"), ("state", "4: ACTIVE" if port.up else "1: DOWN")]
        pairs += [("gid", "0 IB/RoCE v1"), ("gid", "1 RoCE v2"), ("mtu", str(port.mtu))]
    return keyed(pairs)


def npu_ecc(machine: Machine) -> str:
    """No error on any card."""
    names = ("HBM Single Bit Error Count", "HBM Double Bit Error Count", "HBM Double Bit Isolated Pages Count")
    pairs = [("npus", "yes")]
    for npu in machine.npus:
        pairs += [("npu", str(npu.index)), *(("ecc", f"{name:<41}: 0") for name in names)]
    return keyed(pairs)


def npu_versions(machine: Machine) -> str:
    """Driver, firmware and CANN of one set; a node without such cards has none of it."""
    if not machine.npus:
        return keyed([("ascend", "no")])
    return keyed([
        ("ascend", "yes"), ("driver", "Version=24.1.0.3"), ("firmware", "Version=7.5.0.5.220"), ("toolkit", "package_name=Ascend-cann-toolkit"),
        ("toolkit", "version=8.0.0"), ("dmi_code", "0"), ("dmi", "npu-driver     24.1.0.3      OK"), ("dmi", "npu-firmware   7.5.0.5.220   OK"),
    ])  # fmt: skip


def torch_files(machine: Machine) -> str:
    """Python, and the PyTorch of the image; on a fresh node the tenant's image brings it."""
    pairs = [("python", "/usr/bin/python3"), ("python_version", "3.10")]
    if machine.torch is not None:
        tag = machine.torch.partition("+cu")[2]
        pairs += [("torch", "/usr/local/lib/python3.10/dist-packages/torch/__init__.py"), ("version_line", f"__version__ = '{machine.torch}'")]
        pairs += [("version_line", f"cuda: Optional[str] = '{tag[:-1]}.{tag[-1:]}'"), ("version_line", "hip: Optional[str] = None")]
    return keyed(pairs)
