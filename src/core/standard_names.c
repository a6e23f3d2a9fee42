/* The one table of what attributes are called. Sources: PDAL's list of dimensions; the LAS specification 1.4; laspy 1
   and 2; LAStools (las2txt); CloudCompare; PCL; Open3D; Potree 2.0; PLY files of MeshLab and VCGLib. */
#include "core/standard_names.h"

#include <string.h>

#define KEY_BYTES      40u /* more than the longest key of the table */
#define GROUP_MEMBERS  4u  /* the fourth may be absent from a file */
#define GROUP_REQUIRED 3u
#define PREFIX         "scalar" /* CloudCompare: scalar_Return_Number */

/* The names, in the order in which the public header lists them. */
static const char *const standard[] = {
    "x",
    "y",
    "z",
    "intensity",
    "return_number",
    "number_of_returns",
    "classification",
    "synthetic",
    "key_point",
    "withheld",
    "overlap",
    "scanner_channel",
    "scan_direction_flag",
    "edge_of_flight_line",
    "user_data",
    "scan_angle_rank",
    "scan_angle",
    "point_source_id",
    "gps_time",
    "red",
    "green",
    "blue",
    "alpha",
    "nir",
    "wave_packet_index",
    "wave_packet_offset",
    "wave_packet_size",
    "wave_return_location",
    "wave_x",
    "wave_y",
    "wave_z",
    "normal_x",
    "normal_y",
    "normal_z",
    "curvature",
};
#define STANDARD_COUNT (sizeof standard / sizeof standard[0])
#define AXES           3u

/* Other spellings, as keys: lower case, letters and digits only. */
typedef struct spelling {
    const char *key, *name;
    bool typed; /* what people type for short; in a file it may be anything */
} spelling;

static const spelling spellings[] = {
    {"intens", "intensity", false},
    {"returnnum", "return_number", false},
    {"returnno", "return_number", false},
    {"returnnr", "return_number", false},
    {"return", "return_number", true},
    {"numreturns", "number_of_returns", false},
    {"numberreturns", "number_of_returns", false},
    {"numofreturns", "number_of_returns", false},
    {"nreturns", "number_of_returns", false},
    {"returncount", "number_of_returns", false},
    {"returns", "number_of_returns", true},
    {"class", "classification", false},
    {"classifvalue", "classification", false}, /* CloudCompare before 2.12: [Classif] Value */
    {"rawclassification", "classification", false},
    {"syntheticflag", "synthetic", false},
    {"classifsyntheticflag", "synthetic", false},
    {"keypointflag", "key_point", false},
    {"classifkeypointflag", "key_point", false},
    {"modelkeypoint", "key_point", false},
    {"withheldflag", "withheld", false},
    {"classifwithheldflag", "withheld", false},
    {"overlapflag", "overlap", false},
    {"classifoverlapflag", "overlap", false},
    {"scanchannel", "scanner_channel", false},
    {"scandirection", "scan_direction_flag", false},
    {"directionofscanflag", "scan_direction_flag", false},
    {"scandirflag", "scan_direction_flag", false},
    {"edgeofflightlineflag", "edge_of_flight_line", false},
    {"edgeflightline", "edge_of_flight_line", false},
    {"flightlineedge", "edge_of_flight_line", false},
    {"angle", "scan_angle", true},
    {"pointsource", "point_source_id", false},
    {"ptsrcid", "point_source_id", false},
    {"source", "point_source_id", true},
    {"time", "gps_time", true},
    {"colorred", "red", false},
    {"colorgreen", "green", false},
    {"colorblue", "blue", false},
    {"infrared", "nir", false},
    {"nearinfrared", "nir", false},
    {"waveformpacketdescriptorindex", "wave_packet_index", false},
    {"wavepacketdescriptorindex", "wave_packet_index", false},
    {"wavepacketdescindex", "wave_packet_index", false},
    {"byteoffsettowaveformdata", "wave_packet_offset", false},
    {"waveformpacketsizeinbytes", "wave_packet_size", false},
    {"waveformpacketsize", "wave_packet_size", false},
    {"returnpointwaveformlocation", "wave_return_location", false},
    {"returnpointwavelocation", "wave_return_location", false},
    {"returnpointwaveformloc", "wave_return_location", false},
};
#define SPELLING_COUNT (sizeof spellings / sizeof spellings[0])

