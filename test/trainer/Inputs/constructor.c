// A library that tells when it is loaded: it makes the file $CONSTRUCTOR_RAN.
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void ran(void) {
  const char *path = getenv("CONSTRUCTOR_RAN");
  FILE *file = path ? fopen(path, "w") : 0;
  if (file)
    fclose(file);
}
