"""How did a folder of collected facts become resources/*.toml? (`import_facts.py FACTS_FOLDER`, by hand, at times.)

Words that were written by hand into the TOML (Chinese of the Xids) are kept from the file that is replaced.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent / "resources"
RENAMED = {
    "family": "series", "memory_total_mib_reported": "memory_total_mib", "nvlink_total_gb_s_bidirectional": "nvlink_total_gb_s",
    "tf32_dense": "tf32_dense_tflops", "fp16_dense": "fp16_dense_tflops", "bf16_dense": "bf16_dense_tflops",
    "fp8_dense": "fp8_dense_tflops", "fp4_dense": "fp4_dense_tflops", "nvidia_smi_names": "tool_names",
    "other_tool": "tool_names",
}  # fmt: skip
DROPPED = {"memory_total_mib_context", "known_confusions", "notes", "sources", "disputed"}
NO_EVIDENCE = {"gonvml"}  # a vendor's mock data: rounded totals and invented ids ...
MOCK_VALUES = {144384, "10de:2333"}  # ... which others copied
PRIVATE = re.compile(r"(,? ?\(?code corpus files? [0-9, ]+\)?|, as collected in .*|, code corpus.*)")
CAPTURE = "public capture"
FAMILIES = [
    ("RTX 6000 Ada Generation", "RTX 6000 Ada"), ("RTX 5880 Ada Generation", "RTX 5880 Ada"),
    ("RTX PRO 6000 Blackwell", "RTX PRO 6000 Blackwell"), ("Ascend 910A", "910A"), ("Ascend 910B", "910B"),
    ("Ascend 910C", "910C"), ("Atlas 300I Duo", "Atlas 300I Duo"), ("Atlas 300I Pro", "Atlas 300I Pro"),
    ("Biren106M", "Biren106"),
]  # fmt: skip
FAMILY_END = re.compile(r"[ ,]*( SXM| PCIe| NVL\b| OAM| Grace|\(| \d+GB|,).*")
BRANDS = re.compile(r"^(GeForce|Instinct|Ascend|DCU|MetaX|MTT) ")
# The PCI id is one sign of the form among several: gpu.form_factor counts it, and three must agree.
NOT_VERIFIED_BY = {"gpu.form_factor": {"gpu.pci_id"}}
# Totals under which a name was seen on hardware that the name does not belong to.
MASKED_MIB = {"nvidia-h800-sxm5-80gb": [143771]}
LIMITS = {
    "count": (1, 100000), "gpu.count": (1, 128), "npu.count": (1, 128), "gpu.memory_gb": (1, 4096), "npu.memory_gb": (1, 4096),
    "gpu.power_w": (10, 5000), "nvlink.gb_s_per_gpu": (1, 20000), "pcie.gen": (1, 8), "pcie.width": (1, 32),
    "cpu.cores": (1, 4096), "ram_gb": (1, 262144), "disk.size_gb": (1, 10000000), "disk.read_mb_s": (1, 1000000),
    "disk.write_mb_s": (1, 1000000), "disk.read_iops": (1, 100000000), "network.gbit_s": (0.001, 12800),
    "network.rails": (1, 64), "network.egress_mbit_s": (0.1, 10000000), "network.ingress_mbit_s": (0.1, 10000000),
    "rdma.ports": (1, 128), "rdma.gbit_s": (1, 3200),
}  # fmt: skip


def toml(value):
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {toml(v)}" for k, v in value.items() if v is not None) + " }"
    return str(value)


def lines(table):
    """`key = value` lines; what is unknown is left out."""
    return [f"{key} = {toml(value)}" for key, value in table.items() if value not in (None, [], {}, "")]


def write(path, text):
    """Write one file below resources/."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


def form_class(gpu):
    """sxm, pcie, nvl, oam, superchip, module; None where a product comes in several forms."""
    form, words = gpu["form_factor"], gpu["id"].split("-")
    if form.startswith(("PCIe or OAM", "module or PCIe")):
        return None
    for word in words:
        if word.startswith("sxm"):
            return "sxm"
        if word in ("pcie", "nvl"):
            return word
    for name, text in (("superchip", "superchip"), ("sxm", "SXM"), ("oam", "OAM"), ("module", "module"), ("pcie", "PCIe")):
        if text in form:
            return name
    return None


