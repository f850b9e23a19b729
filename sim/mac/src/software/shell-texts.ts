/** Waits until a signal ends it: reads a FIFO that nobody else has, so that it costs neither time nor a further process. */
export const stays = `fifo=\${TARTAN_ROOT:-}/tmp/.stays.$$
rm -f "$fifo"
mkfifo "$fifo" || exit 1
exec 9<>"$fifo"
rm -f "$fifo"
while :; do read -r _ <&9; done
`;

/** A program that knows its version, by whichever word it is asked. */
export const knowsItsVersion = (name: string, says: string): string => `#!/bin/sh
# Stands in for ${name}.
case \${1:-} in
  version | --version | -version) printf '%s\\n' '${says}' ;;
  *)
    echo '${name}: this stand-in knows only its version' >&2
    exit 64
    ;;
esac
`;

/** Builds what an HCL file says with its plugin for tart, as far as that goes: a virtual machine by that name, from that base. */
export const packer = (version: string): string => `#!/bin/sh
# Stands in for packer.
asked() { sed -n "s/^ *$1 *= *\\"\\([^\\"]*\\)\\".*/\\1/p" "$file" | head -n 1; }
for file; do :; done
case \${1:-} in
  version | --version | -version) echo 'Packer v${version}' ;;
  init) echo 'Installed plugin github.com/cirruslabs/tart' ;;
  build)
    tart clone "$(asked vm_base_name)" "$(asked vm_name)" || exit 1
    echo "==> Builds finished. The artifacts of successful builds are: $(asked vm_name)"
    ;;
  *)
    echo 'packer: this stand-in knows only version, init and build' >&2
    exit 64
    ;;
esac
`;

export const tailscale = (version: string): string => `#!/bin/sh
# Stands in for tailscale: the simulated Mac answers.
case \${1:-} in
  version | --version | -version)
    echo '${version}'
    exit 0
    ;;
esac
exec "\${TARTAN_ROOT:-}/usr/bin/sim-tailscale" "$@"
`;

export const tailscaled = (version: string): string => `#!/bin/sh
# Stands in for tailscaled: tells the simulated Mac who it is, and stays.
case \${1:-} in
  --version | -version)
    echo '${version}'
    exit 0
    ;;
esac
"\${TARTAN_ROOT:-}/usr/bin/sim-tailscaled" $$ "$@" || exit $?
${stays}`;

export const nodeExporter = (version: string): string => `#!/bin/sh
# Stands in for node_exporter: stays, and answers nobody.
case \${1:-} in
  --version | -version)
    echo 'node_exporter, version ${version} (branch: HEAD)'
    exit 0
    ;;
esac
${stays}`;
