//! `ib-verbs-sys` beside rdma-sys, which generates its bindings from the headers of the machine: the sizes, the places
//! and sizes of fields, the constants, and the types of functions are equal. Needs the feature `rdma-sys`, libclang-dev and
//! librdmacm-dev; `.ci/more` runs it.
use core::{ffi, mem::offset_of};

/// The size of a field, without a value of it.
const fn size_of_field<S, F>(_: fn(&S) -> &F) -> usize {
    size_of::<F>()
}

/// Compares structures, and fields as `ours` or as `ours = theirs`.
macro_rules! compare {
    ($($name:ident { $($ours:ident $(= $theirs:ident)?,)* })*) => { $(
        assert_eq!(size_of::<ib_verbs_sys::$name>(), size_of::<rdma_sys::$name>(), stringify!($name));
        assert_eq!(align_of::<ib_verbs_sys::$name>(), align_of::<rdma_sys::$name>(), stringify!($name));
        $(compare!(@field $name, $ours, $ours $(, $theirs)?);)*
    )* };
    (@field $name:ident, $ours:ident, $same:ident) => { compare!(@field $name, $ours, $same, $same) };
    (@field $name:ident, $ours:ident, $same:ident, $theirs:ident) => {
        let field = concat!(stringify!($name), ".", stringify!($ours));
        assert_eq!(offset_of!(ib_verbs_sys::$name, $ours), offset_of!(rdma_sys::$name, $theirs), "{field}");
        assert_eq!(
            size_of_field(|it: &ib_verbs_sys::$name| &it.$ours),
            size_of_field(|it: &rdma_sys::$name| &it.$theirs),
            "{field}"
        );
    };
}

#[test]
fn structures_have_the_layout_of_the_headers() {
    compare! {
        ibv_device_attr {
            fw_ver, node_guid, sys_image_guid, max_mr_size, page_size_cap, vendor_id, vendor_part_id, hw_ver, max_qp,
            max_qp_wr, device_cap_flags, max_sge, max_sge_rd, max_cq, max_cqe, max_mr, max_pd, max_qp_rd_atom,
            max_ee_rd_atom, max_res_rd_atom, max_qp_init_rd_atom, max_ee_init_rd_atom, atomic_cap, max_ee, max_rdd,
            max_mw, max_raw_ipv6_qp, max_raw_ethy_qp, max_mcast_grp, max_mcast_qp_attach, max_total_mcast_qp_attach,
            max_ah, max_fmr, max_map_per_fmr, max_srq, max_srq_wr, max_srq_sge, max_pkeys, local_ca_ack_delay,
            phys_port_cnt,
        }
        ibv_port_attr {
            state, max_mtu, active_mtu, gid_tbl_len, port_cap_flags, max_msg_sz, bad_pkey_cntr, qkey_viol_cntr,
            pkey_tbl_len, lid, sm_lid, lmc, max_vl_num, sm_sl, subnet_timeout, init_type_reply, active_width,
            active_speed, phys_state, link_layer, flags, port_cap_flags2,
        }
        ibv_gid {}
        ibv_gid_entry { gid, gid_index, port_num, gid_type, ndev_ifindex, }
        ibv_global_route { dgid, flow_label, sgid_index, hop_limit, traffic_class, }
        ibv_ah_attr { grh, dlid, sl, src_path_bits, static_rate, is_global, port_num, }
        ibv_qp_cap { max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data, }
        ibv_qp_init_attr { qp_context, send_cq, recv_cq, srq, cap, qp_type, sq_sig_all, }
        ibv_qp_attr {
            qp_state, cur_qp_state, path_mtu, path_mig_state, qkey, rq_psn, sq_psn, dest_qp_num, qp_access_flags, cap,
            ah_attr, alt_ah_attr, pkey_index, alt_pkey_index, en_sqd_async_notify, sq_draining, max_rd_atomic,
            max_dest_rd_atomic, min_rnr_timer, port_num, timeout, retry_cnt, rnr_retry, alt_port_num, alt_timeout,
            rate_limit,
        }
        ibv_sge { addr, length, lkey, }
        ibv_recv_wr { wr_id, next, sg_list, num_sge, }
        ibv_send_wr {
            wr_id, next, sg_list, num_sge, opcode, send_flags, imm_data = imm_data_invalidated_rkey_union, wr, qp_type,
            bind_mw = bind_mw_tso_union,
        }
        wr_t {}
        ud_t { ah, remote_qpn, remote_qkey, }
        ibv_wc {
            wr_id, status, opcode, vendor_err, byte_len, imm_data = imm_data_invalidated_rkey_union, qp_num, src_qp,
            wc_flags, pkey_index, slid, sl, dlid_path_bits,
        }
        ibv_async_event_element_t {}
        ibv_async_event { element, event_type, }
        ibv_device { ops = _ops, node_type, transport_type, name, dev_name, dev_path, ibdev_path, }
        ibv_context { device, ops, cmd_fd, async_fd, num_comp_vectors, mutex, abi_compat, }
        ibv_context_ops { poll_cq, req_notify_cq, post_send, post_recv, }
        verbs_context { query_port, placeholder = _ABI_placeholder3, sz, context, }
        ibv_pd { context, handle, }
        ibv_mr { context, pd, addr, length, handle, lkey, rkey, }
        ibv_ah { context, pd, handle, }
        ibv_comp_channel { context, fd, refcnt, }
        ibv_cq {
            context, channel, cq_context, handle, cqe, mutex, cond, comp_events_completed, async_events_completed,
        }
        ibv_qp {
            context, qp_context, pd, send_cq, recv_cq, srq, handle, qp_num, state, qp_type, mutex, cond,
            events_completed,
        }
    }
}

