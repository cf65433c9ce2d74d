/*
 * The interface between a daemon (ibacm or acm-mio) and its providers, version 1. A provider compiled with this header and
 * one compiled with rdma-core's <infiniband/acm_prov.h> are the same for a daemon. MIT OR Apache-2.0.
 *
 * acm_prov(7) describes the rules: who calls what in which thread, how long pointers are valid, and how responses look.
 * The definitions of <infiniband/acm.h> are here, too, because that header comes with ibacm: include it before this one, or
 * not at all.
 */
#ifndef ACM_PROV_H
#define ACM_PROV_H

#include <stddef.h>
#include <stdint.h>

#include <infiniband/sa.h>
#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>
#include <infiniband/verbs.h>

#ifndef ACM_H
#define ACM_VERSION 1

/* Operations of messages. A response also has the bit ACM_OP_ACK. */
#define ACM_OP_MASK 0x0f
#define ACM_OP_RESOLVE 0x01
#define ACM_OP_PERF_QUERY 0x02
#define ACM_OP_EP_QUERY 0x03
#define ACM_OP_ACK 0x80

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

/* Flags of an entry: how to resolve, and the purpose of the entry. */
#define ACM_FLAGS_QUERY_SA (1U << 31)
#define ACM_FLAGS_NODELAY (1U << 30)
#define ACM_EP_FLAG_SOURCE (1 << 0)
#define ACM_EP_FLAG_DEST (1 << 1)

/* Content of an entry or an address. */
#define ACM_EP_INFO_NAME 0x0001
#define ACM_EP_INFO_ADDRESS_IP 0x0002
#define ACM_EP_INFO_ADDRESS_IP6 0x0003
#define ACM_EP_INFO_PATH 0x0010

/* Sizes in bytes. */
#define ACM_MSG_HDR_LENGTH 16
#define ACM_MSG_EP_LENGTH 72
#define ACM_MSG_DATA_LENGTH (ACM_MSG_EP_LENGTH * 8)
#define ACM_MAX_ADDRESS 64
#define ACM_MAX_PROV_NAME 64

/* Names of the bytes `data` of a header: set if the daemon chose the source, and the entries of source and destination. */
#define src_out data[0]
#define src_index data[1]
#define dst_index data[2]

/* Header of a message. The length and transaction id of a request are in host byte order. */
struct acm_hdr {
	uint8_t version, opcode, status;
	uint8_t data[3];
	uint16_t length;
	uint64_t tid;
};

union acm_ep_info {
	uint8_t addr[ACM_MAX_ADDRESS];
	uint8_t name[ACM_MAX_ADDRESS];
	struct ibv_path_record path;
};

/* An entry of a RESOLVE message: an address, or a path record in network byte order. */
struct acm_ep_addr_data {
	uint32_t flags;
	uint16_t type;
	uint16_t reserved;
	union acm_ep_info info;
};

/* Counters: the index in `query_perf`, and the argument of `acm_increment_counter`. */
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

/* A message with room for all entries. */
struct acm_msg {
	struct acm_hdr hdr;
	struct acm_ep_addr_data resolve_data[ACM_MSG_DATA_LENGTH / ACM_MSG_EP_LENGTH];
};
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. Write the number into `version` of your provider, not this name. */
#define ACM_PROV_VERSION 1

/* A device. `verbs` is the daemon's open device; its GUID is in network byte order. */
struct acm_device {
	struct ibv_context *verbs;
	uint64_t dev_guid;
};

struct acm_port {
	struct acm_device *dev;
	uint8_t port_num;
};

/* A port in a partition. The P_Key is in host byte order, with its membership bit. */
struct acm_endpoint {
	struct acm_port *port;
	uint16_t pkey;
};

/* An address of an endpoint. It moves when the endpoint gets another address: copy it. `id_string` is its text. */
struct acm_address {
	struct acm_endpoint *endpoint;
	union acm_ep_info info;
	char *id_string;
	uint16_t type;
};

