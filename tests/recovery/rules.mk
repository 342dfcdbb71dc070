# Programs under which mimicd is killed (tests/scripts/test-walk.sh, test-recover.sh), and one that does that.

WALK := $(O)/tests/recovery/walk
PAUSES := $(O)/tests/recovery/pauses
KILL_PLACES := $(O)/tests/recovery/kill_places
tests: $(WALK) $(PAUSES) $(KILL_PLACES)

$(WALK): $(call obj,$(wildcard tests/recovery/walk*.c))
$(PAUSES): $(call obj,tests/recovery/pauses.c)
$(KILL_PLACES): $(call obj,$(wildcard tests/recovery/kill_*.c))
$(WALK) $(PAUSES): $(DEVICE_LIBRARIES_A) $(LIBCOMMON_A) $(LIBMIMIC_A)
$(WALK) $(PAUSES) $(KILL_PLACES):
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(MIMIC_LIBS) -lm

# At each place, or each Nth: WALK_STRIDE=N.
WALK_STRIDE ?= 1

.PHONY: walk-kill
walk-kill: $(WALK) $(KILL_PLACES) all
	$(Q)WALK_STRIDE=$(WALK_STRIDE) tests/scripts/test-walk.sh $(O)
