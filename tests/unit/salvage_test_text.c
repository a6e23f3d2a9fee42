/* Salvage of PLY, PCD, PTX, PTS and text: cut files, counts that are off, wrong rows, faces that are not whole. */
#include "unit/salvage_test.h"

#define POINTS 12

/* A text that grows. */
typedef struct text {
    char data[8192];
    size_t size;
} text;

static __attribute__((format(printf, 2, 3))) void put(text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    t->size += (size_t)vsnprintf(t->data + t->size, sizeof t->data - t->size, format, arguments);
    va_end(arguments);
}

static void put_bytes(text *t, const void *bytes, size_t size, bool swap) {
    for (size_t i = 0; i < size; i++) t->data[t->size + i] = ((const char *)bytes)[swap ? size - 1 - i : i];
    t->size += size;
}

static file_bytes bytes_of(text *t) { return (file_bytes){(uint8_t *)t->data, t->size}; }

static void put_rows(text *t, const char *separator) {
    for (int i = 0; i < POINTS; i++) {
        put(t, "%d.25%s%d.5%s%d.75%s%d\n", 100 + i, separator, i * 7, separator, i * 3, separator, i * 1000);
    }
}

static text ply_text(const char *encoding, int points, int faces) {
    text t = {.size = 0};
    put(&t, "ply\nformat %s 1.0\nelement vertex %d\nproperty float x\nproperty float y\nproperty float z\n", encoding,
        points);
    put(&t, "property ushort intensity\n");
    if (faces > 0) put(&t, "element face %d\nproperty list uchar int vertex_indices\n", faces);
    put(&t, "end_header\n");
    return t;
}

static void put_values(text *t, bool swap) {
    for (int i = 0; i < POINTS; i++) {
        const float xyz[3] = {(float)i, (float)i / 2, 7};
        const uint16_t intensity = (uint16_t)(i * 1000);
        for (int k = 0; k < 3; k++) put_bytes(t, &xyz[k], 4, swap);
        put_bytes(t, &intensity, 2, swap);
    }
}

static void put_faces(text *t, bool swap) {
    for (int i = 0; i < 3; i++) {
        put_bytes(t, "\3", 1, false);
        for (int k = 0; k < 3; k++) put_bytes(t, &(int32_t){i + k}, 4, swap);
    }
}

static text ply_file(int kind, int points) {
    static const char *const encodings[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    text t = ply_text(encodings[kind], points, 0);
    if (kind == 0) put_rows(&t, " ");
    if (kind > 0) put_values(&t, kind == 2);
    return t;
}

void ply_cut_anywhere(void **state) {
    (void)state;
    mote_context *ctx = salvage_context(1);
    for (int kind = 0; kind < 3; kind++) {
        text t = ply_file(kind, POINTS);
        const file_bytes file = bytes_of(&t);
        const size_t body = (size_t)(strstr(t.data, "end_header\n") - t.data) + 11;
        salvage_cuts(ctx, "cut.ply", &file, body + 24, kind == 0 ? t.size - 6 : t.size, 1);
    }
    mote_context_destroy(ctx);
}

void ply_counts(void **state) {
    (void)state;
    static const int counts[] = {1, POINTS - 1, POINTS + 1, 1000, 2000000000};
    mote_context *ctx = salvage_context(2);
    for (int kind = 0; kind < 3; kind++) {
        text good = ply_file(kind, POINTS);
        mote_cloud *whole = salvage_read(ctx, "whole.ply", (uint8_t *)good.data, good.size, false);
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            text t = ply_file(kind, counts[c]);
            mote_cloud *part = salvage_read(ctx, "counts.ply", (uint8_t *)t.data, t.size, true);
            assert_non_null(part);
            assert_true(salvage_is_prefix(part, whole));
            assert_int_equal(part->count, kind > 0 && counts[c] < POINTS ? counts[c] : POINTS);
            assert_string_not_equal(salvage_warnings(), "");
            mote_cloud_destroy(part);
            part = salvage_read(ctx, "counts.ply", (uint8_t *)t.data, t.size, false);
            assert_int_equal(part == NULL, counts[c] > POINTS);
            if (part == NULL) assert_non_null(strstr(mote_context_message(ctx), "--salvage"));
            mote_cloud_destroy(part);
        }
        mote_cloud_destroy(whole);
    }
    mote_context_destroy(ctx);
}

