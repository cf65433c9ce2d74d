// libibacm: ask ibacm or acm-mio for path records. MIT OR Apache-2.0.
//
// Two interfaces: the blocking one of rdma-core's library, with one connection for the process, and one that never
// waits (ib_acm_open and what follows), with as many as are wanted. All functions may be called by any thread at any
// time; those of the blocking interface wait for each other. None of them is for signal handlers.
//
// Made by cbindgen from crates/acm-capi; do not edit.

#ifndef LIBACM_H
#define LIBACM_H

#include <stdint.h>
#include <sys/socket.h>

// What follows is in <infiniband/verbs.h>, <infiniband/sa.h> and <infiniband/acm.h>, too. Who needs those includes them
// before this file.

#ifndef INFINIBAND_VERBS_H
union ibv_gid {
    uint8_t raw[16];
    struct {
        uint64_t subnet_prefix;
        uint64_t interface_id;
    } global;
};
#endif

#ifndef INFINIBAND_SA_H
// As a path record is on the wire: numbers are in network order.
struct ibv_path_record {
    uint64_t service_id;
    union ibv_gid dgid;
    union ibv_gid sgid;
    uint16_t dlid;
    uint16_t slid;
    uint32_t flowlabel_hoplimit; // 4 bits reserved, 20 flow label, 8 hop limit
    uint8_t tclass;
    uint8_t reversible_numpath; // 1 bit reversible, 7 number of paths
    uint16_t pkey;
    uint16_t qosclass_sl; // 12 bits class of service, 4 service level
    uint8_t mtu; // 2 bits selector, 6 value; so is rate, and packetlifetime
    uint8_t rate;
    uint8_t packetlifetime;
    uint8_t preference;
    uint8_t reserved[6];
};

#define IBV_PATH_FLAG_GMP (1 << 0)
#define IBV_PATH_FLAG_PRIMARY (1 << 1)
#define IBV_PATH_FLAG_ALTERNATE (1 << 2)
#define IBV_PATH_FLAG_OUTBOUND (1 << 3)
#define IBV_PATH_FLAG_INBOUND (1 << 4)
#define IBV_PATH_FLAG_INBOUND_REVERSE (1 << 5)
#define IBV_PATH_FLAG_BIDIRECTIONAL (IBV_PATH_FLAG_OUTBOUND | IBV_PATH_FLAG_INBOUND_REVERSE)

// A path, and what it is good for.
struct ibv_path_data {
    uint32_t flags;
    uint32_t reserved;
    struct ibv_path_record path;
};
#endif

#ifndef ACM_H
// What a daemon answers.
#define ACM_STATUS_SUCCESS 0
#define ACM_STATUS_ENOMEM 1
#define ACM_STATUS_EINVAL 2
#define ACM_STATUS_ENODATA 3
#define ACM_STATUS_ENOTCONN 5
#define ACM_STATUS_ETIMEDOUT 6
#define ACM_STATUS_ESRCADDR 7
#define ACM_STATUS_ESRCTYPE 8
#define ACM_STATUS_EDESTADDR 9
#define ACM_STATUS_EDESTTYPE 10

// Flags of requests.
#define ACM_FLAGS_QUERY_SA (1U << 31)
#define ACM_FLAGS_NODELAY (1U << 30)

#define ACM_MAX_ADDRESS 64
#define ACM_MAX_PROV_NAME 64

// Types of addresses.
#define ACM_EP_INFO_NAME 0x0001
#define ACM_EP_INFO_ADDRESS_IP 0x0002
#define ACM_EP_INFO_ADDRESS_IP6 0x0003
#define ACM_EP_INFO_PATH 0x0010

// An address or a path, by its type.
union acm_ep_info {
    uint8_t addr[ACM_MAX_ADDRESS];
    uint8_t name[ACM_MAX_ADDRESS];
    struct ibv_path_record path;
};

