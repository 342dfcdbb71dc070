# The template device: its model and kind for the tests, and a daemon that serves it by itself
# (examples/bus, docs/writing-a-driver.md). The driver is built with the other modules.

TEMPLATE_MODEL_SRC := $(wildcard devices/template/*.c)
# Functions that models call.
DEVICE_HELPERS_SRC := $(filter-out devices/release.c,$(wildcard devices/*.c devices/soc/*.c))
TEMPLATE_DAEMON_SRC := devices/template/template_model.c examples/bus/template_daemon.c $(DEVICE_HELPERS_SRC)
TEMPLATE_DAEMON := $(O)/bin/mimic-template

all: $(TEMPLATE_DAEMON)

$(TEMPLATE_DAEMON): $(call obj,$(TEMPLATE_DAEMON_SRC) examples/bus/main.c)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^

$(O)/tests/unit/test_template_model: $(call obj,$(TEMPLATE_MODEL_SRC))
$(O)/tests/kselftest/test_template: $(patsubst %.c,$(O)/obj/kselftest/%.o,$(TEMPLATE_DAEMON_SRC))