def ecc_default(text):
    """on, off, none; None if not told."""
    told = (text or "").lower()
    if "none" in told:
        return "none"
    if "default off" in told or "off by default" in told or "prints off" in told:
        return "off"
    return "on" if told.endswith(" on") or told == "on" or "default on" in told or told.startswith("hbm") else None


def family(name):
    """The name up to form, memory or edition."""
    for start, word in FAMILIES:
        if name.startswith(start):
            return word
    return BRANDS.sub("", FAMILY_END.sub("", name)).strip()


def sources_index(index):
    """Keys with a title that a reader can look up; the rest are captures."""
    kept = {}
    for key, entry in index.items():
        title = PRIVATE.sub("", entry["title"]).strip()
        public = not title.startswith("corpus") and entry["kind"] != "vendor mock, not evidence"
        kept[key] = {"title": title if public else "a tool's output quoted in a public repository or report",
                     "url": entry.get("url") if public else None, "kind": PRIVATE.sub("", entry["kind"])}  # fmt: skip
        if not public:
            kept[key] = None
    return kept


def source_keys(keys, index):
    """The keys of one value; those without a public title become the capture key."""
    return list(dict.fromkeys(k if index[k] else CAPTURE for k in keys))


def gpu_table(gpu, index):
    """One product as the loader wants it: (values, sources, disputed)."""
    gpu = dict(gpu)
    table = {"id": gpu["id"], "name": gpu["name"], "vendor": gpu["vendor"], "family": family(gpu["name"]),
             "form_class": form_class(gpu)}  # fmt: skip
    if "modified" in gpu["id"]:
        table["modified"] = True
    if "masked" in gpu["id"]:
        table["masked"] = True
    table["masked_mib"] = MASKED_MIB.get(gpu["id"])
    for key, value in gpu.items():
        if key in DROPPED or key in ("id", "name", "vendor"):
            continue
        if key == "family":
            table["series"] = value
        elif key == "ecc":
            table["ecc_default"] = ecc_default(value)
        elif key == "other_tool":
            table["tool_names"] = table.get("tool_names", []) + (value["names"] if value else [])
        else:
            table[RENAMED.get(key, key)] = value
    own = {}
    for key, keys in gpu["sources"].items():
        if key != "ecc":
            own[RENAMED.get(key, key)] = source_keys(keys, index)
    if gpu["pci_subsystem_ids"]:
        own.setdefault("pci_subsystem_ids", own["pci_device_ids"])
    for key in ("other_interconnect", "tool_names"):
        if table.get(key):
            own.setdefault(key, ["unchecked"])
    own = {key: keys for key, keys in own.items() if table.get(key) not in (None, [])}
    return table, own, disputed(gpu, index)


def disputed(gpu, index):
    """Figures that sources print differently; a mock is no source, and one value left is no dispute."""
    rows = []
    for entry in gpu["disputed"]:
        kept = [v for v in entry["values"] if v["source"] not in NO_EVIDENCE and v["value"] not in (None, *MOCK_VALUES)]
        masked = MASKED_MIB.get(gpu["id"], []) if entry["field"] == "memory_total_mib_reported" else []
        kept = [v for v in kept if v["value"] not in masked]
        if len(kept) > 1:
            rows.append({"field": RENAMED.get(entry["field"], entry["field"]), "values": [str(v["value"]) for v in kept],
                         "sources": [source_keys([v["source"]], index)[0] for v in kept]})  # fmt: skip
    return rows


def write_gpus(facts):
    """resources/sources.toml and one file per product."""
    data = json.loads((facts / "gpus.json").read_text("utf-8"))
    index = sources_index(data["source_index"])
    for gpu in data["gpus"]:
        table, own, rows = gpu_table(gpu, index)
        text = lines(table) + ["", "[sources]"] + lines(own)
        for row in rows:
            text += ["", "[[disputed]]", *lines(row)]
        write(ROOT / "gpus" / f"{gpu['id']}.toml", "\n".join(text))
    text = ["# Where the values of gpus/*.toml come from. A capture without a public title is \"public capture\"."]
    for key, entry in index.items():
        if entry:
            text += ["", f"[{toml(key) if ' ' in key else key}]", *lines(entry)]
    write(ROOT / "sources.toml", "\n".join(text))


