import type { Artifact } from '../artifacts/artifact.ts';
import type { Step } from './step.ts';

interface Intent {
  readonly runtime: Artifact;
}

/** The stock node that runs the agent, as its makers signed it. Nothing starts or stops. */
export const agentRuntime: Step<Intent> = {
  name: 'agent-runtime',
  title: "put the agent's runtime in place",
  deadline: 120_000,
  intent: ({ agent }) => ({ runtime: agent.runtime }),
  environment: ({ runtime }) => ({ RUNTIME_SHA256: runtime.sha256 }),
  artifacts: ({ runtime }) => [runtime],
};
