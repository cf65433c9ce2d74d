//! Values of enumerations and bits of flags.
#![expect(missing_docs, reason = "each constant has the name and the meaning of verbs.h")]
use core::ffi::{c_int, c_uint};

/// Defines the constants of an enumeration in a module of its name, with their type as `Type`.
macro_rules! constants {
    ($($(#[$doc:meta])* $enumeration:ident: $type:ident { $($name:ident = $value:expr,)* })*) => {
        $($(#[$doc])* pub mod $enumeration {
            pub type Type = super::$type;
            $(pub const $name: Type = $value;)*
        })*
    };
}

constants! {
    /// Kinds of nodes.
    ibv_node_type: c_int { IBV_NODE_CA = 1, }
    /// Kinds of transports.
    ibv_transport_type: c_int { IBV_TRANSPORT_IB = 0, }
    /// Kinds of queue pairs.
    ibv_qp_type: c_uint { IBV_QPT_UD = 4, }
    /// States of a queue pair.
    ibv_qp_state: c_uint {
        IBV_QPS_RESET = 0,
        IBV_QPS_INIT = 1,
        IBV_QPS_RTR = 2,
        IBV_QPS_RTS = 3,
        IBV_QPS_SQD = 4,
        IBV_QPS_SQE = 5,
        IBV_QPS_ERR = 6,
    }
    /// Bits: the attributes that `ibv_modify_qp` and `ibv_query_qp` use.
    ibv_qp_attr_mask: c_int {
        IBV_QP_STATE = 1,
        IBV_QP_PKEY_INDEX = 1 << 4,
        IBV_QP_PORT = 1 << 5,
        IBV_QP_QKEY = 1 << 6,
        IBV_QP_SQ_PSN = 1 << 16,
    }
    /// Bits: what a device may do with registered memory.
    ibv_access_flags: c_int { IBV_ACCESS_LOCAL_WRITE = 1, }
    /// Operations of a work request.
    ibv_wr_opcode: c_uint { IBV_WR_SEND = 2, }
    /// Bits of a send.
    ibv_send_flags: c_uint {
        IBV_SEND_SIGNALED = 1 << 1,
        IBV_SEND_INLINE = 1 << 3,
    }
    /// Results of a work request.
    ibv_wc_status: c_uint {
        IBV_WC_SUCCESS = 0,
        IBV_WC_LOC_LEN_ERR = 1,
        IBV_WC_LOC_QP_OP_ERR = 2,
        IBV_WC_LOC_PROT_ERR = 4,
        IBV_WC_WR_FLUSH_ERR = 5,
    }
    /// Operations of a completion.
    ibv_wc_opcode: c_uint {
        IBV_WC_SEND = 0,
        IBV_WC_RECV = 1 << 7,
    }
    /// Bits of a completion.
    ibv_wc_flags: c_uint { IBV_WC_GRH = 1, }
    /// Asynchronous events.
    ibv_event_type: c_uint {
        IBV_EVENT_CQ_ERR = 0,
        IBV_EVENT_QP_FATAL = 1,
        IBV_EVENT_QP_REQ_ERR = 2,
        IBV_EVENT_QP_ACCESS_ERR = 3,
        IBV_EVENT_DEVICE_FATAL = 8,
        IBV_EVENT_PORT_ACTIVE = 9,
        IBV_EVENT_PORT_ERR = 10,
        IBV_EVENT_LID_CHANGE = 11,
        IBV_EVENT_PKEY_CHANGE = 12,
        IBV_EVENT_SM_CHANGE = 13,
        IBV_EVENT_QP_LAST_WQE_REACHED = 16,
        IBV_EVENT_CLIENT_REREGISTER = 17,
        IBV_EVENT_GID_CHANGE = 18,
    }
}