/* The functions of a provider. Those that return an int return 0 for success. Contexts must not be NULL. */
struct acm_provider {
	size_t size; /* of this structure */
	uint32_t version;
	const char *name; /* in `provider` lines of the options */
	int (*open_device)(const struct acm_device *device, void **dev_context);
	void (*close_device)(void *dev_context);
	int (*open_port)(const struct acm_port *port, void *dev_context, void **port_context);
	void (*close_port)(void *port_context);
	int (*open_endpoint)(const struct acm_endpoint *endpoint, void *port_context, void **ep_context);
	void (*close_endpoint)(void *ep_context);
	int (*add_address)(const struct acm_address *addr, void *ep_context, void **addr_context);
	void (*remove_address)(void *addr_context);
	/* A request for a path. Respond once with acm_resolve_response, whatever this function returns. */
	int (*resolve)(void *addr_context, struct acm_msg *msg, uint64_t id);
	/* A request for a path of the subnet administrator (SA). Respond once with acm_query_response. */
	int (*query)(void *addr_context, struct acm_msg *msg, uint64_t id);
	/* An event of the port: IBV_EVENT_CLIENT_REREGISTER, and from acm-mio also IBV_EVENT_SM_CHANGE. */
	int (*handle_event)(void *port_context, enum ibv_event_type type);
	/* Writes the counters of an endpoint in network byte order, and their number. */
	void (*query_perf)(void *ep_context, uint64_t *values, uint8_t *cnt);
};

/* The function that the library exports: it writes its provider and the version of the interface. */
int provider_query(struct acm_provider **info, uint32_t *version);

/* Writes a line to the daemon's log. Level 0 is always written, 1 and 2 with that `log_level`. */
void acm_write(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define acm_log(level, format, ...) acm_write(level, "%s: " format, __func__, ##__VA_ARGS__)
/* Writes an address as text, if lines of this level are written. */
void acm_format_name(int level, char *name, size_t name_size, uint8_t addr_type, const uint8_t *addr, size_t addr_size);

/* The table of GIDs of a port. acm_gid_index returns the size of the table if it lacks the GID. */
int ib_any_gid(union ibv_gid *gid);
uint8_t acm_gid_index(struct acm_port *port, union ibv_gid *gid);
int acm_get_gid(struct acm_port *port, int index, union ibv_gid *gid);
/* The GID of a network interface by its name. */
int acm_if_get_sgid(char *ifname, union ibv_gid *sgid);

/* The component mask, in network byte order, of the fields of a path record that are not zero. */
__be64 acm_path_comp_mask(struct ibv_path_record *path);
enum ibv_rate acm_get_rate(uint8_t width, uint8_t speed);
enum ibv_mtu acm_convert_mtu(int mtu);
enum ibv_rate acm_convert_rate(int rate);

/* Responses to `resolve` and `query`, from any thread, also before these return. The daemon copies the message. */
int acm_resolve_response(uint64_t id, struct acm_msg *msg);
int acm_query_response(uint64_t id, struct acm_msg *msg);

/* A request to the SA. The response overwrites `sa_mad`, and `umad.status` is 0 or an error number. */
struct acm_sa_mad {
	void *context;
	struct ib_user_mad umad;
	struct umad_sa_packet sa_mad;
};

/* The handler runs once for each request that was sent, in a thread of the daemon. */
struct acm_sa_mad *acm_alloc_sa_mad(const struct acm_endpoint *endpoint, void *context,
				    void (*handler)(struct acm_sa_mad *mad));
void acm_free_sa_mad(struct acm_sa_mad *mad);
int acm_send_sa_mad(struct acm_sa_mad *mad);

/* The path of the option file. acm-mio also has it in the variable of ibacm_prov(7), `const char *opts_file`. It is not
 * declared here, because C ibacm cannot load a library that uses the variable. */
const char *acm_get_opts_file(void);
void acm_increment_counter(int type);

#ifdef __cplusplus
}
#endif

#endif
