#include <stdio.h>

#include <mote/mote.h>

int main(void) {
    printf("mote %s\n", mote_version());
    return 0;
}