def write_terms(facts):
    """One file per group of terms."""
    groups = {}
    for term in json.loads((facts / "terms.json").read_text("utf-8"))["terms"]:
        key = term["key"]
        group = key.split(".")[0]
        group = {"ram_gb": "memory", "pcie": "gpu", "nvlink": "gpu", "isolation": "access", "tenancy": "access",
                 "driver": "software", "cuda": "software", "framework": "software", "cann": "npu",
                 "rdma": "network"}.get(group, group)  # fmt: skip
        low, high = LIMITS.get(key, LIMITS["count"] if term["kind"] == "count" else (None, None))
        row = {"key": key, "kind": term["kind"], "label": {"en": term["label_en"], "zh": term["label_zh"]},
               "unit": term["unit"], "better": term["better"],
               "checks": [c for c in term["checks"] if c not in NOT_VERIFIED_BY.get(key, ())],
               "choices": term["choices"], "minimum": low, "maximum": high}  # fmt: skip
        groups.setdefault(group, []).append(row)
    for group, rows in groups.items():
        write(ROOT / "terms" / f"{group}.toml", "\n\n".join("\n".join(["[[term]]", *lines(row)]) for row in rows))


def write_xids(facts):
    """resources/xid.toml; the Chinese of a meaning is kept from the file that is replaced."""
    data, path = json.loads((facts / "xid.json").read_text("utf-8")), ROOT / "xid.toml"
    old = tomllib.loads(path.read_text("utf-8")) if path.exists() else {}
    chinese = {row["code"]: row["meaning"]["zh"] for row in old.get("xid", [])}
    sources = {name: f"s{n}" for n, name in enumerate(dict.fromkeys(row["source"] for row in data["xid"]))}
    text = ["[sources]", *lines({key: name for name, key in sources.items()})]
    for row in data["xid"]:
        meaning = {"en": row["meaning"], "zh": chinese.get(row["code"], "")}
        text += ["", "[[xid]]", *lines({
            "code": row["code"], "name": row["mnemonic"], "group": row["cls"], "acceptance": row["acceptance"],
            "meaning": meaning, "source": sources[row["source"]],
        })]  # fmt: skip
    for row in data["clock_event_reasons"]:
        text += ["", "[[clock_reason]]", *lines({"bit": int(row["bit"], 16), "name": row["name"].replace("display_clock_", "display_clocks_")})]
    text += ["", "[sxid]"]
    for severity in ("always_fatal", "port_fatal", "non_fatal"):
        text.append(f"{severity} = {toml([r['code'] for r in data['sxid'] if r['severity'] == severity])}")
    write(path, "\n".join(text))


def write_cuda(facts):
    """resources/cuda.toml: driver floors, families, branches with their end of life."""
    data = json.loads((facts / "cuda_compat.json").read_text("utf-8"))
    text = ['as_of = "2026-12"']
    for row in data["min_linux_driver_per_toolkit"]:
        source = PRIVATE.sub("", row["source"]).replace("copy of the ", "").strip()
        text += ["", "[[toolkit]]", *lines({"version": row["toolkit"], "driver": row["linux_x86_64"], "source": source})]
    for row in data["minor_version_compat"]:
        text += ["", "[[family]]", *lines({"major": int(row["family"].split(".")[0]), "driver": row["min_driver"],
                                           "source": row["source"]})]  # fmt: skip
    for row in data["min_driver_per_arch"]:
        capability = re.sub(r"^sm_(\d+)(\d)$", r"\1.\2", row["arch"])
        text += ["", "[[architecture]]", *lines({"capability": capability, "driver": row["driver"].split(" ")[0],
                                                 "source": f"first toolkit that compiles it: {row['why']}"})]  # fmt: skip
    for row in data["driver_branches"]:
        text += ["", "[[branch]]", *lines({"number": int(row["branch"][1:]), "kind": row["type"].split(",")[0],
                                           "end_of_life": row["eol"], "source": "NVIDIA data-center driver support matrix"})]  # fmt: skip
    write(ROOT / "cuda.toml", "\n".join(text))


