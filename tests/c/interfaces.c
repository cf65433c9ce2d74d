// Uses both interfaces correctly and incorrectly. Each mode is one test: `interfaces MODE SOCKET`.
//
// The daemon at SOCKET serves node1 (10.77.0.1, fd00::1), and node2 is on its fabric.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "libacm.h"

#define MANY 64
#define THREADS 4
#define EACH 200

// The layouts of rdma-core's header.
_Static_assert(sizeof(struct ibv_path_record) == 64 && offsetof(struct ibv_path_record, dlid) == 40, "path record");
_Static_assert(offsetof(struct ibv_path_record, pkey) == 50 && offsetof(struct ibv_path_record, mtu) == 54, "path record");
_Static_assert(sizeof(struct ibv_path_data) == 72 && offsetof(struct ibv_path_data, path) == 8, "path data");
_Static_assert(sizeof(union acm_ep_info) == 64, "address");
_Static_assert(sizeof(struct acm_ep_config_data) == 80 && offsetof(struct acm_ep_config_data, addrs) == 80, "endpoint");
_Static_assert(offsetof(struct acm_ep_config_data, pkey) == 12, "endpoint");
_Static_assert(sizeof(struct ib_acm_request) == 96 && offsetof(struct ib_acm_request, src_name) == 32, "request");
_Static_assert(sizeof(struct ib_acm_completion) == 232 && offsetof(struct ib_acm_completion, path) == 32, "completion");
_Static_assert(sizeof(((struct ib_acm_completion *)0)->counters) == ACM_MAX_COUNTER * sizeof(uint64_t), "counters");

static struct sockaddr_in v4(const char *text)
{
    struct sockaddr_in address = {.sin_family = AF_INET};

    CHECK(inet_pton(AF_INET, text, &address.sin_addr) == 1);
    return address;
}

static struct sockaddr_in6 v6(const char *text)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6};

    CHECK(inet_pton(AF_INET6, text, &address.sin6_addr) == 1);
    return address;
}

// Waits until the connection is ready, at most 30 s.
static void wait_for(struct ib_acm_conn *conn)
{
    struct pollfd waiting = {.fd = ib_acm_fd(conn), .events = POLLIN};

    CHECK(waiting.fd >= 0);
    CHECK(poll(&waiting, 1, 30000) == 1);
}

// Returns the next completion.
static struct ib_acm_completion next(struct ib_acm_conn *conn)
{
    struct ib_acm_completion done;
    int count;

    while ((count = ib_acm_poll(conn, &done, 1)) == 0)
        wait_for(conn);
    CHECK(count == 1);
    return done;
}

static struct ib_acm_completion submit_and_wait(struct ib_acm_conn *conn, struct ib_acm_request *request)
{
    struct ib_acm_completion done;

    CHECK(ib_acm_submit(conn, request, 1) == 1 && request->id != 0);
    done = next(conn);
    CHECK(done.id == request->id && done.cookie == request->cookie && done.kind == request->kind);
    return done;
}

