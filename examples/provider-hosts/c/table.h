/* The file of addresses. The line "hosts_file PATH" in the daemon's option file names the file. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <infiniband/acm_prov.h>

/* Address types without a name in acm.h. */
enum { GID = 4, LID = 5 };

struct host {
	uint16_t type;
	uint8_t address[ACM_MAX_ADDRESS];
	union ibv_gid gid;
	__be16 lid;
};

#define MAX_HOSTS 4096
static struct host hosts[MAX_HOSTS];
static size_t host_count;

static int read_line(const char *line, struct host *host)
{
	char address[ACM_MAX_ADDRESS], gid[INET6_ADDRSTRLEN];
	unsigned int lid;

	memset(host, 0, sizeof(*host));
	if (sscanf(line, "%63s%45s%u", address, gid, &lid) != 3 || inet_pton(AF_INET6, gid, &host->gid) != 1)
		return -1;
	host->type = inet_pton(AF_INET, address, host->address) == 1 ? ACM_EP_INFO_ADDRESS_IP :
		inet_pton(AF_INET6, address, host->address) == 1 ? ACM_EP_INFO_ADDRESS_IP6 : ACM_EP_INFO_NAME;
	if (host->type == ACM_EP_INFO_NAME)
		strcpy((char *)host->address, address);
	host->lid = htobe16(lid);
	return 0;
}

static FILE *open_file(void)
{
	char line[300], path[256] = "/etc/rdma/hosts.data";
	FILE *options = fopen(acm_get_opts_file(), "r"), *file;

	while (options && fgets(line, sizeof(line), options))
		sscanf(line, "hosts_file %255s", path);
	if (options)
		fclose(options);
	file = fopen(path, "r");
	if (!file)
		acm_log(0, "ERROR - cannot open %s\n", path);
	return file;
}

static int read_file(void)
{
	FILE *file = open_file();
	char line[300];

	if (!file)
		return -1;
	host_count = 0;
	while (host_count < MAX_HOSTS && fgets(line, sizeof(line), file))
		if (line[0] == '#' || line[0] == '\n')
			continue;
		else if (!read_line(line, &hosts[host_count]))
			host_count++;
		else
			acm_log(0, "ERROR - not ADDRESS GID LID: %s", line);
	fclose(file);
	acm_log(0, "%zu addresses\n", host_count);
	return 0;
}

static int is(const struct host *host, uint16_t type, const uint8_t *address)
{
	switch (type) {
	case GID: return !memcmp(host->gid.raw, address, 16);
	case LID: return !memcmp(&host->lid, address, 2);
	case ACM_EP_INFO_NAME:
		return host->type == type && !strncasecmp((char *)host->address, (char *)address, ACM_MAX_ADDRESS);
	default:
		return host->type == type && !memcmp(host->address, address, type == ACM_EP_INFO_ADDRESS_IP ? 4 : 16);
	}
}

static const struct host *find(uint16_t type, const void *address)
{
	for (size_t i = 0; i < host_count; i++)
		if (is(&hosts[i], type, address))
			return &hosts[i];
	return NULL;
}