/* Names that mean something only where the others of their group stand beside them. */
typedef struct name_group {
    const char *keys[GROUP_MEMBERS], *names[GROUP_MEMBERS];
} name_group;

static const name_group groups[] = {
    {{"nx", "ny", "nz", NULL}, {"normal_x", "normal_y", "normal_z", NULL}},
    {{"xt", "yt", "zt", NULL}, {"wave_x", "wave_y", "wave_z", NULL}}, /* X(t) of the specification, x_t of laspy */
    {{"diffusered", "diffusegreen", "diffuseblue", "diffusealpha"}, {"red", "green", "blue", "alpha"}},
    {{"r", "g", "b", "a"}, {"red", "green", "blue", "alpha"}},
    {{"rf", "gf", "bf", "a"}, {"red", "green", "blue", "alpha"}},
};
#define GROUP_COUNT (sizeof groups / sizeof groups[0])
#define LONE_LETTER "i" /* intensity, where nothing else is */

/* ---- keys */

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

/* Lower case letters and digits of a name; "" where it is longer than any that is known. */
static void make_key(const char *name, char key[KEY_BYTES]) {
    const size_t prefix = sizeof PREFIX - 1;
    size_t length = 0;
    for (; *name != '\0' && length < KEY_BYTES; name++) {
        const char c = lower(*name);
        const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
        if (kept) key[length++] = c;
    }
    key[length < KEY_BYTES ? length : 0] = '\0';
    /* An axis with the prefix is a copy of a coordinate, and none itself. */
    if (strncmp(key, PREFIX, prefix) == 0 && strlen(key) > prefix + 1) memmove(key, key + prefix, KEY_BYTES - prefix);
}

bool mote_same_name(const char *a, const char *b) {
    char key_a[KEY_BYTES], key_b[KEY_BYTES];
    make_key(a, key_a);
    make_key(b, key_b);
    return strcmp(a, b) == 0 || (key_a[0] != '\0' && strcmp(key_a, key_b) == 0);
}

/* ---- one name */

/* The number of a standard name; STANDARD_COUNT if it is none. */
static size_t number_of(const char *name) {
    size_t n = 0;
    while (n < STANDARD_COUNT && strcmp(standard[n], name) != 0) n++;
    return n;
}

/* The standard name that a key means by itself; STANDARD_COUNT if there is none. */
static size_t find_key(const char *key, bool typed) {
    char own[KEY_BYTES];
    for (size_t n = 0; n < STANDARD_COUNT; n++) {
        make_key(standard[n], own);
        if (strcmp(own, key) == 0) return n;
    }
    for (size_t i = 0; i < SPELLING_COUNT; i++) {
        if ((typed || !spellings[i].typed) && strcmp(spellings[i].key, key) == 0) return number_of(spellings[i].name);
    }
    return STANDARD_COUNT;
}

const char *mote_standard_name(const char *name) {
    char key[KEY_BYTES];
    make_key(name, key);
    const size_t n = find_key(key, true);
    if (n < STANDARD_COUNT) return standard[n];
    for (size_t g = 0; g < GROUP_COUNT; g++) {
        for (uint32_t k = 0; k < GROUP_MEMBERS && groups[g].keys[k] != NULL; k++) {
            if (strcmp(groups[g].keys[k], key) == 0) return groups[g].names[k];
        }
    }
    return strcmp(key, LONE_LETTER) == 0 ? "intensity" : NULL;
}

/* ---- the names of a file */

#define NONE UINT32_MAX

/* Which attribute has which meaning, and how well it is spelled. */
typedef struct meanings {
    uint32_t holder[STANDARD_COUNT]; /* NONE: nothing has it */
    bool exact[STANDARD_COUNT];
    uint32_t members[GROUP_COUNT][GROUP_MEMBERS]; /* of groups; NONE */
    uint32_t lone;                                /* the lone letter; NONE */
} meanings;

