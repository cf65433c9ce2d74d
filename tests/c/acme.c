// Does what ib_acme does, with the library's blocking functions. The test compares the output with Debian's ib_acme.
//
//   acme SOCKET path FORMAT SOURCE|- DEST [QUERY_SA]     FORMAT: i, n, l or g
//   acme SOCKET twice FORMAT SOURCE DEST
//   acme SOCKET perf INDEX
//   acme SOCKET perf-of FORMAT ADDRESS                   FORMAT: i or n
//   acme SOCKET ep INDEX
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libacm.h"

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* rdma-core's <infiniband/acm.h>, which libacm.h includes if it is there, does not have this flag. */
_Static_assert(ACM_FLAGS_ALTERNATES == 1U << 29, "the flag is missing");

static const char *service;

static int failed_call(const char *what)
{
    printf("%s failed: %s\n", what, strerror(errno));
    return -1;
}

static struct sockaddr *ip(const char *text, union address *to)
{
    memset(to, 0, sizeof *to);
    to->any.sa_family = AF_INET;
    if (inet_pton(AF_INET, text, &to->v4.sin_addr) > 0)
        return &to->any;
    to->any.sa_family = AF_INET6;
    return inet_pton(AF_INET6, text, &to->v6.sin6_addr) > 0 ? &to->any : NULL;
}

// Returns the first of the paths that a function returned.
static int first(const char *what, int failed, struct ibv_path_data *paths, int count, struct ibv_path_record *path)
{
    if (failed)
        return failed_call(what);
    if (count < 1 || !(paths[0].flags & IBV_PATH_FLAG_PRIMARY))
        return failed_call("no primary path");
    *path = paths[0].path;
    ib_acm_free_paths(paths);
    return 0;
}

static int by_name(const char *source, const char *dest, struct ibv_path_record *path)
{
    struct ibv_path_data *paths = NULL;
    int count = 0;
    int failed = ib_acm_resolve_name(source, dest, &paths, &count, 0, 1);

    return first("ib_acm_resolve_name", failed, paths, count, path);
}

static int by_ip(const char *source, const char *dest, struct ibv_path_record *path)
{
    union address from, to;
    struct ibv_path_data *paths = NULL;
    int count = 0;
    int failed = ib_acm_resolve_ip(source ? ip(source, &from) : NULL, ip(dest, &to), &paths, &count, 0, 1);

    return first("ib_acm_resolve_ip", failed, paths, count, path);
}

static int by_path(char format, const char *source, const char *dest, struct ibv_path_record *path)
{
    path->reversible_numpath = 0x80 | 1;
    if (format == 'l') {
        path->dlid = htons((uint16_t)atoi(dest));
        path->slid = htons((uint16_t)(source ? atoi(source) : 0));
    } else {
        inet_pton(AF_INET6, dest, &path->dgid);
        if (source)
            inet_pton(AF_INET6, source, &path->sgid);
    }
    return ib_acm_resolve_path(path, 0) ? failed_call("ib_acm_resolve_path") : 0;
}

static void show(const struct ibv_path_record *path)
{
    uint32_t flow_hop = ntohl(path->flowlabel_hoplimit);
    char gid[INET6_ADDRSTRLEN];

    puts("Path information");
    printf("  dgid: %s\n", inet_ntop(AF_INET6, &path->dgid, gid, sizeof gid));
    printf("  sgid: %s\n", inet_ntop(AF_INET6, &path->sgid, gid, sizeof gid));
    printf("  dlid: %u\n  slid: %u\n", ntohs(path->dlid), ntohs(path->slid));
    printf("  flow label: 0x%x\n  hop limit: %d\n", flow_hop >> 8, (int)(flow_hop & 0xff));
    printf("  tclass: %d\n  reversible: %d\n", path->tclass, path->reversible_numpath >> 7);
    printf("  pkey: 0x%x\n  sl: %d\n", ntohs(path->pkey), ntohs(path->qosclass_sl) & 0xf);
    printf("  mtu: %d\n  rate: %d\n", path->mtu & 0x1f, path->rate & 0x1f);
    printf("  packet lifetime: %d\n", path->packetlifetime & 0x1f);
}

