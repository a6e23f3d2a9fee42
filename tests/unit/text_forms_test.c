/* Texts as other programs write them, in every format alike: encodings, line ends, quotes, text among numbers, values
   over several lines; PCD whose compressed points are stored. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cloud_files.h"

#define PLY_XYZ    "property double x\nproperty double y\nproperty double z\n"
#define PLY_ASCII  "ply\nformat ascii 1.0\n"
#define PCD_FIELDS "FIELDS x y z\nSIZE 8 8 8\nTYPE F F F\n"

/* The same two points in each format; lines end in LF. */
static const struct {
    const char *name, *text;
} forms[] = {
    {"a.xyz", "1.5 2 3\n4 5 6\n"},
    {"a.csv", "x,y,z\n1.5,2,3\n4,5,6\n"},
    {"a.pts", "2\n1.5 2 3\n4 5 6\n"},
    {"a.txt", "# x y z\n1.5 2 3\n\n# between\n4 5 6\n"},
    {"unknown", "1.5;2;3\n4;5;6\n"},
    {"a.ply", PLY_ASCII "comment one\nelement vertex 2\n" PLY_XYZ "end_header\n1.5 2 3\n4 5 6\n"},
    {"a.pcd", "# .PCD\nVERSION 0.7\n" PCD_FIELDS "WIDTH 2\nHEIGHT 1\nPOINTS 2\nDATA ascii\n1.5 2 3\n4 5 6\n"},
    {"a.ptx", "2\n1\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n1.5 2 3 0.5\n4 5 6 0.5\n"},
};
#define FORMS (sizeof forms / sizeof forms[0])

/* A text with other line ends: LF becomes end, every second one another. */
static size_t with_ends(const char *text, const char *mark, const char *end, const char *second, char *out) {
    size_t size = strlen(mark), line = 0;
    memcpy(out, mark, size);
    for (; *text != '\0'; text++) {
        const char *const to = line % 2 == 1 ? second : end;
        if (*text != '\n') {
            out[size++] = *text;
            continue;
        }
        memcpy(out + size, to, strlen(to));
        size += strlen(to);
        line++;
    }
    return size;
}

static void check_points(mote_context *ctx, const char *path, const char *what) {
    mote_cloud *cloud = NULL;
    mote_context_clear(ctx);
    if (mote_cloud_read(ctx, path, NULL, &cloud) != MOTE_OK) fail_msg("%s: %s", what, mote_context_message(ctx));
    if (mote_cloud_count(cloud) != 2 || test_value(cloud, "x", 0) != 1.5 || test_value(cloud, "y", 0) != 2 ||
        test_value(cloud, "x", 1) != 4 || test_value(cloud, "z", 1) != 6) {
        fail_msg("%s: other points", what);
    }
    mote_cloud_destroy(cloud);
}

static void marks_and_line_ends_are_alike(void **state) {
    (void)state;
    static const char *const ends[][2] = {{"\n", "\n"}, {"\r\n", "\r\n"}, {"\r", "\r"},      {"\r\n", "\n"},
                                          {"\r", "\n"}, {"\n", "\r"},     {"\r\r\n", "\r\n"}};
    mote_context *ctx = test_context(2);
    for (size_t f = 0; f < FORMS; f++) {
        for (size_t e = 0; e < 2 * (sizeof ends / sizeof ends[0]); e++) {
            char text[2048], what[64];
            const size_t size =
                with_ends(forms[f].text, e % 2 == 0 ? "" : "\xEF\xBB\xBF", ends[e / 2][0], ends[e / 2][1], text);
            snprintf(what, sizeof what, "%s, ends %zu", forms[f].name, e);
            test_write_file(test_path(forms[f].name), text, size);
            check_points(ctx, test_path(forms[f].name), what);
        }
    }
    mote_context_destroy(ctx);
}

