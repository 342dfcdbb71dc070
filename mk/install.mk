# make install: libraries, headers, commands, pkg-config files, man pages, configuration, documents, examples' sources.
# PREFIX is where it will run, DESTDIR is put in front. LIBDIR, MANDIR, DOCDIR and UNITDIR are folders of PREFIX by default.

INSTALL ?= install
INSTALL_LINK = ln -sf
# make uninstall wants names alone: nothing is built for them, nor written into the build directory.
NAMES_ONLY =
NAMES_OF_INSTALL = NAMES_ONLY=1 INSTALL="sh scripts/installed-names.sh" INSTALL_LINK="sh scripts/installed-names.sh" \
	LIBRARIES_MK=/dev/null HAS_SCDOC=1
built = $(if $(NAMES_ONLY),,$(1))
# Absolute and without a slash at its end: programs will have it, too.
INSTALL_PREFIX = $(call apart,$(abspath $(call joined,$(PREFIX))))
# One word of make's of a path that may have spaces, and back.
joined = $(subst $(space),$(INSTALL_SPACE),$(1))
apart = $(subst $(INSTALL_SPACE),$(space),$(1))
INSTALL_SPACE := |space|
# Words of a shell: these folders or files of a folder whose path may have spaces.
below = $(foreach file,$(2),"$(1)/$(file)")
INSTALL_ROOT = $(DESTDIR)$(INSTALL_PREFIX)
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
BINDIR = $(INSTALL_PREFIX)/bin
# Programs that others start: mimicd finds them by its own place.
LIBEXECDIR = $(INSTALL_PREFIX)/libexec
# mimic finds its libraries by its own place: this is PREFIX/lib, PREFIX/lib64 or PREFIX/lib/MULTIARCH. For the same
# reason commands, headers and data have one place in PREFIX.
LIBDIR = $(INSTALL_PREFIX)/lib
INCLUDEDIR = $(INSTALL_PREFIX)/include
DATADIR = $(INSTALL_PREFIX)/share
MANDIR = $(DATADIR)/man
DOCDIR = $(DATADIR)/doc/mimic
UNITDIR = $(INSTALL_PREFIX)/lib/systemd/system
DATA_FOLDERS = mimic/costs mimic/gdb mimic/python mimic/plugin mimic/vm bash-completion/completions zsh/site-functions fish/vendor_completions.d
COMMANDS_COMPLETED = mimic mimicd
MANUAL_SECTIONS = $(sort $(subst .,,$(suffix $(MANPAGES))))
INSTALL_CONFIG = $(wildcard config/*.ini)
INSTALL_UNITS_IN = $(wildcard config/*.service.in)
LIBRARY_FOLDERS = $(foreach kind,$(LIBRARY_KINDS),$(call library_folder,$(kind)))
INSTALL_PC_IN = libmimic/libmimic.pc.in sim/libmimic-sim.pc.in $(wildcard $(LIBRARY_FOLDERS:%=%/*.pc.in)) devices/mimic-device.pc.in
# A device's headers bear its name. Its registers may lie in its folder.
INSTALL_LIBRARY_H = $(wildcard $(foreach kind,$(LIBRARY_KINDS),$(call library_folder,$(kind))/$(kind)*.h))
INSTALL_KIND_H = $(filter-out %_ioctl.h,$(wildcard $(KINDS:%=include/mimic/%_*.h) \
	$(foreach kind,$(KINDS),devices/$(kind)/$(kind)_registers.h)))
# But for what is said on mimicd's socket, which may change from version to version, and what no header uses.
INSTALL_H = $(sort $(INSTALL_KIND_H) $(filter-out %/protocol.h %/shuffle.h,$(wildcard include/mimic/*.h)))
INSTALL_PC = $(patsubst %.in,$(O)/pkgconfig/%,$(notdir $(INSTALL_PC_IN)))
# For plugins: headers of a device (devices/plugin.h), and the interface of a driver in the kernel.
INSTALL_DEVICE_H = $(wildcard devices/*.h)
INSTALL_SOC_H = $(wildcard devices/soc/*.h)
# gdb commands: those that are of no device, and those that each device adds.
INSTALL_GDB = $(wildcard tools/gdb/*.py $(KINDS:%=devices/%/gdb/*.py))
INSTALL_TEMPLATE = $(wildcard examples/plugin/*)
INSTALL_EXAMPLES = $(filter-out examples/plugin,$(patsubst %/,%,$(sort $(wildcard examples/*/ examples/*/*/))))
SHARED_LIBRARIES = libmimic.so.0 $(LIBRARY_KINDS:%=lib%.so.0) libmimic-sim.so.0
STATIC_LIBRARIES = $(LIBMIMIC_A) $(DEVICE_LIBRARIES_A)

