import { agentLog } from '../agent/job.ts';
import { scriptText } from '../engine/compose-script.ts';
import { renderPlist } from '../launchd/plist.ts';
import type { Step } from './step.ts';

interface Intent {
  readonly plist: string;
  readonly program: string;
}

const megabytes = 1024 * 1024;

const plist = renderPlist({
  label: 'dev.tuist.tart-kubelet-logs',
  arguments: ['/usr/local/lib/tart-kubelet/rotate-logs', String(50 * megabytes), agentLog],
  startInterval: 300,
  processType: 'Background',
});

/** The agent's log stays small: launchd holds the file open, so that nothing but copying and truncating works (G-40). */
export const agentLogs: Step<Intent> = {
  name: 'agent-logs',
  title: "keep the agent's log small",
  optional: true,
  deadline: 90_000,
  intent: () => ({ plist, program: scriptText('installed/rotate-logs') }),
  environment: ({ program, ...intent }) => ({ PLIST: intent.plist, PROGRAM: program }),
};