/// Compares numbers of enumerations. rdma-sys has them as numbers or as enumerations, and bits as structures of a number.
macro_rules! numbers {
    ($($enumeration:ident { $($name:ident)* })*; $($bits:ident { $($bit:ident)* })*) => {
        $($(assert_eq!(
            i64::from(ib_verbs_sys::$enumeration::$name),
            rdma_sys::$enumeration::$name as i64,
            stringify!($name)
        );)*)*
        $($(assert_eq!(
            i64::from(ib_verbs_sys::$bits::$bit),
            i64::from(rdma_sys::$bits::$bit.0),
            stringify!($bit)
        );)*)*
    };
}

#[test]
fn constants_are_those_of_the_headers() {
    numbers! {
        ibv_node_type { IBV_NODE_CA }
        ibv_transport_type { IBV_TRANSPORT_IB }
        ibv_qp_type { IBV_QPT_UD }
        ibv_qp_state { IBV_QPS_RESET IBV_QPS_INIT IBV_QPS_RTR IBV_QPS_RTS IBV_QPS_SQD IBV_QPS_SQE IBV_QPS_ERR }
        ibv_wr_opcode { IBV_WR_SEND }
        ibv_wc_status { IBV_WC_SUCCESS IBV_WC_LOC_LEN_ERR IBV_WC_LOC_QP_OP_ERR IBV_WC_LOC_PROT_ERR IBV_WC_WR_FLUSH_ERR }
        ibv_wc_opcode { IBV_WC_SEND IBV_WC_RECV }
        ibv_event_type {
            IBV_EVENT_CQ_ERR IBV_EVENT_QP_FATAL IBV_EVENT_QP_REQ_ERR IBV_EVENT_QP_ACCESS_ERR IBV_EVENT_DEVICE_FATAL
            IBV_EVENT_PORT_ACTIVE IBV_EVENT_PORT_ERR IBV_EVENT_LID_CHANGE IBV_EVENT_PKEY_CHANGE IBV_EVENT_SM_CHANGE
            IBV_EVENT_QP_LAST_WQE_REACHED IBV_EVENT_CLIENT_REREGISTER IBV_EVENT_GID_CHANGE
        }
        ;
        ibv_qp_attr_mask { IBV_QP_STATE IBV_QP_PKEY_INDEX IBV_QP_PORT IBV_QP_QKEY IBV_QP_SQ_PSN }
        ibv_access_flags { IBV_ACCESS_LOCAL_WRITE }
        ibv_send_flags { IBV_SEND_SIGNALED IBV_SEND_INLINE }
        ibv_wc_flags { IBV_WC_GRH }
    }
}

