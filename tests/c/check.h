// What the programs beside it say when something is not as it should be.
#ifndef CHECK_H
#define CHECK_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                                \
    do {                                                                                                                \
        if (!(condition)) {                                                                                             \
            fprintf(stderr, "%s:%d: not so: %s (errno: %s)\n", __FILE__, __LINE__, #condition, strerror(errno));        \
            exit(1);                                                                                                    \
        }                                                                                                               \
    } while (0)

// A call that must fail with this error.
#define FAILS(call, error)                                                                                              \
    do {                                                                                                                \
        errno = 0;                                                                                                      \
        CHECK((call) == -1);                                                                                            \
        CHECK(errno == (error));                                                                                        \
    } while (0)

#endif
