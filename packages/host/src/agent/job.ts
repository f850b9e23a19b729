import type { LaunchdJob } from '../launchd/plist.ts';
import type { HostSpec } from '../spec/host-spec.ts';
import { agentArguments } from './arguments.ts';

/** Where runtimes and releases of the agent lie on a host. */
const home = '/usr/local/lib/tart-kubelet';

export const agentLog = '/var/log/tart-kubelet.log';

/**
 * The agent under launchd. It names `current`, never a release: new code alone leaves it as it is, and needs no new registration
 * (I-21). No limit of open files is set: launchd gives 256, and node raises its own at start.
 */
export const agentJob = (spec: HostSpec): LaunchdJob => ({
  label: 'dev.tuist.tart-kubelet',
  // Virtualization.framework serves only who owns the console session (I-01).
  user: spec.user,
  arguments: [`${home}/current/node`, `${home}/current/tart-kubelet.mjs`, ...agentArguments(spec)],
  // launchd gives no PATH to speak of (I-29).
  environment: {
    HOME: `/Users/${spec.user}`,
    PATH: '/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin:/usr/sbin:/sbin',
  },
  runAtLoad: true,
  keepAlive: true,
  throttleInterval: 10,
  log: agentLog,
  // Time to write the last status of its Pods; well below the 30 s that a reload waits for the job to go.
  exitTimeOut: 10,
  // What a job starts is throttled as the job is: virtual machines must not be.
  processType: 'Interactive',
  // Virtual machines live on when the agent is rolled (I-32), also one that has not left the agent's process group yet.
  abandonProcessGroup: true,
});
