/** Waits until a signal ends it. Reads its own FIFO, which costs neither CPU nor another process. */
export const waitForever = `fifo=\${TARTAN_ROOT:-}/tmp/.stays.$$
rm -f "$fifo"
mkfifo "$fifo" || exit 1
exec 9<>"$fifo"
rm -f "$fifo"
while :; do read -r _ <&9; done
`;

/** A program that prints its version, for every usual option. */
export const printsVersion = (name: string, says: string): string => `#!/bin/sh
# Stands in for ${name}.
case \${1:-} in
  version | --version | -version) printf '%s\\n' '${says}' ;;
  *)
    echo '${name}: this stand-in knows only its version' >&2
    exit 64
    ;;
esac
`;

/** Builds the image of an HCL file with the tart plugin, in a simple form: a virtual machine with that name, from that base. */
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
# Stands in for tailscaled: tells the simulated Mac its pid, and keeps running.
case \${1:-} in
  --version | -version)
    echo '${version}'
    exit 0
    ;;
esac
"\${TARTAN_ROOT:-}/usr/bin/sim-tailscaled" $$ "$@" || exit $?
${waitForever}`;

export const nodeExporter = (version: string): string => `#!/bin/sh
# Stands in for node_exporter: keeps running, and serves nothing.
case \${1:-} in
  --version | -version)
    echo 'node_exporter, version ${version} (branch: HEAD)'
    exit 0
    ;;
esac
${waitForever}`;

/**
 * Makes node report the user and kernel of the Mac: name and id of the user, and the version of the kernel, as in `uname`. All files really
 * belong to the user of the simulator. Also ends the process when the simulator was killed, since nothing else would.
 */
const prelude = `
import os from 'node:os';
import { syncBuiltinESMExports } from 'node:module';
const { TARTAN_SIM_UID, TARTAN_SIM_PID, USER, HOME } = process.env;
const real = os.userInfo;
os.userInfo = (...args) => ({ ...real(...args), uid: Number(TARTAN_SIM_UID), username: USER, homedir: HOME });
os.release = () => '25.0.0';
syncBuiltinESMExports();
const simulator = Number(TARTAN_SIM_PID);
const look = () => {
  try {
    process.kill(simulator, 0);
  } catch {
    process.kill(process.pid, 'SIGKILL');
  }
};
if (simulator > 0) setInterval(look, 1000).unref();
`;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The real node of this machine under the Mac's path for it: scripts are on the Mac's disk. */
export const nodeRuntime = (version: string, execPath: string): string => `#!/bin/sh
# Stands in for node ${version}.
[ -n "\${TARTAN_ROOT-}" ] || exec ${quoted(execPath)} "$@"
case \${1-} in
  /*)
    script=$TARTAN_ROOT$1
    shift
    set -- "$script" "$@"
    ;;
esac
exec ${quoted(execPath)} --import ${quoted(`data:text/javascript,${encodeURIComponent(prelude)}`)} "$@"
`;
