/*
 * The provider of ../src in C: it finds paths in a file with lines "ADDRESS GID LID".
 *
 *     cc -Wall -Wextra -fPIC -shared -o libhosts.so hosts.c
 *
 * The file is read when a port becomes active, and when the subnet manager requests a client reregistration. The daemon
 * calls all functions from one thread, so that no lock is needed.
 */
#include <stdlib.h>
#include "table.h"

struct endpoint {
	union ibv_gid gid;
	uint16_t pkey;
	uint64_t failed, resolves;
};

/* Returns the destination of a request. */
static const struct host *destination(const struct acm_msg *msg)
{
	const struct acm_ep_addr_data *first = &msg->resolve_data[0], *to = &msg->resolve_data[msg->hdr.dst_index];

	if (first->type != ACM_EP_INFO_PATH)
		return find(to->type, to->info.addr);
	if (first->info.path.dlid)
		return find(LID, &first->info.path.dlid);
	return find(GID, &first->info.path.dgid);
}

/* The context of an address is the context of its endpoint. */
static int resolve(void *context, struct acm_msg *msg, uint64_t id)
{
	struct endpoint *here = context;
	const struct host *to = destination(msg), *from = find(GID, &here->gid);
	struct acm_msg answer = { .hdr = msg->hdr };

	here->resolves++;
	memset(answer.hdr.data, 0, sizeof(answer.hdr.data));
	answer.hdr.length = ACM_MSG_HDR_LENGTH;
	answer.hdr.status = to && from ? ACM_STATUS_SUCCESS : ACM_STATUS_ENODATA;
	if (!to || !from) {
		here->failed++;
		return acm_resolve_response(id, &answer);
	}
	acm_increment_counter(ACM_CNTR_ROUTE_CACHE);
	answer.hdr.length += ACM_MSG_EP_LENGTH;
	answer.resolve_data[0] = (struct acm_ep_addr_data) {
		.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL,
		.type = ACM_EP_INFO_PATH,
		.info.path = {
			.sgid = from->gid, .slid = from->lid, .dgid = to->gid, .dlid = to->lid,
			.pkey = htobe16(here->pkey), .reversible_numpath = IBV_PATH_RECORD_REVERSIBLE | 1,
			/* Values that every device supports; the selector 0x80 means "exactly". */
			.mtu = 0x80 | IBV_MTU_2048, .rate = 0x80 | IBV_RATE_10_GBPS, .packetlifetime = 0x80 | 16,
		},
	};
	if (msg->resolve_data[0].type != ACM_EP_INFO_PATH && msg->hdr.src_out) {
		answer.hdr.length += ACM_MSG_EP_LENGTH;
		answer.resolve_data[1] = msg->resolve_data[msg->hdr.src_index];
	}
	return acm_resolve_response(id, &answer);
}

/* This provider never queries the subnet administrator. */
static int query(void *context, struct acm_msg *msg, uint64_t id)
{
	(void)context;
	msg->hdr.opcode |= ACM_OP_ACK;
	msg->hdr.status = ACM_STATUS_ENODATA;
	return acm_query_response(id, msg);
}

/* A context must not be null: ibacm treats a null context as not open. */
static int open_device(const struct acm_device *device, void **context)
{
	return (*context = (void *)device) ? 0 : -1;
}

static int open_port(const struct acm_port *port, void *device, void **context)
{
	(void)device;
	*context = (void *)port;
	return read_file();
}

static int open_endpoint(const struct acm_endpoint *endpoint, void *port, void **context)
{
	struct endpoint *here = calloc(1, sizeof(*here));

	if (!here || acm_get_gid(port, 0, &here->gid)) {
		free(here);
		return -1;
	}
	here->pkey = endpoint->pkey;
	*context = here;
	return 0;
}

static int add_address(const struct acm_address *address, void *endpoint, void **context)
{
	(void)address;
	*context = endpoint;
	return 0;
}

static void nothing(void *context)
{
	(void)context;
}

static int handle_event(void *port, enum ibv_event_type type)
{
	(void)port;
	return type == IBV_EVENT_CLIENT_REREGISTER ? read_file() : 0;
}

static void query_perf(void *context, uint64_t *values, uint8_t *count)
{
	struct endpoint *here = context;

	values[0] = htobe64(here->failed);
	values[1] = htobe64(here->resolves);
	*count = 2;
}

static struct acm_provider provider = {
	.size = sizeof(struct acm_provider), .version = 1, .name = "hosts",
	.open_device = open_device, .close_device = nothing, .open_port = open_port, .close_port = nothing,
	.open_endpoint = open_endpoint, .close_endpoint = free, .add_address = add_address, .remove_address = nothing,
	.resolve = resolve, .query = query, .handle_event = handle_event, .query_perf = query_perf,
};

int provider_query(struct acm_provider **info, uint32_t *version)
{
	*info = &provider;
	*version = 1;
	return 0;
}
