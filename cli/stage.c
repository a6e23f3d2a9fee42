/* A command as a stage of a pipeline, or as something whose options are asked for. */
#include "stage.h"

static command_stage *now;

command_stage *stage_now(void) { return now; }

void stage_set(command_stage *stage) { now = stage; }

const char *stage_place(void) { return now != NULL && now->place != NULL ? now->place : ""; }

bool stage_hands_on(void) { return now != NULL && now->hands_on; }

bool stage_take_result(const mote_cloud *cloud) {
    if (!stage_hands_on()) return false;
    now->result = (mote_cloud *)cloud; /* the command made it, or got it from the stage */
    return true;
}

void stage_drop(mote_cloud *cloud) {
    if (now != NULL && cloud != NULL && (cloud == now->cloud || cloud == now->result)) return;
    mote_cloud_destroy(cloud);
}