static void note_member(meanings *m, const char *key, uint32_t i) {
    for (size_t g = 0; g < GROUP_COUNT; g++) {
        for (uint32_t k = 0; k < GROUP_MEMBERS && groups[g].keys[k] != NULL; k++) {
            if (m->members[g][k] == NONE && strcmp(groups[g].keys[k], key) == 0) m->members[g][k] = i;
        }
    }
    if (m->lone == NONE && strcmp(key, LONE_LETTER) == 0) m->lone = i;
}

static void note_name(meanings *m, const char *name, uint32_t i) {
    char key[KEY_BYTES];
    make_key(name, key);
    if (key[0] == '\0') return;
    const size_t n = find_key(key, false);
    if (n == STANDARD_COUNT) {
        note_member(m, key, i);
        return;
    }
    const bool exact = strcmp(name, standard[n]) == 0;
    if (m->holder[n] != NONE && (!exact || m->exact[n])) return;
    m->holder[n] = i;
    m->exact[n] = exact;
}

static void use_group(meanings *m, size_t g) {
    const name_group *group = &groups[g];
    for (uint32_t k = 0; k < GROUP_REQUIRED; k++) {
        if (m->members[g][k] == NONE || m->holder[number_of(group->names[k])] != NONE) return;
    }
    for (uint32_t k = 0; k < GROUP_MEMBERS && group->keys[k] != NULL; k++) {
        const size_t n = number_of(group->names[k]);
        if (m->holder[n] == NONE) m->holder[n] = m->members[g][k];
    }
}

void mote_standard_names(const char *const *names, uint32_t count, const char **found) {
    meanings m;
    memset(&m, 0, sizeof m);
    memset(m.holder, 0xFF, sizeof m.holder);
    memset(m.members, 0xFF, sizeof m.members);
    m.lone = NONE;
    for (uint32_t i = 0; i < count; i++) {
        found[i] = NULL;
        if (names[i] != NULL) note_name(&m, names[i], i);
    }
    for (size_t g = 0; g < GROUP_COUNT; g++) use_group(&m, g);
    const size_t intensity = number_of("intensity");
    if (m.holder[intensity] == NONE) m.holder[intensity] = m.lone;
    for (size_t n = 0; n < STANDARD_COUNT; n++) {
        if (m.holder[n] != NONE) found[m.holder[n]] = standard[n];
    }
}

/* ---- the way back */

const char *mote_original_name(const mote_column *column) {
    const char *meant = mote_standard_name(column->description);
    const bool is_name = meant != NULL && strcmp(meant, column->name) == 0;
    return is_name && strpbrk(column->description, " \t\r\n\v\f") == NULL ? column->description : NULL;
}

void mote_settle_names(const mote_column *const *columns, uint32_t count, const char **wanted, const char **scratch) {
    mote_standard_names(wanted, count, scratch);
    for (uint32_t i = 0; i < count; i++) {
        if (scratch[i] == NULL || strcmp(scratch[i], columns[i]->name) != 0) wanted[i] = columns[i]->name;
    }
}

/* ---- the columns of a cloud */

/* PDAL has one name, ScanAngleRank, for the angles of all versions of LAS, which have two names and units. */
static const mote_column *find_other_angle(const mote_cloud *cloud, const char *meant) {
    if (strcmp(meant, "scan_angle_rank") == 0) return mote_cloud_find(cloud, "scan_angle");
    return strcmp(meant, "scan_angle") == 0 ? mote_cloud_find(cloud, "scan_angle_rank") : NULL;
}

const mote_column *mote_cloud_match(const mote_cloud *cloud, const char *name) {
    const mote_column *exact = mote_cloud_find(cloud, name);
    if (exact != NULL) return exact;
    const char *meant = mote_standard_name(name);
    const mote_column *column = meant != NULL ? mote_cloud_find(cloud, meant) : NULL;
    if (column == NULL && meant != NULL) column = find_other_angle(cloud, meant);
    for (uint64_t i = 0; i < cloud->column_count && column == NULL; i++) {
        if (mote_same_name(cloud->columns[i].name, name)) column = &cloud->columns[i];
    }
    return column;
}
