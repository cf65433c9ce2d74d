/* Prints the result of rdma_getaddrinfo(argv[1]) from argv[2], if given: librdmacm's use of the daemon's response. */
#include <arpa/inet.h>
#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <string.h>

static void hex(const char *key, const void *bytes, size_t length)
{
	const unsigned char *byte = bytes;

	printf("%s ", key);
	while (length--)
		printf("%02x", *byte++);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *found;
	struct sockaddr_in source = { .sin_family = AF_INET };

	if (argc < 2)
		return 2;
	if (argc > 2) {
		inet_pton(AF_INET, argv[2], &source.sin_addr);
		hints.ai_src_addr = (struct sockaddr *)&source;
		hints.ai_src_len = sizeof(source);
	}
	if (rdma_getaddrinfo(argv[1], "7471", &hints, &found)) {
		perror("rdma_getaddrinfo");
		return 1;
	}
	printf("family %d\n", found->ai_family);
	hex("route", found->ai_route, found->ai_route_len);
	if (found->ai_family == AF_IB) {
		hex("dst", &((struct sockaddr_ib *)found->ai_dst_addr)->sib_addr, 16);
		hex("src", &((struct sockaddr_ib *)found->ai_src_addr)->sib_addr, 16);
	}
	rdma_freeaddrinfo(found);
	return 0;
}
