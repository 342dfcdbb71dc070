# The program under which mimicd is killed at each place of its work (tests/scripts/test-walk.sh).

WALK := $(O)/tests/recovery/walk
tests: $(WALK)

$(WALK): $(call obj,$(wildcard tests/recovery/walk*.c)) $(DEVICE_LIBRARIES_A) $(LIBCOMMON_A) $(LIBMIMIC_A)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(MIMIC_LIBS) -lm

# At each place, or each Nth: WALK_STRIDE=N.
WALK_STRIDE ?= 1

.PHONY: walk-kill
walk-kill: $(WALK) all
	$(Q)WALK_STRIDE=$(WALK_STRIDE) tests/scripts/test-walk.sh $(O)
