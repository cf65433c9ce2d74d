// Checks of the C test programs: a failed check prints its condition and ends the program.
#ifndef CHECK_H
#define CHECK_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                                \
    do {                                                                                                                \
        if (!(condition)) {                                                                                             \
            fprintf(stderr, "%s:%d: failed: %s (errno: %s)\n", __FILE__, __LINE__, #condition, strerror(errno));        \
            exit(1);                                                                                                    \
        }                                                                                                               \
    } while (0)

// Checks that a call fails with this error number.
#define FAILS(call, error)                                                                                              \
    do {                                                                                                                \
        errno = 0;                                                                                                      \
        CHECK((call) == -1);                                                                                            \
        CHECK(errno == (error));                                                                                        \
    } while (0)

#endif