// The blocking functions, which rdma-core's libacm.h has, too.
static void blocking(const char *socket)
{
    struct sockaddr_in from = v4("10.77.0.1"), to = v4("10.77.0.2");
    struct sockaddr_in6 from6 = v6("fd00::1"), to6 = v6("fd00::2");
    const struct sockaddr *src = (struct sockaddr *)&from, *dest = (struct sockaddr *)&to;
    const struct sockaddr *src6 = (struct sockaddr *)&from6, *dest6 = (struct sockaddr *)&to6;
    struct sockaddr other = {.sa_family = AF_UNIX};
    struct ibv_path_data *paths;
    struct ibv_path_record path;
    struct acm_ep_config_data *data;
    uint64_t *counters;
    char name[65] = {0}, long_path[200];
    int count;

    // Without a connection.
    FAILS(ib_acm_resolve_name("node1", "node2", &paths, &count, 0, 0), EBADF);
    FAILS(ib_acm_query_perf(0, &counters, &count), EBADF);
    FAILS(ib_acm_enum_ep(1, &data, 0), EBADF);
    memset(&path, 0, sizeof path);
    FAILS(ib_acm_resolve_path(&path, 0), EBADF);
    ib_acm_disconnect();

    // Services without a daemon.
    CHECK(ib_acm_connect("/no/such/socket") == ENOENT && errno == ENOENT);
    memset(long_path, '/', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = 0;
    CHECK(ib_acm_connect(long_path) == ENAMETOOLONG && errno == ENAMETOOLONG);
    CHECK(ib_acm_connect("no such host") < 0 && errno != 0);

    CHECK(ib_acm_connect(socket) == 0);
    CHECK(ib_acm_resolve_name("node1", "node2", &paths, &count, 0, 0) == 0 && count == 1);
    CHECK(paths[0].path.pkey == htons(0xffff) && paths[0].path.dlid != 0);
    CHECK(paths[0].flags == (IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL));
    path = paths[0].path;
    ib_acm_free_paths(paths);
    CHECK(ib_acm_resolve_ip(src, dest, &paths, &count, 0, 1) == 0 && count == 1);
    CHECK(!memcmp(&paths[0].path.dgid, &path.dgid, sizeof path.dgid));
    // Programs that were compiled with rdma-core's header call free().
    free(paths);
    CHECK(ib_acm_resolve_ip(src6, dest6, &paths, &count, 0, 0) == 0 && count == 1);
    ib_acm_free_paths(paths);
    CHECK(ib_acm_resolve_name("node1", "node2", &paths, &count, ACM_FLAGS_NODELAY, 0) == 0);
    ib_acm_free_paths(paths);
    CHECK(ib_acm_resolve_path(&path, 0) == 0 && path.dlid != 0);
    CHECK(ib_acm_resolve_path(&path, ACM_FLAGS_QUERY_SA) == 0);
    CHECK(ib_acm_query_perf(0, &counters, &count) == 0 && count == ACM_MAX_COUNTER);
    CHECK(counters[ACM_CNTR_RESOLVE] > 0);
    ib_acm_free_perf(counters);
    CHECK(ib_acm_query_perf(1, &counters, &count) == 0);
    ib_acm_free_perf(counters);
    CHECK(ib_acm_query_perf_ep_addr((const uint8_t *)"node1", ACM_EP_INFO_NAME, &counters, &count) == 0);
    ib_acm_free_perf(counters);
    CHECK(ib_acm_query_perf_ep_addr((const uint8_t *)&from, ACM_EP_INFO_ADDRESS_IP, &counters, &count) == 0);
    ib_acm_free_perf(counters);
    CHECK(ib_acm_query_perf_ep_addr((const uint8_t *)&from6, ACM_EP_INFO_ADDRESS_IP6, &counters, &count) == 0);
    ib_acm_free_perf(counters);
    CHECK(ib_acm_enum_ep(1, &data, 1) == 0 && data->port_num == 1 && data->pkey == 0xffff && data->addr_cnt == 3);
    CHECK(!strcmp((char *)data->addrs[0].name, "node1") && data->prov_name[0] != 0 && data->dev_guid != 0);
    ib_acm_free_ep_data(data);
    CHECK(!strcmp(ib_acm_cntr_name(ACM_CNTR_NODATA), "No Data") && !strcmp(ib_acm_cntr_name(ACM_MAX_COUNTER), "Unknown"));

    // Requests that the daemon refuses.
    FAILS(ib_acm_resolve_name("node9", "node2", &paths, &count, 0, 0), EADDRNOTAVAIL);
    FAILS(ib_acm_resolve_name(NULL, "node2", &paths, &count, 0, 0), EINVAL);
    FAILS(ib_acm_resolve_name("node1", "nobody", &paths, &count, ACM_FLAGS_NODELAY, 0), ENODATA);
    FAILS(ib_acm_query_perf(7, &counters, &count), EADDRNOTAVAIL);
    FAILS(ib_acm_enum_ep(7, &data, 0), EINVAL);

    // Invalid arguments, for which no request is sent.
    memset(name, 'x', 64);
    FAILS(ib_acm_resolve_name("node1", name, &paths, &count, 0, 0), ENAMETOOLONG);
    FAILS(ib_acm_resolve_name("node1", NULL, &paths, &count, 0, 0), EINVAL);
    FAILS(ib_acm_resolve_name("node1", "node2", NULL, &count, 0, 0), EINVAL);
    FAILS(ib_acm_resolve_name("node1", "node2", &paths, NULL, 0, 0), EINVAL);
    FAILS(ib_acm_resolve_ip(src, NULL, &paths, &count, 0, 0), EINVAL);
    FAILS(ib_acm_resolve_ip(src, dest6, &paths, &count, 0, 0), EINVAL);
    FAILS(ib_acm_resolve_ip(src, &other, &paths, &count, 0, 0), EAFNOSUPPORT);
    FAILS(ib_acm_resolve_path(NULL, 0), EINVAL);
    FAILS(ib_acm_query_perf(0, NULL, &count), EINVAL);
    FAILS(ib_acm_query_perf(0, &counters, NULL), EINVAL);
    FAILS(ib_acm_query_perf(256, &counters, &count), EINVAL);
    FAILS(ib_acm_query_perf(-1, &counters, &count), EINVAL);
    FAILS(ib_acm_query_perf_ep_addr(NULL, ACM_EP_INFO_NAME, &counters, &count), EINVAL);
    FAILS(ib_acm_query_perf_ep_addr((const uint8_t *)"node1", 9, &counters, &count), EINVAL);
    FAILS(ib_acm_enum_ep(1, NULL, 0), EINVAL);
    FAILS(ib_acm_enum_ep(256, &data, 0), EINVAL);
    ib_acm_free_paths(NULL);
    ib_acm_free_perf(NULL);
    ib_acm_free_ep_data(NULL);

    ib_acm_disconnect();
    FAILS(ib_acm_query_perf(0, &counters, &count), EBADF);
}

// Invalid requests, one kind each. Valid requests before an invalid one are submitted.
static void wrong(struct ib_acm_conn *conn)
{
    char name[65] = {0};
    struct sockaddr_in to = v4("10.77.0.2");
    struct sockaddr_in6 from6 = v6("fd00::1");
    struct sockaddr other = {.sa_family = AF_UNIX};
    struct ibv_path_record path = {0};
    struct ib_acm_request requests[] = {
        {.kind = 0},
        {.kind = 6},
        {.kind = IB_ACM_RESOLVE_NAME},
        {.kind = IB_ACM_RESOLVE_NAME, .dest_name = "node2", .flags = ACM_FLAGS_QUERY_SA},
        {.kind = IB_ACM_RESOLVE_NAME, .dest_name = "node2", .index = 1},
        {.kind = IB_ACM_RESOLVE_NAME, .dest_name = "node2", .reserved = {1}},
        {.kind = IB_ACM_RESOLVE_NAME, .dest_name = "node2", .reserved2 = {0, 0, 1}},
        {.kind = IB_ACM_RESOLVE_IP, .src_ip = (struct sockaddr *)&from6, .dest_ip = (struct sockaddr *)&to},
        {.kind = IB_ACM_RESOLVE_IP, .dest_name = "node2", .dest_ip = (struct sockaddr *)&to},
        {.kind = IB_ACM_RESOLVE_PATH},
        {.kind = IB_ACM_RESOLVE_PATH, .path = &path, .flags = 1},
        {.kind = IB_ACM_QUERY_PERF, .src_name = "node1", .index = 1},
        {.kind = IB_ACM_QUERY_PERF, .dest_name = "node1"},
        {.kind = IB_ACM_ENUM_EP, .index = 1, .src_name = "node1"},
    };
    struct ib_acm_request unfit[] = {
        {.kind = IB_ACM_RESOLVE_NAME, .dest_name = name},
        {.kind = IB_ACM_RESOLVE_IP, .dest_ip = &other},
        {.kind = IB_ACM_QUERY_PERF, .cookie = 7},
        {.kind = 0},
    };
    size_t i;

    for (i = 0; i < sizeof requests / sizeof *requests; i++)
        FAILS(ib_acm_submit(conn, &requests[i], 1), EINVAL);
    memset(name, 'x', 64);
    FAILS(ib_acm_submit(conn, &unfit[0], 4), ENAMETOOLONG);
    FAILS(ib_acm_submit(conn, &unfit[1], 3), EAFNOSUPPORT);
    CHECK(ib_acm_submit(conn, &unfit[2], 2) == 1 && unfit[2].id != 0 && unfit[3].id == 0);
    CHECK(next(conn).cookie == 7);
    FAILS(ib_acm_submit(conn, NULL, 1), EINVAL);
    FAILS(ib_acm_submit(conn, unfit, -1), EINVAL);
    CHECK(ib_acm_submit(conn, NULL, 0) == 0);
}

// A pointer that is not an open connection.
static void no_connection(struct ib_acm_conn *conn)
{
    struct ib_acm_request request = {.kind = IB_ACM_QUERY_PERF};
    struct ib_acm_completion done;

    FAILS(ib_acm_fd(conn), EBADF);
    FAILS(ib_acm_submit(conn, &request, 1), EBADF);
    FAILS(ib_acm_poll(conn, &done, 1), EBADF);
    FAILS(ib_acm_cancel(conn, 1), EBADF);
    FAILS(ib_acm_close(conn), EBADF);
}

// The asynchronous interface, whose functions do not block.
static void asynchronous(const char *socket)
{
    struct sockaddr_in from = v4("10.77.0.1"), to = v4("10.77.0.2");
    struct sockaddr_in6 to6 = v6("fd00::2");
    struct ib_acm_conn *conn = ib_acm_open(socket, 0), *second;
    struct ib_acm_completion done, all[MANY];
    struct ib_acm_request many[MANY + 1];
    uint64_t seen = 0;
    uint16_t dlid;
    int i, polled, count = 0;

    CHECK(conn);
    {
        struct ib_acm_request request = {
            .kind = IB_ACM_RESOLVE_NAME, .src_name = "node1", .dest_name = "node2", .cookie = 1};
        done = submit_and_wait(conn, &request);
        CHECK(done.error == 0 && done.status == ACM_STATUS_SUCCESS && done.path.path.dlid != 0);
        CHECK(done.path.flags & IBV_PATH_FLAG_PRIMARY);
        CHECK(done.source_type == 0 && done.endpoint == NULL);
        dlid = done.path.path.dlid;
        request.src_name = "node9";
        done = submit_and_wait(conn, &request);
        CHECK(done.error == EADDRNOTAVAIL && done.status == ACM_STATUS_ESRCADDR && done.path.path.dlid == 0);
        request = (struct ib_acm_request){.kind = IB_ACM_RESOLVE_NAME, .src_name = "node1", .dest_name = "nobody",
                                          .flags = ACM_FLAGS_NODELAY};
        done = submit_and_wait(conn, &request);
        CHECK(done.error == ENODATA && done.status == ACM_STATUS_ENODATA);
    }
    {
        // A condition on the path: service level 3.
        struct ibv_path_record conditions = {.qosclass_sl = htons(3)};
        struct ib_acm_request request = {.kind = IB_ACM_RESOLVE_NAME, .src_name = "node1", .dest_name = "node2",
                                         .path = &conditions};
        done = submit_and_wait(conn, &request);
        CHECK(done.error == 0 && done.path.path.dlid == dlid && done.path.path.qosclass_sl == htons(3));
        request = (struct ib_acm_request){.kind = IB_ACM_RESOLVE_IP, .src_ip = (struct sockaddr *)&from,
                                          .dest_ip = (struct sockaddr *)&to, .path = &conditions};
        done = submit_and_wait(conn, &request);
        CHECK(done.error == 0 && done.path.path.dlid == dlid && done.path.path.qosclass_sl == htons(3));
    }
    {
        struct ib_acm_request request = {
            .kind = IB_ACM_RESOLVE_IP, .src_ip = (struct sockaddr *)&from, .dest_ip = (struct sockaddr *)&to};
        done = submit_and_wait(conn, &request);
        CHECK(done.error == 0 && done.path.path.dlid != 0);
        request.src_ip = NULL;
        request.dest_ip = (struct sockaddr *)&to6;
        done = submit_and_wait(conn, &request);
        // The result depends on this machine's routing table.
        CHECK(done.error == 0 || done.error == EADDRNOTAVAIL || done.error == EINVAL || done.error == ENODATA);
    }
    {
        struct ibv_path_record path = {.dlid = dlid};
        struct ib_acm_request request = {.kind = IB_ACM_RESOLVE_PATH, .path = &path};
        done = submit_and_wait(conn, &request);
        CHECK(done.error == 0 && done.path.path.dlid == dlid);
        request.flags = ACM_FLAGS_QUERY_SA;
        done = submit_and_wait(conn, &request);
        CHECK(done.error == 0 && done.path.path.dlid == dlid);
    }
    {
        struct ib_acm_request request = {.kind = IB_ACM_QUERY_PERF};
        done = submit_and_wait(conn, &request);
        CHECK(done.error == 0 && done.counters[ACM_CNTR_RESOLVE] > 0);
        request.index = 9;
        done = submit_and_wait(conn, &request);
        CHECK(done.error == EADDRNOTAVAIL && done.counters[ACM_CNTR_RESOLVE] == 0);
        request = (struct ib_acm_request){.kind = IB_ACM_QUERY_PERF, .src_name = "node1"};
        CHECK(submit_and_wait(conn, &request).error == 0);
        request = (struct ib_acm_request){.kind = IB_ACM_QUERY_PERF, .src_ip = (struct sockaddr *)&from};
        CHECK(submit_and_wait(conn, &request).error == 0);
    }
    {
        struct ib_acm_request request = {.kind = IB_ACM_ENUM_EP, .index = 1, .port = 1};
        done = submit_and_wait(conn, &request);
        CHECK(done.error == 0 && done.endpoint && !strcmp((char *)done.endpoint->addrs[0].name, "node1"));
        ib_acm_free_ep_data(done.endpoint);
        request.index = 9;
        done = submit_and_wait(conn, &request);
        CHECK(done.error == EINVAL && done.endpoint == NULL);
    }
    wrong(conn);

    // The maximum number of pending requests, and one more.
    for (i = 0; i <= MANY; i++)
        many[i] = (struct ib_acm_request){
            .kind = IB_ACM_RESOLVE_NAME, .src_name = "node1", .dest_name = "node2", .cookie = (uint64_t)i};
    CHECK(ib_acm_submit(conn, many, MANY + 1) == MANY);
    FAILS(ib_acm_submit(conn, &many[MANY], 1), EAGAIN);
    while (count < MANY) {
        wait_for(conn);
        polled = ib_acm_poll(conn, all, 10);
        CHECK(polled >= 0 && polled <= 10);
        for (i = 0; i < polled; i++) {
            CHECK(all[i].error == 0 && all[i].cookie < MANY && !(seen & (1ULL << all[i].cookie)));
            CHECK(many[all[i].cookie].id == all[i].id);
            seen |= 1ULL << all[i].cookie;
        }
        count += polled;
    }
    CHECK(ib_acm_poll(conn, all, MANY) == 0);
    FAILS(ib_acm_poll(conn, all, -1), EINVAL);
    FAILS(ib_acm_poll(conn, NULL, 1), EINVAL);
    CHECK(ib_acm_poll(conn, NULL, 0) == 0);

    // A cancelled request completes at once. The names are unknown, so there are no responses.
    many[0].dest_name = many[1].dest_name = "nobody-1";
    CHECK(ib_acm_submit(conn, many, 2) == 2);
    CHECK(ib_acm_cancel(conn, many[1].id) == 0);
    FAILS(ib_acm_cancel(conn, many[1].id), ENOENT);
    FAILS(ib_acm_cancel(conn, 1u << 31), ENOENT);
    done = next(conn);
    CHECK(done.id == many[1].id && done.error == ECANCELED && done.status == 0);
    CHECK(ib_acm_cancel(conn, IB_ACM_ALL) == 0 && ib_acm_cancel(conn, IB_ACM_ALL) == 0);
    done = next(conn);
    CHECK(done.id == many[0].id && done.error == ECANCELED);

    // A time-out that is shorter than the daemon's lookup.
    many[0].dest_name = "nobody-2";
    many[0].timeout_ms = 1;
    done = submit_and_wait(conn, &many[0]);
    CHECK(done.error == ETIMEDOUT && done.status == 0);

    // Completions belong to their connection.
    second = ib_acm_open(socket, 1);
    CHECK(second && second != conn && ib_acm_fd(second) != ib_acm_fd(conn));
    CHECK(ib_acm_submit(second, &many[2], 2) == 1);
    CHECK(ib_acm_poll(conn, all, MANY) == 0);
    done = next(second);
    CHECK(done.cookie == 2);
    // Closes a connection with a pending request.
    CHECK(ib_acm_submit(second, &many[2], 1) == 1);
    CHECK(ib_acm_close(second) == 0);
    no_connection(second);
    no_connection(NULL);
    no_connection((struct ib_acm_conn *)&done);

    errno = 0;
    CHECK(ib_acm_open("/no/such/socket", 0) == NULL && errno == ENOENT);
    CHECK(ib_acm_open("", 0) == NULL && errno == EINVAL);
    CHECK(ib_acm_open(socket, 1 << 17) == NULL && errno == EINVAL);
    CHECK(ib_acm_open("no such host:1", 0) == NULL && errno == EINVAL);
    CHECK(ib_acm_open("127.0.0.1:1", 0) == NULL && errno == ECONNREFUSED);
    CHECK(ib_acm_close(conn) == 0);
}

struct shared {
    struct ib_acm_conn *conn;
    const char *socket;
    pthread_mutex_t lock;
    int completions;
    unsigned char seen[THREADS * EACH];
};

// Submits and polls on a connection that several threads share.
static void *worker(void *argument)
{
    struct shared *shared = argument;
    struct ib_acm_completion done[8];
    struct pollfd waiting = {.fd = ib_acm_fd(shared->conn), .events = POLLIN};
    static int last;
    int number, next_one = 0, all, i, polled;

    pthread_mutex_lock(&shared->lock);
    number = last++;
    pthread_mutex_unlock(&shared->lock);
    do {
        struct ib_acm_request request = {.kind = IB_ACM_RESOLVE_NAME, .src_name = "node1", .dest_name = "node2",
                                         .cookie = (uint64_t)(number * EACH + next_one)};
        if (next_one < EACH) {
            if (ib_acm_submit(shared->conn, &request, 1) == 1) {
                next_one++;
                // Cancels some requests, which may be complete already.
                if (next_one % 16 == 0 && ib_acm_cancel(shared->conn, request.id))
                    CHECK(errno == ENOENT);
            } else {
                CHECK(errno == EAGAIN);
            }
        }
        polled = ib_acm_poll(shared->conn, done, 8);
        CHECK(polled >= 0);
        pthread_mutex_lock(&shared->lock);
        for (i = 0; i < polled; i++) {
            CHECK(done[i].error == 0 || done[i].error == ECANCELED);
            CHECK(shared->seen[done[i].cookie]++ == 0);
        }
        all = shared->completions += polled;
        pthread_mutex_unlock(&shared->lock);
        // Another thread may have taken the completion.
        if (!polled)
            CHECK(poll(&waiting, 1, 1) >= 0);
    } while (all < THREADS * EACH);
    return NULL;
}

// Uses the process's blocking connection, which other threads open and close.
static void *requester(void *argument)
{
    struct shared *shared = argument;
    struct ibv_path_data *paths;
    uint64_t *counters;
    int i, count;

    for (i = 0; i < EACH; i++) {
        if (i % 50 == 0)
            CHECK(ib_acm_connect(shared->socket) == 0);
        if (ib_acm_resolve_name("node1", "node2", &paths, &count, 0, 0) == 0) {
            CHECK(count == 1 && paths[0].path.dlid != 0);
            ib_acm_free_paths(paths);
        } else {
            CHECK(errno == EBADF);
        }
        if (ib_acm_query_perf(0, &counters, &count) == 0)
            ib_acm_free_perf(counters);
        else
            CHECK(errno == EBADF);
        if (i % 70 == 0)
            ib_acm_disconnect();
    }
    return NULL;
}

// Opens and closes connections that no other thread uses.
static void *closer(void *argument)
{
    struct shared *shared = argument;
    struct ib_acm_request request = {.kind = IB_ACM_QUERY_PERF};
    int i;

    for (i = 0; i < 20; i++) {
        struct ib_acm_conn *own = ib_acm_open(shared->socket, 4);
        CHECK(own && ib_acm_submit(own, &request, 1) == 1);
        CHECK(next(own).error == 0 && ib_acm_close(own) == 0);
    }
    return NULL;
}

static void threads(const char *socket)
{
    struct shared shared = {.conn = ib_acm_open(socket, 16), .socket = socket, .lock = PTHREAD_MUTEX_INITIALIZER};
    void *(*const work[])(void *) = {requester, requester, closer};
    pthread_t ids[THREADS + 3];
    size_t i;

    CHECK(shared.conn);
    for (i = 0; i < THREADS + 3; i++)
        CHECK(pthread_create(&ids[i], NULL, i < THREADS ? worker : work[i - THREADS], &shared) == 0);
    for (i = 0; i < THREADS + 3; i++)
        CHECK(pthread_join(ids[i], NULL) == 0);
    for (i = 0; i < THREADS * EACH; i++)
        CHECK(shared.seen[i] == 1);
    CHECK(ib_acm_close(shared.conn) == 0);
    ib_acm_disconnect();
}

// Waits until a file exists, at most 30 s.
static void wait_for_file(const char *path)
{
    int tries;

    for (tries = 0; access(path, F_OK); tries++) {
        CHECK(tries < 30000);
        usleep(1000);
    }
}

// The daemon restarts. The file GONE exists while the daemon does not run.
static void restart(const char *socket, const char *gone)
{
    struct ib_acm_conn *conn = ib_acm_open(socket, 0);
    struct ib_acm_request request = {.kind = IB_ACM_RESOLVE_NAME, .src_name = "node1", .dest_name = "node2"};
    struct ib_acm_request hasty = {.kind = IB_ACM_QUERY_PERF, .timeout_ms = 20, .cookie = 20};
    struct ibv_path_data *paths;
    int count, fd = ib_acm_fd(conn), tries;

    CHECK(conn && submit_and_wait(conn, &request).error == 0);
    CHECK(ib_acm_connect(socket) == 0);
    puts("connected");
    fflush(stdout);
    wait_for_file(gone);
    // Without a daemon, a request with a short time-out fails with the reason.
    CHECK(ib_acm_submit(conn, &request, 1) == 1 && ib_acm_submit(conn, &hasty, 1) == 1);
    {
        struct ib_acm_completion done = next(conn);
        CHECK(done.cookie == 20 && (done.error == ECONNREFUSED || done.error == ENOENT));
    }
    puts("waiting");
    fflush(stdout);
    {
        struct ib_acm_completion done = next(conn);
        CHECK(done.id == request.id);
        // A daemon serves before it has joined its group.
        for (tries = 0; done.error && tries < 3000; tries++) {
            usleep(10000);
            done = submit_and_wait(conn, &request);
        }
        CHECK(done.error == 0 && done.path.path.dlid != 0);
    }
    CHECK(ib_acm_fd(conn) == fd);
    CHECK(ib_acm_resolve_name("node1", "node2", &paths, &count, 0, 0) == 0);
    ib_acm_free_paths(paths);
    CHECK(ib_acm_close(conn) == 0);
    ib_acm_disconnect();
}

// Repeats a request until its path is read from the daemon's memory.
static void until_shared(struct ib_acm_conn *conn, struct ib_acm_request *request)
{
    int64_t before = ib_acm_shared_cache_hits(conn);
    int tries;

    CHECK(before >= 0);
    for (tries = 0; ib_acm_shared_cache_hits(conn) == before; tries++) {
        CHECK(tries < 3000);
        submit_and_wait(conn, request);
        usleep(10000);
    }
}

// Paths from the memory of a daemon with `shared_cache on`. Then the daemon is killed, and started again.
static void shared_cache(const char *socket, const char *gone)
{
    struct ib_acm_conn *conn = ib_acm_open(socket, 4);
    struct ib_acm_request request = {
        .kind = IB_ACM_RESOLVE_NAME, .src_name = "node1", .dest_name = "node2", .cookie = 7};
    struct ib_acm_request many[5] = {request, request, request, request, request};
    struct ib_acm_completion first = submit_and_wait(conn, &request), done, all[5];
    struct pollfd now = {.fd = ib_acm_fd(conn), .events = POLLIN};
    struct ibv_path_data *paths;
    int64_t hits;
    int count, tries;

    CHECK(first.error == 0 && ib_acm_shared_cache_hits(conn) == 0);
    until_shared(conn, &request);
    hits = ib_acm_shared_cache_hits(conn);
    // A completion is at hand after the submission, and not before ib_acm_poll.
    CHECK(poll(&now, 1, 0) == 0);
    CHECK(ib_acm_submit(conn, &request, 1) == 1 && ib_acm_shared_cache_hits(conn) == ++hits);
    CHECK(poll(&now, 1, 0) == 1);
    FAILS(ib_acm_cancel(conn, request.id), ENOENT);
    CHECK(ib_acm_poll(conn, &done, 1) == 1 && done.id == request.id && done.cookie == 7 && done.error == 0);
    CHECK(!memcmp(&done.path, &first.path, sizeof done.path) && done.status == 0 && done.source_type == 0);
    CHECK(poll(&now, 1, 0) == 0);
    // Completions count towards the depth.
    CHECK(ib_acm_submit(conn, many, 5) == 4);
    FAILS(ib_acm_submit(conn, many, 1), EAGAIN);
    CHECK(ib_acm_shared_cache_hits(conn) == (hits += 4));
    CHECK(ib_acm_poll(conn, all, 5) == 4 && all[0].id == many[0].id && all[3].id == many[3].id);
    // The other interface.
    FAILS(ib_acm_shared_cache_hits(NULL), EBADF);
    CHECK(ib_acm_connect(socket) == 0);
    for (tries = 0; tries < 2; tries++) {
        CHECK(ib_acm_shared_cache_hits(NULL) == 0);
        CHECK(ib_acm_resolve_name("node1", "node2", &paths, &count, 0, 0) == 0);
        ib_acm_free_paths(paths);
    }
    CHECK(ib_acm_shared_cache_hits(NULL) == 1);
    ib_acm_disconnect();
    printf("reading %d\n", (int)hits + 1);
    fflush(stdout);
    wait_for_file(gone);
    // The memory of a killed daemon is used for a second.
    for (tries = 0;; tries++) {
        CHECK(tries < 3000 && ib_acm_submit(conn, &request, 1) == 1);
        if (ib_acm_shared_cache_hits(conn) == hits)
            break;
        hits = ib_acm_shared_cache_hits(conn);
        CHECK(next(conn).error == 0);
        usleep(10000);
    }
    puts("waiting");
    fflush(stdout);
    CHECK(next(conn).id == request.id);
    until_shared(conn, &request);
    CHECK(submit_and_wait(conn, &request).path.path.dlid == first.path.path.dlid);
    CHECK(ib_acm_close(conn) == 0);
    FAILS(ib_acm_shared_cache_hits(conn), EBADF);
}

// Results of each kind of response, by both interfaces. The destination's name selects the response of this daemon.
static void responses(const char *socket, char **names)
{
    struct ib_acm_conn *conn = ib_acm_open(socket, 0);

    CHECK(conn && ib_acm_connect(socket) == 0);
    for (; *names; names++) {
        struct ib_acm_request request = {.kind = IB_ACM_RESOLVE_NAME, .src_name = "node1", .dest_name = *names};
        struct ib_acm_completion done;
        struct ibv_path_data *paths;
        int found, failed = ib_acm_resolve_name("node1", *names, &paths, &found, 0, 1);

        printf("%s: %s", *names, failed ? strerror(errno) : "found");
        if (!failed)
            ib_acm_free_paths(paths);
        done = submit_and_wait(conn, &request);
        printf(", %s, %u, %u\n", done.error ? strerror(done.error) : "found", done.status, done.source_type);
    }
    CHECK(ib_acm_close(conn) == 0);
    ib_acm_disconnect();
}

// The default service, which librdmacm uses, by both interfaces.
static void default_service(void)
{
    struct ib_acm_request request = {.kind = IB_ACM_RESOLVE_NAME, .src_name = "node1", .dest_name = "node1"};
    struct ib_acm_conn *conn = ib_acm_open(NULL, 0);
    struct ibv_path_data *paths;
    int count;

    CHECK(conn && submit_and_wait(conn, &request).error == 0 && ib_acm_close(conn) == 0);
    CHECK(ib_acm_connect(NULL) == 0);
    CHECK(ib_acm_resolve_name("node1", "node1", &paths, &count, 0, 0) == 0);
    ib_acm_free_paths(paths);
    ib_acm_disconnect();
    // The port in the port file.
    if (access("/run/ibacm-tcp.port", F_OK) == 0) {
        CHECK(ib_acm_connect("127.0.0.1") == 0);
        CHECK(ib_acm_resolve_name("node1", "node1", &paths, &count, 0, 0) == 0);
        ib_acm_free_paths(paths);
        CHECK(ib_acm_connect("127.0.0.2") == -1 && errno == ECONNREFUSED);
        FAILS(ib_acm_resolve_name("node1", "node1", &paths, &count, 0, 0), EBADF);
    }
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// Prints lookups per second: one by one with the blocking functions, and 64 at a time with the others.
static void rate(const char *socket, double limit)
{
    struct ib_acm_conn *conn = ib_acm_open(socket, MANY);
    struct ib_acm_request request = {.kind = IB_ACM_RESOLVE_NAME, .src_name = "node1", .dest_name = "node2"};
    struct ib_acm_request many[MANY];
    struct ib_acm_completion all[MANY];
    struct ibv_path_data *paths;
    double start, done;
    int i, count, polled;

    // The memory arrives after the first response.
    CHECK(conn && submit_and_wait(conn, &request).error == 0);
    usleep(100000);
    CHECK(ib_acm_connect(socket) == 0);
    for (done = 0, start = seconds(); seconds() - start < limit; done += MANY)
        for (i = 0; i < MANY; i++) {
            CHECK(ib_acm_resolve_name("node1", "node2", &paths, &count, 0, 0) == 0);
            ib_acm_free_paths(paths);
        }
    printf("%.0f\n", done / (seconds() - start));
    for (i = 0; i < MANY; i++)
        many[i] = request;
    for (done = 0, start = seconds(); seconds() - start < limit; done += MANY) {
        CHECK(ib_acm_submit(conn, many, MANY) == MANY);
        for (count = 0; count < MANY; count += polled) {
            wait_for(conn);
            polled = ib_acm_poll(conn, all, MANY);
            CHECK(polled >= 0);
            for (i = 0; i < polled; i++)
                CHECK(all[i].error == 0);
        }
    }
    printf("%.0f\n", done / (seconds() - start));
    CHECK(ib_acm_close(conn) == 0);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 2 ? argv[1] : "";

    if (!strcmp(mode, "blocking"))
        blocking(argv[2]);
    else if (!strcmp(mode, "asynchronous"))
        asynchronous(argv[2]);
    else if (!strcmp(mode, "threads"))
        threads(argv[2]);
    else if (!strcmp(mode, "restart") && argc > 3)
        restart(argv[2], argv[3]);
    else if (!strcmp(mode, "shared_cache") && argc > 3)
        shared_cache(argv[2], argv[3]);
    else if (!strcmp(mode, "rate") && argc > 3)
        rate(argv[2], atoi(argv[3]) / 1e3);
    else if (!strcmp(mode, "default_service"))
        default_service();
    else if (!strcmp(mode, "responses"))
        responses(argv[2], argv + 3);
    else
        return 2;
    return 0;
}
