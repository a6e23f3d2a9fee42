/* Manual pages, pages for the site of make docs, and completion for shells, made of the tables of options that --help
 * prints. */
#ifndef CLI_PAGES_H
#define CLI_PAGES_H

/* "--man [COMMAND]", "--markdown [COMMAND]", "--completion bash|zsh|fish", "--names": what `mote help` is asked for
   with these words. Returns an exit code. */
int pages_print(int argc, char **argv);

#endif
