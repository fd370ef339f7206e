/* Runs the harness without a fuzzer: over the files that are named, or standard input (as AFL does). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *log, size_t size);

static void run(FILE *file) {
  uint8_t *log = NULL;
  size_t size = 0, room = 0;
  do {
    room = room ? 2 * room : 1 << 16;
    if (!(log = realloc(log, room))) exit(2);
    size += fread(log + size, 1, room - size, file);
  } while (size == room);
  LLVMFuzzerTestOneInput(log, size);
  free(log);
}

int main(int count, char **names) {
  if (count == 1) run(stdin);
  for (int at = 1; at < count; at++) {
    FILE *file = fopen(names[at], "rb");
    if (!file) return perror(names[at]), 2;
    run(file);
    fclose(file);
  }
  return 0;
}
