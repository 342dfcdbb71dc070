# The template device (docs/writing-a-driver.md): its model and daemon, for
# people to run and for the tests. The driver is built with the other modules.

TEMPLATE_SRC := devices/template/template_model.c devices/template/template_daemon.c
TEMPLATE_DAEMON := $(O)/bin/mimic-template

all: $(TEMPLATE_DAEMON)

$(TEMPLATE_DAEMON): $(call obj,$(TEMPLATE_SRC) devices/template/main.c)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^

$(O)/tests/unit/test_template_model: $(call obj,devices/template/template_model.c)
$(O)/tests/kselftest/test_template: $(patsubst %.c,$(O)/obj/kselftest/%.o,$(TEMPLATE_SRC))
