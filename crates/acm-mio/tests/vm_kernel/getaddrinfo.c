/* Prints the result of rdma_getaddrinfo(argv[1]) from argv[2], if given: librdmacm's use of the daemon's response. With
 * argv[3], the number of lookups, compares the results and also prints the time of all but the first. */
#include <arpa/inet.h>
#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

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
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *found, *again;
	struct sockaddr_in source = { .sin_family = AF_INET };
	int lookups = argc > 3 ? atoi(argv[3]) : 1;
	double start;

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
	if (lookups > 1)
		usleep(100000);
	for (start = seconds(); lookups > 1; lookups--) {
		if (rdma_getaddrinfo(argv[1], "7471", &hints, &again)) {
			perror("rdma_getaddrinfo");
			return 1;
		}
		if (again->ai_route_len != found->ai_route_len ||
		    memcmp(again->ai_route, found->ai_route, found->ai_route_len)) {
			fprintf(stderr, "another route\n");
			return 1;
		}
		rdma_freeaddrinfo(again);
	}
	if (argc > 3)
		printf("seconds %f\n", seconds() - start);
	printf("family %d\n", found->ai_family);
	hex("route", found->ai_route, found->ai_route_len);
	if (found->ai_family == AF_IB) {
		hex("dst", &((struct sockaddr_ib *)found->ai_dst_addr)->sib_addr, 16);
		hex("src", &((struct sockaddr_ib *)found->ai_src_addr)->sib_addr, 16);
	}
	rdma_freeaddrinfo(found);
	return 0;
}
