/* What does NVML answer on a machine with two cards whose every figure is known?
 *
 * A stand-in for tests, built as libnvidia-ml.so.1. Types and numbers are those of nvml.h. The file that NVML_STANDIN
 * names says what is wrong at this moment, one word a fault: lost0 lost1 (a card has fallen off the bus), swapped (the
 * cards changed places), unloaded (the driver), hang (every call sleeps), na (power is not told), old (neither field
 * values nor the second memory call), xid79 (once for the first card), xid48 (once for the second), xid31 (so, too, once both are heard), deaf0 deaf1 (a card
 * refuses events), mute (events can't be waited for), none (no card is shown), twins (both cards have the UUID of the first), hot (a million degrees), more (all counters have risen).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned int u32;
typedef unsigned long long u64;
typedef struct card { int place; u64 told; } *device;
struct rates { u32 gpu, memory; };
struct memory { u64 total, free, used; };
struct memory_v2 { u32 version; u64 total, reserved, free, used; };
struct pci { char legacy[16]; u32 numbers[5]; char bus[32]; };
struct field {
    u32 id, scope;
    long long at, latency;
    u32 kind, result;
    union { double d; u32 ui; unsigned long ul; u64 ull; long long sll; int si; unsigned short us; } value;
};
struct process { u32 pid; u64 used; u32 gpu_instance, compute_instance; };
struct event { device card; u64 kind, data; u32 gpu_instance, compute_instance; };
enum { OK, UNINITIALIZED, INVALID, UNSUPPORTED, NO_LOADED = 9, TIMEOUT = 10, NO_FUNCTION = 13, LOST = 15 };

static struct card CARDS[2] = {{0, 0}, {1, 0}};
static const char *UUIDS[2] = {"GPU-aaaa0000-0000-4000-8000-000000000000", "GPU-bbbb1111-0000-4000-8000-000000000001"};
static int started, told_79, told_48, told_31;

static int is(const char *word)
{
    char text[256] = " ";
    const char *name = getenv("NVML_STANDIN");
    FILE *file = name ? fopen(name, "r") : NULL;
    if (!file)
        return 0;
    size_t count = fread(text + 1, 1, sizeof text - 3, file);
    fclose(file);
    text[count + 1] = 0;
    char *rest; /* two threads ask at once */
    for (char *at = strtok_r(text, " \n", &rest); at; at = strtok_r(NULL, " \n", &rest))
        if (!strcmp(at, word))
            return 1;
    return 0;
}

/* What every call meets first. */
static int met(device card)
{
    while (is("hang"))
        usleep(20000);
    if (is("unloaded"))
        started = 0;
    if (!started)
        return UNINITIALIZED;
    if (card && is(card->place ? "lost1" : "lost0"))
        return LOST;
    return OK;
}
#define MEET(card) do { int met_ = met(card); if (met_) return met_; } while (0)