/* Binary points behind a header of any line ends: a first byte that is LF is not taken for one. */
static void binary_bodies_begin_where_they_do(void **state) {
    (void)state;
    static const char *const headers[][2] = {
        {"b.ply", "ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty uchar x\nproperty uchar y\n"
                  "property uchar z\nend_header\n"},
        {"b.pcd", "VERSION 0.7\nFIELDS x y z\nSIZE 1 1 1\nTYPE U U U\nWIDTH 1\nHEIGHT 1\nPOINTS 1\nDATA binary\n"}};
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    mote_context *ctx = test_context(1);
    for (size_t f = 0; f < 2; f++) {
        for (size_t e = 0; e < 6; e++) {
            char text[1024];
            size_t size = with_ends(headers[f][1], e % 2 == 0 ? "" : "\xEF\xBB\xBF", ends[e / 2], ends[e / 2], text);
            memcpy(text + size, "\n\r\3", 3);
            size += 3;
            test_write_file(test_path(headers[f][0]), text, size);
            mote_cloud *cloud = test_read(ctx, test_path(headers[f][0]));
            assert_true(test_value(cloud, "x", 0) == 10 && test_value(cloud, "y", 0) == 13);
            assert_true(test_value(cloud, "z", 0) == 3);
            mote_cloud_destroy(cloud);
        }
    }
    mote_context_destroy(ctx);
}

static size_t put_unit(char *out, size_t at, int unit, bool big, char c) {
    memset(out + at, 0, (size_t)unit);
    out[at + (size_t)(big ? unit - 1 : 0)] = c;
    return at + (size_t)unit;
}

static void wide_encodings_are_refused_by_name(void **state) {
    (void)state;
    static const char *const names[] = {"UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE"};
    static const char *const marks[] = {"\xFF\xFE", "\xFE\xFF", "\xFF\xFE\0\0", "\0\0\xFE\xFF"};
    mote_context *ctx = test_context(1);
    for (size_t f = 0; f < FORMS + 2; f++) {
        const char *const name = f < FORMS ? forms[f].name : f == FORMS ? "a.obj" : "a.gltf";
        const char *const from = f < FORMS ? forms[f].text : f == FORMS ? "v 0 0 0\n" : "{\"asset\": 1}\n";
        for (int e = 0; e < 8; e++) {
            const int kind = e / 2, unit = kind < 2 ? 2 : 4;
            char text[8192];
            size_t size = 0;
            if (e % 2 == 0) memcpy(text, marks[kind], size = (size_t)unit);
            for (const char *at = from; *at != '\0'; at++) size = put_unit(text, size, unit, kind % 2 == 1, *at);
            mote_cloud *cloud = NULL;
            mote_scene *scene = NULL;
            test_write_file(test_path(name), text, size);
            mote_context_clear(ctx);
            const mote_status status = f < FORMS ? mote_cloud_read(ctx, test_path(name), NULL, &cloud)
                                                 : mote_scene_read(ctx, test_path(name), &scene, NULL);
            assert_int_equal(status, MOTE_ERROR_DATA);
            char message[128];
            snprintf(message, sizeof message, "encoded as %s, mote reads UTF-8 and ASCII; \"iconv -f %s ", names[kind],
                     names[kind]);
            if (strstr(mote_context_message(ctx), message) == NULL) {
                fail_msg("%s %d: %s", name, e, mote_context_message(ctx));
            }
        }
    }
    mote_context_destroy(ctx);
}

/* ---- rows */

/* What is read of a text: "x y z; x y z" and, behind |, the names of all columns; or the error. */
typedef struct row_case {
    const char *text, *columns, *expected;
    const char *warning; /* NULL: none */
} row_case;

