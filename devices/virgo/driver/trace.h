/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Tracepoints of virgo.ko, events/virgo/ in tracefs. Each access to a mapped page
 * is traced by the bus (events/mimic/).
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM virgo

#if !defined(TRACE_VIRGO_H) || defined(TRACE_HEADER_MULTI_READ)
#define TRACE_VIRGO_H

#include <linux/tracepoint.h>

DECLARE_EVENT_CLASS(virgo_use,
		    TP_PROTO(int index, pid_t process),
		    TP_ARGS(index, process),
		    TP_STRUCT__entry(__field(int, index)
				     __field(pid_t, process)),
		    TP_fast_assign(__entry->index = index;
				   __entry->process = process;),
		    TP_printk("virgo%d process=%d", __entry->index, __entry->process)
);

/* A process takes the cluster. */
DEFINE_EVENT(virgo_use, virgo_open,
	     TP_PROTO(int index, pid_t process),
	     TP_ARGS(index, process)
);

/* Its last file is closed. */
DEFINE_EVENT(virgo_use, virgo_release,
	     TP_PROTO(int index, pid_t process),
	     TP_ARGS(index, process)
);

/* A unit found a page absent, or not writable. */
TRACE_EVENT(virgo_page_fault,
	    TP_PROTO(int index, unsigned int unit, u64 address, bool writes),
	    TP_ARGS(index, unit, address, writes),
	    TP_STRUCT__entry(__field(int, index)
			     __field(unsigned int, unit)
			     __field(u64, address)
			     __field(bool, writes)),
	    TP_fast_assign(__entry->index = index;
			   __entry->unit = unit;
			   __entry->address = address;
			   __entry->writes = writes;),
	    TP_printk("virgo%d unit=%u address=%#llx access=%s", __entry->index,
		      __entry->unit, __entry->address, __entry->writes ? "write" : "read")
);

/* The driver lets it go on. result: 0, the page is there; else why not. */
TRACE_EVENT(virgo_resolve,
	    TP_PROTO(int index, unsigned int unit, u64 address, int result),
	    TP_ARGS(index, unit, address, result),
	    TP_STRUCT__entry(__field(int, index)
			     __field(unsigned int, unit)
			     __field(u64, address)
			     __field(int, result)),
	    TP_fast_assign(__entry->index = index;
			   __entry->unit = unit;
			   __entry->address = address;
			   __entry->result = result;),
	    TP_printk("virgo%d unit=%u address=%#llx result=%d", __entry->index,
		      __entry->unit, __entry->address, __entry->result)
);

/* Events that the eventfd counts have happened. */
TRACE_EVENT(virgo_events,
	    TP_PROTO(int index, u64 events),
	    TP_ARGS(index, events),
	    TP_STRUCT__entry(__field(int, index)
			     __field(u64, events)),
	    TP_fast_assign(__entry->index = index;
			   __entry->events = events;),
	    TP_printk("virgo%d events=%#llx", __entry->index, __entry->events)
);

/* Translations of [start, end) are gone: a flush is posted. */
TRACE_EVENT(virgo_shootdown,
	    TP_PROTO(int index, unsigned long start, unsigned long end),
	    TP_ARGS(index, start, end),
	    TP_STRUCT__entry(__field(int, index)
			     __field(unsigned long, start)
			     __field(unsigned long, end)),
	    TP_fast_assign(__entry->index = index;
			   __entry->start = start;
			   __entry->end = end;),
	    TP_printk("virgo%d start=%#lx end=%#lx", __entry->index, __entry->start,
		      __entry->end)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
