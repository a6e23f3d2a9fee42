/* The built-in scenes. */
#include "photon/scene/photon_scene.h"

#define RING_PARTS   720u
#define MAX_POSITION (2 * RING_PARTS + 64)
#define MAX_TRIANGLE (2 * RING_PARTS + 64)

/* A scene while it is put together. */
typedef struct builder {
    double positions[3 * MAX_POSITION];
    uint32_t triangles[3 * MAX_TRIANGLE], materials_of[MAX_TRIANGLE];
    mote_material materials[8];
    mote_sphere spheres[2];
    mote_light lights[1];
    mote_scene_params params;
} builder;

static uint32_t add_position(builder *b, double x, double y, double z) {
    double *to = b->positions + 3 * b->params.position_count;
    to[0] = x;
    to[1] = y;
    to[2] = z;
    return (uint32_t)b->params.position_count++;
}

static void add_triangle(builder *b, uint32_t i, uint32_t j, uint32_t k, uint32_t material) {
    uint32_t *to = b->triangles + 3 * b->params.triangle_count;
    to[0] = i;
    to[1] = j;
    to[2] = k;
    b->materials_of[b->params.triangle_count++] = material;
}

/* A parallelogram: its front is where u, then v, is counterclockwise. */
static void add_wall(builder *b, const double at[3], const double u[3], const double v[3], uint32_t material) {
    const uint32_t p = add_position(b, at[0], at[1], at[2]);
    add_position(b, at[0] + u[0], at[1] + u[1], at[2] + u[2]);
    add_position(b, at[0] + u[0] + v[0], at[1] + u[1] + v[1], at[2] + u[2] + v[2]);
    add_position(b, at[0] + v[0], at[1] + v[1], at[2] + v[2]);
    add_triangle(b, p, p + 1, p + 2, material);
    add_triangle(b, p, p + 2, p + 3, material);
}

static uint32_t add_material(builder *b, mote_material_kind kind, double red, double green, double blue) {
    mote_material *m = &b->materials[b->params.material_count];
    m->kind = kind;
    m->color[0] = red;
    m->color[1] = green;
    m->color[2] = blue;
    m->refraction = 1.5;
    return (uint32_t)b->params.material_count++;
}

static void set_emission(builder *b, uint32_t material, double red, double green, double blue) {
    double *e = b->materials[material].emission;
    e[0] = red;
    e[1] = green;
    e[2] = blue;
}

static void add_sphere(builder *b, double x, double y, double z, double radius, uint32_t material) {
    mote_sphere *s = &b->spheres[b->params.sphere_count++];
    s->center[0] = x;
    s->center[1] = y;
    s->center[2] = z;
    s->radius = radius;
    s->material = material;
}

static void set_camera(builder *b, const double eye[3], const double target[3], double angle_deg) {
    mote_camera *c = &b->params.camera;
    memcpy(c->eye, eye, sizeof c->eye);
    memcpy(c->target, target, sizeof c->target);
    c->angle_rad = angle_deg * PHOTON_PI / 180;
}

/* ---- the scenes: metres, z up, the camera looks along y */

/* The box that is open to the camera: x -1..1, y -1..1, z 0..2. */
static void make_cornell_box(builder *b) {
    const double eye[3] = {0, -4.9, 1}, target[3] = {0, 0, 1};
    const double right[3] = {2, 0, 0}, back[3] = {0, 2, 0}, up[3] = {0, 0, 2};
    const double low[3] = {-1, -1, 0}, high[3] = {-1, -1, 2}, far[3] = {-1, 1, 0}, beside[3] = {1, -1, 0};
    const double lamp[3] = {-0.3, -0.3, 1.99}, lamp_right[3] = {0.6, 0, 0}, lamp_back[3] = {0, 0.6, 0};
    const uint32_t white = add_material(b, MOTE_MATERIAL_DIFFUSE, 0.75, 0.75, 0.75);
    const uint32_t red = add_material(b, MOTE_MATERIAL_DIFFUSE, 0.7, 0.05, 0.05);
    const uint32_t green = add_material(b, MOTE_MATERIAL_DIFFUSE, 0.08, 0.55, 0.08);
    const uint32_t light = add_material(b, MOTE_MATERIAL_DIFFUSE, 0, 0, 0);
    set_emission(b, light, 11, 10, 8.5);
    add_wall(b, low, right, back, white);  /* floor */
    add_wall(b, high, back, right, white); /* ceiling */
    add_wall(b, far, right, up, white);    /* back */
    add_wall(b, low, back, up, red);       /* left */
    add_wall(b, beside, up, back, green);  /* right */
    add_wall(b, lamp, lamp_back, lamp_right, light);
    set_camera(b, eye, target, 29.5);
}

