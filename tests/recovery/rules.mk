# Programs under which mimicd is killed (tests/scripts/test-walk.sh, test-recover.sh).

WALK := $(O)/tests/recovery/walk
PAUSES := $(O)/tests/recovery/pauses
tests: $(WALK) $(PAUSES)

$(WALK): $(call obj,$(wildcard tests/recovery/walk*.c))
$(PAUSES): $(call obj,tests/recovery/pauses.c)
$(WALK) $(PAUSES): $(DEVICE_LIBRARIES_A) $(LIBCOMMON_A) $(LIBMIMIC_A)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(MIMIC_LIBS) -lm

# At each place, or each Nth: WALK_STRIDE=N.
WALK_STRIDE ?= 1

.PHONY: walk-kill
walk-kill: $(WALK) all
	$(Q)WALK_STRIDE=$(WALK_STRIDE) tests/scripts/test-walk.sh $(O)
