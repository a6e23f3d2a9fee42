/* A pipe of frames, read by a thread of its own.
 *
 *   pipe ──> buffer [ frame 7 | half of frame 8 ]  ──> newest: frame 7, a file in memory
 *
 * Only the newest frame is kept: one that comes before the last one was taken replaces it, so that what is shown is
 * never old. A program that writes is never held up for longer than its frames take to be read. */
#ifndef CLI_LIVE_PIPE_H
#define CLI_LIVE_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct live_pipe live_pipe;

/// Opens a pipe; "-" is standard input. Returns NULL with errno set.
live_pipe *live_pipe_open(const char *path);
/// Ends the thread. NULL is allowed.
void live_pipe_close(live_pipe *pipe);

/// Whether a frame is there that was not taken yet.
bool live_pipe_has_news(live_pipe *pipe);
/// Takes it. number: out: 1, 2, …, counting those that were replaced
/// Returns a file descriptor of its bytes, which the caller closes; -1: none
int live_pipe_take(live_pipe *pipe, uint64_t *number);
/// Why no more frames come: "": they may; else a sentence. It is told once.
void live_pipe_trouble(live_pipe *pipe, char *why, size_t size);

#endif
