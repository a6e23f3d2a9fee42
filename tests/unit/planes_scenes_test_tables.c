/* Tables of scenes, scenes for other programs, and hashes of answers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "math/hash.h"
#include "unit/planes_scenes_test.h"

/* Which scene: noise and outliers differ from seed to seed, the same for all kinds. Where outliers are most, the noise
   is not the largest as well: stairs of 30 mm among 80 % are nobody's. */
planes_scene_params planes_scenes_params(uint64_t kind, uint64_t seed, uint64_t points) {
    static const double noise[8] = {0, 0.001, 0.003, 0.01, 0.006, 0.03, 0.02, 0.01};
    static const double outliers[8] = {0, 0.1, 0.3, 0, 0.6, 0.05, 0.3, 0.8};
    planes_scene_params p;
    memset(&p, 0, sizeof p);
    p.kind = (planes_scene_kind)kind;
    p.seed = seed;
    p.points = points;
    p.noise_m = noise[seed % 8];
    p.outliers = outliers[seed % 8];
    p.scanned = seed / 2 % 2 == 1;
    p.turned = seed % 2 == 1;
    p.far_away = seed % 4 >= 2;
    return p;
}

void planes_scenes_add(planes_scene_score *all, const planes_scene_score *one) {
    all->planes += one->planes;
    all->found += one->found;
    all->false_planes += one->false_planes;
    all->split += one->split;
    all->angle_deg = fmax(all->angle_deg, one->angle_deg);
    all->offset_m = fmax(all->offset_m, one->offset_m);
}

/* What was refused, of at least half the points that a plane has. */
static void print_refused(const mote_planes *planes, uint64_t points) {
    for (uint32_t i = 0; i < mote_planes_refused_count(planes); i++) {
        const mote_plane_refused *r = mote_planes_refused_at(planes, i);
        if (r->points * 2000 < points) continue;
        printf("   refused: %llu points, normal %.3f %.3f %.3f, %.2f mm, %.2f m: %d, %g, limit %g\n",
               (unsigned long long)r->points, r->normal[0], r->normal[1], r->normal[2], 1e3 * r->noise, r->size,
               (int)r->reason, r->value, r->limit);
    }
}

planes_scene_score planes_scenes_try(const planes_scene_params *p, int threads, bool missed, double *seconds) {
    mote_context *ctx = test_context(threads);
    planes_scene scene;
    mote_planes *planes;
    planes_scene_make(ctx, p, NULL, &scene);
    int32_t *labels = planes_scene_array(p->points, sizeof *labels);
    const clock_t start = clock();
    mote_planes_params params = mote_planes_defaults();
    params.components = p->kind == PLANES_SCENE_FACADE;                         /* its panes are on one plane */
    if (p->kind == PLANES_SCENE_AIRBORNE) params.min_points = p->points / 1000; /* of small planes there are slices */
    params.explain = missed;
    assert_int_equal(mote_planes_find(ctx, scene.cloud, &params, labels, &planes), MOTE_OK);
    *seconds += (double)(clock() - start) / CLOCKS_PER_SEC;
    const planes_scene_score score = planes_scene_judge(&scene, labels, mote_planes_count(planes), planes);
    if (missed) planes_scene_print_missed(&scene, labels, planes);
    if (missed) print_refused(planes, p->points);
    mote_planes_destroy(planes);
    free(labels);
    planes_scene_free(&scene);
    mote_context_destroy(ctx);
    return score;
}

void planes_scenes_print(const char *name, const planes_scene_score *s, double seconds) {
    printf("%-16s %5u planes  %5u found (%5.1f %%)  %3u false  %3u split  %7.3f deg  %7.2f mm  %6.2f s\n", name,
           s->planes, s->found, s->planes > 0 ? 100.0 * s->found / s->planes : 100.0, s->false_planes, s->split,
           s->angle_deg, 1e3 * s->offset_m, seconds);
}

/* Numbers from first to last. */
typedef struct range {
    uint64_t first, last;
} range;

static int print_table(range seeds, uint64_t points, range kinds, bool verbose) {
    planes_scene_score all = {0, 0, 0, 0, 0, 0};
    double all_seconds = 0;
    for (uint64_t kind = kinds.first; kind <= kinds.last; kind++) {
        planes_scene_score sum = {0, 0, 0, 0, 0, 0};
        double seconds = 0;
        for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
            const planes_scene_params p = planes_scenes_params(kind, seed, points);
            double taken = 0;
            const planes_scene_score one = planes_scenes_try(&p, 1, verbose, &taken);
            char name[64];
            snprintf(name, sizeof name, " seed %2d %2.0f mm %2.0f %%", (int)seed, 1e3 * p.noise_m, 100 * p.outliers);
            if (verbose) planes_scenes_print(name, &one, taken);
            planes_scenes_add(&sum, &one);
            seconds += taken;
        }
        planes_scenes_print(planes_scene_name((planes_scene_kind)kind), &sum, seconds);
        fflush(stdout);
        planes_scenes_add(&all, &sum);
        all_seconds += seconds;
    }
    planes_scenes_print("all", &all, all_seconds);
    return 0;
}