static const row_case rows_of_kinds[] = {
    {"\"x\",\"y\",\"z\"\n\"1.5\",\"2\",\"3\"\n\" 4 \",\"5\",\"-6e1\"\n", NULL, "1.5 2 3;4 5 -60;|x y z", NULL},
    {"\"1.5\" \"2\" \"3\"\n4 5 6\n", NULL, "1.5 2 3;4 5 6;|x y z", NULL},
    {"\"1.5\";2;\"3\"\n", NULL, "1.5 2 3;|x y z", NULL},
    /* What is left out may hold anything. */
    {"name,x,y,z\nA1,1,2,3\n\"b, \"\"c\"\"\",4,5,6\n,7,8,9\n", "-,x,y,z", "1 2 3;4 5 6;7 8 9;|x y z", NULL},
    {"\"a \"\"b\"\", c\",1,2,3\n\"\"\"\",4,5,6\n", "-,x,y,z", "1 2 3;4 5 6;|x y z", NULL},
    {"A1 1 2 3\nb 4 5 6\n", "-,x,y,z", "1 2 3;4 5 6;|x y z", NULL},
    {"1,2,3,2024-01-01 12:00:00\n4,5,6,\n", "x,y,z,-", "1 2 3;4 5 6;|x y z", NULL},
    {"1,2,3,\n4,5,6,tree\n", "x,y,z,-", "1 2 3;4 5 6;|x y z", NULL},
    {"1,\"a,b\",2,3\n4,,5,6\n", "x,-,y,z", "1 2 3;4 5 6;|x y z", NULL},
    {"1,nan,2,3\n4,1e999,5,6\n", "x,-,y,z", "1 2 3;4 5 6;|x y z", NULL},
    /* So may attributes without a number, which are left out. */
    {"x,y,z,label,n\n1,2,3,\"big, tree\",4\n5,6,7,,8\n", NULL, "1 2 3;5 6 7;|x y z n",
     "1 columns hold no numbers and are left out; the first: \"label\", column 4"},
    {"label;x;y;z\nbig tree;1;2;3\n;4;5;6\n", NULL, "1 2 3;4 5 6;|x y z", "\"label\", column 1"},
    {"label\tx\ty\tz\nbig tree\t1\t2\t3\n\t4\t5\t6\n", NULL, "1 2 3;4 5 6;|x y z", "\"label\", column 1"},
    {"x,y,z,t\n1,2,3,\n4,5,6,\n", NULL, "1 2 3;4 5 6;|x y z", "\"t\", column 4"},
    {"x,y,z,,\n1,2,3,,\n4,5,6,,\n", NULL, "1 2 3;4 5 6;|x y z", "column 4"},
    {"1 2 3 tree\n4 5 6 house\n", NULL, "1 2 3;4 5 6;|x y z", "column 4"},
    /* A decimal comma, where commas do not separate. */
    {"x;y;z\n1,5;2;3\n4;-5,25;6\n", NULL, "1.5 2 3;4 -5.25 6;|x y z",
     "the commas in numbers are taken for decimal points"},
    {"1,5\t2\t3,0\n4\t5\t6\n", NULL, "1.5 2 3;4 5 6;|x y z", "decimal points"},
    {"1 2 3\n1,5 2,5 3,5e1\n", NULL, "1 2 3;1.5 2.5 35;|x y z", "decimal points"},
    {"\"1,5\",\"2\",\"3,25\"\n", NULL, "1.5 2 3.25;|x y z", "decimal points"},
    {"1,1234567890123456789012;2;3\n", NULL, "1.1234567890123457 2 3;|x y z", "decimal points"},
    {"1.5;2;3\n4,5;6;7\n", NULL, "\"4,5\" has a decimal comma", NULL},
    {"1,5;2;3\n4.5;6;7\n", NULL, "\"4.5\" has a decimal point", "decimal points"},
    /* Where commas separate, decimal commas stand in quotes. */
    {"X,Y,Z\n\"1,5\",\"2,5\",\"3,5\"\n", NULL, "1.5 2.5 3.5;|x y z", "decimal points"},
    {"X,Y,Z,T\n\"1,5\",\"2,5\",\"3,5\",tree\n", NULL, "1.5 2.5 3.5;|x y z", "\"T\", column 4"},
    {"X,Y,Z,I\n\"1,5\",\"2,5\",3,7\n4,5,\"6,5\",8\n", NULL, "1.5 2.5 3;4 5 6.5;|x y z intensity", "decimal points"},
    {"\"1,5\",2,3\n4,5.5,6\n", NULL, "line 2, column 3: \"5.5\" has a decimal point", "decimal points"},
    /* Text says nothing of the decimal sign, nor does a column that is left out; the positions say it first. */
    {"date;X;Y;Z\n01.02.2024;1,5;2,5;3,5\n", NULL, "1.5 2.5 3.5;|x y z", "\"date\", column 1"},
    {"X;Y;Z;date\n1,5;2,5;3,5;01.02.2024\n", NULL, "1.5 2.5 3.5;|x y z", "\"date\", column 4"},
    {"X Y Z date\n1,5 2,5 3,5 01.02.2024\n", NULL, "1.5 2.5 3.5;|x y z", "\"date\", column 4"},
    {"1,5\t2,5\t3,5\t1.0.4\n", NULL, "1.5 2.5 3.5;|x y z", "column 4"},
    {"id;X;Y;Z\n1.0.4;1,5;2,5;3,5\n1.1;4;5;6\n", NULL, "1.5 2.5 3.5;4 5 6;|x y z", "\"id\", column 1"},
    {"f;X;Y;Z\n2.las;1,5;2,5;3,5\n", NULL, "1.5 2.5 3.5;|x y z", "\"f\", column 1"},
    {"1.5;1,5;2,5;3,5\n", "-,x,y,z", "1.5 2.5 3.5;|x y z", "decimal points"},
    {"v;X;Y;Z\n1.5;1,5;2,5;3,5\n", NULL, "column 1 (v) have another decimal sign than the file, this is the first",
     "decimal points"},
    {"X;Y;Z;v\n1.5;2;3;1,5\n", NULL, "column 4 (v) have another decimal sign than the file", NULL},
    /* Rows of separators alone are blank lines; sep= is no row. */
    {",,\nx,y,z\n1,2,3\n,,\n4,5,6\n, ,\n", NULL, "1 2 3;4 5 6;|x y z", NULL},
    {"x;y;z\n1;2;3\n;;\n", NULL, "1 2 3;|x y z", NULL},
    {"sep=;\r\nx;y;z\r\n1,5;2;3\r\n", NULL, "1.5 2 3;|x y z", "decimal points"},
    {"SEP=,\n1,2,3\n", NULL, "1 2 3;|x y z", NULL},
    {"x,y,z,,\n1,2,3,4,5\n", NULL, "1 2 3;|x y z unnamed unnamed_2", NULL},
    /* A first line of numbers and a word is a row with a mistake, no header. */
    {"0x10 2 3\n4 5 6\n", "x,y,z", "line 1, column 1: \"0x10\" is no number", NULL},
    {"n/a;2;3\n4;5;6\n", NULL, "line 1, column 1: \"n/a\" is no number", NULL},
    /* The minus sign of Unicode. */
    {"\xE2\x88\x92"
     "1.5 2 3\n4 5 \xE2\x88\x92"
     "6\n",
     NULL, "-1.5 2 3;4 5 -6;|x y z", NULL},
    {"\xE2\x88\x92"
     "1.1234567890123456789012 2 3\n",
     NULL, "-1.1234567890123457 2 3;|x y z", NULL},
    /* Comments behind values, separators at the end, bars, tabs. */
    {"1 2 3 # one\n4 5 6 // two\n", NULL, "1 2 3;4 5 6;|x y z", NULL},
    {"1,2,3 # one\n4,5,6,\n", NULL, "1 2 3;4 5 6;|x y z", NULL},
    {"1|2|3\n4|5|6\n", NULL, "1 2 3;4 5 6;|x y z", NULL},
    {"X [m]\tY [m]\tZ [m]\n1\t\t2\t\t3\n", NULL, "1 2 3;|x y z", NULL},
    {"x\ty\tz\ta\n1\t2\t3\t\n", "x,y,z,-", "1 2 3;|x y z", NULL},
    /* What is wrong. */
    {"x,y,z,n\n1,2,3,4\n5,6,7,none\n8,9,10,\n", NULL,
     "line 3, column 7: 1 values of column 4 (n) are no numbers, this is the first", NULL},
    {"x,y,z\n1,two,3\n", NULL, "line 2, column 3: \"two\" is no number", NULL},
    {"a,x,y,z\nb,1,2,3\n\"open,1,2,3\n", "-,x,y,z", "is in quotes that the line does not close", NULL},
    {"\"1.5\"x,2,3\n", NULL, "is no number", NULL},
    {"\"1.5,2,3\n", NULL, "a row of 1 values", NULL},
};

