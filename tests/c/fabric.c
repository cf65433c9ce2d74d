// Functions for the fabric, at a node with an InfiniBand device: `fabric groups`, `fabric path GID SERVICE P_KEY SL`, and
// `fabric handle SGID SLID`.
// libacm.h comes before the headers of rdma-core.
#include <libacm.h>

#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stddef.h>

#include "check.h"

_Static_assert(sizeof(struct ib_acm_group) == 40 && offsetof(struct ib_acm_group, mlid) == 24, "group");
_Static_assert(sizeof(struct ib_acm_port) == 68 && offsetof(struct ib_acm_port, pkey_index) == 64, "port");
_Static_assert(sizeof(struct ibv_ah_attr) == 32 && offsetof(struct ibv_ah_attr, dlid) == 24, "address handle");
_Static_assert(sizeof(struct ib_acm_join) == 48 && offsetof(struct ib_acm_join, port_gid) == 32, "join");

// Returns the number of groups, and of groups with this GID of which the port is a full member.
static int list(const union ibv_gid *mgid, int *is_member)
{
    struct ib_acm_group *groups = NULL;
    int count = -1, i;

    CHECK(ib_acm_list_groups(NULL, 0, &groups, &count) == 0);
    *is_member = 0;
    for (i = 0; i < count; i++)
        *is_member += memcmp(&groups[i].mgid, mgid, 16) == 0 && groups[i].join_state == 1;
    ib_acm_free_groups(groups);
    return count;
}

static void groups(void)
{
    struct ib_acm_join join = {.device = "ibsim0", .port = 1, .group = "rdmacm:239.1.2.3"};
    struct ib_acm_group group = {.mlid = 0}, again;
    union ibv_gid mgid;
    int is_member;

    FAILS(ib_acm_join_group(NULL, NULL), EINVAL);
    FAILS(ib_acm_join_group(&(struct ib_acm_join){.group = "x"}, NULL), EINVAL);
    FAILS(ib_acm_join_group(&(struct ib_acm_join){.group = "acm", .sl = 16}, NULL), EINVAL);
    FAILS(ib_acm_join_group(&(struct ib_acm_join){.group = "acm", .device = "none"}, NULL), ENODEV);
    FAILS(ib_acm_leave_group(NULL, 0, NULL, 0, NULL), EINVAL);
    FAILS(ib_acm_list_groups(NULL, 0, NULL, &is_member), EINVAL);
    CHECK(list(&group.mgid, &is_member) == 0);

    CHECK(ib_acm_join_group(&join, NULL) == -1);
    join.create = 1;
    join.qkey = 0x1234567;
    join.mtu = IBV_MTU_1024;
    join.rate = IBV_RATE_5_GBPS;
    join.sl = 2;
    CHECK(ib_acm_join_group(&join, &group) == 0);
    CHECK(inet_pton(AF_INET6, "ff12:4001:ffff::f01:203", &mgid) == 1);
    CHECK(memcmp(&group.mgid, &mgid, 16) == 0);
    CHECK(group.qkey == 0x1234567 && group.mtu == IBV_MTU_1024 && group.rate == IBV_RATE_5_GBPS && group.sl == 2);
    CHECK(group.pkey == 0xffff && group.mlid >= 0xc000 && group.join_state == 1);
    CHECK(list(&mgid, &is_member) == 1 && is_member == 1);
    // The group exists, and is joined as it is.
    join = (struct ib_acm_join){.group = "ff12:4001:ffff::f01:203"};
    CHECK(ib_acm_join_group(&join, &again) == 0);
    CHECK(memcmp(&again, &group, sizeof(group)) == 0);
    CHECK(inet_pton(AF_INET6, "fe80::77", &join.port_gid) == 1);
    FAILS(ib_acm_join_group(&join, NULL), EINVAL);
    FAILS(ib_acm_leave_group(NULL, 0, &mgid, 0, &join.port_gid), ENOENT);
    CHECK(ib_acm_leave_group(NULL, 0, &mgid, 0, NULL) == 0);
    FAILS(ib_acm_leave_group(NULL, 0, &mgid, 1, NULL), ENOENT);
    CHECK(list(&mgid, &is_member) == 0 && is_member == 0);
    // The same group of another partition.
    join = (struct ib_acm_join){.group = "rdmacm:239.1.2.3", .pkey = 0x8001, .create = 1};
    CHECK(ib_acm_join_group(&join, &group) == 0);
    CHECK(inet_pton(AF_INET6, "ff12:4001:8001::f01:203", &mgid) == 1);
    CHECK(group.pkey == 0x8001 && memcmp(&group.mgid, &mgid, 16) == 0);
    CHECK(ib_acm_leave_group(NULL, 0, &mgid, 0, NULL) == 0);
}