# The loader of programs looks into the standard places, by a cache that ldconfig makes. Any other
# place stands in the program: pkg-config gives it to the linker.
LDCONFIG ?= /sbin/ldconfig
IS_STANDARD_PREFIX = $(filter /usr /usr/local,$(call joined,$(INSTALL_PREFIX)))
INSTALL_RPATH = $(if $(IS_STANDARD_PREFIX),,-Wl,-rpath,"$${libdir}" )

# In the build directory, and beside a prefix of the user's, a library finds libmimic by its own place ($ORIGIN). In a
# standard place the loader does, and a path in the library would only be in the way of a distribution's rules.
NEEDS_ORIGIN = $(filter-out libmimic.so.0,$(SHARED_LIBRARIES))
LINKED_ANEW = $(if $(IS_STANDARD_PREFIX),$(NEEDS_ORIGIN:%=$(O)/installed/%))

# Written anew each time: PREFIX is not a file that make could compare with.
.PHONY: pkgconfig check-install install-libraries install-headers install-shared uninstall
pkgconfig:
	@mkdir -p $(O)/pkgconfig
	$(Q)for part in $(INSTALL_PC_IN); do \
		sed -e 's|@PREFIX@|$(INSTALL_PREFIX)|g' -e 's|@LIBDIR@|$(LIBDIR)|g' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|g' -e 's|@RPATH@|$(INSTALL_RPATH)|g' \
			-e 's|@VERSION@|$(VERSION)|g' \
			$$part > $(O)/pkgconfig/$$(basename $$part .in) || exit 1; \
	done

# $(1): a library's soname. The file carries the version, the links its names.
define install_library
	$(Q)$(INSTALL) -m 644 $(or $(filter %/$(1),$(LINKED_ANEW)),$(O)/lib/$(1)) "$(DESTDIR)$(LIBDIR)/$(1:.so.0=.so.$(VERSION))"
	$(Q)$(INSTALL_LINK) $(1:.so.0=.so.$(VERSION)) "$(DESTDIR)$(LIBDIR)/$(1)"
	$(Q)$(INSTALL_LINK) $(1) "$(DESTDIR)$(LIBDIR)/$(1:.so.0=.so)"

endef

# As pkgconfig: PREFIX is in them.
.PHONY: units
units:
	@mkdir -p $(O)/units
	$(Q)for unit in $(INSTALL_UNITS_IN); do \
		sed -e 's|@PREFIX@/bin|$(BINDIR)|g' $$unit > $(O)/units/$$(basename $$unit .in) || exit 1; \
	done

# $(1): where a file of the tree is put.
install_file = $(Q)$(INSTALL) -m 644 $(1) "$(DESTDIR)$(2)"

install: $(call built,all pkgconfig units) install-libraries install-headers install-shared
	@echo "  INSTALL $(INSTALL_ROOT)"
	$(Q)$(INSTALL) -d "$(DESTDIR)$(BINDIR)"
	$(if $(BINARIES),$(Q)$(INSTALL) -m 755 $(BINARIES) "$(DESTDIR)$(BINDIR)")
	$(Q)$(INSTALL) -d "$(DESTDIR)$(LIBEXECDIR)/mimic"
	$(if $(SANITIZE),,$(Q)$(INSTALL) -m 755 $(RECOVERABLE) "$(DESTDIR)$(LIBEXECDIR)/mimic")
	$(if $(DESTDIR)$(NAMES_ONLY),,$(if $(IS_STANDARD_PREFIX),$(update_loader_cache)))

install-libraries: $(call built,all pkgconfig $(LINKED_ANEW) $(STATIC_LIBRARIES))
	$(Q)$(if $(filter $(addprefix $(call joined,$(INSTALL_PREFIX))/,lib lib64 lib/$(MULTIARCH)),$(call joined,$(LIBDIR))),,$(error \
		LIBDIR is $(LIBDIR), and mimic looks in PREFIX/lib, PREFIX/lib64 and PREFIX/lib/$(MULTIARCH)))
	$(Q)$(if $(filter-out $(addprefix $(call joined,$(INSTALL_PREFIX))/,bin include share),$(foreach \
		folder,BINDIR INCLUDEDIR DATADIR,$(call joined,$($(folder))))),$(error \
		BINDIR, INCLUDEDIR and DATADIR are PREFIX/bin, PREFIX/include and PREFIX/share: mimic looks in these))
	$(Q)$(INSTALL) -d "$(DESTDIR)$(LIBDIR)/pkgconfig"
	$(foreach library,$(SHARED_LIBRARIES),$(call install_library,$(library)))
	$(if $(PRELOAD_SRC),$(call install_file,$(PRELOAD),$(LIBDIR)))
	$(call install_file,$(LIBDEVICE_A) $(STATIC_LIBRARIES),$(LIBDIR))
	$(call install_file,$(INSTALL_PC),$(LIBDIR)/pkgconfig)

