/* Scenes: how many of the photons, and of the shadow rays, each light gets.

   In proportion to power, a candle in a closed room gets nothing beside the sun outside: of a million photons four. In
   equal parts, candles in a sunlit street would take most of them, and add nothing that is seen. So a pilot pass asks
   places of the scene which light they have:

     lights      | class 0: the sun | class 1: 7 lamps |   | class 4: a candle |     by powers of four
     pilot       |  x x  x x x  x   |  x x x x         |   |  x x x x x x      |     places that their photons meet
     irradiance  at each place, of each class: shadow rays, and what indirect photons of the pilot are near and seen
     votes       a place has one vote, and gives it to the classes by their parts of its irradiance

   Half of the photons leave by power, and half by votes, so that no light has fewer than half of what its power would
   give it, whatever the pilot has missed. A photon carries its light's power over the number of photons that are to
   leave it: sums of power are right on average for any shares, which decide about noise alone. Within a class, lights
   have shares by power. Where votes agree with powers, shares are the powers themselves. */
#include "photon/gather/photon_look_up.h"
#include "photon/scene/photon_scene_parts.h"

#define CLASSES      20u   /* of powers, each a quarter of the one before; the last has all that is weaker */
#define MAX_PATHS    1024u /* of the pilot, together, but MIN_PATHS of each class at least */
#define MIN_PATHS    256u
#define MAX_PLACES   2048u /* that are asked, together, but MIN_PLACES of each class at least */
#define MIN_PLACES   64u
#define PATH_RECORDS 4u  /* of a photon of the pilot: later ones are alike */
#define SHADOW_RAYS  4u  /* from a place to each class */
#define MUCH         2.0 /* shares by powers are kept if no class is due more than so many times its own */
/* Sums of power have 2^30 steps for a mean photon. Photons of a light are not more than so many times weaker. */
#define MAX_WEAKER 0x1p22

typedef struct light_class {
    double power, votes;
    photon_record *records; /* [paths · PATH_RECORDS], the indirect ones in front */
    uint32_t count, indirect;
} light_class;

typedef struct pilot {
    mote_scene *scene;
    light_class classes[CLASSES];
    uint32_t class_count; /* of those that have lights */
    uint32_t paths, places;
    uint8_t *class_of;    /* [lights] */
    photon_light *lights; /* those of the scene, of which one class alone is chosen */
    photon_view view;     /* the scene lit by these */
    photon_record *slots; /* [paths · PATH_RECORDS] as they come */
    uint32_t *counts;     /* [paths] */
    double *irradiance;   /* [places · class_count] all colours together */
} pilot;

/* ---- classes */

static void sort_lights(pilot *p) {
    const photon_view *scene = &p->scene->view;
    uint8_t number[CLASSES];
    double strongest = 0;
    for (uint32_t i = 0; i < scene->light_count; i++) strongest = fmax(strongest, scene->lights[i].power);
    memset(number, 0xff, sizeof number);
    for (uint32_t i = 0; i < scene->light_count; i++) {
        uint32_t step = 0;
        for (double power = scene->lights[i].power; power < strongest / 4 && step + 1 < CLASSES; power *= 4) step++;
        if (number[step] == 0xff) number[step] = (uint8_t)p->class_count++;
        p->class_of[i] = number[step];
        p->classes[number[step]].power += scene->lights[i].power;
    }
}

/* Lets shadow rays and photons choose among the lights of one class alone. */
static void light_by_class(pilot *p, uint32_t number) {
    double before = 0;
    p->view = p->scene->view;
    p->view.lights = p->lights;
    for (uint32_t i = 0; i < p->view.light_count; i++) {
        photon_light *const light = &p->lights[i];
        light->share = p->class_of[i] == number ? light->power : 0;
        light->share_before = before;
        before += light->share;
    }
    p->view.power = before;
}

/* ---- the pilot's photons */

static uint32_t fly(const pilot *p, uint32_t number, photon_record *to) {
    photon_flight flight = photon_flight_begin(&p->view, 0, number, p->view.power / p->paths);
    photon_tally unused;
    uint32_t count = 0;
    bool flies = true;
    memset(&unused, 0, sizeof unused);
    while (flies && count < PATH_RECORDS) {
        bool stores;
        flies = photon_flight_step(&p->view, &flight, &to[count], &stores, &unused);
        count += stores;
    }
    return count;
}

