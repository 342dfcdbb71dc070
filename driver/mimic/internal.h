/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Declarations that the files of mimic.ko share.
 *
 * Locks, outermost first. A function that holds one takes only those below it.
 *
 *   mimic_devices_lock     mutex: which devices there are
 *   device->is_opening     one open at a time, until the daemon has answered OPEN: a lock that is
 *                          waited for killably and freezably; the process's mmap_lock is not
 *                          taken under it
 *   a process's mmap_lock  of a program in a trap or an mmap, of the daemon in a window's fault
 *   device->lock           mutex: which processes have the device, its bindings; never held while
 *                          waiting for the daemon
 *   binding->calls_lock    mutex: calls of the driver against their end, when a device is
 *                          taken away
 *   renew_lock             mutex of memory.c: which memory a device has
 *   a page of a device's memory  its page lock: a program's entry against taking it away (memory.c)
 *   binding->window.lock   mutex: window entries against invalidations; inside a notifier
 *   binding->window.changes_lock  raw spinlock: ranges of a process's memory being changed
 *   binding->threads_lock  spinlock: the threads that access it
 *   binding->ending_lock   raw spinlock, as the exit of any task takes it: which of them end
 *   device->connection_lock  spinlock: which daemon serves the device
 *   connection->lock       spinlock: slots and requests
 *
 * A window's fault holds one mmap_lock, the daemon's or the program's, and only
 * tries for the other (window.c). A notifier runs with the program's mmap_lock or a
 * file's i_mmap_rwsem held and takes window.lock, then the spinlocks.
 */
#ifndef MIMIC_INTERNAL_H
#define MIMIC_INTERNAL_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "mimic_bus.h"
#include "mimic/bus.h"

struct io_uring_cmd;
struct irq_domain;
struct mimic_server;

#define MIMIC_SLOT_WORDS (MIMIC_BUS_SLOTS / 64)
#define MIMIC_FETCHES_MAX 4
/* Accesses of programs are counted for a device, or for a page of one that is shared. */
#define MIMIC_LIMITS ((MIMIC_BUS_DEVICES_MAX + 1) * MIMIC_BUS_PAGES_MAX)

/* --- request.c: requests to a daemon --------------------------------------- */

enum mimic_request_state {
	MIMIC_REQUEST_IDLE,
	MIMIC_REQUEST_WAITING,	/* for a slot */
	MIMIC_REQUEST_IN_SLOT,
	MIMIC_REQUEST_ANSWERED,
};

struct mimic_request {
	struct mimic_bus_request body;
	struct list_head link;	/* of a struct mimic_line */
	enum mimic_request_state state;
	u32 slot;
	bool needs_commit;	/* the answer must come by a system call */
	bool again;		/* posted once more while it was being served */
	u16 limit;		/* a program's access: which limit counts it, 0: none */
	u8 slots_max;		/* and how many it allows: MIMIC_BUS_DEVICE_SLOTS, _PAGE_SLOTS */
	u16 slots_wanted;	/* more, while there are some to spare */
	/* Of post_again: posts there were, posts in the last request, posts answered. */
	unsigned long posts, posts_sent, posts_done;
	wait_queue_head_t *posts_wait;	/* told of the last of these */
	int status;
	u64 data;
	struct file *file;	/* CONNECT */
	struct completion done;
	/* Posted: called with connection->lock held when it is answered or never will be. */
	void (*release)(struct mimic_request *request);
};

/* Requests that wait for a slot: a line for each limit, so that the longest holds up no other. */
struct mimic_line {
	struct list_head link;	/* connection->lines */
	struct list_head requests;
};

/* One open of /dev/mimic: a daemon, and those that take over from it. */
struct mimic_connection {
	struct kref kref;
	struct work_struct retire;
	struct inode *inode;	/* of its windows; counted */
	struct pid_namespace *pid_namespace;
	struct user_namespace *user_namespace;
	struct list_head link;	/* of all */
	unsigned long quiet_until;	/* jiffies; no change of memory waits for it before */

	struct mimic_bus_header *header;	/* the daemon may write any byte of it */
	struct mimic_bus_slot *slots;