install-headers:
	$(Q)$(INSTALL) -d $(call below,$(DESTDIR)$(INCLUDEDIR)/mimic,devices/soc driver)
	$(call install_file,$(INSTALL_LIBRARY_H),$(INCLUDEDIR))
	$(call install_file,libmimic/mimic.h $(INSTALL_H),$(INCLUDEDIR)/mimic)
	$(call install_file,$(INSTALL_DEVICE_H),$(INCLUDEDIR)/mimic/devices)
	$(call install_file,$(INSTALL_SOC_H),$(INCLUDEDIR)/mimic/devices/soc)
	$(call install_file,driver/mimic.h,$(INCLUDEDIR)/mimic/driver)

# Files that do not depend on the machine, and the systemd units.
install-shared: $(call built,all units)
	$(Q)$(INSTALL) -d $(call below,$(DESTDIR)$(DATADIR),$(DATA_FOLDERS)) $(call below,$(DESTDIR)$(MANDIR),$(MANUAL_SECTIONS:%=man%)) \
		$(call below,$(DESTDIR)$(DATADIR)/mimic,$(INSTALL_EXAMPLES)) "$(DESTDIR)$(UNITDIR)" "$(DESTDIR)$(DOCDIR)/docs"
	$(Q)$(INSTALL) -m 755 $(VM_SHARE) "$(DESTDIR)$(DATADIR)/mimic/vm"
	$(call install_file,$(INSTALL_TEMPLATE),$(DATADIR)/mimic/plugin)
	$(call install_file,$(INSTALL_GDB),$(DATADIR)/mimic/gdb)
	$(call install_file,$(filter-out %.sh,$(wildcard python/examples/*)),$(DATADIR)/mimic/python)
	$(Q)$(INSTALL) -m 755 $(wildcard python/examples/*.sh) "$(DESTDIR)$(DATADIR)/mimic/python"
	$(if $(SIM_COSTS),$(call install_file,$(SIM_COSTS),$(DATADIR)/mimic/costs))
	$(if $(INSTALL_CONFIG),$(call install_file,$(INSTALL_CONFIG),$(DATADIR)/mimic))
	$(call install_file,examples/Makefile,$(DATADIR)/mimic/examples)
	$(Q)$(foreach folder,$(INSTALL_EXAMPLES),$(INSTALL) -m 644 $(wildcard $(folder)/*.c $(folder)/*.h $(folder)/*.s $(folder)/Kbuild) "$(DESTDIR)$(DATADIR)/mimic/$(folder)" &&) true
	$(call install_file,$(COMMANDS_COMPLETED:%=completions/%.fish),$(DATADIR)/fish/vendor_completions.d)
	$(call install_file,$(COMMANDS_COMPLETED:%=completions/_%),$(DATADIR)/zsh/site-functions)
	$(Q)$(foreach command,$(COMMANDS_COMPLETED),$(INSTALL) -m 644 completions/$(command).bash "$(DESTDIR)$(DATADIR)/bash-completion/completions/$(command)" &&) true
	$(call install_file,$(patsubst config/%.in,$(O)/units/%,$(INSTALL_UNITS_IN)),$(UNITDIR))
	$(call install_file,README.md CHANGELOG.md LICENSE,$(DOCDIR))
	$(call install_file,$(wildcard docs/*.md docs/*.png),$(DOCDIR)/docs)
	$(Q)$(foreach section,$(MANUAL_SECTIONS),$(INSTALL) -m 644 $(filter %.$(section),$(MANPAGES)) "$(DESTDIR)$(MANDIR)/man$(section)" &&) true

# What `make install` with the same variables would put there, and folders that are then empty.
uninstall:
	@echo "  REMOVE  $(INSTALL_ROOT)"
	$(Q)names=$$($(MAKE) --no-print-directory -s install $(NAMES_OF_INSTALL)) && \
		printf '%s\n' "$$names" | sh scripts/uninstall.sh "$(DESTDIR)" "$(INSTALL_PREFIX)" $(if $(IS_STANDARD_PREFIX),standard)
	$(if $(DESTDIR),,$(if $(IS_STANDARD_PREFIX),$(Q)$(LDCONFIG) 2>/dev/null || true))

# Checks the result: a user who may write to PREFIX may not run ldconfig, and not every system has PREFIX in ld.so.conf.
# (Where /lib is a link to /usr/lib, the cache may name either.)
define update_loader_cache
	$(Q)said=$$($(LDCONFIG) 2>&1); $(LDCONFIG) -p 2>/dev/null | grep -qE '=> ($(INSTALL_PREFIX)$(if $(filter /usr,$(INSTALL_PREFIX)),|))/$(LIBDIR:$(INSTALL_PREFIX)/%=%)/libmimic.so.0$$' || { \
		[ -z "$$said" ] || echo "$$said" >&2; \
		echo "mimic: programs will not find the libraries in $(LIBDIR) yet. As root, run: ldconfig" >&2; \
		echo "mimic: (/etc/ld.so.conf or a file that it includes must name that directory)" >&2; }
endef

# A program of a stranger, against an install tree: TAP on standard output.
check-install: all
	$(Q)sh tests/scripts/test-install.sh $(O)