// Counters, in their order.
enum {
    ACM_CNTR_ERROR,
    ACM_CNTR_RESOLVE,
    ACM_CNTR_NODATA,
    ACM_CNTR_ADDR_QUERY,
    ACM_CNTR_ADDR_CACHE,
    ACM_CNTR_ROUTE_QUERY,
    ACM_CNTR_ROUTE_CACHE,
    ACM_MAX_COUNTER
};

// An endpoint: a port in a partition. Numbers are in this machine's order, addresses are text.
struct acm_ep_config_data {
    uint64_t dev_guid;
    uint8_t port_num;
    uint8_t phys_port_cnt;
    uint8_t rsvd[2];
    uint16_t pkey;
    uint16_t addr_cnt;
    uint8_t prov_name[ACM_MAX_PROV_NAME];
    union acm_ep_info addrs[];
};
#endif

// Kind of a request: a path by names. `src_name` may be NULL if the daemon chooses the source, `dest_name` may not.
#define IB_ACM_RESOLVE_NAME 1

// Kind of a request: a path by IP addresses, AF_INET or AF_INET6. `src_ip` may be NULL, `dest_ip` may not.
#define IB_ACM_RESOLVE_IP 2

// Kind of a request: the path that begins and ends as `path` says; what is zero in it is open. With
// ACM_FLAGS_QUERY_SA in `flags` subnet administration itself is asked.
#define IB_ACM_RESOLVE_PATH 3

// Kind of a request: counters of the endpoint `index`, counted from 1, or of the one with the address `src_name` or
// `src_ip`; without any, of the whole daemon.
#define IB_ACM_QUERY_PERF 4

// Kind of a request: the endpoint `index`, counted from 1, of those of `port`, or of all for port 0.
#define IB_ACM_ENUM_EP 5

// For `ib_acm_cancel`: all requests of the connection.
#define IB_ACM_ALL 0

// A connection that `ib_acm_open` opened. It is a number and points nowhere: one that was closed is noticed.
struct ib_acm_conn;

// A request. What its kind has no use for must be zero, so begin with `{ 0 }` or name the members in braces.
struct ib_acm_request {
    // Yours: comes back in the completion.
    uint64_t cookie;
    // Written by `ib_acm_submit`, for `ib_acm_cancel`; never 0.
    uint64_t id;
    // IB_ACM_RESOLVE_NAME and so on.
    uint32_t kind;
    // ACM_FLAGS_NODELAY of paths: what the daemon does not know already is ENODATA, and looked up for the next time.
    uint32_t flags;
    // Milliseconds until there is a completion, whatever happens; 0 stands for 30000.
    uint32_t timeout_ms;
    // Number of an endpoint.
    uint8_t index;
    // Number of a port.
    uint8_t port;
    // Must be zero.
    uint8_t reserved[2];
    // Name of the source, at most 63 bytes and a 0.
    const char *src_name;
    // Name of the destination.
    const char *dest_name;
    // IP address of the source; its port is not looked at.
    const struct sockaddr *src_ip;
    // IP address of the destination, of the same family.
    const struct sockaddr *dest_ip;
    // What is known of the path.
    const struct ibv_path_record *path;
    // Must be zero.
    uint64_t reserved2[3];
};