/* ---- how answers change with the noise

   The same scene with the noises that follow: what is found of it must not jump from one to the next. */

static const double noises_mm[] = {0, 1, 2, 3, 4, 5, 5.5, 6, 8, 10, 12, 15, 20, 25, 30, 40};
static const uint64_t points_of_noises[] = {20000, 40000, 80000, 200000};

#define NOISES    (sizeof noises_mm / sizeof *noises_mm)
#define MUCH      0.15 /* of the planes, more or less: the answer has jumped */
#define MUCH_MORE 2u   /* false planes, more or less, and as many again as there are */

static bool has_jumped(const planes_scene_score *a, const planes_scene_score *b) {
    const uint32_t wrong = a->false_planes + a->split, other = b->false_planes + b->split;
    const uint32_t less = wrong < other ? wrong : other, more = wrong < other ? other : wrong;
    return fabs((double)a->found - (double)b->found) > fmax(1, MUCH * a->planes) || more > MUCH_MORE + 2 * less;
}

static void print_noises_of(uint64_t kind, range seeds, uint64_t points) {
    planes_scene_score sums[NOISES], before = {0, 0, 0, 0, 0, 0};
    uint32_t jumps = 0;
    memset(sums, 0, sizeof sums);
    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
        for (size_t i = 0; i < NOISES; i++) {
            planes_scene_params p = planes_scenes_params(kind, seed, points);
            double seconds = 0;
            p.noise_m = 1e-3 * noises_mm[i];
            const planes_scene_score one = planes_scenes_try(&p, 2, false, &seconds);
            planes_scenes_add(&sums[i], &one);
            jumps += i > 0 && has_jumped(&before, &one);
            before = one;
        }
    }
    printf("%-16s %6llu points, %4u planes ", planes_scene_name((planes_scene_kind)kind), (unsigned long long)points,
           sums[0].planes);
    for (size_t i = 0; i < NOISES; i++) printf(" %4u,%-3u", sums[i].found, sums[i].false_planes + sums[i].split);
    printf("  %u jumps\n", jumps);
    fflush(stdout);
}

static int print_noises(range seeds, uint64_t points, range kinds) {
    printf("found,wrong by mm of noise                   ");
    for (size_t i = 0; i < NOISES; i++) printf(" %4g    ", noises_mm[i]);
    printf("\n");
    for (uint64_t kind = kinds.first; kind <= kinds.last; kind++) {
        for (size_t i = 0; i < sizeof points_of_noises / sizeof *points_of_noises; i++) {
            if (points_of_noises[i] <= points) print_noises_of(kind, seeds, points_of_noises[i]);
        }
    }
    return 0;
}

/* ---- for other programs */

static FILE *open_file(const char *folder, uint64_t number, const char *ending, const char *mode) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%llu.%s", folder, (unsigned long long)number, ending);
    return fopen(path, mode);
}

static int write_scenes(const char *folder, range seeds, uint64_t points, range kinds) {
    double *positions = planes_scene_array(3 * points, sizeof *positions);
    uint64_t number = 0;
    for (uint64_t kind = kinds.first; kind <= kinds.last; kind++) {
        for (uint64_t seed = seeds.first; seed <= seeds.last; seed++, number++) {
            const planes_scene_params p = planes_scenes_params(kind, seed, points);
            planes_scene scene;
            planes_scene_make(NULL, &p, positions, &scene);
            FILE *file = open_file(folder, number, "xyz", "wb");
            assert_non_null(file);
            fwrite(positions, sizeof *positions, 3 * points, file);
            fclose(file);
            file = open_file(folder, number, "noise", "w");
            assert_non_null(file);
            fprintf(file, "%g\n", p.noise_m);
            fclose(file);
            planes_scene_free(&scene);
        }
    }
    free(positions);
    return 0;
}

static int judge_scenes(const char *folder, range seeds, uint64_t points, range kinds) {
    int32_t *labels = planes_scene_array(points, sizeof *labels);
    planes_scene_score all = {0, 0, 0, 0, 0, 0};
    uint64_t number = 0;
    for (uint64_t kind = kinds.first; kind <= kinds.last; kind++) {
        planes_scene_score sum = {0, 0, 0, 0, 0, 0};
        for (uint64_t seed = seeds.first; seed <= seeds.last; seed++, number++) {
            const planes_scene_params p = planes_scenes_params(kind, seed, points);
            planes_scene scene;
            FILE *file = open_file(folder, number, "labels", "rb");
            uint32_t count = 0;
            if (file == NULL || fread(labels, sizeof *labels, points, file) != points) return 1;
            fclose(file);
            for (uint64_t i = 0; i < points; i++) count = labels[i] >= (int32_t)count ? (uint32_t)labels[i] + 1 : count;
            planes_scene_make(NULL, &p, NULL, &scene);
            const planes_scene_score one = planes_scene_judge(&scene, labels, count, NULL);
            planes_scenes_add(&sum, &one);
            planes_scene_free(&scene);
        }
        planes_scenes_print(planes_scene_name((planes_scene_kind)kind), &sum, 0);
        planes_scenes_add(&all, &sum);
    }
    planes_scenes_print("all", &all, 0);
    free(labels);
    return 0;
}

