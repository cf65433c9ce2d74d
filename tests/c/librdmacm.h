// The functions of librdmacm.c.
#ifndef LIBRDMACM_H
#define LIBRDMACM_H

#include <stddef.h>
#include <sys/types.h>

struct message {
    size_t length;
    unsigned char bytes[592];
};

// Returns a descriptor, or -1 and sets errno.
int daemon_connect(const char *path);

// Returns what send(2) and recv(2) return.
ssize_t daemon_send(int fd, const struct message *request);
ssize_t daemon_receive(int fd, struct message *answer);

#endif