	spinlock_t lock;	/* of the fields below */
	bool dead;
	struct mimic_server *server;	/* NULL: its memory has ended, or the file is closed */
	struct mm_struct *mm;	/* the server's; read without for comparing */
	/* A successor is waited for: as long as this, if it has the token. */
	u32 keep_ms;	/* 0: none is */
	u8 token[MIMIC_BUS_TOKEN_SIZE];
	bool is_unserved;	/* now; read without, as the next three */
	bool is_starting;	/* a successor has answered nothing yet */
	unsigned int successors;	/* that there have been */
	wait_queue_head_t successor_wait;
	unsigned long expires;	/* jiffies; if it is unserved */
	struct delayed_work expiry;

	u64 serial;	/* of the last request that was put into a slot */
	struct mimic_request *in_slot[MIMIC_BUS_SLOTS];	/* NULL: free, or its waiter gave up */
	DECLARE_BITMAP(used, MIMIC_BUS_SLOTS);
	/* Delivered again: pending or not, a daemon that died may have served it. */
	DECLARE_BITMAP(redelivered, MIMIC_BUS_SLOTS);
	DECLARE_BITMAP(taken_back, MIMIC_BUS_SLOTS);	/* a signal has asked for it */
	u16 limited_by[MIMIC_BUS_SLOTS];
	u16 limited_slots[MIMIC_LIMITS];	/* [0]: those that no limit counts */
	u16 spare_slots;	/* in use beyond a device's share */
	u32 doorbell;
	struct list_head lines;	/* those where a request waits */
	struct mimic_line lines_of[MIMIC_LIMITS];
	struct io_uring_cmd *fetches[MIMIC_FETCHES_MAX];
	void *fetch_files[MIMIC_FETCHES_MAX];	/* whose, for 6.1's flush */
	wait_queue_head_t poll_wait;
};

void mimic_request_init(struct mimic_request *request, u32 kind, const struct mimic_device *device);
/*
 * Sends it and waits for the answer. 0 or the answer's status; -EIO: the daemon died;
 * -EINTR: a fatal signal, the answer will be ignored; -ERESTARTSYS, only if
 * `restartable`: a signal, the request had no effect; -ETIMEDOUT.
 */
int mimic_request_run(struct mimic_connection *connection, struct mimic_request *request,
		      bool restartable, unsigned long timeout);
/* Sends a request that has release(); no thread waits for it. */
void mimic_request_post(struct mimic_connection *connection, struct mimic_request *request);
/* The same for one that may be on its way already: not taken yet, it does for both. */
void mimic_request_post_again(struct mimic_connection *connection, struct mimic_request *request,
			      const struct mimic_bus_request *body);
static inline bool mimic_request_is_done(const struct mimic_request *request, unsigned long posts)
{
	return (long)(READ_ONCE(request->posts_done) - posts) >= 0;
}

/* The posted request's memory goes away. */
void mimic_request_forget(struct mimic_connection *connection, struct mimic_request *request);
/* All requests that wait for this device get `status`. */
void mimic_requests_fail(struct mimic_connection *connection, u32 device, int status);

/* The daemon is dead: all of them end with -EIO, and none comes after this. */
void mimic_requests_end(struct mimic_connection *connection);
/*
 * Another daemon takes over: what the one before has answered is answered, all else in slots is
 * pending. connection->lock is held.
 */
void mimic_requests_deliver_again(struct mimic_connection *connection);

static inline unsigned long *mimic_pending_bits(struct mimic_connection *connection)
{
	return (unsigned long *)connection->header->pending;
}

static inline unsigned long *mimic_cancelled_bits(struct mimic_connection *connection)
{
	return (unsigned long *)connection->header->cancelled;
}

/* With connection->lock held: an answer, and the slot is free. */
void mimic_slot_finish(struct mimic_connection *connection, u32 number, int status, u64 data,
		       struct file *file);
/* The same with the answer that the daemon has put into the shared memory. false: it has not. */
bool mimic_slot_take_answer(struct mimic_connection *connection, u32 number, struct file *file);

/* --- connection.c: a daemon, and its successor ------------------------------- */