static int resolve(char format, const char *source, const char *dest, int verify)
{
    struct ibv_path_record path;
    int status;

    memset(&path, 0, sizeof path);
    printf("Service: %s\nDestination: %s\n", service, dest);
    if (source)
        printf("Source: %s\n", source);
    status = format == 'n'   ? by_name(source, dest, &path)
             : format == 'i' ? by_ip(source, dest, &path)
                             : by_path(format, source, dest, &path);
    if (!status) {
        show(&path);
        if (verify) {
            status = ib_acm_resolve_path(&path, ACM_FLAGS_QUERY_SA);
            if (status)
                printf("SA verification: failed %s\n", strerror(errno));
            else
                puts("SA verification: success");
        }
    }
    puts("");
    return status;
}

static void counters(int failed, uint64_t *values, int count)
{
    int i;

    if (failed) {
        printf("%s: Failed to query perf data: %s\n", service, strerror(errno));
        return;
    }
    printf("svc");
    for (i = 0; i < count; i++)
        printf(",%s", ib_acm_cntr_name(i));
    printf("\n%s", service);
    for (i = 0; i < count; i++)
        printf(",%" PRIu64, values[i]);
    puts("");
    ib_acm_free_perf(values);
}

static void perf(int index)
{
    uint64_t *values = NULL;
    int count = 0;
    int failed = ib_acm_query_perf(index, &values, &count);

    counters(failed, values, count);
}

static void perf_of(char format, const char *text)
{
    union address address;
    const uint8_t *source = (const uint8_t *)text;
    uint8_t type = ACM_EP_INFO_NAME;
    uint64_t *values = NULL;
    int count = 0, failed;

    if (format == 'i') {
        type = ip(text, &address)->sa_family == AF_INET ? ACM_EP_INFO_ADDRESS_IP : ACM_EP_INFO_ADDRESS_IP6;
        source = (const uint8_t *)&address;
    }
    failed = ib_acm_query_perf_ep_addr(source, type, &values, &count);
    if (failed)
        failed_call("ib_acm_query_perf");
    counters(failed, values, count);
}

static void endpoint(int index)
{
    struct acm_ep_config_data *data;
    int ports = 255, found = 0, port, i;

    for (port = 1; port <= ports; port++) {
        if (ib_acm_enum_ep(index, &data, (uint8_t)port))
            continue;
        if (!found)
            puts("svc,guid,port,pkey,ep_index,prov,addr_0,addresses");
        found = 1;
        printf("%s,0x%016" PRIx64 ",%d,0x%04x,%d,%s", service, data->dev_guid, data->port_num, data->pkey, index,
               (char *)data->prov_name);
        for (i = 0; i < data->addr_cnt; i++)
            printf(",%s", (char *)data->addrs[i].name);
        puts("");
        ports = data->phys_port_cnt;
        ib_acm_free_ep_data(data);
    }
    if (!found)
        printf(" Endpoint %d is not available\n", index);
}

int main(int argc, char **argv)
{
    const char *what = argc > 3 ? argv[2] : "";
    int status;

    if (argc < 4)
        return 2;
    service = argv[1];
    status = ib_acm_connect(service);
    if (status) {
        printf("%s,unable to contact service: %s\n", service, strerror(errno));
    } else if (!strcmp(what, "path") && argc > 5) {
        status = resolve(argv[3][0], strcmp(argv[4], "-") ? argv[4] : NULL, argv[5], argc > 6);
    } else if (!strcmp(what, "twice") && argc > 5) {
        status = resolve(argv[3][0], argv[4], argv[5], 0) || resolve(argv[3][0], argv[4], argv[5], 0);
    } else if (!strcmp(what, "perf")) {
        perf(atoi(argv[3]));
    } else if (!strcmp(what, "perf-of") && argc > 4) {
        perf_of(argv[3][0], argv[4]);
    } else if (!strcmp(what, "ep")) {
        endpoint(atoi(argv[3]));
    }
    ib_acm_disconnect();
    printf("return status 0x%x\n", status);
    return status;
}