static void make_cornell(builder *b) {
    make_cornell_box(b);
    add_sphere(b, -0.45, 0.35, 0.4, 0.4, add_material(b, MOTE_MATERIAL_MIRROR, 0.95, 0.95, 0.95));
    add_sphere(b, 0.45, -0.25, 0.4, 0.4, add_material(b, MOTE_MATERIAL_GLASS, 1, 1, 1));
}

/* A band of mirrors on a table, lit from the side. */
static void make_ring(builder *b) {
    const double at[3] = {-4, -4, 0}, right[3] = {8, 0, 0}, back[3] = {0, 8, 0};
    const double eye[3] = {0, -2.6, 3.4}, target[3] = {0, 0.05, 0};
    const uint32_t table = add_material(b, MOTE_MATERIAL_DIFFUSE, 0.6, 0.55, 0.5);
    const uint32_t gold = add_material(b, MOTE_MATERIAL_MIRROR, 0.95, 0.75, 0.4);
    mote_light *spot = &b->lights[b->params.light_count++];
    add_wall(b, at, right, back, table);
    const uint32_t first = (uint32_t)b->params.position_count;
    for (uint32_t i = 0; i < RING_PARTS; i++) {
        double sine, cosine;
        photon_turn((double)i / RING_PARTS, &sine, &cosine);
        add_position(b, cosine, sine, 0);
        add_position(b, cosine, sine, 0.4);
    }
    for (uint32_t i = 0; i < RING_PARTS; i++) {
        const uint32_t low = first + 2 * i, next = first + 2 * ((i + 1) % RING_PARTS);
        add_triangle(b, low, next, next + 1, gold);
        add_triangle(b, low, next + 1, low + 1, gold);
    }
    spot->kind = MOTE_LIGHT_SPOT;
    spot->position[0] = 4;
    spot->position[1] = 2.5;
    spot->position[2] = 2.6;
    for (int k = 0; k < 3; k++) spot->direction[k] = -spot->position[k];
    spot->intensity[0] = 100;
    spot->intensity[1] = 95;
    spot->intensity[2] = 85;
    spot->inner_rad = 0.3;
    spot->outer_rad = 0.45;
    set_camera(b, eye, target, 40);
}

/* A closed box that reflects one half and shines: everywhere it is twice as bright as it shines. */
static void make_furnace(builder *b) {
    const double eye[3] = {0, -0.9, 0}, target[3] = {0, 0, 0};
    const uint32_t wall = add_material(b, MOTE_MATERIAL_DIFFUSE, 0.5, 0.5, 0.5);
    const double edge[3][3] = {{2, 0, 0}, {0, 2, 0}, {0, 0, 2}};
    set_emission(b, wall, 1, 1, 1);
    for (int k = 0; k < 3; k++) {
        const int u = (k + 1) % 3, v = (k + 2) % 3;
        const double low[3] = {-1, -1, -1};
        double high[3] = {-1, -1, -1};
        high[k] = 1;
        add_wall(b, low, edge[u], edge[v], wall);
        add_wall(b, high, edge[v], edge[u], wall);
    }
    set_camera(b, eye, target, 60);
}

/* ---- scenes with places that light hardly reaches, or not at all

   They are cut open towards the camera, as a doll's house is: outside there is nothing that light could come back from,
   so that a compartment without another opening is dark, and yet it is seen. */

/* An axis-aligned board: a parallelogram from one corner to the opposite one, which differ in two coordinates. */
static void add_board(builder *b, double x0, double y0, double z0, double x1, double y1, double z1, uint32_t material) {
    const double at[3] = {x0, y0, z0};
    double u[3] = {x1 - x0, 0, 0}, v[3] = {0, 0, z1 - z0};
    if (x1 == x0) {
        u[0] = 0;
        u[1] = y1 - y0;
    } else if (z1 == z0) {
        v[1] = y1 - y0;
    }
    add_wall(b, at, u, v, material);
}

