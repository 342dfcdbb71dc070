# The name of the copy of the template that the guests try. It stands here, because nothing outside of
# the tests may name a device (scripts/check-names.sh), and scripts/new-device.sh refuses a name that is there.
VM_COPY := gadget