// What became of a request. What its kind does not have is zero.
struct ib_acm_completion {
    // The request's.
    uint64_t cookie;
    // The request's.
    uint64_t id;
    // The request's.
    uint32_t kind;
    // 0, or an error number; README.md of the library says which.
    int error;
    // What the daemon said, ACM_STATUS_ESRCADDR and so on; 0 also if it said nothing.
    uint32_t status;
    // What `source` is, ACM_EP_INFO_ADDRESS_IP and so on; 0 if the daemon did not choose it.
    uint32_t source_type;
    // The path of an IB_ACM_RESOLVE request.
    struct ibv_path_data path;
    // Where the path begins, if the daemon chose that.
    union acm_ep_info source;
    // Counters of IB_ACM_QUERY_PERF, in the order of `ib_acm_cntr_name`.
    uint64_t counters[7];
    // The endpoint of IB_ACM_ENUM_EP. It is yours: `ib_acm_free_ep_data`.
    struct acm_ep_config_data *endpoint;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Opens a connection that never waits, beside the process's one and any others. `service` is the path of a socket if
// there is a `/` in it, else `host` or `host:port`; NULL stands for the daemon that librdmacm asks. At most `depth`
// requests have no completion that ib_acm_poll gave out; 0 stands for 64, and more than 65536 is EINVAL.
//
// Returns NULL and sets `errno` if there is no daemon: ENOENT, ECONNREFUSED. This is the one function that may wait,
// for a host's name and at most 30 seconds for each of its addresses. It takes four file descriptors. Whoever forks
// leaves the connection to one of both processes.
//
// # Safety
// `service` is NULL, or a string.
struct ib_acm_conn *ib_acm_open(const char *service, unsigned int depth);

// The descriptor for poll, select or epoll: readable while ib_acm_poll has something to do, be it an answer, a time that
// is over, or a daemon to be found again. It stays the same for as long as the connection is open, and it is not yours
// to read or close. With EPOLLET call ib_acm_poll until it returns 0.
//
// Returns -1 and sets `errno` to EBADF if `conn` is none.
int ib_acm_fd(struct ib_acm_conn *conn);

// Takes requests, and sends what the socket has room for. Nothing of a request is looked at after it returns: the
// addresses that it points at are yours again.
//
// Returns how many of `requests` were taken, the first ones; each has its `id` then, and will have exactly one
// completion, unless the connection is closed before. If not even the first was taken, returns -1 and sets `errno`:
// EAGAIN while as many are under way as may be, EINVAL, ENAMETOOLONG or EAFNOSUPPORT for a request that makes no sense.
//
// If the connection breaks, the daemon is looked for again and asked once more. No request changes anything there.
//
// # Safety
// `requests` has `count` requests, whose pointers are NULL or what their kind asks for.
int ib_acm_submit(struct ib_acm_conn *conn, struct ib_acm_request *requests, int count);

// Does what there is to do without waiting - send, receive, look for the daemon, see whose time is over - and gives out
// at most `count` completions, in the order in which they came to be. `count` may be 0.
//
// Returns how many were written; the rest of `completions` is as it was. Returns -1 and sets `errno` only if an argument
// is wrong or memory is short: what becomes of requests is in their completions.
//
// # Safety
// `completions` has room for `count`.
int ib_acm_poll(struct ib_acm_conn *conn,
                struct ib_acm_completion *completions,
                int count);

// Ends the request `id` with ECANCELED, or all with IB_ACM_ALL. Its completion comes by ib_acm_poll, as any other.
//
// Returns 0, or -1 and sets `errno`: ENOENT if it has its completion already, or never was.
int ib_acm_cancel(struct ib_acm_conn *conn, uint64_t id);

// Closes a connection, when the calls of other threads on it have returned. Requests without a completion get none: who
// needs their cookies cancels all and polls before. After it `conn` is EBADF for every function, for ever.
//
// Returns 0, or -1 and sets `errno` to EBADF.
int ib_acm_close(struct ib_acm_conn *conn);

// Connects the process to a daemon; the connection that there was is closed. `dest_svc` is the path of a socket if it
// begins with `/`, else a name or address of a host, whose port is the one of /run/ibacm-tcp.port or 6125. NULL stands
// for the daemon that librdmacm asks.
//
// Returns 0; for a socket that cannot be reached the error number, for a host -1, or what getaddrinfo said of it, which
// gai_strerror has words for. `errno` is set. Waits at most 30 seconds for each address.
//
// May be called by several threads, as all functions here. It waits until a request that is under way has its answer.
//
// # Safety
// `dest_svc` is NULL, or a string.
int ib_acm_connect(const char *dest_svc);

// Closes the process's connection. It waits until a request that is under way has its answer.
void ib_acm_disconnect(void);

// Asks for the path from one name to another. `src` may be NULL if the daemon can choose the source, which it can for IP
// addresses only; with `print` it is said on standard output which it chose.
//
// Returns 0 and writes to `paths` and `count`; `paths` is yours, by ib_acm_free_paths. Returns -1 and sets `errno`
// otherwise, and writes nothing. Of `flags` ACM_FLAGS_NODELAY counts.
//
// If the connection breaks, the daemon is looked for again, and asked once more; 30 seconds for all of it.
//
// # Safety
// `src` is NULL or a string, `dest` a string; `paths` and `count` can be written to. NULL in their place is EINVAL.
int ib_acm_resolve_name(const char *src,
                        const char *dest,
                        struct ibv_path_data **paths,
                        int *count,
                        uint32_t flags,
                        int print);

// Asks for the path from one IP address to another, AF_INET or AF_INET6; their ports are not looked at. All else is as
// for ib_acm_resolve_name. Addresses of two families are EINVAL, of another one EAFNOSUPPORT.
//
// # Safety
// `src` is NULL or an address, `dest` an address; `paths` and `count` can be written to. NULL in their place is EINVAL.
int ib_acm_resolve_ip(const struct sockaddr *src,
                      const struct sockaddr *dest,
                      struct ibv_path_data **paths,
                      int *count,
                      uint32_t flags,
                      int print);

// Asks for the path that begins and ends as `path` says: by LIDs, or by GIDs. What is zero in it is open. With
// ACM_FLAGS_QUERY_SA in `flags` subnet administration itself is asked, whatever the daemon knows.
//
// Returns 0 and writes the path to `path`, or -1 and sets `errno`.
//
// # Safety
// `path` can be read and written to. NULL is EINVAL.
int ib_acm_resolve_path(struct ibv_path_record *path, uint32_t flags);

// Asks for counters of the endpoint `index`, counted from 1, or with 0 for those of the whole daemon.
//
// Returns 0 and writes to `counters`, which is yours by ib_acm_free_perf, and to `count`; or returns -1, sets `errno`,
// and writes nothing. Their names are those of ib_acm_cntr_name. No endpoint has a number over 255.
//
// # Safety
// `counters` and `count` can be written to. NULL in their place is EINVAL.
int ib_acm_query_perf(int index, uint64_t **counters, int *count);

// Asks for counters of the endpoint with the address `src`: a string for ACM_EP_INFO_NAME, a struct sockaddr_in for
// ACM_EP_INFO_ADDRESS_IP, a struct sockaddr_in6 for ACM_EP_INFO_ADDRESS_IP6. All else is as for ib_acm_query_perf.
//
// # Safety
// `src` is what `type` says, `counters` and `count` can be written to. NULL in their place is EINVAL.
int ib_acm_query_perf_ep_addr(const uint8_t *src, uint8_t type, uint64_t **counters, int *count);

// Asks for the endpoint `index`, counted from 1, of those of `port`, or of all for port 0.
//
// Returns 0 and writes to `data`, which is yours by ib_acm_free_ep_data; or returns -1, sets `errno`, EINVAL if there
// is none, and writes nothing. No endpoint has a number over 255.
//
// # Safety
// `data` can be written to. NULL in its place is EINVAL.
int ib_acm_enum_ep(int index, struct acm_ep_config_data **data, uint8_t port);

// The name of a counter, counted from 0; `Unknown` if there is none. It is there for ever.
const char *ib_acm_cntr_name(int index);

// Gives back what ib_acm_resolve_name and ib_acm_resolve_ip gave; `free` does the same. NULL is nothing.
//
// # Safety
// `paths` is from there, and is used no more.
void ib_acm_free_paths(struct ibv_path_data *paths);

// Gives back what ib_acm_query_perf and ib_acm_query_perf_ep_addr gave; `free` does the same. NULL is nothing.
//
// # Safety
// `counters` is from there, and is used no more.
void ib_acm_free_perf(uint64_t *counters);

// Gives back what ib_acm_enum_ep gave, or what is in a completion; `free` does the same. NULL is nothing.
//
// # Safety
// `data` is from there, and is used no more.
void ib_acm_free_ep_data(struct acm_ep_config_data *data);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LIBACM_H */
