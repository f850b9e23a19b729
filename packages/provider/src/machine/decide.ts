import { decideDeletion } from './decide/deletion.ts';
import { decideProvisioned } from './decide/provisioned.ts';
import { decideBootstrap, decideClaim, nodeNameTaken } from './decide/provisioning.ts';
import type { Decision } from './decision.ts';
import { isProvisioned, type Snapshot } from './snapshot.ts';

/**
 * What to do next. Pure and total; the order of the rows is the policy:
 *
 *   | the machine                                     | then                                                   |
 *   |-------------------------------------------------|--------------------------------------------------------|
 *   | is being deleted, and has no finalizer of ours  | ignore it                                              |
 *   | is paused, or its Cluster is, also when deleted | report it, touch nothing                               |
 *   | is being deleted                                | release the Mac and clean up (deletion.ts)             |
 *   | may not have a Mac, and was never provisioned   | refuse it, create nothing                              |
 *   | has no finalizer of ours                        | add it, before any side effect                         |
 *   | does not block clusterctl move                  | block it                                               |
 *   | waits for Cluster API                           | wait                                                   |
 *   | has no Mac with its name and known credentials  | claim one (provisioning.ts)                            |
 *   | was never provisioned, and a Node has its name  | refuse it an identity                                  |
 *   | was never provisioned                           | provision its Mac, or release it (provisioning.ts)     |
 *   | is provisioned                                  | Node, identity, drift (provisioned.ts): never released |
 */
export const decide = (snapshot: Snapshot): Decision => {
  const { machine, cluster } = snapshot;
  const isPaused = cluster.pauseReasons.length > 0;
  if (machine.deleting && !(machine.hasFinalizer && isPaused)) return decideDeletion(snapshot);
  if (isPaused) return { kind: 'pause', why: cluster.pauseReasons.join(', ') };
  const provisioned = isProvisioned(machine.status);
  if (cluster.refusal !== undefined && !provisioned)
    return { kind: 'refuse', reason: 'NotAllowed', message: cluster.refusal.message };
  if (!machine.hasFinalizer) return { kind: 'add finalizer' };
  if (!machine.blocksMove) return { kind: 'block move' };
  if (cluster.waitingFor !== undefined) return { kind: 'await cluster', message: cluster.waitingFor };
  const claiming = decideClaim(snapshot);
  if (claiming !== undefined) return claiming;
  if (provisioned) return decideProvisioned(snapshot);
  return nodeNameTaken(snapshot) ?? decideBootstrap(snapshot);
};
