/* Codes one chunk after the other into memory that is used again. */
#include "io/laz/laz_codec.h"

struct laz_encoder {
    mote_context *ctx;
    laz_schema schema;
    const laz_writing *writing;
    void *state;
    laz_writer writer;
};

mote_status mote_laz_encoder_make(mote_context *ctx, const laz_schema *schema, laz_encoder **out) {
    laz_encoder *encoder = *out = mote_alloc_zero(ctx, sizeof *encoder, "LAZ encoder");
    if (encoder == NULL) return MOTE_ERROR_MEMORY;
    encoder->ctx = ctx;
    encoder->schema = *schema;
    encoder->writing = schema->compressor == LAZ_LAYERED ? &mote_laz_write_layered : &mote_laz_write_pointwise;
    encoder->state = mote_alloc_zero(ctx, encoder->writing->state_bytes(schema), "LAZ encoder");
    if (encoder->state != NULL) return MOTE_OK;
    mote_laz_encoder_free(ctx, encoder);
    *out = NULL;
    return MOTE_ERROR_MEMORY;
}

void mote_laz_encoder_free(mote_context *ctx, laz_encoder *encoder) {
    if (encoder == NULL) return;
    if (encoder->state != NULL) encoder->writing->release(ctx, encoder->state);
    mote_free(ctx, encoder->state);
    mote_free(ctx, encoder->writer.data);
    mote_free(ctx, encoder);
}

mote_status mote_laz_encode(laz_encoder *encoder, const uint8_t *records, uint64_t count, const uint8_t **out,
                            uint64_t *size_bytes) {
    encoder->writer.at = 0;
    MOTE_TRY(encoder->writing->write(encoder->ctx, encoder->state, &encoder->schema, records, count, &encoder->writer));
    *out = encoder->writer.data;
    *size_bytes = encoder->writer.at;
    return MOTE_OK;
}
