/* Makes the kernel resolve the route between two ports of InfiniBand devices: a connection by GIDs (AF_IB). */
#include <arpa/inet.h>
#include <endian.h>
#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <string.h>

static struct sockaddr_ib address(const char *gid)
{
	struct sockaddr_ib address = {
		.sib_family = AF_IB,
		.sib_pkey = htons(0xffff),
		.sib_sid = htobe64(RDMA_IB_IP_PS_TCP | 7174),
		.sib_sid_mask = htobe64(~0ULL),
	};

	inet_pton(AF_INET6, gid, &address.sib_addr);
	return address;
}

/* Waits for an event. Returns 0 if it is the expected one. */
static int await(struct rdma_event_channel *channel, enum rdma_cm_event_type expected)
{
	struct rdma_cm_event *event;
	int is_expected;

	if (rdma_get_cm_event(channel, &event)) {
		perror("rdma_get_cm_event");
		return 1;
	}
	printf("%s, status %d\n", rdma_event_str(event->event), event->status);
	is_expected = event->event == expected;
	rdma_ack_cm_event(event);
	return !is_expected;
}

int main(int argc, char **argv)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_ib from, to;
	struct ibv_sa_path_rec *path;
	struct rdma_cm_id *id;

	if (argc != 3 || !channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP)) {
		perror("rdma_create_id");
		return 2;
	}
	from = address(argv[1]);
	from.sib_sid = from.sib_sid_mask = 0;
	to = address(argv[2]);
	if (rdma_resolve_addr(id, (struct sockaddr *)&from, (struct sockaddr *)&to, 3000)) {
		perror("rdma_resolve_addr");
		return 2;
	}
	if (await(channel, RDMA_CM_EVENT_ADDR_RESOLVED))
		return 1;
	if (rdma_resolve_route(id, 3000)) {
		perror("rdma_resolve_route");
		return 2;
	}
	if (await(channel, RDMA_CM_EVENT_ROUTE_RESOLVED))
		return 1;
	path = id->route.path_rec;
	printf("path slid %d dlid %d sl %d mtu %d rate %d pkey 0x%04x\n", ntohs(path->slid), ntohs(path->dlid), path->sl,
	       path->mtu, path->rate, ntohs(path->pkey));
	return 0;
}