/* Walls of a room, x -1..1, y -1..1, z 0..2, and a lamp of 0.4 by 0.6 under a ceiling; returns the white material. */
static uint32_t make_room(builder *b, double lamp_x, double ceiling) {
    const double eye[3] = {0, -4.9, 1}, target[3] = {0, 0, 1};
    const double lamp[3] = {lamp_x - 0.2, -0.3, ceiling - 0.01}, lamp_right[3] = {0.4, 0, 0},
                 lamp_back[3] = {0, 0.6, 0};
    const uint32_t white = add_material(b, MOTE_MATERIAL_DIFFUSE, 0.75, 0.75, 0.75);
    const uint32_t light = add_material(b, MOTE_MATERIAL_DIFFUSE, 0, 0, 0);
    set_emission(b, light, 10, 10, 10);
    add_board(b, -1, -1, 0, 1, 1, 0, white);
    add_board(b, -1, -1, 2, 1, 1, 2, white);
    add_board(b, -1, 1, 0, 1, 1, 2, white);
    add_board(b, -1, -1, 0, -1, 1, 2, white);
    add_board(b, 1, -1, 0, 1, 1, 2, white);
    add_wall(b, lamp, lamp_back, lamp_right, light);
    set_camera(b, eye, target, 29.5);
    return white;
}

/* Two rooms with a thin wall between, of which the left one has no lamp. */
static void make_leak(builder *b) { add_board(b, 0, -1, 0, 0, 1, 2, make_room(b, 0.5, 2)); }

/* A cupboard of boards on the room's floor. gap: between its right side and its top. */
static void add_cupboard(builder *b, double gap, uint32_t material) {
    add_board(b, -0.8, -1, 0.1, 0, -0.3, 0.1, material);  /* bottom */
    add_board(b, -0.8, -1, 0.9, 0, -0.3, 0.9, material);  /* top */
    add_board(b, -0.8, -0.3, 0, 0, -0.3, 0.9, material);  /* back */
    add_board(b, -0.8, -1, 0, -0.8, -0.3, 0.9, material); /* left */
    add_board(b, 0, -1, 0, 0, -0.3, 0.9 - gap, material); /* right */
}

static void make_cupboard(builder *b) { add_cupboard(b, 0, make_room(b, 0, 2)); }

static void make_slit(builder *b) { add_cupboard(b, 0.02, make_room(b, 0, 2)); }

/* A table of 10 cm. */
static void make_low_table(builder *b) { add_board(b, -0.7, -0.7, 0.1, 0.7, 0.7, 0.1, make_room(b, 0, 2)); }

/* A room whose ceiling has a hole of 0.3 by 0.3, and an attic above, which has no other light. */
static void make_attic(builder *b) {
    const uint32_t white = make_room(b, 0.4, 1.2);
    add_board(b, -1, -1, 1.2, -0.6, 1, 1.2, white);
    add_board(b, -0.3, -1, 1.2, 1, 1, 1.2, white);
    add_board(b, -0.6, -1, 1.2, -0.3, -0.15, 1.2, white);
    add_board(b, -0.6, 0.15, 1.2, -0.3, 1, 1.2, white);
}

typedef struct builtin {
    const char *name;
    void (*make)(builder *b);
} builtin;
static const builtin builtins[] = {
    {"cornell", make_cornell}, {"cornell-empty", make_cornell_box}, {"ring", make_ring}, {"furnace", make_furnace},
    {"leak", make_leak},       {"cupboard", make_cupboard},         {"slit", make_slit}, {"low_table", make_low_table},
    {"attic", make_attic}};
#define BUILTIN_COUNT (sizeof builtins / sizeof builtins[0])

const char *mote_scene_name(uint32_t i) { return i < BUILTIN_COUNT ? builtins[i].name : NULL; }

static mote_status build(mote_context *ctx, const builtin *scene, mote_scene **out) {
    builder *b = mote_alloc_zero(ctx, sizeof *b, "scene");
    if (b == NULL) return MOTE_ERROR_MEMORY;
    b->params.camera = mote_camera_defaults();
    b->params.positions = b->positions;
    b->params.triangles = b->triangles;
    b->params.triangle_materials = b->materials_of;
    b->params.materials = b->materials;
    b->params.spheres = b->spheres;
    b->params.lights = b->lights;
    scene->make(b);
    const mote_status status = mote_scene_create(ctx, &b->params, out);
    mote_free(ctx, b);
    return status;
}

mote_status mote_scene_builtin(mote_context *ctx, const char *name, mote_scene **out) {
    *out = NULL;
    for (uint32_t i = 0; i < BUILTIN_COUNT; i++) {
        if (name != NULL && strcmp(name, builtins[i].name) == 0) return build(ctx, &builtins[i], out);
    }
    return mote_fail(ctx, MOTE_ERROR_ARGUMENT,
                     "there is no built-in scene \"%s\"; there are cornell, cornell-empty, ring, furnace, leak, "
                     "cupboard, slit, low_table and attic",
                     name != NULL ? name : "");
}