static void describe_cloud(const mote_cloud *cloud, char *out, size_t size) {
    size_t length = 0;
    for (uint64_t i = 0; i < mote_cloud_count(cloud); i++) {
        length += (size_t)snprintf(out + length, size - length, "%.17g %.17g %.17g;", test_value(cloud, "x", i),
                                   test_value(cloud, "y", i), test_value(cloud, "z", i));
    }
    length += (size_t)snprintf(out + length, size - length, "|");
    for (uint32_t c = 0; c < mote_cloud_column_count(cloud); c++) {
        length +=
            (size_t)snprintf(out + length, size - length, "%s%s", c > 0 ? " " : "", mote_cloud_column(cloud, c)->name);
    }
}

/* A file must be read as expected, or be refused with these words; and warn so, or not at all. */
static void check_case(const char *name, const void *bytes, size_t size, const row_case *c, size_t i) {
    char said[TEST_MESSAGE_BYTES] = "", got[1024] = "";
    mote_context *ctx = test_context_listening(said);
    mote_read_params params = mote_read_defaults();
    mote_cloud *cloud = NULL;
    params.columns = c->columns;
    test_write_file(test_path(name), bytes, size);
    if (mote_cloud_read(ctx, test_path(name), &params, &cloud) == MOTE_OK) {
        describe_cloud(cloud, got, sizeof got);
        if (strcmp(got, c->expected) != 0) fail_msg("case %zu: %s", i, got);
    } else if (strstr(mote_context_message(ctx), c->expected) == NULL) {
        fail_msg("case %zu: %s", i, mote_context_message(ctx));
    }
    if (c->warning == NULL ? said[0] != '\0' : strstr(said, c->warning) == NULL) fail_msg("case %zu: %s", i, said);
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

static void rows_are_read_as_they_are_written(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows_of_kinds / sizeof rows_of_kinds[0]; i++) {
        check_case("kind.csv", rows_of_kinds[i].text, strlen(rows_of_kinds[i].text), &rows_of_kinds[i], i);
    }
}

