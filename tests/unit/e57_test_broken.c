/* What is wrong with E57 files: each is an error that names the place, and salvage keeps what is whole. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "e57_test.h"

enum { PAGE = 1024, PAYLOAD = 1020 };

static void put(uint8_t *bytes, size_t at, uint64_t value, size_t size) { memcpy(bytes + at, &value, size); }

/* ---- the header of the file */

void refuses_bad_headers(void **state) {
    (void)state;
    static const struct {
        size_t at, size;
        uint64_t value;
        const char *message;
    } cases[] = {
        {0, 1, 'B', "begins with ASTM-E57"},
        {8, 4, 2, "version 2"},
        {40, 8, 512, "pages of 512 bytes"},
        {24, 8, 0, "within the header"},
        {24, 8, 1021, "within a checksum"},
        {24, 8, UINT64_MAX - 1023, "beyond the end"},
        {24, 8, UINT64_C(1) << 60, "beyond the end"},
        {32, 8, 0, "the file has no XML"},
        {32, 8, UINT64_MAX, "is said to have 18446744073709551615 bytes"},
        {32, 8, 100000, "is said to have 100000 bytes"},
        {32, 8, 200, "not well-formed"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        size_t size = 0;
        uint8_t *const bytes = e57_plain(100, 50, &size);
        mote_context *ctx = test_context(1);
        mote_cloud *cloud = NULL;
        put(bytes, cases[c].at, cases[c].value, cases[c].size);
        e57_reference_seal(bytes, size);
        test_write_file(test_path("bad.e57"), bytes, size);
        const mote_status status = mote_cloud_read(ctx, test_path("bad.e57"), NULL, &cloud);
        assert_true(status == MOTE_ERROR_DATA || (cases[c].at == 8 && status == MOTE_ERROR_UNSUPPORTED));
        if (strstr(mote_context_message(ctx), cases[c].message) == NULL)
            print_message("%s\n", mote_context_message(ctx));
        assert_non_null(strstr(mote_context_message(ctx), cases[c].message));
        assert_non_null(strstr(mote_context_message(ctx), ": offset "));
        mote_context_destroy(ctx);
        free(bytes);
    }
}

/* ---- XML */

#define HEAD   "<e57Root type=\"Structure\"><data3D type=\"Vector\"><vectorChild type=\"Structure\">"
#define TAIL   "</vectorChild></data3D></e57Root>"
#define POINTS "<points type=\"CompressedVector\" fileOffset=\"48\" recordCount=\"1\">"
#define PROTO  "<prototype type=\"Structure\">"
#define END    "</prototype></points>"
#define XYZ    "<cartesianX type=\"Float\"/><cartesianY type=\"Float\"/><cartesianZ type=\"Float\"/>"

static const char *const bad_xml[][2] = {
    {"nonsense", "not well-formed"},
    {"<e57Root><b></e57Root>", "not well-formed"},
    {"<other/>", "begins with <other>, not with <e57Root>"},
    {"<e57Root type=\"Structure\"/>", "the file has no scans"},
    {"<e57Root type=\"Structure\"><data3D type=\"Vector\"/></e57Root>", "the file has no scans"},
    {"<!DOCTYPE a [<!ENTITY b \"c\">]><e57Root>&b;</e57Root>", "declares a document type"},
    {"<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><e57Root>&b;</e57Root>", "declares a document type"},
    {"<e57Root>&b;</e57Root>", "not well-formed: undefined entity"},
    {HEAD TAIL, "scan 1 has no points"},
    {HEAD POINTS "</points>" TAIL, "the points of scan 1 have no prototype"},
    {HEAD "<points type=\"CompressedVector\" fileOffset=\"48\"/>" TAIL, "are no CompressedVector with fileOffset and"},
    {HEAD "<points type=\"CompressedVector\" recordCount=\"48\"/>" TAIL, "are no CompressedVector with fileOffset and"},
    {HEAD "<points type=\"Vector\" fileOffset=\"48\" recordCount=\"1\"/>" TAIL, "are no CompressedVector"},
    {HEAD "<points type=\"CompressedVector\" fileOffset=\"x\" recordCount=\"1\"/>" TAIL, "fileOffset is \"x\""},
    {HEAD "<points type=\"CompressedVector\" fileOffset=\"48\" recordCount=\"-1\"/>" TAIL, "recordCount is \"-1\""},
    {HEAD "<points type=\"CompressedVector\" fileOffset=\"48\" recordCount=\"18446744073709551616\"/>" TAIL,
     "no whole number of 64 bits"},
    {HEAD POINTS PROTO XYZ END POINTS PROTO END TAIL, "has points twice"},
    {HEAD POINTS PROTO END TAIL, "neither cartesianX, Y and Z nor spherical"},
    {HEAD POINTS PROTO "<cartesianX type=\"Float\"/><cartesianY type=\"Float\"/>" END TAIL, "neither cartesianX"},
    {HEAD POINTS PROTO "<cartesianX type=\"String\"/><cartesianY type=\"Float\"/><cartesianZ type=\"Float\"/>" END TAIL,
     "neither cartesianX"},
    {HEAD POINTS PROTO XYZ "<cartesianX type=\"Float\"/>" END TAIL, "has cartesianX twice"},
    {HEAD POINTS PROTO XYZ "<a type=\"Blob\"/>" END TAIL, "a field of type \"Blob\""},
    {HEAD POINTS PROTO XYZ "<a type=\"Integer\" minimum=\"2\" maximum=\"1\"/>" END TAIL, "2 is above its maximum of 1"},
    {HEAD POINTS PROTO XYZ "<a type=\"Integer\" minimum=\"two\"/>" END TAIL, "minimum is \"two\""},
    {HEAD POINTS PROTO XYZ "<a type=\"ScaledInteger\" scale=\"0\"/>" END TAIL, "a scale of 0"},
    {HEAD POINTS PROTO XYZ "<a type=\"ScaledInteger\" scale=\"inf\"/>" END TAIL, "a scale of inf"},
    {HEAD POINTS PROTO XYZ "<a type=\"ScaledInteger\" offset=\"nan\"/>" END TAIL, "an offset of nan"},
    {HEAD "<pose><rotation><w type=\"Float\">a</w></rotation></pose>" POINTS PROTO XYZ END TAIL,
     "is \"a\", which is no number"},
    {HEAD "<pose><translation><x type=\"Float\">inf</x></translation></pose>" POINTS PROTO XYZ END TAIL, "a pose with"},
    {HEAD POINTS PROTO XYZ END TAIL, "a section of kind 60"},
};

static void refuse(const uint8_t *bytes, size_t size, const char *message) {
    mote_context *ctx = test_context(1);
    test_refused(ctx, "e57", bytes, size, message);
    mote_context_destroy(ctx);
}

void refuses_bad_xml(void **state) {
    (void)state;
    for (size_t c = 0; c < sizeof bad_xml / sizeof bad_xml[0]; c++) {
        size_t size = 0;
        uint8_t *const bytes = e57_reference_xml(bad_xml[c][0], &size);
        refuse(bytes, size, bad_xml[c][1]);
        free(bytes);
    }
    /* Nested without end, a tag without end, a text without end. */
    static const char *const parts[][3] = {{"<e57Root>", "<a>", "nested deeper than 32"},
                                           {"<e57Root>", "<a b='", "not well-formed"},
                                           {"<e57Root a='", "bbbbbbbbbbbbbbbbbbbbbbbb", "a tag of more than"},
                                           {"<e57Root><a>", "cccccccccccccccccccccccc", "a text of more than"}};
    for (int p = 0; p < 4; p++) {
        const size_t length = strlen(parts[p][1]), count = 3000000 / length;
        char *const xml = malloc(100 + count * length);
        assert_non_null(xml);
        size_t at = (size_t)sprintf(xml, "%s", parts[p][0]), size = 0;
        for (size_t i = 0; i < count; i++) at += (size_t)sprintf(xml + at, "%s", parts[p][1]);
        uint8_t *const bytes = e57_reference_xml(xml, &size);
        mote_context *ctx = test_context(1);
        mote_cloud *cloud = NULL;
        test_write_file(test_path("long.e57"), bytes, size);
        assert_int_equal(mote_cloud_read(ctx, test_path("long.e57"), NULL, &cloud), MOTE_ERROR_DATA);
        if (strstr(mote_context_message(ctx), parts[p][2]) == NULL) print_message("%s\n", mote_context_message(ctx));
        assert_non_null(strstr(mote_context_message(ctx), parts[p][2]));
        mote_context_destroy(ctx);
        free(bytes);
        free(xml);
    }
}

/* ---- sections and packets */

void refuses_bad_packets(void **state) {
    (void)state;
    /* The section is at 48, its first packet of 5 streams at 80. */
    static const struct {
        size_t at, size;
        uint64_t value;
        const char *message;
    } cases[] = {
        {48, 1, 0, "a section of kind 0"},
        {56, 8, 31, "a section of 31 bytes"},
        {56, 8, UINT64_MAX, "a section of 18446744073709551615 bytes"},
        {56, 8, 200, "1000 records of 111 bits are stated, but there are 168 bytes"},
        {64, 8, 48, "outside of its section"},
        {64, 8, 0, "within the header"},
        {64, 8, 1022, "within a checksum"},
        {64, 8, UINT64_MAX - 1023, "beyond the end"},
        {80, 1, 3, "there is no packet of this kind"},
        {80, 1, 0, "end after"}, /* an index: the data in it are missing */
        {82, 2, 65535, "a packet is longer than what is left of its section"},
        {82, 2, 1, "a packet is longer than what is left"}, /* or, as here, shorter than its own head */
        {82, 2, 8, "a packet ends within its head"},
        {84, 2, 4, "not as many streams as the scan has fields"},
        {84, 2, 65535, "not as many streams as the scan has fields"},
        {86, 2, 65535, "the streams of a packet are longer than it is"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        size_t size = 0;
        uint8_t *const bytes = e57_plain(1000, 50, &size);
        put(bytes, cases[c].at, cases[c].value, cases[c].size);
        e57_reference_seal(bytes, size);
        refuse(bytes, size, cases[c].message);
        free(bytes);
    }
}

/* ---- damaged pages */

/* The page of the XML. */
static size_t xml_page(const uint8_t *bytes) {
    uint64_t at;
    memcpy(&at, bytes + 24, sizeof at);
    return at / PAGE;
}

void damaged_pages_are_told(void **state) {
    (void)state;
    size_t size = 0;
    uint8_t *const bytes = e57_plain(2000, 300, &size);
    for (size_t page = 0; page < size / PAGE; page++) {
        char message[100];
        const uint8_t before = bytes[page * PAGE + 500];
        bytes[page * PAGE + 500] ^= 4;
        snprintf(message, sizeof message, "offset %zu: the checksum of this page", page * PAGE);
        refuse(bytes, size, message);
        bytes[page * PAGE + 500] = before;
    }
    free(bytes);
}

/* Which records of e57_plain a cloud has: by their x. */
static uint64_t check_kept(const mote_cloud *whole, const mote_cloud *some) {
    uint64_t at = 0;
    for (uint64_t i = 0; i < mote_cloud_count(some); i++) {
        while (at < mote_cloud_count(whole) && test_value(whole, "x", at) != test_value(some, "x", i)) at++;
        assert_true(at < mote_cloud_count(whole));
        assert_true(test_value(whole, "red", at) == test_value(some, "red", i));
        assert_true(test_value(whole, "intensity", at) == test_value(some, "intensity", i));
        assert_true(test_value(whole, "z", at) == test_value(some, "z", i));
    }
    return mote_cloud_count(some);
}

void salvage_loses_only_damaged_packets(void **state) {
    (void)state;
    static const uint32_t cuts[] = {40, 300, 1500};
    mote_read_params params = mote_read_defaults();
    params.salvage = true;
    for (int c = 0; c < 3; c++) {
        char warning[TEST_MESSAGE_BYTES];
        mote_context *ctx = test_context_listening(warning);
        size_t size = 0;
        uint8_t *const bytes = e57_plain(2000, cuts[c], &size);
        mote_cloud *const whole = e57_read_bytes(ctx, bytes, size, NULL);
        int gave_up = 0;
        for (size_t page = 0; page < xml_page(bytes); page++) {
            mote_cloud *some = NULL;
            uint8_t before[PAGE];
            memcpy(before, bytes + page * PAGE, PAGE);
            memset(bytes + page * PAGE + (page == 0 ? 48 : 0), 0, page == 0 ? PAGE - 48 : PAGE);
            test_write_file(test_path("bytes.e57"), bytes, size);
            const mote_status status = mote_cloud_read(ctx, test_path("bytes.e57"), &params, &some);
            memcpy(bytes + page * PAGE, before, PAGE);
            if (status == MOTE_ERROR_DATA) {
                /* With the header of the file all is lost, and with one of few packets may be. */
                assert_true(page == 0 || cuts[c] == 1500);
                if (page > 0) assert_non_null(strstr(mote_context_message(ctx), "not one of 2000 points is whole"));
                mote_context_clear(ctx);
                continue;
            }
            assert_int_equal(status, MOTE_OK);
            const uint64_t kept = check_kept(whole, some);
            assert_true(kept < 2000);
            /* Of each packet that the page has or cuts: the records of each of its streams, which run on unevenly. */
            const uint64_t packets = PAGE / (5 * cuts[c] + 16) + 2, cut = cuts[c] + 5;
            const uint64_t most = packets * (3 * (cut / 4 + 2) + cut * 8 / 7 + 2 + cut);
            if (2000 - kept > most) gave_up++;
            assert_non_null(strstr(warning, "are missing from here on"));
            mote_cloud_destroy(some);
        }
        /* Only where a stream ends is a packet not like the one before: then nobody knows how many records it had. */
        assert_true(gave_up <= 4);
        mote_cloud_destroy(whole);
        free(bytes);
        mote_context_destroy(ctx);
    }
}

/* ---- files that are cut */

void any_cut_is_told(void **state) {
    (void)state;
    size_t size = 0;
    uint8_t *const bytes = e57_plain(300, 200, &size);
    for (size_t cut = 0; cut < size; cut += cut < 100 || size - cut < 100 ? 1 : 97) {
        mote_context *ctx = test_context(1);
        mote_cloud *cloud = NULL;
        mote_read_params params = mote_read_defaults();
        test_write_file(test_path("cut.e57"), bytes, cut);
        for (int salvage = 0; salvage < 2; salvage++) {
            params.salvage = salvage;
            assert_int_equal(mote_cloud_read(ctx, test_path("cut.e57"), &params, &cloud), MOTE_ERROR_DATA);
            assert_null(cloud);
            assert_non_null(strstr(mote_context_message(ctx), "cut.e57: offset "));
            mote_context_clear(ctx);
        }
        mote_context_destroy(ctx);
    }
    free(bytes);
}

/* ---- counts that lie */

void counts_that_lie_take_no_memory(void **state) {
    (void)state;
    static const uint64_t counts[] = {301, 5000, UINT64_C(1) << 40, UINT64_MAX};
    double *const axis = e57_coordinates(1, 300);
    uint64_t *const x = e57_doubles(axis, 300);
    const e57_reference_field fields[] = {{"cartesianX", E57_DOUBLE_FIELD, 64, x, NULL},
                                          {"cartesianY", E57_DOUBLE_FIELD, 64, x, NULL},
                                          {"cartesianZ", E57_DOUBLE_FIELD, 64, x, NULL}};
    const e57_reference_field nothing[] = {{"cartesianX", "type=\"Integer\" minimum=\"1\" maximum=\"1\"", 0, x, NULL},
                                           {"cartesianY", "type=\"Integer\" minimum=\"1\" maximum=\"1\"", 0, x, NULL},
                                           {"cartesianZ", "type=\"Integer\" minimum=\"1\" maximum=\"1\"", 0, x, NULL}};
    for (int c = 0; c < 4; c++) {
        e57_reference_scan scan = {"", fields, 3, 300, counts[c], 100, false};
        const e57_reference_file file = {NULL, NULL, &scan, 1};
        size_t size = 0;
        uint8_t *bytes = e57_reference_make(&file, &size);
        refuse(bytes, size, c == 0 ? "end after 300 of 301 records" : "are more than the file has room for");
        /* Salvage has what is there. */
        char warning[TEST_MESSAGE_BYTES];
        mote_context *ctx = test_context_listening(warning);
        mote_read_params params = mote_read_defaults();
        params.salvage = true;
        mote_cloud *const cloud = e57_read_bytes(ctx, bytes, size, &params);
        assert_int_equal(mote_cloud_count(cloud), 300);
        assert_non_null(strstr(warning, "300 are kept"));
        assert_true(mote_context_memory_peak_bytes(ctx) < (2u << 20));
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
        free(bytes);
        scan.fields = nothing;
        bytes = e57_reference_make(&file, &size);
        if (c > 1) refuse(bytes, size, "more than the file has room for");
        free(bytes);
    }
    free(x);
    free(axis);
}