int nvmlInit_v2(void)
{
    while (is("hang"))
        usleep(20000);
    if (is("unloaded"))
        return NO_LOADED;
    started = 1;
    return OK;
}
/* What a new pynvml calls in place of it; a library that lacks it is too old for that pynvml. */
int nvmlInitWithFlags(u32 flags) { return flags ? INVALID : nvmlInit_v2(); }
int nvmlShutdown(void) { started = 0; return OK; }
const char *nvmlErrorString(int code) { return code == LOST ? "GPU is lost" : code == NO_LOADED ? "Driver Not Loaded" : "Error"; }
int nvmlDeviceGetCount_v2(u32 *count) { MEET(NULL); *count = is("none") ? 0 : 2; return OK; }
int nvmlDeviceGetHandleByIndex_v2(u32 index, device *card)
{
    MEET(NULL);
    if (index > 1)
        return INVALID;
    *card = &CARDS[is("swapped") ? 1 - index : index];
    return met(*card);
}
int nvmlDeviceGetUUID(device card, char *uuid, u32 length)
{
    MEET(card);
    snprintf(uuid, length, "%s", UUIDS[is("twins") ? 0 : card->place]);
    return OK;
}
int nvmlDeviceGetPciInfo_v3(device card, struct pci *pci)
{
    MEET(card);
    snprintf(pci->bus, sizeof pci->bus, "00000000:%02X:00.0", 26 + card->place);
    return OK;
}
int nvmlDeviceGetUtilizationRates(device card, struct rates *rates)
{
    MEET(card);
    rates->gpu = 87 + card->place;
    rates->memory = 33;
    return OK;
}
int nvmlDeviceGetMemoryInfo(device card, struct memory *memory)
{
    MEET(card);
    memory->total = 80ULL << 30;
    memory->used = 9ULL << 30;
    memory->free = memory->total - memory->used;
    return OK;
}
int nvmlDeviceGetMemoryInfo_v2(device card, struct memory_v2 *memory)
{
    MEET(card);
    if (is("old") || memory->version != (sizeof *memory | 2 << 24))
        return UNSUPPORTED;
    memory->total = 80ULL << 30;
    memory->reserved = 1ULL << 30;
    memory->used = 8ULL << 30;
    memory->free = 71ULL << 30;
    return OK;
}
int nvmlDeviceGetPowerUsage(device card, u32 *mw) { MEET(card); *mw = 412500; return is("na") ? UNSUPPORTED : OK; }
int nvmlDeviceGetEnforcedPowerLimit(device card, u32 *mw) { MEET(card); *mw = 700000; return OK; }
int nvmlDeviceGetTemperature(device card, int sensor, u32 *celsius)
{
    MEET(card);
    *celsius = is("hot") ? 1000000 : 58;
    return sensor ? INVALID : OK;
}
int nvmlDeviceGetClockInfo(device card, int kind, u32 *mhz)
{
    static const u32 CLOCKS[] = {300, 1755, 2619, 1600};
    MEET(card);
    *mhz = CLOCKS[kind & 3];
    return OK;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(device card, u64 *mask) { MEET(card); *mask = 1ULL << 40 | 4; return OK; }
int nvmlDeviceGetPcieThroughput(device card, int direction, u32 *kb_s)
{
    MEET(card);
    *kb_s = direction ? 24000000 : 12000000;
    return OK;
}
int nvmlDeviceGetTotalEccErrors(device card, int uncorrected, int aggregate, u64 *count)
{
    MEET(card);
    if (!aggregate)
        return INVALID;
    *count = is("more") ? (uncorrected ? 3 : 17) : (uncorrected ? 1 : 10);
    return OK;
}
int nvmlDeviceGetFieldValues(device card, int count, struct field *fields)
{
    static const struct { u32 id; u64 value, risen; } KNOWN[] = {
        {82, 71, 71}, {94, 5, 9}, {138, 1ULL << 40, (1ULL << 40) + (1ULL << 20)}, {139, 1ULL << 41, (1ULL << 41) + (2ULL << 20)},
        {38, 1, 2}, {45, 1, 3}, {52, 1, 4}, {59, 1, 1}, {142, 2, 3}, {143, 1, 2}, {144, 1, 1}, {145, 0, 0},
        {197, 10000000000ULL, 13000000000ULL}, {198, 20000000000ULL, 26000000000ULL},
    };
    MEET(card);
    if (is("old"))
        return INVALID;
    for (int n = 0; n < count; n++) {
        fields[n].result = UNSUPPORTED;
        for (size_t k = 0; k < sizeof KNOWN / sizeof *KNOWN; k++)
            if (KNOWN[k].id == fields[n].id) {
                u64 value = is("more") ? KNOWN[k].risen : KNOWN[k].value;
                fields[n].result = OK;
                fields[n].kind = fields[n].id < 100 ? 1 : 3;
                if (fields[n].kind == 1)
                    fields[n].value.ui = (u32)value;
                else
                    fields[n].value.ull = value;
            }
        if ((fields[n].id == 138 || fields[n].id == 139) && fields[n].scope != 0xFFFFFFFFu)
            fields[n].result = INVALID;
    }
    return OK;
}
int nvmlDeviceGetComputeRunningProcesses_v3(device card, u32 *count, struct process *found)
{
    MEET(card);
    if (*count < 2 || !found) {
        *count = 2;
        return 7;
    }
    *count = 2;
    found[0] = (struct process){4242, 3ULL << 30, 0xFFFFFFFF, 0xFFFFFFFF};
    found[1] = (struct process){4243, 5ULL << 30, 0xFFFFFFFF, 0xFFFFFFFF};
    return OK;
}
/* A set is the cards that are registered, a bit each. */
int nvmlEventSetCreate(void **set) { MEET(NULL); *set = calloc(1, sizeof(int)); return *set ? OK : INVALID; }
int nvmlEventSetFree(void *set) { free(set); return OK; }
int nvmlDeviceRegisterEvents(device card, u64 kinds, int *set)
{
    MEET(card);
    if (is(card->place ? "deaf1" : "deaf0"))
        return UNSUPPORTED;
    *set |= 1 << card->place;
    return kinds == 8 ? OK : INVALID;
}
int nvmlEventSetWait_v2(int *set, struct event *event, u32 timeout_ms)
{
    MEET(NULL);
    if (is("mute"))
        return UNSUPPORTED;
    for (u32 waited = 0; waited <= timeout_ms; waited += 20) {
        if (*set & 1 && !told_79 && is("xid79")) {
            told_79 = 1;
            *event = (struct event){&CARDS[0], 8, 79, 0, 0};
            return OK;
        }
        if ((*set & 1 && is("lost0")) || (*set & 2 && is("lost1")))
            return LOST;
        if (*set & 2 && !told_48 && is("xid48")) {
            told_48 = 1;
            *event = (struct event){&CARDS[1], 8, 48, 0, 0};
            return OK;
        }
        if (*set == 3 && !told_31 && is("xid31")) {
            told_31 = 1;
            *event = (struct event){&CARDS[1], 8, 31, 0, 0};
            return OK;
        }
        usleep(timeout_ms < 20 ? timeout_ms * 1000 : 20000);
    }
    return TIMEOUT;
}