/* A table with text is known by its content, where its header names the positions. */
static void tables_with_text_are_recognised(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    static const char text[] = "label;x;y;z\nA1;1,5;2;3\nB;4;5;6\n";
    test_write_file(test_path("what.dat"), text, strlen(text));
    assert_string_equal(mote_file_format(ctx, test_path("what.dat")), "xyz");
    mote_context_destroy(ctx);
}

/* ---- PLY: values, not lines */

#define POINTS_2 PLY_ASCII "element vertex 2\n" PLY_XYZ
#define FACES    "element face 2\nproperty list uchar int vertex_indices\n"

static const row_case values_over_lines[] = {
    {POINTS_2 "end_header\n1.5 2\n3\n4 5 6\n", NULL, "1.5 2 3;4 5 6;|x y z", NULL},
    {POINTS_2 "end_header\n1.5\n2\n3\n4\n5\n6", NULL, "1.5 2 3;4 5 6;|x y z", NULL},
    {POINTS_2 "end_header\n1.5 2 3 4 5 6\n", NULL, "1.5 2 3;4 5 6;|x y z", NULL},
    {POINTS_2 "end_header\n1.5 2 3 4\n5 6\n", NULL, "1.5 2 3;4 5 6;|x y z", "in the middle of one (1)"},
    {POINTS_2 FACES "end_header\n1.5 2 3\n4 5 6 3 0 1\n1 4 0 0 1\n\n1\n", NULL, "1.5 2 3;4 5 6;|x y z", NULL},
    {POINTS_2 FACES "end_header\n1.5 2 3\n4 5 6\n3\n0\n1\n1\n3 0 1 1\n", NULL, "1.5 2 3;4 5 6;|x y z", NULL},
    {PLY_ASCII FACES "element vertex 1\n" PLY_XYZ "end_header\n0 2 1\n1 1 2 3\n", NULL, "1 2 3;|x y z", NULL},
    {PLY_ASCII "element vertex 1\nproperty list uchar int l\n" PLY_XYZ "end_header\n2 7\n8 1 2\n3\n", NULL,
     "1 2 3;|x y z", "the list l"},
    /* Values that do not come out even are a mistake in a line. */
    {POINTS_2 "end_header\n1 2 3 4\n5 6 7 8\n", NULL, "\"4\": the row has more than 3 values", NULL},
    {POINTS_2 "end_header\n1.000 2.000\n3\n4 5\n", NULL, "line 8, column 12: the row ends after 2 values", NULL},
    {POINTS_2 "end_header\n1 2 3 4 5\nsix\n", NULL, "line 9, column 1: \"six\" is no number", NULL},
};

static void ply_values_may_stand_in_any_line(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof values_over_lines / sizeof values_over_lines[0]; i++) {
        const row_case *const c = &values_over_lines[i];
        check_case("values.ply", c->text, strlen(c->text), c, i);
    }
}

