/* The survey, for people and for programs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "info/info_digits.h"
#include "info/info_facts.h"
#include "print.h"
#include "text.h"

/* ---- for people */

static void print_percentiles(const info_facts *f, int name_width) {
    print_out("  percentiles\n    %-*s", name_width, "");
    for (int p = 0; p < RANKS_COUNT; p++) print_out("  %14.0f %%", rank_percents[p]);
    putchar('\n');
    for (uint32_t c = 0; c < mote_cloud_column_count(f->cloud); c++) {
        const mote_column *column = mote_cloud_column(f->cloud, c);
        if (f->stats.columns[c].values == 0) continue;
        print_out("    %-*s", name_width, column->name);
        for (int p = 0; p < RANKS_COUNT; p++) {
            print_out("  %16s", digits_of_value(column, f->stats.columns[c].percentiles[p]).chars);
        }
        putchar('\n');
    }
}

void survey_print(const info_facts *f, int name_width) {
    const cloud_survey *survey = &f->survey;
    print_percentiles(f, name_width);
    if (f->stats.covered > 0) {
        print_out("  %-12s%.6g square units in cells of %.3g: %.4g points per square unit\n", "covered",
                  f->stats.covered, f->stats.cell, survey->density);
    }
    if (survey->is_date) {
        print_out("  %-12s%s to %s, GPS time\n", "taken", survey->first_date, survey->last_date);
    } else if (survey->has_time) {
        print_out("  %-12s%s to %s s\n", "times", text_real(survey->first_time).chars,
                  text_real(survey->last_time).chars);
    }
    for (int i = 0; i < survey->warning_count; i++) print_out("  %-12s%s\n", "warning", survey->warnings[i].text);
}

/* ---- for programs */

void survey_emit_column(const info_facts *f, uint32_t column, json_writer *json) {
    emit_open(json, "percentiles", '{');
    for (int p = 0; p < RANKS_COUNT; p++) {
        char key[8];
        snprintf(key, sizeof key, "%.0f", rank_percents[p]);
        emit_number(json, key,
                    digits_exact(mote_cloud_column(f->cloud, column), f->stats.columns[column].percentiles[p]));
    }
    emit_close(json, '}');
}

void survey_emit(const info_facts *f, json_writer *json) {
    const cloud_survey *survey = &f->survey;
    if (f->stats.covered > 0) {
        emit_open(json, "covered", '{');
        emit_real(json, "area", f->stats.covered);
        emit_real(json, "cell", f->stats.cell);
        emit_real(json, "density", survey->density);
        emit_close(json, '}');
    }
    if (survey->has_time) {
        emit_open(json, "times", '{');
        emit_real(json, "first", survey->first_time);
        emit_real(json, "last", survey->last_time);
        if (survey->is_date) emit_text(json, "first_date", survey->first_date);
        if (survey->is_date) emit_text(json, "last_date", survey->last_date);
        emit_close(json, '}');
    }
    emit_open(json, "warnings", '[');
    for (int i = 0; i < survey->warning_count; i++) {
        emit_open(json, NULL, '{');
        emit_text(json, "what", survey->warnings[i].what);
        emit_text(json, "text", survey->warnings[i].text);
        emit_close(json, '}');
    }
    emit_close(json, ']');
}