/* Or an error. */
struct mimic_connection *mimic_connection_create(struct file *file);
void mimic_connection_put(struct mimic_connection *connection);
/* The daemon is dead: nobody waits for it any more, its devices do for another one. */
void mimic_connection_end(struct mimic_connection *connection);
/* The file goes. */
void mimic_connection_close(struct mimic_connection *connection);
/* The server's memory ends: a successor is waited for, or the connection ends. */
void mimic_connection_lose_server(struct mimic_connection *connection, struct mimic_server *server);
int mimic_connection_keep(struct mimic_connection *connection,
			  const struct mimic_bus_keep *wanted);
/* The calling process is the server. */
int mimic_connection_take_over(struct mimic_connection *connection, const u8 *token);
/* Until one serves it, or none will: 0; -EINTR: a fatal signal. */
int mimic_connection_wait_for_server(struct mimic_connection *connection);
/* The server's memory, as mmget(); NULL: there is none. */
struct mm_struct *mimic_connection_get_mm(struct mimic_connection *connection);

/* --- channel.c: the daemon's end of them ------------------------------------ */

/* An answer by system call. `file` is handed over. */
void mimic_channel_answer(struct mimic_connection *connection, u32 slot, int status, u64 data,
			  struct file *file);
/* The same for one that lies in the shared memory. */
int mimic_channel_commit(struct mimic_connection *connection, u32 slot);
bool mimic_channel_has_pending(struct mimic_connection *connection, u32 *slot);
ssize_t mimic_channel_read(struct mimic_connection *connection, char __user *buffer, size_t size,
			   bool nonblock);
ssize_t mimic_channel_write(struct mimic_connection *connection, const char __user *buffer,
			    size_t size);
__poll_t mimic_channel_poll(struct mimic_connection *connection, struct file *file,
			    poll_table *wait);
int mimic_channel_mmap(struct mimic_connection *connection, struct vm_area_struct *vma);

/* --- uring.c -------------------------------------------------------------- */

int mimic_uring_command(struct io_uring_cmd *command, unsigned int flags);
/* One parked FETCH, if any, is told of `slot`. connection->lock is held. */
void mimic_uring_notify(struct mimic_connection *connection, u32 slot);
/* Completes those of `files` (NULL: all). */
void mimic_uring_flush(struct mimic_connection *connection, void *files);

/* --- device.c, interrupt.c ------------------------------------------------------ */

struct mimic_bus_device {
	struct mimic_device device;
	struct list_head link;	/* mimic_devices */
	struct delayed_work attach;	/* adding it, or telling its driver of a new daemon */
	bool added;
	u32 void_pages;

	bool is_opening;	/* one open at a time */
	struct mutex lock;	/* which processes have it: the next five */
	bool gone;		/* unregistered */
	bool has_driver;	/* else no process can open it */
	bool is_shared;		/* struct mimic_driver; as the next one */
	u16 waiters;
	struct list_head bindings;	/* of living processes; one at most if it is not shared */

	spinlock_t connection_lock;	/* which daemon serves it */
	struct mimic_connection *connection;	/* NULL: its daemon died */
	struct mimic_device_memory *memory;	/* NULL: none; the next one may want another size */
	bool closing;		/* not shared: the last one's CLOSE is on its way */
	bool is_inherited;	/* under mimic_devices_lock: to be registered again */
	bool needs_reset;	/* by the next attach: its state is as after power-on */
	wait_queue_head_t changed;	/* is_opening, closing */

	struct mimic_request posts[MIMIC_DEVICE_POSTS];
	wait_queue_head_t posts_wait;
	struct irq_domain *domain;
	struct fwnode_handle *domain_name;
};

#define to_bus_device(d) container_of(d, struct mimic_bus_device, device)

/* Unbound: an attach may wait for a daemon. */
extern struct workqueue_struct *mimic_workqueue;
extern struct mutex mimic_devices_lock;

int mimic_device_register(struct mimic_connection *connection, struct mimic_bus_register *wanted);
int mimic_device_unregister(struct mimic_connection *connection, u32 id);
int mimic_device_raise(struct mimic_connection *connection, u32 id, u32 line);
/* Another process is the daemon: it may register them as they are. How many there are. */
u32 mimic_devices_inherit(struct mimic_connection *connection);
/* The daemon is dead: its devices wait for another one. */
void mimic_devices_abandon(struct mimic_connection *connection);
void mimic_devices_remove_all(void);
void mimic_devices_exit(void);
/* Counted, or NULL. */
struct mimic_connection *mimic_device_connection(struct mimic_bus_device *device);

