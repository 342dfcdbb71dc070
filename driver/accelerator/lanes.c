// SPDX-License-Identifier: GPL-2.0
/* The ioctls LANE and LANE_CALL, which the bus answers, if the device has lanes. */
#include <linux/fs.h>
#include <linux/uaccess.h>

#include "internal.h"
#include "mimic/accelerator_ioctl.h"

/* Of a lane that no program knows. */
static void accelerator_drop_lane(struct mimic_binding *binding, u32 number)
{
	const struct accelerator_lane_call call = {
		.size = sizeof(call),
		.call = ACCELERATOR_LANE_CLOSE,
		.number = number,
	};

	mimic_binding_lane_call(binding, &call);
}

int accelerator_ioctl_lane(struct accelerator_file *opened, void __user *argument)
{
	struct mimic_binding *binding = opened->context->binding;
	struct accelerator_lane lane;
	int error;

	error = accelerator_get_structure(&lane, sizeof(lane), argument);
	if (error)
		return error;
	if (!accelerator_is_clear(lane.reserved, sizeof(lane.reserved)))
		return -EINVAL;
	error = mimic_binding_lane(binding, &lane);
	if (error)
		return error;
	/* Not the size: it is the program's, and may be more. */
	if (!copy_to_user(argument + sizeof(lane.size), &lane.thread,
			  sizeof(lane) - sizeof(lane.size)))
		return 0;
	accelerator_drop_lane(binding, lane.lane);
	return -EFAULT;
}

int accelerator_ioctl_lane_call(struct accelerator_file *opened, const void __user *argument)
{
	struct accelerator_lane_call call;
	int error;

	error = accelerator_get_structure(&call, sizeof(call), argument);
	if (error)
		return error;
	if (!accelerator_is_clear(call.reserved, sizeof(call.reserved)))
		return -EINVAL;
	if (call.call != ACCELERATOR_LANE_WAIT && (call.value || call.nanoseconds))
		return -EINVAL;
	return mimic_binding_lane_call(opened->context->binding, &call);
}
