/** Waits until a signal ends it: reads a FIFO that nobody else has, so that it costs neither time nor a further process. */
export const waitForever = `fifo=\${TARTAN_ROOT:-}/tmp/.stays.$$
rm -f "$fifo"
mkfifo "$fifo" || exit 1
exec 9<>"$fifo"
rm -f "$fifo"
while :; do read -r _ <&9; done
`;

/** A program that knows its version, by whichever word it is asked. */
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
${waitForever}`;

export const nodeExporter = (version: string): string => `#!/bin/sh
# Stands in for node_exporter: stays, and answers nobody.
case \${1:-} in
  --version | -version)
    echo 'node_exporter, version ${version} (branch: HEAD)'
    exit 0
    ;;
esac
${waitForever}`;

/**
 * What node asks the kernel about itself, as it is on the Mac. All files really belong to whoever runs the simulator, so only the name
 * and number of the user are played, and the version of the kernel, as `uname` has it. A Mac whose simulator was killed outright has nobody left who ends its processes.
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

/** The real node of this machine under the Mac's name for it: a script is looked for on the Mac's disk. */
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