/* Faces that are cut or nonsense cost no points, with and without salvage. */
void ply_broken_faces(void **state) {
    (void)state;
    mote_context *ctx = salvage_context(1);
    for (int kind = 1; kind < 3; kind++) {
        text t = ply_text(kind == 1 ? "binary_little_endian" : "binary_big_endian", POINTS, 3);
        put_values(&t, kind == 2);
        const size_t faces = t.size;
        put_faces(&t, kind == 2);
        mote_cloud *whole = salvage_read(ctx, "whole.ply", (uint8_t *)t.data, t.size, false);
        for (size_t size = faces; size < t.size; size++) {
            mote_cloud *part = salvage_read(ctx, "faces.ply", (uint8_t *)t.data, size, size % 2 == 0);
            assert_true(part != NULL && part->count == POINTS && salvage_is_prefix(part, whole));
            assert_non_null(strstr(salvage_warnings(), "the points are all there"));
            mote_cloud_destroy(part);
        }
        t.data[faces] = (char)0xFF;
        mote_cloud *part = salvage_read(ctx, "faces.ply", (uint8_t *)t.data, t.size, false);
        assert_true(part != NULL && part->count == POINTS);
        mote_cloud_destroy(part);
        mote_cloud_destroy(whole);
    }
    text t = ply_text("ascii", POINTS, 3);
    put_rows(&t, " ");
    put(&t, "3 0 1 2\n3 0 1\n");
    for (int salvage = 0; salvage < 2; salvage++) {
        mote_cloud *part = salvage_read(ctx, "faces.ply", (uint8_t *)t.data, t.size, salvage);
        assert_true(part != NULL && part->count == POINTS);
        assert_string_not_equal(salvage_warnings(), "");
        mote_cloud_destroy(part);
    }
    put(&t, "x y z\n");
    mote_cloud *part = salvage_read(ctx, "faces.ply", (uint8_t *)t.data, t.size, false);
    assert_true(part != NULL && part->count == POINTS);
    assert_non_null(strstr(salvage_warnings(), "rows are left out"));
    mote_cloud_destroy(part);
    mote_context_destroy(ctx);
}

static text pcd_file(const char *encoding, int points, int width) {
    text t = {.size = 0};
    put(&t, "VERSION 0.7\nFIELDS x y z intensity\nSIZE 4 4 4 2\nTYPE F F F U\nCOUNT 1 1 1 1\nWIDTH %d\nHEIGHT 1\n",
        width);
    put(&t, "POINTS %d\nDATA %s\n", points, encoding);
    if (strcmp(encoding, "ascii") == 0) put_rows(&t, " ");
    if (strcmp(encoding, "binary") == 0) put_values(&t, false);
    return t;
}

void pcd_cut_and_counts(void **state) {
    (void)state;
    static const int counts[] = {1, POINTS - 1, POINTS + 1, 1000, 2000000000};
    mote_context *ctx = salvage_context(1);
    for (int kind = 0; kind < 2; kind++) {
        const char *encoding = kind == 0 ? "ascii" : "binary";
        text good = pcd_file(encoding, POINTS, POINTS);
        const file_bytes file = bytes_of(&good);
        const size_t body = (size_t)(strstr(good.data, "DATA ") - good.data) + strlen(encoding) + 6;
        salvage_cuts(ctx, "cut.pcd", &file, body + 24, kind == 0 ? good.size - 6 : good.size, 1);
        mote_cloud *whole = salvage_read(ctx, "whole.pcd", (uint8_t *)good.data, good.size, false);
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            for (int both = 0; both < 2; both++) {
                text t = pcd_file(encoding, counts[c], both ? counts[c] : POINTS);
                mote_cloud *part = salvage_read(ctx, "counts.pcd", (uint8_t *)t.data, t.size, true);
                assert_non_null(part);
                assert_true(salvage_is_prefix(part, whole));
                assert_int_equal(part->count, kind == 1 && both && counts[c] < POINTS ? counts[c] : POINTS);
                assert_string_not_equal(salvage_warnings(), "");
                mote_cloud_destroy(part);
            }
        }
        mote_cloud_destroy(whole);
    }
    mote_context_destroy(ctx);
}

