import { agentArguments, argumentsHash } from '../agent/arguments.ts';
import { releaseId } from '../agent/release-id.ts';
import type { Artifact } from '../artifacts/artifact.ts';
import type { Step } from './step.ts';

interface Intent {
  readonly id: string;
  readonly release: Artifact;
  readonly runtimeSHA256: string;
  readonly argumentsHash: string;
}

/** A release of the agent: its code, the runtime it runs on, and the arguments it expects. Prepared whole; `agent-job` switches to it. */
export const agentRelease: Step<Intent> = {
  name: 'agent-release',
  title: "prepare the agent's release",
  deadline: 60_000,
  intent: (spec) => ({
    id: releaseId(spec),
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
  artifacts: ({ release }) => [release],
};
