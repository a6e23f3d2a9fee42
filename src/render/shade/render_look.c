#include "render/shade/render_look.h"

#include <math.h>

/* A direction to a light in the camera's axes. */
static void set_lamp(const render_view *view, const mote_render_light *light, render_lamp *lamp) {
    double toward[3], half[3];
    for (int k = 0; k < 3; k++) toward[k] = light->toward[k];
    if (light->world) {
        const double *w = light->toward;
        toward[0] = (w[0] * view->right[0] + w[1] * view->right[1]) + w[2] * view->right[2];
        toward[1] = (w[0] * view->down[0] + w[1] * view->down[1]) + w[2] * view->down[2];
        toward[2] = (w[0] * view->forward[0] + w[1] * view->forward[1]) + w[2] * view->forward[2];
    } else {
        toward[1] = -toward[1]; /* given as up and to the viewer, kept as down and away from him */
        toward[2] = -toward[2];
    }
    const double length = sqrt((toward[0] * toward[0] + toward[1] * toward[1]) + toward[2] * toward[2]);
    for (int k = 0; k < 3; k++) toward[k] /= length;
    for (int k = 0; k < 3; k++) half[k] = toward[k] - (k == 2 ? 1 : 0);
    const double between = sqrt((half[0] * half[0] + half[1] * half[1]) + half[2] * half[2]);
    for (int k = 0; k < 3; k++) {
        lamp->toward[k] = (float)toward[k];
        lamp->half[k] = between > 1e-9 ? (float)(half[k] / between) : 0;
        lamp->color[k] = (float)(light->strength * light->color[k] / 255);
    }
}

static void set_edl(const mote_render_params *p, const render_view *view, render_look *look) {
    static const double around[RENDER_EDL_NEIGHBORS][2] = {{1, 0},  {0.70711, 0.70711},   {0, 1},  {-0.70711, 0.70711},
                                                           {-1, 0}, {-0.70711, -0.70711}, {0, -1}, {0.70711, -0.70711}};
    look->edl_strength = (float)p->edl_strength;
    look->edl_scale = view->perspective ? 0 : (float)(view->focal / ((double)p->height * p->samples));
    for (int n = 0; n < RENDER_EDL_NEIGHBORS; n++) {
        for (int k = 0; k < 2; k++) {
            look->edl_offset[n][k] = (int32_t)rint(around[n][k] * p->edl_radius * p->samples);
        }
    }
}

void render_make_look(const mote_renderer *renderer, const render_job *job, render_look *look) {
    const mote_render_params *p = job->params;
    memset(look, 0, sizeof *look);
    look->view = job->view;
    look->samples = p->samples;
    for (int k = 0; k < 4; k++) look->background[k] = (float)p->background[k] / 255.0f;
    set_edl(p, &job->view, look);
    look->lamp_count = p->light_count;
    for (uint32_t i = 0; i < p->light_count; i++) set_lamp(&job->view, &p->lights[i], &look->lamps[i]);
    look->ambient = (float)p->ambient;
    look->specular = (float)p->specular;
    look->show = p->show;
    look->show_min = (float)p->show_min;
    look->show_max = (float)p->show_max;
    for (int k = 0; k < 3; k++) look->given[k] = renderer->points.normal[k];
}

void render_set_errors(uint64_t count, uint64_t sum, uint64_t squares, mote_render_result *result) {
    if (count == 0) return;
    const double mean = (double)sum / (double)count, square = (double)squares / (double)count;
    result->normal_error_deg = mean / RENDER_ERROR_STEPS;
    result->normal_error_deviation_deg = sqrt(fmax(square - mean * mean, 0)) / RENDER_ERROR_STEPS;
}
