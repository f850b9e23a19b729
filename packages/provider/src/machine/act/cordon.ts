import { annotations } from '@tartan/api';
import { again, isKubeError, nodes } from '@tartan/kube';
import { done } from '../result.ts';
import { type Act, type Acted, callOf } from './context.ts';

/**
 * Keeps Pods off the Node until its Mac is idle. A Node that somebody else has cordoned is left as it is, without our mark: it is not ours
 * to open again. Answers whether it bears the mark.
 */
export const cordon = async (act: Act, hash: string): Promise<boolean> => {
  const { world, record } = act;
  const { name } = record.machine.metadata;
  const node = await world.client.get(nodes, { name }, callOf(act));
  if (annotations.cordonedForRoll in (node.metadata.annotations ?? {})) return true;
  if (node.spec?.unschedulable === true) return false;
  const { resourceVersion } = node.metadata;
  const metadata = { resourceVersion, annotations: { [annotations.cordonedForRoll]: hash } };
  const body = { metadata, spec: { unschedulable: true } };
  await world.client.patch(nodes, { name }, { type: 'merge', body }, callOf(act));
  return true;
};

/** Takes away a cordon that bears our mark. In one guarded write, so that nobody else's is taken with it. */
export const uncordon = async (act: Act): Promise<Acted> => {
  const { world, record } = act;
  const { name } = record.machine.metadata;
  const gone: Acted = { result: done, next: again(0) };
  try {
    const node = await world.client.get(nodes, { name }, callOf(act));
    if (!(annotations.cordonedForRoll in (node.metadata.annotations ?? {}))) return gone;
    const { resourceVersion } = node.metadata;
    const metadata = { resourceVersion, annotations: { [annotations.cordonedForRoll]: null } };
    const body = { metadata, spec: { unschedulable: null } };
    await world.client.patch(nodes, { name }, { type: 'merge', body }, callOf(act));
    return gone;
  } catch (error) {
    if (isKubeError(error, 'notFound')) return gone;
    throw error;
  }
};
