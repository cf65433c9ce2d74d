/* Makes the kernel request a gateway's GID from its local service: a TAP of type InfiniBand, and a route over it. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

int main(void)
{
	struct ifreq request = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	struct sockaddr_in dest = { .sin_family = AF_INET };
	struct rdma_event_channel *channel;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	int tap = open("/dev/net/tun", O_RDWR);

	strcpy(request.ifr_name, "ibtap");
	if (tap < 0 || ioctl(tap, TUNSETIFF, &request) || ioctl(tap, TUNSETLINK, ARPHRD_INFINIBAND)) {
		perror("tap");
		return 1;
	}
	if (system("ip addr add 10.9.0.1/24 dev ibtap && ip link set ibtap up && "
		   "ip route add 10.10.0.0/16 via 10.9.0.254 dev ibtap"))
		return 1;
	channel = rdma_create_event_channel();
	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP)) {
		perror("rdma_create_id");
		return 1;
	}
	inet_pton(AF_INET, "10.10.0.5", &dest.sin_addr);
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&dest, 3000)) {
		perror("rdma_resolve_addr");
		return 1;
	}
	if (rdma_get_cm_event(channel, &event)) {
		perror("rdma_get_cm_event");
		return 1;
	}
	printf("%s, status %d\n", rdma_event_str(event->event), event->status);
	return 0;
}
