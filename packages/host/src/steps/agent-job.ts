import { agentJob as job } from '../agent/job.ts';
import { releaseId } from '../agent/release-id.ts';
import { renderPlist } from '../launchd/plist.ts';
import type { Step } from './step.ts';

interface Intent {
  readonly user: string;
  readonly releaseId: string;
  readonly plist: string;
}

/**
 * The agent runs: `current` is the wanted release, launchd knows the wanted arguments, and a new process was seen to stay. Otherwise
 * the release and the arguments that were proven last are put back. Virtual machines are not touched.
 */
export const agentJob: Step<Intent> = {
  name: 'agent-job',
  title: 'run the agent',
  // Twice (the new release, then the old one put back): 30 s to unload, 15 s to load, two proofs of 25 s.
  deadline: 240_000,
  intent: (spec) => ({ user: spec.user, releaseId: releaseId(spec), plist: renderPlist(job(spec)) }),
  environment: ({ user, releaseId: id, plist }) => ({ AGENT_USER: user, RELEASE_ID: id, PLIST: plist }),
};
