/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Tracepoints of maple.ko, events/maple/ in tracefs. Each access to a mapped
 * page is traced by the bus (events/mimic/).
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM maple

#if !defined(TRACE_MAPLE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TRACE_MAPLE_H

#include <linux/tracepoint.h>

DECLARE_EVENT_CLASS(maple_use,
		    TP_PROTO(int index, pid_t process),
		    TP_ARGS(index, process),
		    TP_STRUCT__entry(__field(int, index)
				     __field(pid_t, process)),
		    TP_fast_assign(__entry->index = index;
				   __entry->process = process;),
		    TP_printk("maple%d process=%d", __entry->index, __entry->process)
);

/* A process takes the device. */
DEFINE_EVENT(maple_use, maple_open,
	     TP_PROTO(int index, pid_t process),
	     TP_ARGS(index, process)
);

/* It has given the device back, or is gone. */
DEFINE_EVENT(maple_use, maple_release,
	     TP_PROTO(int index, pid_t process),
	     TP_ARGS(index, process)
);

#define maple_show_sources(sources) \
	__print_flags(sources, "|", { 1, "pipes" }, { 2, "lima" })

/* The device found a page absent. */
TRACE_EVENT(maple_page_fault,
	    TP_PROTO(int index, u64 address, unsigned int sources, bool writes),
	    TP_ARGS(index, address, sources, writes),
	    TP_STRUCT__entry(__field(int, index)
			     __field(u64, address)
			     __field(unsigned int, sources)
			     __field(bool, writes)),
	    TP_fast_assign(__entry->index = index;
			   __entry->address = address;
			   __entry->sources = sources;
			   __entry->writes = writes;),
	    TP_printk("maple%d address=%#llx sources=%s access=%s", __entry->index,
		      __entry->address, maple_show_sources(__entry->sources),
		      __entry->writes ? "write" : "read")
);

/* The driver lets it walk again. result: 0, the page is there; else why not. */
TRACE_EVENT(maple_resolve,
	    TP_PROTO(int index, u64 address, unsigned int sources, int result),
	    TP_ARGS(index, address, sources, result),
	    TP_STRUCT__entry(__field(int, index)
			     __field(u64, address)
			     __field(unsigned int, sources)
			     __field(int, result)),
	    TP_fast_assign(__entry->index = index;
			   __entry->address = address;
			   __entry->sources = sources;
			   __entry->result = result;),
	    TP_printk("maple%d address=%#llx sources=%s result=%d", __entry->index,
		      __entry->address, maple_show_sources(__entry->sources), __entry->result)
);

/* Translations of [start, end) are gone: a flush is posted. */
TRACE_EVENT(maple_shootdown,
	    TP_PROTO(int index, unsigned long start, unsigned long end),
	    TP_ARGS(index, start, end),
	    TP_STRUCT__entry(__field(int, index)
			     __field(unsigned long, start)
			     __field(unsigned long, end)),
	    TP_fast_assign(__entry->index = index;
			   __entry->start = start;
			   __entry->end = end;),
	    TP_printk("maple%d start=%#lx end=%#lx", __entry->index, __entry->start,
		      __entry->end)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
