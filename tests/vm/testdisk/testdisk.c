// SPDX-License-Identifier: GPL-2.0
/*
 * A disk in memory, /dev/testdisk, for swap in the guests: Debian's kernels have all their drivers
 * of disks in modules, and none of those is in a guest.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/highmem.h>
#include <linux/module.h>

#include "compat.h"

#define DISK_PAGES 8192u

/* NULL: never written, zeros. */
static struct page *pages[DISK_PAGES];
static struct gendisk *disk;
static int major;

/* The disk's page, made if need be; NULL: no memory. */
static struct page *testdisk_make_page(u64 number)
{
	struct page *page = READ_ONCE(pages[number]);
	struct page *fresh;

	if (page)
		return page;
	fresh = alloc_page(GFP_NOIO | __GFP_ZERO);
	if (!fresh)
		return NULL;
	page = cmpxchg(&pages[number], NULL, fresh);
	if (!page)
		return fresh;
	__free_page(fresh);
	return page;
}

/* Within one page of the disk. */
static int testdisk_copy(u64 at, char *buffer, size_t size, bool is_write)
{
	struct page *page = is_write ? testdisk_make_page(at >> PAGE_SHIFT) :
				       READ_ONCE(pages[at >> PAGE_SHIFT]);
	char *place;

	if (!page && is_write)
		return -ENOMEM;
	if (!page) {
		memset(buffer, 0, size);
		return 0;
	}
	place = kmap_local_page(page);
	if (is_write)
		memcpy(place + offset_in_page(at), buffer, size);
	else
		memcpy(buffer, place + offset_in_page(at), size);
	kunmap_local(place);
	return 0;
}

static int testdisk_copy_all(u64 at, char *buffer, size_t size, bool is_write)
{
	size_t done = 0, piece;
	int error = 0;

	for (; !error && done < size; done += piece) {
		piece = min_t(size_t, size - done, PAGE_SIZE - offset_in_page(at + done));
		error = testdisk_copy(at + done, buffer + done, piece, is_write);
	}
	return error;
}

static void testdisk_submit(struct bio *bio)
{
	u64 at = (u64)bio->bi_iter.bi_sector << SECTOR_SHIFT;
	struct bvec_iter iterator;
	struct bio_vec vector;
	int error = 0;

	bio_for_each_segment(vector, bio, iterator) {
		char *buffer = bvec_kmap_local(&vector);

		if (!error)
			error = testdisk_copy_all(at, buffer, vector.bv_len,
						  op_is_write(bio_op(bio)));
		kunmap_local(buffer);
		at += vector.bv_len;
	}
	bio->bi_status = errno_to_blk_status(error);
	bio_endio(bio);
}

static const struct block_device_operations operations = {
	.owner = THIS_MODULE,
	.submit_bio = testdisk_submit,
};

static struct gendisk *testdisk_allocate(void)
{
#if MIMIC_KERNEL(6, 9)
	return blk_alloc_disk(NULL, NUMA_NO_NODE);
#else
	struct gendisk *fresh = blk_alloc_disk(NUMA_NO_NODE);

	return fresh ?: ERR_PTR(-ENOMEM);
#endif
}

static int __init testdisk_init(void)
{
	int error;

	major = register_blkdev(0, "testdisk");
	if (major < 0)
		return major;
	disk = testdisk_allocate();
	error = PTR_ERR_OR_ZERO(disk);
	if (error)
		goto no_disk;
	disk->major = major;
	disk->minors = 1;
	disk->fops = &operations;
	strscpy(disk->disk_name, "testdisk", sizeof(disk->disk_name));
	set_capacity(disk, (sector_t)DISK_PAGES << (PAGE_SHIFT - SECTOR_SHIFT));
	error = add_disk(disk);
	if (!error)
		return 0;
	put_disk(disk);
no_disk:
	unregister_blkdev(major, "testdisk");
	return error;
}

static void __exit testdisk_exit(void)
{
	unsigned int i;

	del_gendisk(disk);
	put_disk(disk);
	unregister_blkdev(major, "testdisk");
	for (i = 0; i < DISK_PAGES; i++) {
		if (pages[i])
			__free_page(pages[i]);
	}
}

module_init(testdisk_init);
module_exit(testdisk_exit);

MODULE_DESCRIPTION("A disk in memory, for tests in virtual machines");
MODULE_LICENSE("GPL");
