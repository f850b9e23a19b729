import type { Mac } from '@tartan/sim-mac';
import type { HostSpec } from '../host-spec.ts';
import { agentJob, agentRelease, agentRuntime } from '../steps/agent.ts';
import { putInStore } from './example-spec.ts';
import { runStep, type StepAnswer } from './run-step.ts';

/** Runs the steps that `agent-job` needs. */
export const prepareAgent = async (mac: Mac, spec: HostSpec): Promise<void> => {
  putInStore(mac, spec.agent.runtime, spec.agent.release);
  for (const answer of [await runStep(mac, agentRuntime, spec), await runStep(mac, agentRelease, spec)]) {
    if (answer.code !== 0) throw new Error(`the agent could not be prepared: ${answer.stderr}`);
  }
};

/** Runs the agent's steps in their order. Returns the answer of `agent-job`. */
export const rollAgent = async (mac: Mac, spec: HostSpec): Promise<StepAnswer> => {
  await prepareAgent(mac, spec);
  return runStep(mac, agentJob, spec);
};
