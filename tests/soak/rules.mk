# mimicd under hostile programs for a long time. Not a part of make check.

SOAK_SECONDS ?= 1800
SOAK := $(O)/tests/soak/soak_hostile

.PHONY: soak-hostile
soak-hostile: $(SOAK) $(O)/bin/mimicd
	$(Q)$(SOAK) $(O)/bin/mimicd $(SOAK_SECONDS)

$(SOAK): $(O)/obj/tests/soak/soak_hostile.o $(LIBTEST_A) $(LIBDAEMON_A) $(LIBMIMIC_A)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(MIMIC_LIBS) $(DAEMON_LIBS) $(TEST_LIBS) -lm
