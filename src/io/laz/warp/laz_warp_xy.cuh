/* The first layer of a chunk, decoded by a warp: scanner channel, returns, x, y. The CPU's twin: laz_point14.h. */
#ifndef MOTE_LAZ_WARP_XY_H
#define MOTE_LAZ_WARP_XY_H

#include "io/laz/warp/laz_warp_layer.cuh"

/* ---- the first layer */

typedef struct warp_xy {
    warp_model channel[WARP_MODEL_WORDS(LAZ_CHANNELS - 1)];
    warp_model return_step[WARP_MODEL_WORDS(LAZ_RETURN_STEPS)];
    warp_model changed[LAZ_CHANGED_CONTEXTS][WARP_MODEL_WORDS(LAZ_CHANGED_SYMBOLS)];
    warp_model count[LAZ_RETURNS][WARP_MODEL_WORDS(LAZ_RETURNS)];
    warp_model number[LAZ_RETURNS][WARP_MODEL_WORDS(LAZ_RETURNS)];
    warp_integer dx, dy;
    uint32_t medians[2][LAZ_MEDIANS][8]; /* of x and y: five steps, ascending, and which goes next; see laz_median.h */
} warp_xy;

/* A channel's last point. */
typedef struct warp_xy_last {
    uint32_t x, y, number, count;
} warp_xy_last;

typedef struct warp_xy_item {
    warp_channels channels;
    warp_xy_last last; /* of the current channel */
    warp_xy_last by;   /* by channel, of the others */
    uint32_t gps_changed;
} warp_xy_item;

#define WARP_DROP_LOW 5u /* word of a median */

/* Lanes 0 to 5 have the words of a median. */
WARP_INLINE uint32_t warp_median_word(const warp_reader *r, const uint32_t *median) {
    return median[r->lane < 8 ? r->lane : 7];
}

/* Puts a step among those of a median, of which the lanes have the words. */
WARP_INLINE void warp_median_add(const warp_reader *r, uint32_t *median, uint32_t word, uint32_t step) {
    const uint32_t drop_low = warp_get(word, WARP_DROP_LOW), i = r->lane;
    const int32_t added = (int32_t)step, middle = (int32_t)warp_get(word, 2);
    const int32_t here = (int32_t)warp_get(word, (i < 4 ? i : 3) + drop_low); /* of the four that stay */
    const int32_t before = (int32_t)warp_get(word, (i > 0 && i < 5 ? i - 1 : 0) + drop_low);
    const int32_t max = i < 4 && here < added ? here : added;
    int32_t now = i > 0 && before > max ? before : max;
    if (i == WARP_DROP_LOW) now = (int64_t)added - (int64_t)drop_low >= middle;
    if (i <= WARP_DROP_LOW) median[i] = (uint32_t)now;
}

WARP_INLINE void warp_start_xy_models(const warp_reader *r, uint32_t channel) {
    warp_xy *of = warp_models<warp_xy>(r, channel);
    warp_start_models(of->channel, 1, LAZ_CHANNELS - 1, LAZ_CHANNELS - 1, r->lane);
    warp_start_models(of->return_step, 1, LAZ_RETURN_STEPS, LAZ_RETURN_STEPS, r->lane);
    warp_start_models(of->changed[0], LAZ_CHANGED_CONTEXTS, LAZ_CHANGED_SYMBOLS, LAZ_CHANGED_SYMBOLS, r->lane);
    warp_start_models(of->count[0], LAZ_RETURNS, LAZ_RETURNS, LAZ_RETURNS, r->lane);
    warp_start_models(of->number[0], LAZ_RETURNS, LAZ_RETURNS, LAZ_RETURNS, r->lane);
    warp_start_integer(&of->dx, 32, LAZ_X_CONTEXTS, r->lane);
    warp_start_integer(&of->dy, 32, LAZ_Y_CONTEXTS, r->lane);
    for (uint32_t m = r->lane / 8; m < LAZ_MEDIANS; m += CUDA_WARP / 8) {
        of->medians[0][m][r->lane % 8] = of->medians[1][m][r->lane % 8] = 0;
    }
    __syncwarp();
}

WARP_INLINE void warp_put_xy(const warp_task *t, uint32_t i, const warp_xy_last *last) {
    warp_put(t, 0, i, last->x, 4);
    warp_put(t, 1, i, last->y, 4);
    warp_put(t, 2, i, last->number | last->count << 4, 1);
}

WARP_INLINE void warp_start_xy(warp_xy_item *item, const warp_task *t, const warp_reader *r) {
    item->channels.met = 1u << t->places->channel;
    item->channels.current = t->places->channel;
    item->gps_changed = 0;
    item->last.x = (uint32_t)warp_load(warp_first_value(t) + LAZ_AT_X, 4);
    item->last.y = (uint32_t)warp_load(warp_first_value(t) + LAZ_AT_Y, 4);
    item->last.number = warp_first_value(t)[LAZ_AT_RETURNS] & 15u;
    item->last.count = warp_first_value(t)[LAZ_AT_RETURNS] >> 4;
    item->by = item->last;
    CUDA_ROLLED for (uint32_t c = 0; c < LAZ_CHANNELS; c++) warp_start_xy_models(r, c);
    if (r->lane == 0) warp_put_xy(t, 0, &item->last);
}

