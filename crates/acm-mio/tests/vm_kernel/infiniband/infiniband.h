/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Soft-RoCE as InfiniBand, for tests: the functions that infiniband.sed makes the driver call.
 *
 * The network device has a MAC address 02:00:00:00:HH:LL. Its port has the LID 0xHHLL, and the GID that is also the
 * network device's link-local address, fe80::ff:fe00:HHLL. A packet to a LID goes to that address.
 */
#ifndef ACM_INFINIBAND_H
#define ACM_INFINIBAND_H

static inline u32 infiniband_lid(struct rxe_dev *rxe)
{
	return rxe->ndev->dev_addr[4] << 8 | rxe->ndev->dev_addr[5];
}

/* 4X EDR: 100 Gb/s. */
static inline int infiniband_speed(struct ib_device *device, u32 port, u16 *speed, u8 *width)
{
	*speed = IB_SPEED_EDR;
	*width = IB_WIDTH_4X;
	return 0;
}

static inline int infiniband_query_gid(struct ib_device *device, u32 port, int index, union ib_gid *gid)
{
	struct rxe_dev *rxe = to_rdev(device);

	memset(gid, 0, sizeof(*gid));
	if (index == 0) {
		gid->global.subnet_prefix = rxe->port.subnet_prefix;
		gid->global.interface_id = rxe->port.port_guid;
	}
	return 0;
}

/* Fills an address vector: the addresses of the packets are IPv6 addresses. */
static inline void infiniband_av(struct ib_device *device, struct rdma_ah_attr *attr, struct rxe_av *av)
{
	struct in6_addr *from = &av->sgid_addr._sockaddr_in6.sin6_addr, *to = &av->dgid_addr._sockaddr_in6.sin6_addr;
	struct rxe_dev *rxe = to_rdev(device);
	bool by_lid = !(rdma_ah_get_ah_flags(attr) & IB_AH_GRH);

	rxe_av_from_attr(rdma_ah_get_port_num(attr), av, attr);
	if (by_lid) {
		union ib_gid gid = {
			.global.subnet_prefix = rxe->port.subnet_prefix,
			.global.interface_id = cpu_to_be64(0x000000fffe000000ULL | rdma_ah_get_dlid(attr)),
		};

		memcpy(av->grh.dgid.raw, gid.raw, sizeof(gid));
		av->grh.sgid_index = 0;
		av->grh.hop_limit = 1;
	}
	av->network_type = RXE_NETWORK_TYPE_IPV6;
	av->sgid_addr._sockaddr_in6.sin6_family = AF_INET6;
	av->dgid_addr._sockaddr_in6.sin6_family = AF_INET6;
	infiniband_query_gid(&rxe->ib_dev, 1, 0, (union ib_gid *)from);
	memcpy(to, av->grh.dgid.raw, sizeof(*to));
}

#endif
