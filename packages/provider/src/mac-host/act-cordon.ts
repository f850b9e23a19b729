import { again, isKubeError, nodes, type Outcome } from '@tartan/kube';
import type { Actor, Pass } from './pass.ts';

/**
 * Keeps Pods off Nodes whose Mac is left without a machine. Not deleted: its agent would register the Node again, open to Pods. It goes
 * when the Mac was wiped (`forgetNodes`), or when its certificate is not renewed.
 */
export const cordon = async (
  { client, gate, log }: Actor,
  { snapshot: { id, limits }, signal }: Pass,
  names: readonly string[],
): Promise<Outcome> => {
  for (const name of names) {
    gate.pass();
    log.info('Cordons the Node of a Mac that has no machine', { node: name, server: id });
    try {
      await client.patch(nodes, { name }, { type: 'merge', body: { spec: { unschedulable: true } } }, { signal });
    } catch (error) {
      if (!isKubeError(error, 'notFound')) throw error;
    }
  }
  return again(limits.pollMs);
};
