/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Tracepoints of the bus: accesses and their answers, windows, shootdowns. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM mimic

#if !defined(MIMIC_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define MIMIC_TRACE_H

#include <linux/tracepoint.h>

#include "mimic/bus.h"

/* A program's load or store of a device page. */
TRACE_EVENT(mimic_access,
	    TP_PROTO(const struct mimic_bus_request *request),
	    TP_ARGS(request),
	    TP_STRUCT__entry(__field(u32, device)
			     __field(u32, binding)
			     __field(u32, offset)
			     __field(u8, page)
			     __field(u8, size)
			     __field(bool, is_write)
			     __field(u64, data)),
	    TP_fast_assign(__entry->device = request->device;
			   __entry->binding = request->binding;
			   __entry->offset = request->offset;
			   __entry->page = request->page;
			   __entry->size = request->size;
			   __entry->is_write = request->is_write;
			   __entry->data = request->data;),
	    TP_printk("device=%u binding=%u %s page=%u offset=%#x size=%u data=%#llx",
		      __entry->device, __entry->binding, __entry->is_write ? "store" : "load",
		      __entry->page, __entry->offset, __entry->size, __entry->data)
);

/* Its end: answered, taken back or failed. */
TRACE_EVENT(mimic_answer,
	    TP_PROTO(const struct mimic_bus_request *request, int status, u64 data),
	    TP_ARGS(request, status, data),
	    TP_STRUCT__entry(__field(u32, device)
			     __field(u32, binding)
			     __field(int, status)
			     __field(u64, data)),
	    TP_fast_assign(__entry->device = request->device;
			   __entry->binding = request->binding;
			   __entry->status = status;
			   __entry->data = data;),
	    TP_printk("device=%u binding=%u status=%d data=%#llx", __entry->device,
		      __entry->binding, __entry->status, __entry->data)
);

/* The daemon touched a page of a window that had no entry. */
TRACE_EVENT(mimic_window,
	    TP_PROTO(u32 binding, u64 address, bool write, int error),
	    TP_ARGS(binding, address, write, error),
	    TP_STRUCT__entry(__field(u32, binding)
			     __field(u64, address)
			     __field(bool, write)
			     __field(int, error)),
	    TP_fast_assign(__entry->binding = binding;
			   __entry->address = address;
			   __entry->write = write;
			   __entry->error = error;),
	    TP_printk("binding=%u address=%#llx %s error=%d", __entry->binding, __entry->address,
		      __entry->write ? "write" : "read", __entry->error)
);

/* The kernel changed the process's memory there. */
TRACE_EVENT(mimic_shootdown,
	    TP_PROTO(u32 binding, u64 start, u64 end),
	    TP_ARGS(binding, start, end),
	    TP_STRUCT__entry(__field(u32, binding)
			     __field(u64, start)
			     __field(u64, end)),
	    TP_fast_assign(__entry->binding = binding;
			   __entry->start = start;
			   __entry->end = end;),
	    TP_printk("binding=%u %#llx-%#llx", __entry->binding, __entry->start,
		      __entry->end)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
