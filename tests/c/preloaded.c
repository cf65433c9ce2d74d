// Looks up paths through the library of librdmacm.c, with or without libibacm_preload.so.
//
//   preloaded answers SOCKET ROUNDS REQUEST...    prints each answer
//   preloaded rules SOCKET REQUEST OTHER          the daemon refuses OTHER
//   preloaded restart SOCKET GONE REQUEST         the daemon is killed, and started again
//   preloaded withdrawn SOCKET GONE REQUEST       the path is withdrawn
//   preloaded rate SOCKET MILLISECONDS REQUEST    prints lookups per second
//
// A request is in hexadecimal digits.
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "librdmacm.h"

static struct message parse(const char *hex)
{
    struct message message = {.length = strlen(hex) / 2};
    size_t at;
    unsigned byte;

    CHECK(message.length <= sizeof message.bytes);
    for (at = 0; at < message.length; at++) {
        CHECK(sscanf(hex + 2 * at, "%2x", &byte) == 1);
        message.bytes[at] = (unsigned char)byte;
    }
    return message;
}

static int same(const struct message *a, const struct message *b)
{
    return a->length == b->length && !memcmp(a->bytes, b->bytes, a->length);
}

static struct message lookup(int fd, const struct message *request)
{
    struct message answer;

    CHECK(daemon_send(fd, request) == (ssize_t)request->length);
    CHECK(daemon_receive(fd, &answer) >= 16);
    return answer;
}

// How long no response of the daemon comes if the memory has it, and how long the daemon may take.
enum { SILENCE_MS = 300, LIMIT_MS = 30000 };

// Reports whether a response arrives at the socket in time. A response from the memory does not.
static int is_readable(int fd, int limit_ms)
{
    struct pollfd socket = {.fd = fd, .events = POLLIN};

    return poll(&socket, 1, limit_ms) == 1;
}

// Looks up a path, and reports whether the response arrived at the socket in time.
static int is_from_socket(int fd, const struct message *request, const struct message *expected, int limit_ms)
{
    struct message answer;
    int readable;

    CHECK(daemon_send(fd, request) == (ssize_t)request->length);
    readable = is_readable(fd, limit_ms);
    CHECK(daemon_receive(fd, &answer) >= 16 && same(&answer, expected));
    return readable;
}

// Looks up a path, and reports whether it came from the daemon.
static int is_from_daemon(int fd, const struct message *request, const struct message *expected)
{
    return is_from_socket(fd, request, expected, LIMIT_MS);
}

// Looks up a path, and reports whether it came from the memory.
static int is_from_memory(int fd, const struct message *request, const struct message *expected)
{
    return !is_from_socket(fd, request, expected, SILENCE_MS);
}

// Connects, and waits until answers come from the memory.
static int connect_and_wait(const char *path, const struct message *request, struct message *answer)
{
    int fd = daemon_connect(path), tries;

    CHECK(fd >= 0);
    *answer = lookup(fd, request);
    for (tries = 0; !is_from_memory(fd, request, answer); tries++)
        CHECK(tries < 100);
    return fd;
}

static void answers(const char *path, int rounds, char **requests)
{
    int fd = daemon_connect(path), round, next;
    size_t at;

    CHECK(fd >= 0);
    for (round = 0; round < rounds; round++) {
        for (next = 0; requests[next]; next++) {
            struct message request = parse(requests[next]), answer = lookup(fd, &request);

            for (at = 0; at < answer.length; at++)
                printf("%02x", answer.bytes[at]);
            puts("");
        }
        usleep(10000);
    }
    CHECK(close(fd) == 0);
}

struct thread {
    pthread_t id;
    pthread_mutex_t *lock;
    int fd;
    const struct message *request, *expected;
};

// As librdmacm: one lock for a request and its response.
static void *look_up_often(void *argument)
{
    struct thread *thread = argument;
    int i;

    for (i = 0; i < 1000; i++) {
        struct message answer;

        pthread_mutex_lock(thread->lock);
        answer = lookup(thread->fd, thread->request);
        pthread_mutex_unlock(thread->lock);
        CHECK(same(&answer, thread->expected));
    }
    return NULL;
}

// Closes a descriptor in a child that shares the memory of this process.
static void close_in_child(int fd)
{
    pid_t child = vfork();

    if (child == 0) {
        close(fd);
        _exit(0);
    }
    CHECK(child > 0 && waitpid(child, NULL, 0) == child);
}