/// The functions' types, once with the structures of each crate: this compiles only if both have them.
macro_rules! signatures {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        mod ours {
            use ib_verbs_sys::{self as crate_, *};
            use super::ffi::{c_char, c_int, c_uint, c_void};
            type FirstPortAttributes = ibv_port_attr;
            $(const _: unsafe extern "C" fn($($argument),*) $(-> $result)? = crate_::$name;)*
        }
        mod theirs {
            use rdma_sys::{self as crate_, *};
            use super::ffi::{c_char, c_int, c_uint, c_void};
            type FirstPortAttributes = _compat_ibv_port_attr;
            $(const _: unsafe extern "C" fn($($argument),*) $(-> $result)? = crate_::$name;)*
        }
    };
}

signatures! {
    ibv_get_device_list(*mut c_int) -> *mut *mut ibv_device;
    ibv_free_device_list(*mut *mut ibv_device);
    ibv_get_device_name(*mut ibv_device) -> *const c_char;
    ibv_open_device(*mut ibv_device) -> *mut ibv_context;
    ibv_close_device(*mut ibv_context) -> c_int;
    ibv_query_device(*mut ibv_context, *mut ibv_device_attr) -> c_int;
    ibv_query_port(*mut ibv_context, u8, *mut FirstPortAttributes) -> c_int;
    ibv_alloc_pd(*mut ibv_context) -> *mut ibv_pd;
    ibv_dealloc_pd(*mut ibv_pd) -> c_int;
    ibv_create_comp_channel(*mut ibv_context) -> *mut ibv_comp_channel;
    ibv_destroy_comp_channel(*mut ibv_comp_channel) -> c_int;
    ibv_create_cq(*mut ibv_context, c_int, *mut c_void, *mut ibv_comp_channel, c_int) -> *mut ibv_cq;
    ibv_destroy_cq(*mut ibv_cq) -> c_int;
    ibv_get_cq_event(*mut ibv_comp_channel, *mut *mut ibv_cq, *mut *mut c_void) -> c_int;
    ibv_ack_cq_events(*mut ibv_cq, c_uint);
    ibv_get_async_event(*mut ibv_context, *mut ibv_async_event) -> c_int;
    ibv_ack_async_event(*mut ibv_async_event);
    ibv_reg_mr(*mut ibv_pd, *mut c_void, usize, c_int) -> *mut ibv_mr;
    ibv_dereg_mr(*mut ibv_mr) -> c_int;
    ibv_create_qp(*mut ibv_pd, *mut ibv_qp_init_attr) -> *mut ibv_qp;
    ibv_modify_qp(*mut ibv_qp, *mut ibv_qp_attr, c_int) -> c_int;
    ibv_query_qp(*mut ibv_qp, *mut ibv_qp_attr, c_int, *mut ibv_qp_init_attr) -> c_int;
    ibv_destroy_qp(*mut ibv_qp) -> c_int;
    ibv_create_ah(*mut ibv_pd, *mut ibv_ah_attr) -> *mut ibv_ah;
    ibv_destroy_ah(*mut ibv_ah) -> c_int;
    ibv_attach_mcast(*mut ibv_qp, *const ibv_gid, u16) -> c_int;
    ibv_detach_mcast(*mut ibv_qp, *const ibv_gid, u16) -> c_int;
}