/* Several pieces, by any number of threads, are the points of one line each. */
static void long_ply_of_values_is_the_same(void **state) {
    (void)state;
    enum { COUNT = 50000 };
    char *const text = malloc(40 * COUNT + 1000);
    uint64_t hashes[4];
    assert_non_null(text);
    for (int k = 0; k < 4; k++) {
        size_t size = (size_t)sprintf(text, PLY_ASCII "element vertex %d\n" PLY_XYZ "end_header\n", COUNT);
        for (int i = 0; i < COUNT; i++) {
            const char *const between = k > 0 && i % 3 == 0 ? "\n" : " ";
            size += (size_t)sprintf(text + size, "%d.5%s%d%s%d\n", i, between, i % 77, between, -i);
        }
        mote_context *ctx = test_context(k == 3 ? 3 : 1);
        test_write_file(test_path("long.ply"), text, size);
        mote_cloud *cloud = test_read(ctx, test_path("long.ply"));
        hashes[k] = test_hash(ctx, cloud);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
    assert_true(hashes[0] == hashes[1] && hashes[0] == hashes[2] && hashes[0] == hashes[3]);
    free(text);
}

/* Of a file that was cut off, the points that are whole are read. */
static void cut_values_are_salvaged(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_read_params params = mote_read_defaults();
    mote_cloud *cloud = NULL;
    static const char text[] = PLY_ASCII "element vertex 4\n" PLY_XYZ "end_header\n1 2\n3\n4 5\n6\n7\n";
    params.salvage = true;
    test_write_file(test_path("cut.ply"), text, strlen(text));
    assert_int_equal(mote_cloud_read(ctx, test_path("cut.ply"), &params, &cloud), MOTE_OK);
    assert_int_equal(mote_cloud_count(cloud), 2);
    assert_true(test_value(cloud, "z", 1) == 6);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static mote_status read_values(mote_context *ctx, void *user) {
    mote_cloud *cloud = NULL;
    const mote_status status = mote_cloud_read(ctx, user, NULL, &cloud);
    mote_cloud_destroy(cloud);
    return status;
}

static void values_survive_failing_allocations(void **state) {
    (void)state;
    static const char text[] = POINTS_2 FACES "end_header\n1 2\n3\n4 5 6\n3 0 1 1\n3 1 0 0\n";
    const char *const path = test_path("failing.ply");
    test_write_file(path, text, strlen(text));
    test_each_allocation_fails(read_values, (void *)(uintptr_t)path);
}

/* ---- PCD */

static size_t pcd_with_sizes(char *out, const char *head, uint32_t packed, uint32_t unpacked, const void *data,
                             size_t bytes) {
    size_t size = strlen(head);
    memcpy(out, head, size);
    memcpy(out + size, &packed, 4);
    memcpy(out + size + 4, &unpacked, 4);
    memcpy(out + size + 8, data, bytes);
    return size + 8 + bytes;
}

/* All x, all y, all z; of two points. */
static void stored_points_are_read(void **state) {
    (void)state;
    static const char head[] = PCD_FIELDS "POINTS 2\nDATA binary_compressed\n";
    static const double values[6] = {1.5, 4, 2, 5, 3, 6};
    char file[1024];
    mote_context *ctx = test_context(1);
    size_t size = pcd_with_sizes(file, head, sizeof values, sizeof values, values, sizeof values);
    test_write_file(test_path("stored.pcd"), file, size);
    check_points(ctx, test_path("stored.pcd"), "stored");
    /* LZF of that very size stays LZF: 16 literal bytes, a copy of 4 of them, 4 literal bytes. */
    uint8_t packed[24], unpacked[24] = {0};
    for (int i = 0; i < 16; i++) unpacked[i] = (uint8_t)(i * 7 + 1);
    packed[0] = 15;
    memcpy(packed + 1, unpacked, 16);
    size_t at = 17;
    memcpy(unpacked + 16, unpacked, 4);
    packed[at++] = 2 << 5;
    packed[at++] = 15;
    memcpy(unpacked + 20, "abcd", 4);
    packed[at++] = 3;
    memcpy(packed + at, "abcd", 4);
    at += 4;
    assert_int_equal(at, 24);
    size = pcd_with_sizes(file, "FIELDS x y z\nSIZE 4 4 4\nTYPE I I I\nPOINTS 2\nDATA binary_compressed\n", 24, 24,
                          packed, at);
    test_write_file(test_path("packed.pcd"), file, size);
    mote_cloud *cloud = test_read(ctx, test_path("packed.pcd"));
    int32_t x;
    memcpy(&x, unpacked, 4);
    assert_true(test_value(cloud, "x", 0) == x);
    memcpy(&x, "abcd", 4);
    assert_true(test_value(cloud, "z", 1) == x);
    mote_cloud_destroy(cloud);
    /* No points, no bytes. */
    size = pcd_with_sizes(file, PCD_FIELDS "WIDTH 0\nHEIGHT 1\nPOINTS 0\nDATA binary_compressed\n", 0, 0, "", 0);
    test_write_file(test_path("none.pcd"), file, size);
    cloud = test_read(ctx, test_path("none.pcd"));
    assert_int_equal(mote_cloud_count(cloud), 0);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Of a cut file whose points are stored, the whole points, and none that LZF would make of the bytes. */
static void stored_points_are_salvaged(void **state) {
    (void)state;
    double values[300];
    char file[4096];
    for (int i = 0; i < 300; i++) values[i] = i * 1.37 + 0.001;
    const size_t size = pcd_with_sizes(file, PCD_FIELDS "POINTS 100\nDATA binary_compressed\n", sizeof values,
                                       sizeof values, values, sizeof values);
    mote_context *ctx = test_context(1);
    mote_read_params params = mote_read_defaults();
    mote_cloud *cloud = NULL;
    params.salvage = true;
    test_write_file(test_path("cut.pcd"), file, size - 400);
    assert_int_equal(mote_cloud_read(ctx, test_path("cut.pcd"), &params, &cloud), MOTE_OK);
    assert_int_equal(mote_cloud_count(cloud), 50);
    for (uint64_t i = 0; i < 50; i++) assert_true(test_value(cloud, "z", i) == values[200 + i]);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static const row_case pcd_headers[] = {
    {"SIZE 8 8 8\nTYPE F F F\nCOUNT 1 1 1\nPOINTS 2\nVERSION 0.7\nFIELDS x y z\n", NULL, "1.5 2 3;4 5 6;|x y z", NULL},
    {"HEIGHT 1\nPOINTS 2\n" PCD_FIELDS, NULL, "1.5 2 3;4 5 6;|x y z", NULL},
    {"# a comment\n\n" PCD_FIELDS "WIDTH 2\nHEIGHT 1\n", NULL, "1.5 2 3;4 5 6;|x y z", NULL},
    {PCD_FIELDS "WIDTH 3\nHEIGHT 1\nPOINTS 2\n", NULL, "1.5 2 3;4 5 6;|x y z", "the file holds 2, which are taken"},
    {PCD_FIELDS "WIDTH 2\nHEIGHT 1\nPOINTS 7\n", NULL, "1.5 2 3;4 5 6;|x y z", "the file holds 2, which are taken"},
    {PCD_FIELDS "WIDTH 3\nHEIGHT 1\nPOINTS 7\n", NULL, "POINTS is 7, but WIDTH 3 times HEIGHT 1 is 3", NULL},
};

static void pcd_headers_of_other_kinds(void **state) {
    (void)state;
    static const double binary[6] = {1.5, 2, 3, 4, 5, 6}, packed[6] = {1.5, 4, 2, 5, 3, 6};
    for (size_t i = 0; i < sizeof pcd_headers / sizeof pcd_headers[0]; i++) {
        const row_case *const c = &pcd_headers[i];
        char file[1024], head[512];
        size_t size = (size_t)sprintf(file, "%sDATA ascii\n1.5 2 3\n4 5 6\n", c->text);
        check_case("header.pcd", file, size, c, 3 * i);
        size = (size_t)sprintf(file, "%sDATA binary\n", c->text);
        memcpy(file + size, binary, sizeof binary);
        check_case("header.pcd", file, size + sizeof binary, c, 3 * i + 1);
        snprintf(head, sizeof head, "%sDATA binary_compressed\n", c->text);
        size = pcd_with_sizes(file, head, sizeof packed, sizeof packed, packed, sizeof packed);
        check_case("header.pcd", file, size, c, 3 * i + 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_and_line_ends_are_alike),      cmocka_unit_test(binary_bodies_begin_where_they_do),
        cmocka_unit_test(wide_encodings_are_refused_by_name), cmocka_unit_test(rows_are_read_as_they_are_written),
        cmocka_unit_test(tables_with_text_are_recognised),    cmocka_unit_test(ply_values_may_stand_in_any_line),
        cmocka_unit_test(long_ply_of_values_is_the_same),     cmocka_unit_test(cut_values_are_salvaged),
        cmocka_unit_test(values_survive_failing_allocations), cmocka_unit_test(stored_points_are_read),
        cmocka_unit_test(stored_points_are_salvaged),         cmocka_unit_test(pcd_headers_of_other_kinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
