/* A provider for tests. The requested name selects its action. Compiled with -DWRONG_..., it has a defect. */
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <infiniband/acm_prov.h>

#ifndef NAME
#define NAME "test"
#endif

struct address {
	const struct acm_address *given;
};

/* The last request, for a later response. */
static struct acm_msg saved;
static uint64_t saved_id;
static int *volatile null_pointer;

/* The variable of ibacm_prov(7), which the header does not declare. */
extern const char *opts_file;
/* Nor this function. */
extern int acm_if_get_sgid(char *name, union ibv_gid *gid);

static int open_device(const struct acm_device *device, void **context)
{
	acm_log(0, "verbs %d guid %llx\n", device->verbs != NULL, (unsigned long long) be64toh(device->dev_guid));
	*context = (void *) device;
	return device->verbs ? 0 : 1;
}

static void close_device(void *context)
{
	acm_log(0, "verbs %d\n", ((struct acm_device *) context)->verbs != NULL);
}

static int open_port(const struct acm_port *port, void *device, void **context)
{
	union ibv_gid gid, none;
	int found = acm_get_gid((struct acm_port *) port, 1, &gid);

	memset(&none, 7, sizeof none);
	acm_log(0, "port %d device %d gid %d at %d, other at %d, beyond %d, any %d\n", port->port_num,
		port->dev == device, found, acm_gid_index((struct acm_port *) port, &gid),
		acm_gid_index((struct acm_port *) port, &none), acm_get_gid((struct acm_port *) port, 2, &gid),
		ib_any_gid(&gid));
	*context = (void *) port;
	return port->port_num == 9;
}

static void close_port(void *context)
{
	acm_log(0, "port %d\n", ((struct acm_port *) context)->port_num);
}

static int open_endpoint(const struct acm_endpoint *endpoint, void *port, void **context)
{
	acm_log(1, "pkey %x port %d\n", endpoint->pkey, endpoint->port == port);
	*context = (void *) endpoint;
	return 0;
}

static void close_endpoint(void *context)
{
	acm_log(0, "pkey %x\n", ((struct acm_endpoint *) context)->pkey);
}

static int add_address(const struct acm_address *address, void *endpoint, void **context)
{
	struct address *mine = calloc(1, sizeof *mine);

	acm_log(0, "%s type %d endpoint %d\n", address->id_string, address->type, address->endpoint == endpoint);
	mine->given = address;
	*context = mine;
	return !strcmp(address->id_string, "refused");
}

static void remove_address(void *context)
{
	struct address *mine = context;

	acm_log(0, "%s\n", mine->given->id_string);
	free(mine);
}

static void set_success(struct acm_msg *message)
{
	message->hdr.opcode |= ACM_OP_ACK;
	message->hdr.status = ACM_STATUS_SUCCESS;
}

static void *respond(void *unused)
{
	(void) unused;
	set_success(&saved);
	acm_resolve_response(saved_id, &saved);
	return NULL;
}

static void in_a_thread(void *(*function)(void *))
{
	pthread_t thread;

	pthread_create(&thread, NULL, function, NULL);
	pthread_join(thread, NULL);
}

static void *crash(void *unused)
{
	(void) unused;
	*null_pointer = 1;
	return NULL;
}

/* Sends a response with the datagram's status. It begins with the bytes of the subnet administrator's response. */
static void handler(struct acm_sa_mad *mad)
{
	saved.hdr.status = mad->umad.status ? ACM_STATUS_ETIMEDOUT : ACM_STATUS_SUCCESS;
	memcpy(&saved.resolve_data[0], &mad->sa_mad, 64);
	acm_log(0, "umad %u context %d\n", mad->umad.status, mad->context == &saved);
	acm_free_sa_mad(mad);
	acm_resolve_response(saved_id, &saved);
}

static struct acm_sa_mad *mad_for(const struct acm_endpoint *endpoint)
{
	struct acm_sa_mad *mad = acm_alloc_sa_mad(endpoint, &saved, handler);

	mad->sa_mad.mad_hdr.method = 1;
	mad->sa_mad.mad_hdr.tid = htobe64(0x1234);
	return mad;
}

/* Returns the index of the destination's entry, or 0 if no entry has the flag. */
static int dest(const struct acm_msg *message)
{
	int i;

	for (i = 0; i < 8; i++)
		if (message->resolve_data[i].flags & ACM_EP_FLAG_DEST)
			return i;
	return 0;
}