/* Fields one after the other: some points once the last field begins. */
void pcd_compressed(void **state) {
    (void)state;
    mote_context *ctx = salvage_context(1);
    text t = pcd_file("binary", POINTS, POINTS);
    mote_cloud *cloud = salvage_read(ctx, "whole.pcd", (uint8_t *)t.data, t.size, false);
    mote_write_params params = mote_write_defaults();
    params.compress = true;
    write_ok(ctx, cloud, test_path("packed.pcd"), &params);
    mote_cloud_destroy(cloud);
    const file_bytes file = load(test_path("packed.pcd"));
    assert_in_range(salvage_cuts(ctx, "cut.pcd", &file, file.size - 1, file.size, 1), 1, POINTS);
    free(file.data);
    mote_context_destroy(ctx);
}

static text ptx_file(int columns, int rows, int scans) {
    text t = {.size = 0};
    for (int s = 0; s < scans; s++) {
        put(&t, "%d\n%d\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n", columns, rows);
        put_rows(&t, " ");
    }
    return t;
}

void ptx_cut_and_counts(void **state) {
    (void)state;
    static const int counts[] = {1, 3, 5, 100, 1000000};
    mote_context *ctx = salvage_context(1);
    text good = ptx_file(4, POINTS / 4, 2);
    const file_bytes file = bytes_of(&good);
    mote_cloud *whole = salvage_read(ctx, "whole.ptx", file.data, file.size, false);
    /* Of a single scan; of two, whether there is a column for the scan depends on the cut. */
    text one = ptx_file(4, POINTS / 4, 1);
    const file_bytes single = bytes_of(&one);
    const size_t body = (size_t)(strstr(one.data, "0 0 0 1\n") - one.data) + 8;
    salvage_cuts(ctx, "cut.ptx", &single, body + 30, single.size - 6, 1);
    for (size_t size = single.size; size < file.size; size++) {
        mote_cloud *part = salvage_read(ctx, "cut.ptx", file.data, size, true);
        assert_true(part != NULL && part->count >= POINTS && part->count < 2 * POINTS);
        const mote_column *a = mote_cloud_find(part, "z"), *b = mote_cloud_find(whole, "z");
        for (uint64_t i = 0; i < part->count; i++) assert_true(mote_column_value(a, i) == mote_column_value(b, i));
        mote_cloud_destroy(part);
    }
    mote_cloud_destroy(whole);
    whole = salvage_read(ctx, "whole.ptx", single.data, single.size, false);
    for (int scans = 1; scans < 3; scans++) {
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            text t = ptx_file(counts[c], POINTS / 4, scans);
            mote_cloud *part = salvage_read(ctx, "counts.ptx", (uint8_t *)t.data, t.size, true);
            assert_true(part != NULL && part->count <= POINTS);
            const mote_column *a = mote_cloud_find(part, "z"), *b = mote_cloud_find(whole, "z");
            for (uint64_t i = 0; i < part->count; i++) assert_true(mote_column_value(a, i) == mote_column_value(b, i));
            assert_string_not_equal(salvage_warnings(), "");
            mote_cloud_destroy(part);
        }
    }
    mote_cloud_destroy(whole);
    mote_context_destroy(ctx);
}

static text table_file(const char *head, const char *separator) {
    text t = {.size = 0};
    put(&t, "%s", head);
    put_rows(&t, separator);
    return t;
}