static void rules(const char *path, const char *known, const char *unknown)
{
    struct message request = parse(known), other = parse(unknown), answer, refused, got;
    int fd = connect_and_wait(path, &request, &answer), second, status, i;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct thread threads[4];
    pid_t child;

    // An answer in pieces, and read twice.
    CHECK(daemon_send(fd, &request) == (ssize_t)request.length && !is_readable(fd, SILENCE_MS));
    CHECK(recv(fd, got.bytes, 10, MSG_PEEK) == 10 && !memcmp(got.bytes, answer.bytes, 10));
    CHECK(recv(fd, got.bytes, 0, 0) == 0);
    CHECK(recv(fd, got.bytes, 10, 0) == 10 && !memcmp(got.bytes, answer.bytes, 10));
    CHECK(recv(fd, got.bytes, 5, MSG_DONTWAIT) == 5 && !memcmp(got.bytes, answer.bytes + 10, 5));
    CHECK(recv(fd, got.bytes, sizeof got.bytes, 0) == (ssize_t)answer.length - 15);
    CHECK(!memcmp(got.bytes, answer.bytes + 15, answer.length - 15));
    FAILS(recv(fd, got.bytes, 1, MSG_DONTWAIT), EAGAIN);
    // Answers come in the order of requests: from the memory, from the socket, and from the socket.
    CHECK(daemon_send(fd, &request) > 0 && daemon_send(fd, &other) > 0 && daemon_send(fd, &request) > 0);
    CHECK(daemon_receive(fd, &got) > 0 && same(&got, &answer));
    refused.length = 16;
    CHECK(recv(fd, refused.bytes, 16, 0) == 16 && refused.bytes[2] != 0);
    CHECK(daemon_receive(fd, &got) > 0 && same(&got, &answer));
    CHECK(is_from_memory(fd, &request, &answer) && is_from_daemon(fd, &other, &refused));
    // Other flags of send, and a request in two pieces.
    CHECK(send(fd, request.bytes, request.length, MSG_DONTWAIT) == (ssize_t)request.length && is_readable(fd, LIMIT_MS));
    CHECK(daemon_receive(fd, &got) > 0 && same(&got, &answer));
    CHECK(is_from_memory(fd, &request, &answer));
    // A child, and threads.
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(is_from_memory(fd, &request, &answer) ? 0 : 1);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    close_in_child(fd);
    CHECK(is_from_memory(fd, &request, &answer));
    for (i = 0; i < 4; i++) {
        threads[i] = (struct thread){0, &lock, fd, &request, &answer};
        CHECK(pthread_create(&threads[i].id, NULL, look_up_often, &threads[i]) == 0);
    }
    for (i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i].id, NULL) == 0);
    // A connection that librdmacm has not opened, at the number of the previous one.
    second = socket(AF_UNIX, SOCK_STREAM, 0);
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    CHECK(connect(second, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(daemon_send(fd, &request) > 0 && dup2(second, fd) == fd);
    FAILS(recv(fd, got.bytes, sizeof got.bytes, MSG_DONTWAIT), EAGAIN);
    for (i = 0; i < 3; i++)
        CHECK(is_from_daemon(fd, &request, &answer));
    close(second);
    // The next connection of librdmacm.
    close(fd);
    CHECK(connect_and_wait(path, &request, &answer) == fd);
    CHECK(close_range((unsigned)fd, (unsigned)fd, 0) == 0);
    FAILS(daemon_send(fd, &request), EBADF);
    // A request in two pieces. Nobody knows where the next request begins.
    fd = connect_and_wait(path, &request, &answer);
    CHECK(send(fd, request.bytes, 20, 0) == 20);
    CHECK(send(fd, request.bytes + 20, request.length - 20, 0) == (ssize_t)request.length - 20);
    CHECK(daemon_receive(fd, &got) > 0 && same(&got, &answer));
    for (i = 0; i < 3; i++)
        CHECK(is_from_daemon(fd, &request, &answer));
    CHECK(shutdown(fd, SHUT_RDWR) == 0 && close(fd) == 0);
}

static void say_and_wait_for(const char *word, const char *file)
{
    int tries;

    puts(word);
    fflush(stdout);
    for (tries = 0; access(file, F_OK); tries++) {
        CHECK(tries < 60000);
        usleep(1000);
    }
}

static void restart(const char *path, const char *gone, const char *hex)
{
    struct message request = parse(hex), answer, got;
    int fd = connect_and_wait(path, &request, &answer), tries;

    signal(SIGPIPE, SIG_IGN);
    say_and_wait_for("reading", gone);
    // The memory of a killed daemon is used for a second.
    for (tries = 0; daemon_send(fd, &request) > 0; tries++) {
        CHECK(tries < 3000);
        if (daemon_receive(fd, &got) <= 0)
            break;
        CHECK(same(&got, &answer));
        usleep(10000);
    }
    close(fd);
    puts("waiting");
    fflush(stdout);
    for (tries = 0; (fd = daemon_connect(path)) < 0; tries++) {
        CHECK(tries < 6000);
        usleep(10000);
    }
    for (got = lookup(fd, &request); got.bytes[2] != 0; got = lookup(fd, &request))
        usleep(10000);
    CHECK(same(&got, &answer));
    for (tries = 0; !is_from_memory(fd, &request, &answer); tries++)
        CHECK(tries < 100);
}

static void withdrawn(const char *path, const char *gone, const char *hex)
{
    struct message request = parse(hex), answer, got;
    int fd = connect_and_wait(path, &request, &answer);

    say_and_wait_for("reading", gone);
    got = lookup(fd, &request);
    CHECK(!same(&got, &answer));
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void rate(const char *path, double limit, const char *hex)
{
    struct message request = parse(hex), answer;
    int fd = daemon_connect(path), i;
    double start, count = 0;

    CHECK(fd >= 0);
    // The memory arrives after the first response.
    for (i = 0; i < 100; i++) {
        answer = lookup(fd, &request);
        usleep(1000);
    }
    CHECK(answer.bytes[2] == 0);
    for (start = seconds(); seconds() - start < limit; count += 100)
        for (i = 0; i < 100; i++)
            lookup(fd, &request);
    printf("%.0f\n", count / (seconds() - start));
}

int main(int argc, char **argv)
{
    const char *mode = argc > 4 ? argv[1] : "";

    if (!strcmp(mode, "answers"))
        answers(argv[2], atoi(argv[3]), argv + 4);
    else if (!strcmp(mode, "rules"))
        rules(argv[2], argv[3], argv[4]);
    else if (!strcmp(mode, "restart"))
        restart(argv[2], argv[3], argv[4]);
    else if (!strcmp(mode, "withdrawn"))
        withdrawn(argv[2], argv[3], argv[4]);
    else if (!strcmp(mode, "rate"))
        rate(argv[2], atoi(argv[3]) / 1e3, argv[4]);
    else
        return 2;
    return 0;
}
