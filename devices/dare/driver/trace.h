/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Tracepoints of dare.ko, events/dare/ in tracefs. Each access to a mapped page
 * is traced by the bus (events/mimic/).
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM dare

#if !defined(TRACE_DARE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TRACE_DARE_H

#include <linux/tracepoint.h>

DECLARE_EVENT_CLASS(dare_use,
		    TP_PROTO(int index, unsigned int context, pid_t process),
		    TP_ARGS(index, context, process),
		    TP_STRUCT__entry(__field(int, index)
				     __field(unsigned int, context)
				     __field(pid_t, process)),
		    TP_fast_assign(__entry->index = index;
				   __entry->context = context;
				   __entry->process = process;),
		    TP_printk("dare%d context=%u process=%d", __entry->index,
			      __entry->context, __entry->process)
);

/* A file of a process gets a context. */
DEFINE_EVENT(dare_use, dare_open,
	     TP_PROTO(int index, unsigned int context, pid_t process),
	     TP_ARGS(index, context, process)
);

/* It is closed. */
DEFINE_EVENT(dare_use, dare_release,
	     TP_PROTO(int index, unsigned int context, pid_t process),
	     TP_ARGS(index, context, process)
);

/* A context found a page absent, or not writable. */
TRACE_EVENT(dare_page_fault,
	    TP_PROTO(int index, unsigned int context, u64 address, bool writes),
	    TP_ARGS(index, context, address, writes),
	    TP_STRUCT__entry(__field(int, index)
			     __field(unsigned int, context)
			     __field(u64, address)
			     __field(bool, writes)),
	    TP_fast_assign(__entry->index = index;
			   __entry->context = context;
			   __entry->address = address;
			   __entry->writes = writes;),
	    TP_printk("dare%d context=%u address=%#llx access=%s", __entry->index,
		      __entry->context, __entry->address, __entry->writes ? "write" : "read")
);

/* The driver lets it go on. result: 0, the page is there; else why not. */
TRACE_EVENT(dare_resolve,
	    TP_PROTO(int index, unsigned int context, u64 address, int result),
	    TP_ARGS(index, context, address, result),
	    TP_STRUCT__entry(__field(int, index)
			     __field(unsigned int, context)
			     __field(u64, address)
			     __field(int, result)),
	    TP_fast_assign(__entry->index = index;
			   __entry->context = context;
			   __entry->address = address;
			   __entry->result = result;),
	    TP_printk("dare%d context=%u address=%#llx result=%d", __entry->index,
		      __entry->context, __entry->address, __entry->result)
);

/* Translations of [start, end) are gone: a flush of the context is posted. */
TRACE_EVENT(dare_shootdown,
	    TP_PROTO(int index, unsigned int context, unsigned long start, unsigned long end),
	    TP_ARGS(index, context, start, end),
	    TP_STRUCT__entry(__field(int, index)
			     __field(unsigned int, context)
			     __field(unsigned long, start)
			     __field(unsigned long, end)),
	    TP_fast_assign(__entry->index = index;
			   __entry->context = context;
			   __entry->start = start;
			   __entry->end = end;),
	    TP_printk("dare%d context=%u start=%#lx end=%#lx", __entry->index,
		      __entry->context, __entry->start, __entry->end)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