/* Until all that has been posted is answered, or will never be: 0; -ETIMEDOUT. Jiffies. */
int mimic_device_wait_for_posts(struct mimic_bus_device *device, long timeout);

int mimic_interrupts_number(struct mimic_device *device, unsigned int line);
int mimic_interrupts_create(struct mimic_bus_device *device);
void mimic_interrupts_destroy(struct mimic_bus_device *device);
int mimic_interrupts_raise(struct mimic_bus_device *device, u32 line);

/* --- window.c: the windows of a binding --------------------------------------- */

/* Changes of a process's memory that are known one by one; more at once are taken for one. */
#define MIMIC_CHANGES_MAX 16

struct mimic_change {
	const struct mmu_notifier_range *range;	/* for comparing; NULL: none */
	unsigned long start, end;
};

struct mimic_window {
	atomic_t parts;		/* mappings of it */
	struct mutex lock;	/* entries against changes */
	/* Addresses that have had entries; changed under lock, read without. */
	u64 seen_start, seen_end;
	/* Changes that wait for the device: the daemon is not to wait for them. */
	atomic_t syncs;
	wait_queue_head_t wait;	/* fills and syncs */
	raw_spinlock_t changes_lock;	/* the next seven */
	bool is_mapped;		/* ever; read without */
	bool is_refused;	/* none is to be mapped any more */
	struct mimic_change changes[MIMIC_CHANGES_MAX];
	unsigned int more_changes;	/* that are in none of these, and all that they cover */
	unsigned long more_start, more_end;
	struct list_head views;	/* struct mimic_view: entries that are being made */
	/* A fault that waits for the process's mmap_lock has a work item wait for it. */
	unsigned long is_filling;
	unsigned long fills_since;	/* jiffies */
	struct task_struct *refused_task;	/* for comparing; see window.c */
	unsigned long refused_page;
};

/* --- binding.c, thread.c -------------------------------------------------- */

struct mimic_binding {
	struct mimic_binding_head head;	/* first */
	struct mimic_bus_device *device;	/* counted */
	struct mimic_connection *connection;	/* counted */
	spinlock_t mm_lock;
	struct mm_struct *mm;	/* grabbed; NULL: has retired. Under mm_lock; compared without */
	kuid_t user;
	atomic_t number_users;
	u32 process;
	struct list_head link;	/* all bindings, for `process` */
	struct list_head device_link;	/* device->bindings; under device->lock */
	unsigned int users;	/* files; under device->lock */
	bool gone;		/* under device->lock; read without */

	struct mutex calls_lock;	/* calls of the driver against their end */
	bool calls_over;
	bool retires;
	struct work_struct retire;

	struct mmu_notifier notifier;
	struct mmu_interval_notifier refusal;
	struct mimic_window window;

	unsigned long memory_first;	/* page of its files where the device's memory begins */
	struct mimic_device_memory *memory;	/* NULL: none */
	struct mimic_device_memory *substitute;	/* for the device's, once gone */
	struct inode *mapping;	/* counted: files map it as long as they are open */

	struct work_struct free;	/* may sleep; mimic_binding_release() may not */
	spinlock_t threads_lock;	/* the next five */
	struct list_head threads;
	u32 last_thread;
	/* Of the first one's thread group, for comparing; and how many are of another one. */
	struct signal_struct *signal;
	unsigned int foreign_threads;
	raw_spinlock_t ending_lock;
	unsigned int ending;	/* threads whose end the daemon has yet to hear of; under it */
	struct mimic_request close;
	struct rcu_head rcu;
};

/* A thread that accesses a device. */
struct mimic_thread {
	struct rhlist_head node;	/* by task */
	struct list_head link;	/* binding->threads */
	struct llist_node ended_link;
	struct task_struct *task;	/* its exit takes the entry away */
	struct mimic_binding *binding;
	bool is_foreign;	/* of another thread group than binding->signal */
	bool is_claimed;	/* its end is being told; under binding->ending_lock */
	u32 number;
	int error;	/* of an access that had released the lock: SIGBUS at the next entry */
	struct mimic_request gone;
	struct rcu_head rcu;
};

