#include "measure/measure_print.h"

#include <math.h>
#include <stdio.h>

#include "costs.h"
#include "files/json.h"
#include "paths.h"
#include "print.h"
#include "text.h"

#define DIGITS       5 /* that count, of a figure below 100 */
#define DECIMALS_MIN 3
#define DECIMALS_MAX 9

static const char *const exponents[] = {"", "", "²", "³"};

/* "12.345 m²" */
static void print_figure(const char *name, double value, const char *unit, int power) {
    const double size = fabs(value);
    const int wanted = size > 0 ? DIGITS - (int)ceil(log10(size)) : DECIMALS_MIN;
    const int decimals = wanted < DECIMALS_MIN ? DECIMALS_MIN : wanted > DECIMALS_MAX ? DECIMALS_MAX : wanted;
    print_out("%-16s%s%s%s%s\n", name, text_fixed(value, decimals).chars, unit[0] != '\0' ? " " : "", unit,
              unit[0] != '\0' ? exponents[power] : "");
}

/* null where it is not known */
static void emit_unit(json_writer *json, const char *unit) {
    if (unit[0] != '\0') {
        emit_text(json, "unit", unit);
    } else {
        emit_real(json, "unit", NAN);
    }
}

void measure_print_volume(session *s, const mote_volume_params *params, const mote_volume *volume) {
    static const char *const bases[] = {"plane", "lowest", "level"};
    const char *unit = mote_measure_unit(&params->units);
    if (!s->options.json) {
        print_figure("above", volume->above, unit, 3);
        print_figure("below", volume->below, unit, 3);
        print_figure("area", volume->area, unit, 2);
        print_out("%-16s%s\n", "points", text_count(volume->points).chars);
        print_out("%-16s%s %% of the area\n", "without points", text_fixed(100 * volume->empty, 1).chars);
        print_figure("cell", volume->cell, unit, 1);
        return;
    }
    json_writer json;
    emit_start(&json, stdout, false);
    emit_open(&json, NULL, '{');
    emit_real(&json, "above", volume->above);
    emit_real(&json, "below", volume->below);
    emit_real(&json, "area", volume->area);
    emit_count(&json, "points", volume->points);
    emit_unit(&json, unit);
    emit_real(&json, "empty", volume->empty);
    emit_real(&json, "cell", volume->cell);
    emit_text(&json, "base", bases[params->base]);
    if (params->base != MOTE_VOLUME_PLANE) emit_real(&json, "level", volume->level);
    told_emit(s, &json);
    emit_close(&json, '}');
    emit_end(&json);
}

void measure_print_area(session *s, const mote_units *units, const mote_area *area) {
    const char *unit = mote_measure_unit(units);
    if (!s->options.json) {
        print_figure("area", area->area, unit, 2);
        if (!isnan(area->surface)) print_figure("surface", area->surface, unit, 2);
        print_figure("around", area->around, unit, 1);
        return;
    }
    json_writer json;
    emit_start(&json, stdout, false);
    emit_open(&json, NULL, '{');
    emit_real(&json, "area", area->area);
    emit_real(&json, "surface", area->surface);
    emit_real(&json, "around", area->around);
    emit_unit(&json, unit);
    told_emit(s, &json);
    emit_close(&json, '}');
    emit_end(&json);
}

void measure_print_profile(session *s, const mote_units *units, double width, const mote_profile *profile,
                           const char *output) {
    const char *unit = mote_measure_unit(units);
    if (!s->options.json) {
        print_figure("length", profile->length, unit, 1);
        print_figure("width", width, unit, 1);
        print_out("%-16s%s\n", "points", text_count(profile->count).chars);
        return;
    }
    json_writer json;
    emit_start(&json, stdout, false);
    emit_open(&json, NULL, '{');
    emit_real(&json, "length", profile->length);
    emit_real(&json, "width", width);
    emit_count(&json, "points", profile->count);
    emit_unit(&json, unit);
    if (output != NULL) emit_text(&json, "output", path_title(output));
    told_emit(s, &json);
    emit_close(&json, '}');
    emit_end(&json);
}