/* Goes on in another channel. */
WARP_INLINE void warp_switch_xy(warp_xy_item *item, const warp_reader *r, uint32_t channel) {
    uint32_t from;
    if (r->lane == item->channels.current) item->by = item->last;
    if (warp_enter(&item->channels, channel, &from)) return;
    item->last.x = warp_get(item->by.x, channel);
    item->last.y = warp_get(item->by.y, channel);
    item->last.number = warp_get(item->by.number, channel);
    item->last.count = warp_get(item->by.count, channel);
}

WARP_INLINE void warp_read_returns(warp_xy *of, warp_xy_last *last, warp_reader *r, uint32_t changed) {
    const uint32_t number = last->number;
    if (changed & LAZ_CHANGED_RETURNS) last->count = warp_read_symbol(r, of->count[last->count], LAZ_RETURNS);
    if ((changed & LAZ_CHANGED_RETURN) != LAZ_CHANGED_RETURN) {
        last->number = laz_next_return(number, changed);
    } else if (changed & LAZ_CHANGED_GPS) {
        last->number = warp_read_symbol(r, of->number[number], LAZ_RETURNS);
    } else {
        last->number = (number + warp_read_symbol(r, of->return_step, LAZ_RETURN_STEPS) + 2) & 15u;
    }
}

/* Channel and returns; returns what changed. */
WARP_INLINE uint32_t warp_read_kind(warp_xy_item *item, warp_reader *r) {
    warp_xy *of = warp_models<warp_xy>(r, item->channels.current);
    const uint32_t context = laz_changed_context(item->last.number, item->last.count, item->gps_changed);
    const uint32_t changed = warp_read_symbol(r, of->changed[context], LAZ_CHANGED_SYMBOLS);
    if (changed & LAZ_CHANGED_CHANNEL) {
        const uint32_t step = warp_read_symbol(r, of->channel, LAZ_CHANNELS - 1) + 1;
        warp_switch_xy(item, r, (item->channels.current + step) % LAZ_CHANNELS);
    }
    item->gps_changed = (changed & LAZ_CHANGED_GPS) != 0;
    warp_read_returns(warp_models<warp_xy>(r, item->channels.current), &item->last, r, changed);
    return changed;
}

/* Reads a point; returns what it is. */
WARP_INLINE uint32_t warp_read_xy_point(warp_xy_item *item, const warp_task *t, warp_reader *r) {
    const uint32_t changed = warp_read_kind(item, r), number = item->last.number, count = item->last.count;
    warp_xy *of = warp_models<warp_xy>(r, item->channels.current);
    const uint32_t median = t->bases->return_kind[count * LAZ_RETURNS + number] * 2u | item->gps_changed;
    const uint32_t x_word = warp_median_word(r, of->medians[0][median]);
    const uint32_t y_word = warp_median_word(r, of->medians[1][median]);
    uint32_t kx, ky;
    const uint32_t dx = warp_read_integer(r, &of->dx, 32, count == 1, warp_get(x_word, 2), &kx);
    warp_median_add(r, of->medians[0][median], x_word, dx);
    const uint32_t dy = warp_read_integer(r, &of->dy, 32, laz_y_context(count, kx), warp_get(y_word, 2), &ky);
    warp_median_add(r, of->medians[1][median], y_word, dy);
    item->last.x += dx;
    item->last.y += dy;
    warp_settle(r);
    return warp_describe(item->channels.current, changed, number, count, kx, ky);
}

/* Returns whether the layer is sound, as all that follow. */
WARP_INLINE bool warp_read_xy(const warp_task *t) {
    warp_reader r;
    warp_xy_item item;
    warp_reader_start(&r, t->bases->data, t->bases->data_bytes, t->places->at, warp_models_of(t));
    warp_start_xy(&item, t, &r);
    CUDA_ROLLED for (uint32_t first = 1; first < t->places->points; first += CUDA_WARP) {
        const uint32_t remaining = t->places->points - first, count = remaining < CUDA_WARP ? remaining : CUDA_WARP;
        warp_xy_last mine = item.last;
        uint32_t mine_is = 0;
        CUDA_ROLLED for (uint32_t i = 0; i < count; i++) {
            const uint32_t is = warp_read_xy_point(&item, t, &r);
            if (r.lane == i) {
                mine_is = is;
                mine = item.last;
            }
        }
        if (r.lane < count) {
            warp_described(t)[first + r.lane] = (uint16_t)mine_is;
            warp_put_xy(t, first + r.lane, &mine);
        }
    }
    return warp_reader_is_sound(&r, t->places->at + t->places->size_bytes);
}

#endif