/* By number, of a daemon; counted, and its number, too; or NULL. */
struct mimic_binding *mimic_binding_find(struct mimic_connection *connection, u32 number);
/* No access any more. device->lock is held. true: the rest of it is due. */
bool mimic_binding_disable(struct mimic_binding *binding);
/* That, of a process that goes on, without device->lock: windows, memory, the driver's gone(). */
void mimic_binding_taken_away(struct mimic_binding *binding);
/* A request has the number: no other request may have it meanwhile. */
/* Operations of the bus: mimic_bus.h. */
struct mimic_binding *mimic_binding_begin(struct mimic_device *device,
					  const struct mimic_binding_ops *ops, void *context);
void mimic_binding_leave(struct mimic_binding *binding);
void mimic_binding_schedule_free(struct mimic_binding *binding);
int mimic_binding_is_current(struct mimic_binding *binding);
struct mm_struct *mimic_binding_get_living_mm(struct mimic_binding *binding);
void mimic_binding_do_end(struct mimic_binding *binding);
int mimic_binding_ask_for_session(struct mimic_binding *binding, struct file **file);
int mimic_trap_mmap(struct mimic_binding *binding, struct vm_area_struct *vma, unsigned int first,
		    unsigned int count);
void mimic_binding_get_number(struct mimic_binding *binding);
void mimic_binding_put_number(struct mimic_binding *binding);
/* The process's memory, as mmget(); NULL: there is none. Ends with mmput_async(). */
struct mm_struct *mimic_binding_get_mm(struct mimic_binding *binding);
/* Where a test wants a race to be lost. */
void mimic_binding_test_delay(void);
bool mimic_mm_has_bindings(struct mm_struct *mm);
bool mimic_mm_has_connection(struct mm_struct *mm);
void mimic_bindings_exit(void);

int mimic_threads_init(void);
void mimic_threads_exit(void);
/* The entry of the current thread; NULL: no memory. Valid until the thread ends. */
struct mimic_thread *mimic_thread_current(struct mimic_binding *binding);
/*
 * Waits until the daemon has heard of the threads that ended before the last
 * mimic_thread_current(): it takes requests in any order. -ERESTARTSYS: a signal.
 */
int mimic_threads_settle(struct mimic_binding *binding);
void mimic_threads_drop(struct mimic_binding *binding);

/* --- memory.c ------------------------------------------------------------- */

int mimic_memories_init(void);
void mimic_memories_exit(void);
/*
 * Gives the device memory of this size, if it has not: 0 or -errno. Nobody serves it, or
 * can find it.
 */
int mimic_memory_resize(struct mimic_bus_device *device, u32 size);
void mimic_memory_destroy(struct mimic_bus_device *device);
/* A new binding has memory, all zero, which nobody had before: 0 or -ENOMEM. And has it no more. */
int mimic_memory_bind(struct mimic_binding *binding);
void mimic_memory_unbind(struct mimic_binding *binding);
/* Nor has any file of it. */
void mimic_memory_forget(struct mimic_binding *binding);
int mimic_memory_program_mmap(struct mimic_binding *binding, struct vm_area_struct *vma,
			      unsigned long first);
void mimic_memory_share_mapping(struct mimic_binding *binding, struct file *file);
int mimic_memory_mmap(struct mimic_connection *connection, struct vm_area_struct *vma);
/* The binding is gone: its process sees the memory no more. */
void mimic_memory_take_away(struct mimic_binding *binding);

/* --- window.c ------------------------------------------------------------- */

int mimic_window_mmap(struct mimic_connection *connection, struct vm_area_struct *vma);
/* FAULT_IN. */
int mimic_window_fault_in(struct mimic_connection *connection,
			  const struct mimic_bus_fault_in *wanted);
void mimic_window_init(struct mimic_binding *binding);
int mimic_windows_init(void);
void mimic_windows_exit(void);
int mimic_window_sync(struct mimic_binding *binding, unsigned long start, unsigned long end);
/* Of the notifiers. */
bool mimic_window_may_change(struct mmu_interval_notifier *refusal,
			     const struct mmu_notifier_range *range, unsigned long sequence);
int mimic_window_change_begins(struct mmu_notifier *notifier,
			       const struct mmu_notifier_range *range);
void mimic_window_change_ends(struct mmu_notifier *notifier,
			      const struct mmu_notifier_range *range);
void mimic_window_close(struct mimic_binding *binding);

#endif
