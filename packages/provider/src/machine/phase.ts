import type { MachinePhase, MachineStatus } from '@tartan/api';
import type { Told } from './told.ts';
import { isHostRunning } from './host-running.ts';

/** One word for people. What a Mac refused stays in sight while its Node is Ready, or nobody would look (I-54). */
export const phaseOf = (status: MachineStatus, { snapshot, decision }: Told): MachinePhase => {
  if (snapshot.machine?.deleting === true) return 'Deleting';
  if (decision.kind === 'lost host') return 'NotReady';
  if (status.initialization?.provisioned !== true) return before(status, decision.kind);
  const { desired, node, turn } = snapshot;
  const hash = desired.kind === 'known' ? desired.hash : status.desiredHostConfigHash;
  if (status.failedHostConfigHash !== undefined && status.failedHostConfigHash === hash) return 'Failed';
  const outdated = hash !== undefined && status.hostConfigHash !== hash;
  if (decision.kind === 'roll' || decision.kind === 'roll back' || (turn !== undefined && outdated)) return 'Updating';
  return node.kind === 'ours' && node.ready === 'True' && isHostRunning(snapshot.host) ? 'Ready' : 'NotReady';
};

const claiming: ReadonlySet<string> = new Set([
  'reserve',
  'take',
  'await host',
  'fetch credentials',
  'set provider id',
  'cannot claim',
]);

const before = (status: MachineStatus, decision: Told['decision']['kind']): MachinePhase => {
  if (!status.serverID) return 'Pending';
  return claiming.has(decision) ? 'Adopting' : 'Bootstrapping';
};
