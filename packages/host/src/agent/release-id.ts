import { createHash } from 'node:crypto';
import type { HostSpec } from '../spec/host-spec.ts';
import { agentArguments, argumentsHash } from './arguments.ts';

/** Names the folder of a release on the host: another code, another runtime or other arguments is another release. */
export const releaseId = (spec: HostSpec): string => {
  const parts = [spec.agent.release.sha256, spec.agent.runtime.sha256, argumentsHash(agentArguments(spec))];
  return createHash('sha256').update(parts.join('\n')).digest('hex');
};
