/* What a run took, for --stats and --json. */
#include "costs.h"

#include <stdio.h>

#include "messages.h"
#include "print.h"
#include "text.h"

#define USAGE_LINES 256

/* What the context's record says, then the command's own lines. */
typedef struct usage_lines {
    mote_usage lines[USAGE_LINES];
    uint32_t count;
    uint64_t peak_bytes;
} usage_lines;

static void take_usage(const session *s, const mote_usage *own, uint32_t own_count, usage_lines *usage) {
    usage->count = mote_context_usage(s->ctx, usage->lines, USAGE_LINES);
    if (usage->count > USAGE_LINES) usage->count = USAGE_LINES;
    usage->peak_bytes = mote_context_memory_peak_bytes(s->ctx);
    for (uint32_t i = 0; i < own_count && usage->count < USAGE_LINES; i++) {
        usage->lines[usage->count++] = own[i];
        usage->peak_bytes += own[i].peak_bytes;
    }
}

/* Structures of the host or of the GPU, with bytes per point, and all of them at the peak. */
static void print_structures(const usage_lines *usage, bool on_device, uint64_t peak_bytes, double n) {
    print_out("\n%-28s %14s %14s\n", on_device ? "structure on the GPU" : "structure", "peak bytes", "bytes/point");
    for (uint32_t i = 0; i < usage->count; i++) {
        const mote_usage *line = &usage->lines[i];
        if (line->peak_bytes == 0 || line->on_device != on_device) continue;
        print_out("%-28s %14s %14.2f\n", line->name, text_count(line->peak_bytes).chars, (double)line->peak_bytes / n);
    }
    print_out("%-28s %14s %14.2f\n", on_device ? "all on the GPU, at the peak" : "all, at the peak",
              text_count(peak_bytes).chars, (double)peak_bytes / n);
}

void costs_print(const session *s, const mote_usage *own, uint32_t own_count, uint64_t points) {
    usage_lines usage;
    take_usage(s, own, own_count, &usage);
    const uint64_t device_bytes = mote_context_device_peak_bytes(s->ctx);
    const double n = points > 0 ? (double)points : 1;
    print_structures(&usage, false, usage.peak_bytes, n);
    if (device_bytes > 0) print_structures(&usage, true, device_bytes, n);
    print_out("\n%-28s %14s %14s\n", "stage", "seconds", "M points/s");
    for (uint32_t i = 0; i < usage.count; i++) {
        const mote_usage *line = &usage.lines[i];
        if (!(line->seconds > 0)) continue;
        print_out("%-28s %14.3f %14.2f\n", line->name, line->seconds, n / line->seconds / 1e6);
    }
    const double seconds = seconds_now() - s->started;
    print_out("%-28s %14.3f %14.2f\n", "all", seconds, n / seconds / 1e6);
}

static void emit_structures(json_writer *json, const usage_lines *usage, const char *name, bool on_device) {
    emit_open(json, name, '{');
    for (uint32_t i = 0; i < usage->count; i++) {
        const mote_usage *line = &usage->lines[i];
        if (line->peak_bytes > 0 && line->on_device == on_device) emit_count(json, line->name, line->peak_bytes);
    }
    emit_close(json, '}');
}

void told_emit(const session *s, json_writer *json) {
    if (s->options.crs != NULL) emit_text(json, "given_crs", s->options.crs);
    if (s->options.to_crs != NULL) emit_text(json, "to_crs", s->options.to_crs);
    messages_emit(s->messages, json);
}

void costs_emit(const session *s, const mote_usage *own, uint32_t own_count, json_writer *json) {
    usage_lines usage;
    told_emit(s, json);
    take_usage(s, own, own_count, &usage);
    emit_structures(json, &usage, "structures", false);
    emit_structures(json, &usage, "device_structures", true);
    emit_open(json, "stages", '{');
    for (uint32_t i = 0; i < usage.count; i++) {
        if (usage.lines[i].seconds > 0) emit_real(json, usage.lines[i].name, usage.lines[i].seconds);
    }
    emit_close(json, '}');
    emit_count(json, "peak_bytes", usage.peak_bytes);
    emit_count(json, "device_peak_bytes", mote_context_device_peak_bytes(s->ctx));
}
