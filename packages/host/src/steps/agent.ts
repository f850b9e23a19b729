import { agentArguments, agentLaunchdJob as job, agentLog, agentReleaseID, argumentsHash } from '../agent/job.ts';
import { scriptText } from '../engine/compose-script.ts';
import { renderPlist } from '../launchd-plist.ts';
import { defineStep } from './step.ts';

/** The stock node that runs the agent, with its vendor's signature. This step starts and stops nothing. */
export const agentRuntime = defineStep({
  name: 'agent-runtime',
  title: "put the agent's runtime in place",
  deadline: 120_000,
  intent: ({ agent }) => ({ runtime: agent.runtime }),
  environment: ({ runtime }) => ({ RUNTIME_SHA256: runtime.sha256 }),
});

/** A release of the agent: its code, its runtime and the arguments that it expects. Prepared completely; `agent-job` switches to it. */
export const agentRelease = defineStep({
  name: 'agent-release',
  title: "prepare the agent's release",
  deadline: 60_000,
  intent: (spec) => ({
    id: agentReleaseID(spec),
    release: spec.agent.release,
    runtimeSHA256: spec.agent.runtime.sha256,
    argumentsHash: argumentsHash(agentArguments(spec)),
  }),
  environment: (intent) => ({
    RELEASE_ID: intent.id,
    RELEASE_SHA256: intent.release.sha256,
    RUNTIME_SHA256: intent.runtimeSHA256,
    ARGUMENTS_HASH: intent.argumentsHash,
  }),
});

/** The kubeconfig with which the agent joins. The agent itself writes the certificate that it gets, into the same folder. */
export const joinCredentials = defineStep({
  name: 'join-credentials',
  title: 'hand over the join credentials',
  deadline: 30_000,
  intent: ({ user, agent }) => ({ user, joinVersion: agent.joinVersion }),
  environment: ({ user, joinVersion }) => ({ AGENT_USER: user, JOIN_VERSION: joinVersion }),
  // Blank credentials count as absent.
  payload: (_intent, { joinKubeconfig }) => (joinKubeconfig?.trim() ? joinKubeconfig : undefined),
});

/**
 * The agent runs: `current` is the wanted release, launchd has the wanted arguments, and a new process stays up. Otherwise the step
 * restores the release and the arguments that were proven last. It does not touch virtual machines.
 */
export const agentJob = defineStep({
  name: 'agent-job',
  title: 'run the agent',
  // Twice (the new release, then the restored one): 30 s to unload, 15 s to load, two proofs of 25 s.
  deadline: 240_000,
  intent: (spec) => ({ user: spec.user, releaseId: agentReleaseID(spec), plist: renderPlist(job(spec)) }),
  environment: ({ user, releaseId: id, plist }) => ({ AGENT_USER: user, RELEASE_ID: id, PLIST: plist }),
});

const megabytes = 1024 * 1024;

const plist = renderPlist({
  Label: 'dev.tuist.tart-kubelet-logs',
  ProgramArguments: ['/usr/local/lib/tart-kubelet/rotate-logs', String(50 * megabytes), agentLog],
  StartInterval: 300,
  ProcessType: 'Background',
});

/** Limits the agent's log. launchd holds the file open, so that only copying and truncating works (INC-423). */
export const agentLogs = defineStep({
  name: 'agent-logs',
  title: "keep the agent's log small",
  optional: true,
  deadline: 90_000,
  intent: () => ({ plist, program: scriptText('installed/rotate-logs') }),
  environment: ({ program, ...intent }) => ({ PLIST: intent.plist, PROGRAM: program }),
});
