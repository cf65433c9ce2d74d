// Stands for librdmacm.so.1: connects to the daemon, and calls send and recv once for each lookup.
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "librdmacm.h"

int daemon_connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address)) {
        close(fd);
        return -1;
    }
    return fd;
}

ssize_t daemon_send(int fd, const struct message *request)
{
    return send(fd, request->bytes, request->length, 0);
}

ssize_t daemon_receive(int fd, struct message *answer)
{
    ssize_t count = recv(fd, answer->bytes, sizeof answer->bytes, 0);

    answer->length = count > 0 ? (size_t)count : 0;
    return count;
}