static mote_status emit_class(pilot *p, light_class *of) {
    const uint32_t paths = p->paths;
#pragma omp parallel for schedule(dynamic, 16) num_threads(p->scene->ctx->threads)
    for (uint32_t i = 0; i < paths; i++) p->counts[i] = fly(p, i, p->slots + (size_t)PATH_RECORDS * i);
    of->records = mote_alloc(p->scene->ctx, (uint64_t)paths * PATH_RECORDS * sizeof *of->records, "photons");
    if (of->records == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < paths * PATH_RECORDS; i++) {
            if (i % PATH_RECORDS >= p->counts[i / PATH_RECORDS]) continue;
            if ((p->slots[i].bounce == PHOTON_DIRECT) == (round == 1)) of->records[of->count++] = p->slots[i];
        }
        if (round == 0) of->indirect = of->count;
    }
    return MOTE_OK;
}

/* ---- places and their irradiance */

/* The places of a class are spread over its photons. */
static uint32_t places_of(const pilot *p, const light_class *of) {
    return of->count < p->places ? of->count : p->places;
}

static const photon_record *place_of(const pilot *p, const light_class *of, uint32_t i) {
    return &of->records[(uint64_t)i * of->count / places_of(p, of)];
}

/* near: out, the PHOTON_LOOK_UP_K nearest indirect photons, the nearest first; of equal ones the first */
static void find_near(const light_class *of, photon_vec at, uint32_t *near) {
    double squares[PHOTON_LOOK_UP_K];
    for (uint32_t i = 0; i < PHOTON_LOOK_UP_K; i++) {
        near[i] = UINT32_MAX;
        squares[i] = INFINITY;
    }
    for (uint32_t i = 0; i < of->indirect; i++) {
        const photon_vec away = photon_sub(photon_vec_of_floats(of->records[i].place), at);
        const double square = photon_dot(away, away);
        uint32_t j = PHOTON_LOOK_UP_K;
        for (; j > 0 && square < squares[j - 1]; j--) {
            if (j == PHOTON_LOOK_UP_K) continue;
            squares[j] = squares[j - 1];
            near[j] = near[j - 1];
        }
        if (j == PHOTON_LOOK_UP_K) continue;
        squares[j] = square;
        near[j] = i;
    }
}

/* The irradiance by the photons around a place that it sees. The last of them, of whatever surface, gives the radius
   and does not count: the mean is right so. */
static void gather_near(const photon_view *scene, const photon_record *records, double compression,
                        const photon_place *place, float irradiance[3]) {
    uint32_t count = 0;
    while (count < PHOTON_LOOK_UP_K && place->near[count] != UINT32_MAX) count++;
    irradiance[0] = irradiance[1] = irradiance[2] = 0;
    if (count < 2) return;
    const photon_vec to_last = photon_sub(photon_vec_of_floats(records[place->near[count - 1]].place), place->at);
    const double radius2 = photon_dot(to_last, to_last);
    if (!(radius2 > 0)) return;
    photon_cut cut;
    const photon_ellipsoid e =
        photon_ellipsoid_of(place->at, place->up, compression, sqrt(radius2), MOTE_PHOTON_FILTER_NONE);
    const double part = photon_seen_part(scene, &e, &cut);
    photon_vec sum = photon_vec_of(0, 0, 0);
    for (uint32_t i = 0; i + 1 < count; i++) {
        const photon_record *photon = &records[place->near[i]];
        const photon_vec away = photon_sub(photon_vec_of_floats(photon->place), place->at);
        const double square = photon_flat_square(away, place->up, compression);
        if (!(square < radius2) || !photon_counts(photon, place->normal, square, MOTE_PHOTON_AREA_SURFACE)) continue;
        if (photon_is_kept(&cut, photon) && photon_is_seen(scene, place, photon))
            sum = photon_add(sum, photon_vec_of_floats(photon->power));
    }
    const double area = PHOTON_PI * radius2 * part;
    irradiance[0] = (float)(sum.x / area);
    irradiance[1] = (float)(sum.y / area);
    irradiance[2] = (float)(sum.z / area);
}

/* What a class brings to a place. */
static double irradiance_at(const pilot *p, const light_class *of, const photon_record *at, uint32_t number) {
    const photon_vec place = photon_vec_of_floats(at->place), normal = photon_vec_of_floats(at->normal);
    photon_random random = photon_random_of(0, PHOTON_STREAM_LIGHT, number);
    photon_sequence sequence = photon_sequence_of(&random, 0);
    uint32_t near[PHOTON_LOOK_UP_K];
    float indirect[3];
    find_near(of, place, near);
    const photon_place from = photon_place_of(place, at->normal, 0, near);
    gather_near(&p->view, of->records, mote_photon_gathering_defaults().compression, &from, indirect);
    const double direct = photon_sum(photon_direct(&p->view, place, normal, SHADOW_RAYS, &sequence));
    return direct + photon_sum(photon_vec_of_floats(indirect));
}

