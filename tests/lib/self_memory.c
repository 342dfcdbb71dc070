/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/lib/self_memory.h"

/* From one to the other by a pipe, which has room for more: so both addresses are checked. */
static bool copy_by_pipe(const struct iovec *to, const struct iovec *from)
{
	bool is_copied = false;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return false;
	if (write(ends[1], from->iov_base, from->iov_len) == (ssize_t)from->iov_len)
		is_copied = read(ends[0], to->iov_base, to->iov_len) == (ssize_t)to->iov_len;
	close(ends[0]);
	close(ends[1]);
	return is_copied;
}

/*
 * As many bytes as could be transferred, or -1. The kernel checks addresses: an unmapped one is an error, not a
 * signal. qemu-user does not know the call.
 */
static ssize_t transfer_pieces(const struct iovec *local, const struct iovec *remote, size_t count, bool write)
{
	ssize_t moved = write ? process_vm_writev(getpid(), local, count, remote, count, 0) :
				process_vm_readv(getpid(), local, count, remote, count, 0);

	if (moved >= 0 || errno != ENOSYS)
		return moved;
	moved = 0;
	for (size_t i = 0; i < count; i++) {
		if (!copy_by_pipe(write ? &remote[i] : &local[i], write ? &local[i] : &remote[i]))
			break;
		moved += (ssize_t)local[i].iov_len;
	}
	return moved;
}

static int transfer(uint64_t address, void *buffer, size_t size, bool write)
{
	struct iovec local = { buffer, size };
	struct iovec remote = { (void *)(uintptr_t)address, size };

	return transfer_pieces(&local, &remote, 1, write) == (ssize_t)size ? 0 : -EFAULT;
}

static long gather(void *context, const uint64_t *addresses, size_t count, unsigned int size,
		   uint64_t tag, uint64_t *values)
{
	(void)context;
	(void)tag;
	for (size_t i = 0; i < count; i++) {
		values[i] = 0;
		if (transfer(addresses[i], &values[i], size, false))
			return (long)i;
	}
	return (long)count;
}

static int read_bytes(void *context, uint64_t address, void *buffer, size_t size)
{
	unsigned char *bytes = buffer;
	int error = 0;

	(void)context;
	memset(buffer, 0, size);
	for (size_t i = 0; i < size; i++)
		if (transfer(address + i, bytes + i, 1, false))
			error = -EFAULT;
	return error;
}

static uint32_t apply(enum mimic_atomic operation, uint32_t old, uint32_t operand, uint32_t expected)
{
	switch (operation) {
	case MIMIC_ATOMIC_ADD:
		return old + operand;
	case MIMIC_ATOMIC_AND:
		return old & operand;
	case MIMIC_ATOMIC_OR:
		return old | operand;
	case MIMIC_ATOMIC_XOR:
		return old ^ operand;
	case MIMIC_ATOMIC_MAX:
		return (int32_t)old > (int32_t)operand ? old : operand;
	case MIMIC_ATOMIC_MAXU:
		return old > operand ? old : operand;
	case MIMIC_ATOMIC_MIN:
		return (int32_t)old < (int32_t)operand ? old : operand;
	case MIMIC_ATOMIC_MINU:
		return old < operand ? old : operand;
	case MIMIC_ATOMIC_SWAP:
		return operand;
	case MIMIC_ATOMIC_CAS:
		return old == expected ? operand : old;
	}
	return old;
}

static int atomic(void *context, uint64_t address, enum mimic_atomic operation, uint32_t operand,
		  uint32_t expected, uint32_t *old)
{
	uint32_t value;

	(void)context;
	if (transfer(address, &value, sizeof(value), false))
		return -EFAULT;
	*old = value;
	value = apply(operation, value, operand, expected);
	return transfer(address, &value, sizeof(value), true);
}

#define ROW_STRIDE 64	/* as devices/model.h says of rows */

#define AT_ONCE 256	/* rows of one call of the kernel: many times faster than one by one */

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Rows of `size` bytes as the two lists say. The number of rows before the first with a bad address. */
static long transfer_rows(struct iovec *local, struct iovec *remote, size_t count, size_t size, bool write)
{
	ssize_t moved = transfer_pieces(local, remote, count, write);

	return moved < 0 ? 0 : (long)((size_t)moved / size);
}

/* Row i lies at addresses[i], or, where there are none, at address + i * stride. */
static long transfer_all(const uint64_t *addresses, uint64_t address, uint64_t stride, size_t count, size_t size,
			 unsigned char *buffer, size_t buffer_stride, bool write)
{
	struct iovec local[AT_ONCE], remote[AT_ONCE];
	size_t done = 0;

	while (done < count) {
		size_t now = smaller(count - done, AT_ONCE);
		size_t moved;

		for (size_t i = 0; i < now; i++) {
			uint64_t row = addresses ? addresses[done + i] : address + (done + i) * stride;

			remote[i] = (struct iovec){ (void *)(uintptr_t)row, size };
			local[i] = (struct iovec){ buffer + (done + i) * buffer_stride, size };
		}
		moved = (size_t)transfer_rows(local, remote, now, size, write);
		done += moved;
		if (moved < now)
			break;
	}
	return (long)done;
}

static long read_rows(void *context, const uint64_t *addresses, size_t count, size_t size, void *rows)
{
	long done = transfer_all(addresses, 0, 0, count, size, rows, ROW_STRIDE, false);

	(void)context;
	for (long i = 0; i < done; i++)
		memset((unsigned char *)rows + i * ROW_STRIDE + size, 0, ROW_STRIDE - size);
	return done;
}

static long write_rows(void *context, const uint64_t *addresses, size_t count, size_t size,
		       const void *rows)
{
	(void)context;
	return transfer_all(addresses, 0, 0, count, size, (unsigned char *)(uintptr_t)rows, ROW_STRIDE, true);
}

static long read_block(void *context, uint64_t address, uint64_t stride, size_t size, size_t count,
		       void *buffer, size_t buffer_stride)
{
	(void)context;
	return transfer_all(NULL, address, stride, count, size, buffer, buffer_stride, false);
}

static long write_block(void *context, uint64_t address, uint64_t stride, size_t size, size_t count,
			const void *buffer, size_t buffer_stride)
{
	(void)context;
	return transfer_all(NULL, address, stride, count, size, (unsigned char *)(uintptr_t)buffer, buffer_stride, true);
}

struct mimic_memory self_memory(void)
{
	return (struct mimic_memory){
		.gather = gather, .read = read_bytes, .atomic = atomic,
		.read_rows = read_rows, .write_rows = write_rows,
		.read_block = read_block, .write_block = write_block,
	};
}
