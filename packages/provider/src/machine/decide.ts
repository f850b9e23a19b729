import { decideDeletion } from './decide/deletion.ts';
import { decideProvisioned } from './decide/provisioned.ts';
import { decideBootstrap, decideClaim, nodeNameTaken } from './decide/provisioning.ts';
import type { Decision } from './decision.ts';
import { isProvisioned, type Snapshot } from './snapshot.ts';

/**
 * What is to be done next. Pure and total; the order of the questions is the policy:
 *
 *   | the machine                                         | then                                                     |
 *   |-----------------------------------------------------|----------------------------------------------------------|
 *   | is being deleted, and nothing of ours holds it      | leave it                                                 |
 *   | is paused, or its Cluster is, also when deleted     | say so, touch nothing                                    |
 *   | is being deleted                                    | its way out (deletion.ts)                         |
 *   | may have no Mac, and was never made ready           | refuse it, leave no trace                                |
 *   | has no finalizer of ours                            | add it, before anything else leaves a trace              |
 *   | does not keep clusterctl from moving it             | see to that                                              |
 *   | waits for Cluster API                               | wait                                                     |
 *   | has no Mac that is its own, named and known to us   | claim one (provisioning.ts)                              |
 *   | was never made ready, and another Node has its name | refuse it an identity                                    |
 *   | was never made ready                                | make it ready, or give it back (provisioning.ts)     |
 *   | was                                                 | Node, identity and drift (provisioned.ts): never given back |
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