/* The column of a class. */
static void ask_places(pilot *p, uint32_t number) {
    uint32_t row = 0;
    light_by_class(p, number);
    for (uint32_t c = 0; c < p->class_count; c++) {
        const light_class *const of = &p->classes[c];
        const uint32_t count = places_of(p, of), first = row;
#pragma omp parallel for schedule(dynamic, 16) num_threads(p->scene->ctx->threads)
        for (uint32_t i = 0; i < count; i++) {
            p->irradiance[(uint64_t)(first + i) * p->class_count + number] =
                irradiance_at(p, &p->classes[number], place_of(p, of, i), first + i);
        }
        row += count;
    }
}

/* ---- votes and shares */

static double count_votes(pilot *p) {
    uint32_t row = 0;
    for (uint32_t c = 0; c < p->class_count; c++) {
        for (uint32_t i = 0; i < places_of(p, &p->classes[c]); i++, row++) {
            const double *const of = p->irradiance + (uint64_t)row * p->class_count;
            double sum = 0;
            for (uint32_t j = 0; j < p->class_count; j++) sum += of[j];
            if (!(sum > 0)) p->classes[c].votes += 1; /* its own photon came here, and nothing else is known */
            for (uint32_t j = 0; j < p->class_count && sum > 0; j++) p->classes[j].votes += of[j] / sum;
        }
    }
    return row;
}

static void share_out(pilot *p, double votes) {
    mote_scene *const scene = p->scene;
    const double power = scene->view.power;
    double weights[CLASSES], sum = 0, before = 0, most = 0;
    for (uint32_t c = 0; c < p->class_count; c++) {
        const light_class *const of = &p->classes[c];
        weights[c] = 0.5 * of->power + 0.5 * power * (votes > 0 ? of->votes / votes : 0);
        weights[c] = fmin(weights[c], of->power * (MAX_WEAKER / 2));
        sum += weights[c];
    }
    for (uint32_t c = 0; c < p->class_count; c++) {
        weights[c] *= power / (sum * p->classes[c].power);
        most = fmax(most, weights[c]);
    }
    if (!(most > MUCH)) return;
    scene->view.has_shares = 1;
    for (uint32_t i = 0; i < scene->view.light_count; i++) {
        photon_light *const light = &scene->lights[i];
        light->share = light->power * weights[p->class_of[i]];
        light->share_before = before;
        before += light->share;
    }
}

/* ---- the entry */

static mote_status run(pilot *p) {
    mote_context *const ctx = p->scene->ctx;
    p->paths = MAX_PATHS / p->class_count > MIN_PATHS ? MAX_PATHS / p->class_count : MIN_PATHS;
    p->places = MAX_PLACES / p->class_count > MIN_PLACES ? MAX_PLACES / p->class_count : MIN_PLACES;
    const uint64_t places = (uint64_t)p->places * p->class_count;
    p->slots = mote_alloc(ctx, (uint64_t)p->paths * PATH_RECORDS * sizeof *p->slots, "photons");
    p->counts = mote_alloc(ctx, p->paths * sizeof *p->counts, "photons");
    p->irradiance = mote_alloc_zero(ctx, places * p->class_count * sizeof *p->irradiance, "photons");
    if (p->slots == NULL || p->counts == NULL || p->irradiance == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t c = 0; c < p->class_count; c++) {
        light_by_class(p, c);
        MOTE_TRY(emit_class(p, &p->classes[c]));
    }
    for (uint32_t c = 0; c < p->class_count; c++) ask_places(p, c);
    share_out(p, count_votes(p));
    return MOTE_OK;
}

mote_status photon_scene_shares(mote_scene *scene) {
    mote_context *const ctx = scene->ctx;
    const uint64_t count = scene->view.light_count;
    pilot p;
    for (uint64_t i = 0; i < count; i++) {
        scene->lights[i].share = scene->lights[i].power;
        scene->lights[i].share_before = scene->lights[i].power_before;
    }
    scene->view.has_shares = 0;
    memset(&p, 0, sizeof p);
    p.scene = scene;
    p.class_of = mote_alloc(ctx, count * sizeof *p.class_of, "scene");
    p.lights = mote_alloc(ctx, count * sizeof *p.lights, "scene");
    mote_status status = p.class_of != NULL && p.lights != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) {
        memcpy(p.lights, scene->lights, count * sizeof *p.lights);
        sort_lights(&p);
        if (p.class_count > 1) status = run(&p);
    }
    for (uint32_t c = 0; c < p.class_count; c++) mote_free(ctx, p.classes[c].records);
    mote_free(ctx, p.irradiance);
    mote_free(ctx, p.counts);
    mote_free(ctx, p.slots);
    mote_free(ctx, p.lights);
    mote_free(ctx, p.class_of);
    return status;
}
