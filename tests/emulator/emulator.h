/* What a test may ask of the emulator of a GPU. */
#ifndef MOTE_EMULATOR_H
#define MOTE_EMULATOR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In which order the blocks of a launch, the warps of a block and the lanes of a warp begin; mixed: one of the others,
   another for each launch. */
typedef enum emulator_order {
    EMULATOR_ASCENDING,
    EMULATOR_DESCENDING,
    EMULATOR_SHUFFLED,
    EMULATOR_MIXED
} emulator_order;

/* For all launches that follow. At first the order is what the environment says in MOTE_EMULATOR_ORDER: ascending,
   descending, or the seed of a shuffle; mixed if it says nothing. */
void emulator_set_order(emulator_order order, uint64_t seed);

/* The environment's MOTE_EMULATOR_DEVICES says how many GPUs there seem to be, 1 if it says nothing. They compute in
   turn: launches of several threads wait for each other. */

/* Launches, and switches from thread to thread, since the program began. */
typedef struct emulator_work {
    uint64_t launches, switches;
} emulator_work;
emulator_work emulator_work_done(void);

#ifdef __cplusplus
}
#endif
#endif
