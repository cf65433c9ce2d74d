# Changes a copy of Linux's Soft-RoCE driver, drivers/infiniband/sw/rxe: its ports get the link layer InfiniBand.
# `.ci/vm-test` applies it to all files of C. The functions are in infiniband.h.
s/^#include "rxe_loc\.h"/&\n#include "infiniband.h"/
s/\bIB_LINK_LAYER_ETHERNET\b/IB_LINK_LAYER_INFINIBAND/
# Without the management of subnets, which needs a queue pair 0.
s/\bRDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP\b/RDMA_CORE_PORT_IBA_IB \& ~RDMA_CORE_CAP_IB_SMI/
s/^\t\.query_port\b/\t.query_gid = infiniband_query_gid,\n&/
s/\b\(RXE_PORT_GID_TBL_LEN\t*=\) [0-9]*/\1 1/
# No port has this LID: a subnet administrator that never responds.
s/\b\(RXE_PORT_SM_LID\t*=\) [0-9]*/\1 0xbeef/
s/^\tspin_lock_init(&port->port_lock);/&\n\tport->attr.lid = infiniband_lid(rxe);/
s/\bib_get_eth_speed(/infiniband_speed(/
# Address vectors.
s/\brxe_init_av(\(.*\)&\(ah\|qp\)->/infiniband_av(\2->ib\2.device, \1\&\2->/
s/\btype < RDMA_NETWORK_IPV4\b/type < RDMA_NETWORK_IB/
# Packets.
s/\brdma_read_gid_attr_ndev_rcu(attr)/rxe->ndev/
s/\bIB_GID_TYPE_ROCE_UDP_ENCAP\b/IB_GID_TYPE_IB/
s/\b1, skb->dev);/1, NULL);/
# The module is loaded beside the original.
s/\bROCE_V2_UDP_DPORT\b/(ROCE_V2_UDP_DPORT + 1)/
s/\(\.type = \|MODULE_ALIAS_RDMA_LINK(\)"rxe"/\1"rxeib"/