def write_checklist(facts):
    """resources/checklists/default.toml."""
    text = []
    for row in json.loads((facts / "checklist.json").read_text("utf-8")):
        auto = row["auto_check"] or {}
        text += ["[[item]]", *lines({
            "id": row["id"], "dimension": row["dimension"], "severity": row["severity"],
            "text": {"en": row["text_en"], "zh": row["text_zh"]},
            "evidence": {"en": row["evidence_en"], "zh": row["evidence_zh"]},
            "scenarios": row["scenarios"], "applies_if": row["applies_if"], "checks": auto.get("checks", []),
        }), ""]  # fmt: skip
    write(ROOT / "checklists" / "default.toml", "\n".join(text))


# Free words of published measurements -> products; several where the words leave the memory open and the rate is the same.
MEASURED_ON = {
    "nvidia-h100-sxm5-80gb": ["H100 SXM5 80GB", "H100 SXM5", "H100 SXM, gen5 x16", "H100 SXM5 NVLink4 18 links", "8x H100 SXM5 NVLS"],
    "nvidia-h100-nvl-94gb": ["H100 NVL bridge 12 links"],
    "nvidia-h200-sxm-141gb": ["H200 SXM 141GB", "H200 SXM", "H200, gen5 x16", "H200 SXM, gen5 x16", "H200 SXM NVLink4", "8x H200 SXM"],
    "nvidia-a100-sxm4-80gb": ["A100 SXM4 80GB", "A100 SXM4", "A100 SXM4, gen4 x16", "A100 SXM4 NVLink3 12 links", "8x A100 SXM4 80GB", "8x A100 SXM4"],
    "nvidia-a100-sxm4-40gb": ["A100 SXM4 40GB", "A100 SXM4", "A100 SXM4, gen4 x16", "A100 SXM4 NVLink3 12 links", "8x A100 SXM4"],
    "nvidia-a100-pcie-80gb": ["A100 PCIe"], "nvidia-a100-pcie-40gb": ["A100 PCIe"],
    "nvidia-a800-pcie-80gb": ["A800 80GB PCIe"], "nvidia-a800-sxm4-80gb": ["A800 SXM4 80GB"],
    "nvidia-h800-sxm5-80gb": ["8x H800 (NVLink 400 GB/s)"], "nvidia-h20-96gb": ["H20 96GB"],
    "nvidia-gh200-96gb": ["GH200"], "nvidia-gh200-144gb": ["GH200"],
    "nvidia-b200-sxm-180gb": ["B200", "8x B200"], "nvidia-b300-sxm-288gb": ["B300"],
    "nvidia-gb200-186gb": ["GB200", "GB200 (C2C)", "4x GB200 (one tray) ring"],
    "nvidia-l40s-48gb": ["L40S"], "nvidia-l20-48gb": ["L20"], "nvidia-t4-16gb": ["T4"], "nvidia-rtx-a6000-48gb": ["RTX A6000"],
    "nvidia-rtx-pro-6000-bw-server": ["RTX PRO 6000 SE"], "nvidia-rtx-3090-24gb": ["RTX 3090"],
    "nvidia-rtx-4090-24gb": ["RTX 4090", "RTX 4090 24GB", "RTX 4090, gen4 x16"],
    "nvidia-rtx-4090-48gb-modified": ["RTX 4090 48GB (modified board)"], "nvidia-rtx-4090-d-24gb": ["RTX 4090 D"],
    "nvidia-rtx-5090-32gb": ["RTX 5090", "8x RTX 5090, PCIe gen5"], "nvidia-rtx-5090-d-v2-24gb": ["RTX 5090 D v2"],
    "amd-mi300x-192gb": ["MI300X", "8x MI300X"], "amd-mi325x-256gb": ["MI325X"], "amd-mi355x-288gb": ["MI355X"],
    "huawei-ascend-910a-32gb": ["Ascend 910"],
}  # fmt: skip
METRICS = {
    ("hbm", "read+write copy"): "hbm_copy_gb_s", ("hbm", "triad"): "hbm_triad_gb_s", ("hbm", "read-only dot"): "hbm_read_gb_s",
    ("matmul", "bf16 dense"): "bf16_tflops", ("matmul", "fp16 dense"): "fp16_tflops", ("matmul", "fp16 cuBLAS"): "fp16_tflops",
    ("matmul", "fp8 dense"): "fp8_tflops", ("matmul", "fp4 dense"): "fp4_tflops", ("matmul", "fp32 (TF32 off)"): "fp32_tflops",
    ("burn", "bf16 sustained all GPUs"): "bf16_sustained_tflops",
    ("pcie", "H2D pinned"): "h2d_gb_s", ("pcie", "D2H pinned"): "d2h_gb_s", ("pcie", "H2D"): "h2d_gb_s",
    ("p2p", "one direction"): "p2p_one_way_gb_s", ("p2p", "both directions"): "p2p_both_ways_gb_s",
    ("allreduce", "busbw large message"): "allreduce_8_gb_s",
}  # fmt: skip
LEFT_OUT_HEAD = [
    "# Published figures that are no yardstick", "",
    "Rates of GPUs are compared with `resources/measured.toml`. The importer (`packaging/import_facts.py`) maps the free words of each",
    "published figure to catalogue ids by a table (`MEASURED_ON`); these found no place, each for the reason beside it. Written by the importer.", "",
    "| kind | subject | how | figure | why not |", "|---|---|---|---|---|",
]  # fmt: skip
OTHER_METRIC = {"4x GB200 (one tray) ring": "allreduce_4_gb_s"}
RANGE = re.compile(r"\b(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)\b")


