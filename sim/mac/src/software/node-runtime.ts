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
