# make install: libraries, headers, commands, pkg-config files, man pages,
# configuration, examples' sources. PREFIX is where it will run, DESTDIR is put in front.

INSTALL ?= install
# Absolute and without a slash at its end: programs will have it, too.
INSTALL_PREFIX = $(abspath $(PREFIX))
INSTALL_ROOT = $(DESTDIR)$(INSTALL_PREFIX)
INSTALL_CONFIG = $(wildcard config/*.ini)
INSTALL_UNITS_IN = $(wildcard config/*.service.in)
LIBRARY_FOLDERS = $(foreach kind,$(LIBRARY_KINDS),$(call library_folder,$(kind)))
INSTALL_PC_IN = libmimic/libmimic.pc.in $(wildcard $(LIBRARY_FOLDERS:%=%/*.pc.in)) devices/mimic-device.pc.in
# A device's headers bear its name. Those of its ioctls are the kernel's side. Its registers may lie in its folder.
INSTALL_LIBRARY_H = $(wildcard $(foreach kind,$(LIBRARY_KINDS),$(call library_folder,$(kind))/$(kind)*.h))
INSTALL_KIND_H = $(filter-out %_ioctl.h,$(wildcard $(KINDS:%=include/mimic/%_*.h) \
	$(foreach kind,$(KINDS),devices/$(kind)/$(kind)_registers.h)))
INSTALL_PC = $(patsubst %.in,$(O)/pkgconfig/%,$(notdir $(INSTALL_PC_IN)))
# For plugins: what a device is made of (devices/plugin.h), and the seam of a driver in the kernel.
INSTALL_DEVICE_H = $(wildcard devices/*.h)
INSTALL_SOC_H = $(wildcard devices/soc/*.h)
INSTALL_TEMPLATE = $(wildcard examples/plugin/*)

# The loader of programs looks into the standard places, by a cache that ldconfig makes. Any other
# place stands in the program: pkg-config gives it to the linker.
LDCONFIG ?= /sbin/ldconfig
IS_STANDARD_PREFIX = $(filter /usr /usr/local,$(INSTALL_PREFIX))
INSTALL_RPATH = $(if $(IS_STANDARD_PREFIX),,-Wl,-rpath,$${libdir} )

# Written anew each time: PREFIX is not a file that make could compare with.
.PHONY: pkgconfig check-install
pkgconfig:
	@mkdir -p $(O)/pkgconfig
	$(Q)for part in $(INSTALL_PC_IN); do \
		sed -e 's|@PREFIX@|$(INSTALL_PREFIX)|g' -e 's|@RPATH@|$(INSTALL_RPATH)|g' -e 's|@VERSION@|$(VERSION)|g' \
			$$part > $(O)/pkgconfig/$$(basename $$part .in) || exit 1; \
	done

# $(1): a library's soname. The file carries the version, the links its names.
define install_library
	$(Q)$(INSTALL) -m 644 $(O)/lib/$(1) $(INSTALL_ROOT)/lib/$(1:.so.0=.so.$(VERSION))
	$(Q)ln -sf $(1:.so.0=.so.$(VERSION)) $(INSTALL_ROOT)/lib/$(1)
	$(Q)ln -sf $(1) $(INSTALL_ROOT)/lib/$(1:.so.0=.so)

endef

# As pkgconfig: PREFIX is in them.
.PHONY: units
units:
	@mkdir -p $(O)/units
	$(Q)for unit in $(INSTALL_UNITS_IN); do \
		sed -e 's|@PREFIX@|$(INSTALL_PREFIX)|g' $$unit > $(O)/units/$$(basename $$unit .in) || exit 1; \
	done

install: all pkgconfig units
	@echo "  INSTALL $(INSTALL_ROOT)"
	$(Q)$(INSTALL) -d $(INSTALL_ROOT)/bin $(INSTALL_ROOT)/include/mimic/devices/soc $(INSTALL_ROOT)/include/mimic/driver $(INSTALL_ROOT)/lib/pkgconfig \
		$(INSTALL_ROOT)/share/mimic/costs $(INSTALL_ROOT)/share/mimic/plugin $(INSTALL_ROOT)/share/mimic/vm $(addprefix $(INSTALL_ROOT)/share/,bash-completion/completions zsh/site-functions fish/vendor_completions.d) $(sort $(foreach page,$(MANPAGES),$(INSTALL_ROOT)/share/man/man$(subst .,,$(suffix $(page)))))
	$(call install_library,libmimic.so.0)
	$(foreach kind,$(LIBRARY_KINDS),$(call install_library,lib$(kind).so.0))
	$(call install_library,libmimic-sim.so.0)
	$(if $(PRELOAD_SRC),$(Q)$(INSTALL) -m 644 $(PRELOAD) $(INSTALL_ROOT)/lib)
	$(if $(BINARIES),$(Q)$(INSTALL) -m 755 $(BINARIES) $(INSTALL_ROOT)/bin)
	$(Q)$(INSTALL) -m 644 $(INSTALL_LIBRARY_H) $(INSTALL_ROOT)/include
	$(Q)$(INSTALL) -m 644 libmimic/mimic.h $(filter-out $(INSTALL_KIND_H),$(GUEST_H)) $(INSTALL_KIND_H) \
		include/mimic/sim.h include/mimic/sim_prefetch.h include/mimic/sim_string.h \
		$(INSTALL_ROOT)/include/mimic
	$(Q)$(INSTALL) -m 644 $(LIBDEVICE_A) $(INSTALL_ROOT)/lib
	$(Q)$(INSTALL) -m 644 $(INSTALL_DEVICE_H) $(INSTALL_ROOT)/include/mimic/devices
	$(Q)$(INSTALL) -m 644 $(INSTALL_SOC_H) $(INSTALL_ROOT)/include/mimic/devices/soc
	$(Q)$(INSTALL) -m 644 driver/mimic.h $(INSTALL_ROOT)/include/mimic/driver
	$(Q)$(INSTALL) -m 755 $(VM_SHARE) $(INSTALL_ROOT)/share/mimic/vm
	$(Q)$(INSTALL) -m 644 $(INSTALL_TEMPLATE) $(INSTALL_ROOT)/share/mimic/plugin
	$(Q)$(INSTALL) -m 644 completions/mimic.bash $(INSTALL_ROOT)/share/bash-completion/completions/mimic
	$(Q)$(INSTALL) -m 644 completions/mimicd.bash $(INSTALL_ROOT)/share/bash-completion/completions/mimicd
	$(Q)$(INSTALL) -m 644 completions/_mimic $(INSTALL_ROOT)/share/zsh/site-functions
	$(Q)$(INSTALL) -m 644 completions/mimic.fish $(INSTALL_ROOT)/share/fish/vendor_completions.d
	$(Q)$(INSTALL) -m 644 $(INSTALL_PC) $(INSTALL_ROOT)/lib/pkgconfig
	$(if $(SIM_COSTS),$(Q)$(INSTALL) -m 644 $(SIM_COSTS) $(INSTALL_ROOT)/share/mimic/costs)
	$(Q)$(INSTALL) -d $(INSTALL_ROOT)/lib/systemd/system
	$(Q)$(INSTALL) -m 644 $(patsubst config/%.in,$(O)/units/%,$(INSTALL_UNITS_IN)) $(INSTALL_ROOT)/lib/systemd/system
	$(if $(INSTALL_CONFIG),$(Q)$(INSTALL) -m 644 $(INSTALL_CONFIG) $(INSTALL_ROOT)/share/mimic)
	$(Q)$(foreach page,$(MANPAGES),$(INSTALL) -m 644 $(page) $(INSTALL_ROOT)/share/man/man$(subst .,,$(suffix $(page))) &&) true

	$(if $(DESTDIR),,$(if $(IS_STANDARD_PREFIX),$(update_loader_cache)))

# Checks the result: a user who may write to PREFIX may not run ldconfig, and not every system has PREFIX in ld.so.conf.
# (Where /lib is a link to /usr/lib, the cache may name either.)
define update_loader_cache
	$(Q)said=$$($(LDCONFIG) 2>&1); $(LDCONFIG) -p 2>/dev/null | grep -qE '=> ($(INSTALL_PREFIX)$(if $(filter /usr,$(INSTALL_PREFIX)),|))/lib/libmimic.so.0$$' || { \
		[ -z "$$said" ] || echo "$$said" >&2; \
		echo "mimic: programs will not find the libraries in $(INSTALL_PREFIX)/lib yet. As root, run: ldconfig" >&2; \
		echo "mimic: (/etc/ld.so.conf or a file that it includes must name that directory)" >&2; }
endef

# A program of a stranger, against an install tree: TAP on standard output.
check-install: all
	$(Q)sh tests/scripts/test-install.sh $(O)