def seen_range(row):
    """The lowest and highest that the conditions tell beside a value, such as `162-173`; (None, None) if they tell none."""
    for low, high in RANGE.findall(row["conditions"]):
        if float(low) <= row["value"] * 1.05 and row["value"] * 0.95 <= float(high) < row["value"] * 2 and float(low) > row["value"] / 2:
            return float(low), float(high)
    return None, None


def tool_of(conditions):
    """The tool or kernel that a figure was measured with; None where the conditions begin with something else."""
    first = re.split(r"[;:]", conditions)[0].strip()
    return first if first.startswith(("BabelStream", "torch", "best shape", "mamf", "nvbandwidth", "cuBLAS", "gpu-fryer")) else None


def why_left_out(row, subject, metric, ids):
    """Why a published figure is no yardstick here; empty where it is one."""
    if row["trap"]:
        return "shows a mistake of measuring"
    if row["confidence"] == "low":
        return "no sure source"
    if metric is None:
        return "measured in a way that no task here measures"
    return "" if subject in ids else "its words name no single product of the catalogue"


def write_measured(facts):
    """resources/measured.toml, and docs/measured.md with what found no place: no traps, no floors, no rumours."""
    ids = {}
    for id_, words in MEASURED_ON.items():
        for word in words:
            ids.setdefault(word, []).append(id_)
    text, found, left = ["# What was published of products: never a promise, never a percentage of a data sheet."], {}, []
    for row in json.loads((facts / "measured.json").read_text("utf-8"))["measurements"]:
        subject = row["subject"].strip()
        metric = OTHER_METRIC.get(subject, METRICS.get((row["kind"], row["metric"])))
        if why := why_left_out(row, subject, metric, ids):
            left.append(f"| {row['kind']} | {subject} | {row['metric']} | {row['value']} {row['unit']} | {why} |")
            continue
        low, high = seen_range(row)
        sample = {"value": row["value"], "low": low, "high": high, "conditions": tool_of(row["conditions"]),
                  "source": PRIVATE.sub("", row["source"]).replace("Azure Results", "Azure_Results").strip()}  # fmt: skip
        for id_ in ids[subject]:
            found.setdefault((id_, metric, row["unit"]), []).append(sample)
    for (id_, metric, unit), samples in sorted(found.items()):
        text += ["", "[[figure]]", *lines({"model": id_, "metric": metric, "unit": unit}),
                 "samples = [", *(f"  {toml(sample)}," for sample in samples), "]"]  # fmt: skip
    write(ROOT / "measured.toml", "\n".join(text))
    write(ROOT.parent / "docs" / "measured.md", "\n".join([*LEFT_OUT_HEAD, *left]))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for step in (write_gpus, write_terms, write_xids, write_cuda, write_checklist, write_measured):
        step(folder)