void text_cut_and_counts(void **state) {
    (void)state;
    static const char *const heads[] = {"12\n", "x y z intensity\n", "", "x,y,z,intensity\n"};
    mote_context *ctx = salvage_context(1);
    for (size_t h = 0; h < 4; h++) {
        const char *name = h == 0 ? "cut.pts" : h == 3 ? "cut.csv" : "cut.xyz";
        text t = table_file(heads[h], h == 3 ? "," : " ");
        const file_bytes file = bytes_of(&t);
        mote_cloud *whole = salvage_read(ctx, name, file.data, file.size, false);
        for (size_t size = 0; size <= file.size; size++) {
            mote_cloud *part = salvage_read(ctx, name, file.data, size, true);
            uint64_t ends = 0; /* lines that have their end, without the head */
            for (size_t i = strlen(heads[h]); i < size; i++) ends += t.data[i] == '\n';
            if (part == NULL) assert_int_equal(ends, 0);
            if (part != NULL && part->count > 0) assert_true(salvage_is_prefix(part, whole));
            if (part != NULL) assert_int_equal(part->count, ends);
            mote_cloud_destroy(part);
        }
        mote_cloud_destroy(whole);
    }
    static const char *const counts[] = {"1\n", "11\n", "13\n", "1000000\n", "18446744073709551615\n"};
    for (size_t c = 0; c < 5; c++) {
        text t = table_file(counts[c], " ");
        assert_null(salvage_read(ctx, "counts.pts", (uint8_t *)t.data, t.size, false));
        assert_non_null(strstr(mote_context_message(ctx), "--salvage"));
        mote_cloud *part = salvage_read(ctx, "counts.pts", (uint8_t *)t.data, t.size, true);
        assert_true(part != NULL && part->count == POINTS);
        assert_string_not_equal(salvage_warnings(), "");
        mote_cloud_destroy(part);
    }
    mote_context_destroy(ctx);
}

/* A wrong line anywhere costs that line; for any number of threads. */
void text_wrong_lines(void **state) {
    (void)state;
    static const char *const wrong[] = {"1 2\n", "1 2 3 4 5\n", "a b c d\n", "1,5 2 3 4\n", "1 2 3 4x\n"};
    static const char *const names[] = {"wrong.xyz", "wrong.ply", "wrong.pcd"};
    for (int threads = (int)test_watched(3, 1); threads < 4; threads += 2) {
        mote_context *ctx = salvage_context(threads);
        for (size_t n = 0; n < 3; n++) {
            for (size_t w = 0; w < 5; w++) {
                const int rows = 100000; /* several pieces */
                text head = n == 1 ? ply_text("ascii", rows + 2, 0) : (text){.size = 0};
                if (n == 2) {
                    head = pcd_file("ascii", rows + 2, rows + 2);
                    head.size = (size_t)(strstr(head.data, "ascii\n") - head.data) + 6;
                }
                char *data = malloc(8192 + 40 * (size_t)rows);
                memcpy(data, head.data, head.size);
                size_t size = head.size;
                for (int i = 0; i < rows; i++) {
                    if (i == 7 || i == 90000) size += (size_t)sprintf(data + size, "%s", wrong[w]);
                    size += (size_t)sprintf(data + size, "%d.25 %d.5 0.75 %d\n", i, i % 100, i % 65536);
                }
                assert_null(salvage_read(ctx, names[n], (uint8_t *)data, size, false));
                assert_non_null(strstr(mote_context_message(ctx), "--salvage"));
                mote_cloud *part = salvage_read(ctx, names[n], (uint8_t *)data, size, true);
                assert_true(part != NULL && part->count == (uint64_t)rows);
                const mote_column *x = mote_cloud_find(part, "x");
                for (int i = 0; i < rows; i += 999) assert_true(mote_column_value(x, (uint64_t)i) == i + 0.25);
                assert_non_null(strstr(salvage_warnings(), "2 of 100002 rows are left out; the first: line "));
                mote_cloud_destroy(part);
                free(data);
            }
        }
        mote_context_destroy(ctx);
    }
}