static int resolve(void *context, struct acm_msg *message, uint64_t id)
{
	const struct acm_endpoint *endpoint = ((struct address *) context)->given->endpoint;
	const char *action = (const char *) message->resolve_data[dest(message)].info.name;
	struct acm_sa_mad *mad;
	int first;

	saved = *message;
	saved_id = id;
	if (!strcmp(action, "at once")) {
		set_success(message);
		return acm_resolve_response(id, message);
	}
	if (!strcmp(action, "thread"))
		in_a_thread(respond);
	if (!strcmp(action, "twice")) {
		respond(NULL);
		respond(NULL);
	}
	if (!strcmp(action, "garbage")) {
		acm_log(0, "refused %d %d\n", acm_resolve_response(UINT64_MAX, message), acm_resolve_response(id, NULL));
		message->hdr.length = 65535;
		acm_resolve_response(id ^ (1ull << 40), message);
		message->hdr.length = 0;
		acm_resolve_response(id, message);
	}
	if (!strcmp(action, "sa"))
		acm_send_sa_mad(mad_for(endpoint));
	if (!strcmp(action, "mads")) {
		struct acm_endpoint none = *endpoint;

		mad = mad_for(endpoint);
		acm_free_sa_mad(mad);
		acm_free_sa_mad(mad);
		acm_log(0, "freed: %d, none: %d, of none: %d\n", acm_send_sa_mad(mad), acm_send_sa_mad(NULL),
			acm_alloc_sa_mad(&none, NULL, handler) == NULL);
		mad = mad_for(endpoint);
		first = acm_send_sa_mad(mad);
		acm_log(0, "once: %d, twice: %d\n", first, acm_send_sa_mad(mad));
		acm_free_sa_mad(mad);
		respond(NULL);
	}
	if (!strcmp(action, "helpers")) {
		struct ibv_path_record path = {.dlid = htobe16(5), .pkey = htobe16(0xffff), .qosclass_sl = htobe16(3)};
		union ibv_gid gid;

		acm_log(0, "mask %llx, none %llx, null %llx\n", (unsigned long long) be64toh(acm_path_comp_mask(&path)),
			(unsigned long long) be64toh(acm_path_comp_mask(&(struct ibv_path_record){0})),
			(unsigned long long) be64toh(acm_path_comp_mask(NULL)));
		char text[64] = "";
		int found = acm_if_get_sgid((char *) "lo", &gid);

		if (!found) {
			text[0] = ' ';
			inet_ntop(AF_INET6, &gid, text + 1, sizeof(text) - 1);
		}
		acm_log(0, "lo %d%s, none %d, path %d, null %d\n", found, text, acm_if_get_sgid((char *) "no-such-if", &gid),
			acm_if_get_sgid((char *) "../net/lo", &gid), acm_if_get_sgid(NULL, &gid));
		acm_log(0, "%s %d\n", opts_file, opts_file == acm_get_opts_file());
		respond(NULL);
	}
	if (!strcmp(action, "hang"))
		for (;;)
			pause();
	if (!strcmp(action, "crash"))
		crash(NULL);
	if (!strcmp(action, "crash in thread"))
		in_a_thread(crash);
	if (!strcmp(action, "abort"))
		abort();
	/* The response to "late" follows at the next reregistration of the port. */
	return 0;
}

static int query(void *context, struct acm_msg *message, uint64_t id)
{
	const struct acm_ep_addr_data *entry = &message->resolve_data[0];

	acm_log(0, "%s: QUERY_SA %d, length %d, dlid %d\n", ((struct address *) context)->given->id_string,
		!!(entry->flags & ACM_FLAGS_QUERY_SA), message->hdr.length, be16toh(entry->info.path.dlid));
	if (be16toh(entry->info.path.dlid) == 9)
		return 0;
	message->resolve_data[0].info.path.slid = htobe16(7);
	set_success(message);
	return acm_query_response(id, message);
}

static int handle_event(void *context, enum ibv_event_type event)
{
	if (event != IBV_EVENT_CLIENT_REREGISTER) {
		acm_log(0, "event %d at port %d\n", event, ((struct acm_port *) context)->port_num);
		return event != IBV_EVENT_SM_CHANGE;
	}
	respond(NULL);
	return 0;
}

static void query_perf(void *context, uint64_t *values, uint8_t *count)
{
	(void) context;
	acm_increment_counter(ACM_CNTR_ROUTE_CACHE);
	acm_increment_counter(77);
	values[0] = htobe64(5);
	values[1] = htobe64(0x100000000ull);
	*count = 2;
}

static struct acm_provider provider = {
#ifdef WRONG_SIZE
	.size = sizeof(struct acm_provider) - 8,
#else
	.size = sizeof(struct acm_provider),
#endif
	.version = 1,
#ifdef WRONG_NAME
	.name = NULL,
#else
	.name = NAME,
#endif
	.open_device = open_device,
	.close_device = close_device,
	.open_port = open_port,
	.close_port = close_port,
	.open_endpoint = open_endpoint,
	.close_endpoint = close_endpoint,
	.add_address = add_address,
	.remove_address = remove_address,
	.resolve = resolve,
	.query = query,
#ifndef WRONG_FUNCTION
	.handle_event = handle_event,
#endif
	.query_perf = query_perf,
};

#ifdef WRONG_SYMBOL
extern void acm_function_that_no_daemon_has(void);
#endif

#ifdef WRONG_QUERY
int another_query(struct acm_provider **info, uint32_t *version)
#else
int provider_query(struct acm_provider **info, uint32_t *version)
#endif
{
#ifdef WRONG_SYMBOL
	acm_function_that_no_daemon_has();
#endif
#ifdef WRONG_RESULT
	return 3;
#endif
#ifdef WRONG_POINTER
	*info = NULL;
#else
	*info = &provider;
#endif
#ifdef WRONG_VERSION
	*version = 2;
#else
	*version = 1;
#endif
	return 0;
}
