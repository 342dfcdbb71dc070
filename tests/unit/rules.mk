# Symbols that the preload library hides.
$(O)/tests/unit/test_patch_plan $(O)/tests/unit/test_patch_code $(O)/tests/unit/test_patch_room: $(call obj,libmimic/preload/patch_plan_x86.c libmimic/preload/patch_move_x86.c)
$(O)/tests/unit/test_patch_code: $(call obj,libmimic/preload/patch_enter_x86.c)
$(O)/tests/unit/test_patch_room: $(call obj,libmimic/preload/patch_room_x86.c)
$(O)/tests/unit/test_patch_sites: $(call obj,libmimic/preload/patch_sites.c)
