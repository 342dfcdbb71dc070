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

# mimicd is killed under load, and its supervisor starts it again; KILLS=N. tests/scripts/test-kill.sh has a short form.
KILLS ?= 10000
SOAK_KILL := $(O)/tests/soak/soak_kill
SOAK_KILL_SRC := tests/soak/soak_kill.c $(wildcard tests/soak/kill_*.c)

.PHONY: soak-kill
soak-kill: $(SOAK_KILL) $(O)/bin/mimicd
	$(Q)$(SOAK_KILL) $(O)/bin/mimicd --kills $(KILLS) $(SOAK_KILL_OPTIONS)

# A new mimicd takes over under load; UPGRADES=N. tests/scripts/test-upgrade.sh has a short form.
UPGRADES ?= 200
.PHONY: soak-upgrade
soak-upgrade: $(SOAK_KILL) $(O)/bin/mimicd
	$(Q)$(SOAK_KILL) $(O)/bin/mimicd --upgrade --kills $(UPGRADES) $(SOAK_KILL_OPTIONS)

tests: $(SOAK_KILL)

$(SOAK_KILL): $(call obj,$(SOAK_KILL_SRC)) $(LIBTEST_A) $(LIBDAEMON_A) $(DEVICE_LIBRARIES_A) $(LIBMIMIC_A)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(MIMIC_LIBS) $(DAEMON_LIBS) $(TEST_LIBS) -lm

# Programs of tests/scripts/test-kill.sh.
KILL_SCRIPT_PROGRAMS := $(addprefix $(O)/tests/soak/,atomic_once open_once)
tests: $(KILL_SCRIPT_PROGRAMS)

$(KILL_SCRIPT_PROGRAMS): $(O)/tests/soak/%: $(O)/obj/tests/soak/%.o $(LIBMIMIC_A)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(MIMIC_LIBS)
