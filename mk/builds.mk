# make check-builds: builds that are not the usual one. Some fifteen minutes.

.PHONY: check-builds
check-builds:
	$(Q)tests/builds/test-builds.sh .