static void path(const char *dest, const char *service, uint16_t pkey, uint8_t sl)
{
    struct ibv_path_record record = {.service_id = 0}, none;
    struct ibv_ah_attr attr;
    struct ib_acm_port port;
    uint64_t id = 0;

    FAILS(ib_acm_service_id("lustre:", &id), EINVAL);
    FAILS(ib_acm_service_id("tcp:1-2", &id), EINVAL);
    CHECK(ib_acm_service_id("rdma", &id) == 0 && id == 0x1000000);
    CHECK(ib_acm_service_id(service, &id) == 0);
    record.service_id = htobe64(id);
    CHECK(inet_pton(AF_INET6, dest, &record.dgid) == 1);
    none = record;
    none.pkey = htons(0x8777);
    FAILS(ib_acm_query_path(NULL, 0, &none), ENODATA);
    FAILS(ib_acm_query_path("none", 0, &none), ENODEV);
    FAILS(ib_acm_query_path(NULL, 0, NULL), EINVAL);

    // The SA chooses the partition and the service level.
    CHECK(ib_acm_query_path(NULL, 0, &record) == 0);
    CHECK(ntohs(record.pkey) == pkey && (ntohs(record.qosclass_sl) & 0xf) == sl);
    memset(&attr, 0xff, sizeof(attr));
    CHECK(ib_acm_path_to_ah(&record, &port, &attr) == 0);
    CHECK(strcmp(port.device, "ibsim0") == 0 && port.port == 1 && port.reserved == 0);
    printf("P_Key index %d, LID %d, path bits %d\n", port.pkey_index, attr.dlid, attr.src_path_bits);
    CHECK(attr.dlid == ntohs(record.dlid) && attr.sl == sl && attr.port_num == 1);
    CHECK(attr.static_rate == (record.rate & 0x3f) && attr.is_global == 0 && attr.grh.sgid_index == 0);
    // A path to another subnet has a global route header.
    record.flowlabel_hoplimit = htonl(0x12345 << 8 | 64);
    record.tclass = 7;
    CHECK(ib_acm_path_to_ah(&record, NULL, &attr) == 0);
    CHECK(attr.is_global == 1 && attr.grh.hop_limit == 64 && attr.grh.flow_label == 0x12345);
    CHECK(attr.grh.traffic_class == 7 && memcmp(&attr.grh.dgid, &record.dgid, 16) == 0);

    none = record;
    none.pkey = htons(0x8777);
    FAILS(ib_acm_path_to_ah(&none, &port, &attr), ENOENT);
    none.sgid = none.dgid;
    FAILS(ib_acm_path_to_ah(&none, &port, &attr), ENODEV);
    FAILS(ib_acm_path_to_ah(NULL, &port, &attr), EINVAL);
}

// A path to a group, without a hop limit.
static void handle(const char *source, uint16_t slid)
{
    struct ibv_path_record record = {.slid = htons(slid), .pkey = htons(0xffff)};
    struct ibv_ah_attr attr;

    CHECK(inet_pton(AF_INET6, source, &record.sgid) == 1 && inet_pton(AF_INET6, "ff12::1", &record.dgid) == 1);
    CHECK(ib_acm_path_to_ah(&record, NULL, &attr) == 0);
    printf("GID index %d, path bits %d, global %d\n", attr.grh.sgid_index, attr.src_path_bits, attr.is_global);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "groups") == 0)
        groups();
    else if (argc == 6 && strcmp(argv[1], "path") == 0)
        path(argv[2], argv[3], (uint16_t)strtoul(argv[4], NULL, 0), (uint8_t)atoi(argv[5]));
    else if (argc == 4 && strcmp(argv[1], "handle") == 0)
        handle(argv[2], (uint16_t)atoi(argv[3]));
    else
        return 2;
    return 0;
}