/* ---- answers as hashes */

/* Hashes by words of 64 bits. size: a multiple of 4 */
static uint64_t hash_bytes(uint64_t hash, const void *data, uint64_t size) {
    for (uint64_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, (const uint8_t *)data + i, size - i < 8 ? size - i : 8);
        hash = mote_hash_pair(hash, word);
    }
    return hash;
}

static uint64_t hash_answer(const mote_planes *planes, const int32_t *labels, uint64_t points) {
    const mote_planes_facts facts = mote_planes_get_facts(planes);
    uint64_t hash = hash_bytes(mote_planes_count(planes), labels, points * sizeof *labels);
    for (uint32_t i = 0; i < mote_planes_count(planes); i++) {
        uint32_t corners;
        const double *hull = mote_planes_hull(planes, i, &corners);
        hash = hash_bytes(hash, mote_planes_at(planes, i), sizeof(mote_plane));
        hash = hash_bytes(hash, hull, 3 * corners * sizeof *hull);
    }
    for (uint32_t i = 0; i < mote_planes_refused_count(planes); i++) {
        hash = hash_bytes(hash, mote_planes_refused_at(planes, i), sizeof(mote_plane_refused));
    }
    hash = hash_bytes(hash, &facts.noise, sizeof facts.noise);
    hash = hash_bytes(hash, &facts.tolerance, sizeof facts.tolerance);
    return hash_bytes(hash, &facts.labelled, sizeof facts.labelled);
}

/* What was refused is asked for every second time, as it leaves fewer ways to stop early. */
uint64_t planes_scenes_hash(const planes_scene_params *p, int threads, double *seconds) {
    mote_context *ctx = test_context(threads);
    int32_t *labels = planes_scene_array(p->points, sizeof *labels);
    planes_scene scene;
    mote_planes *planes;
    planes_scene_make(ctx, p, NULL, &scene);
    mote_planes_params params = mote_planes_defaults();
    params.components = p->kind == PLANES_SCENE_FACADE;
    params.explain = p->seed % 2 == 1;
    const clock_t start = clock();
    assert_int_equal(mote_planes_find(ctx, scene.cloud, &params, labels, &planes), MOTE_OK);
    *seconds += (double)(clock() - start) / CLOCKS_PER_SEC;
    const uint64_t hash = hash_answer(planes, labels, p->points);
    mote_planes_destroy(planes);
    planes_scene_free(&scene);
    free(labels);
    mote_context_destroy(ctx);
    return hash;
}

static int print_hashes(range seeds, uint64_t points, range kinds) {
    double all_seconds = 0;
    for (uint64_t kind = kinds.first; kind <= kinds.last; kind++) {
        for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
            const planes_scene_params p = planes_scenes_params(kind, seed, points);
            double seconds = 0;
            const uint64_t hash = planes_scenes_hash(&p, 1, &seconds);
            printf("%-16s %2llu  %016llx  %.3f s\n", planes_scene_name(p.kind), (unsigned long long)seed,
                   (unsigned long long)hash, seconds);
            fflush(stdout);
            all_seconds += seconds;
        }
    }
    printf("all %.2f s\n", all_seconds);
    return 0;
}

/* ---- commands */

/* FIRST-LAST, or one number: what it stands for is the caller's. */
static range read_range(int argc, char **argv, int i, range otherwise, bool counts) {
    if (argc <= i) return otherwise;
    const char *dash = strchr(argv[i], '-');
    const uint64_t number = strtoull(argv[i], NULL, 10);
    if (dash != NULL) return (range){number, strtoull(dash + 1, NULL, 10)};
    return counts ? (range){0, number - 1} : (range){number, number};
}

int planes_scenes_command(int argc, char **argv, bool *asked) {
    const char *command = argc > 1 ? argv[1] : "";
    const bool filed = strcmp(command, "write") == 0 || strcmp(command, "judge") == 0;
    const int at = filed ? 3 : 2;
    const range seeds = read_range(argc, argv, at, (range){0, 7}, true);
    const range kinds = read_range(argc, argv, at + 2, (range){0, PLANES_SCENE_KINDS - 1}, false);
    const uint64_t points = argc > at + 1 ? strtoull(argv[at + 1], NULL, 10) : 40000;
    *asked = true;
    if (kinds.last >= PLANES_SCENE_ALL || (filed && argc < 3)) return 1;
    if (strcmp(command, "table") == 0) return print_table(seeds, points, kinds, argc > at + 3);
    if (strcmp(command, "noises") == 0) return print_noises(seeds, points, kinds);
    if (strcmp(command, "hash") == 0) return print_hashes(seeds, points, kinds);
    if (strcmp(command, "write") == 0) return write_scenes(argv[2], seeds, points, kinds);
    if (strcmp(command, "judge") == 0) return judge_scenes(argv[2], seeds, points, kinds);
    *asked = false;
    return 0;
}
