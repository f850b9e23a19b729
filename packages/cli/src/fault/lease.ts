import { leaderElectionID } from '@tartan/api';
import { leases } from '@tartan/kube';
import type { Scene } from './fault.ts';
import { untilOne } from './waiting.ts';

/** Until one manager has renewed the Lease of the leader so many times, one after the other. Answers who it is. */
export const untilRenewed = async (scene: Scene, count: number): Promise<string> => {
  const seen = new Set<string>();
  let by = '';
  await untilOne(scene, leases, 'somebody leads', ({ metadata, spec }) => {
    const { holderIdentity: holder, renewTime } = spec ?? {};
    if (metadata.name !== leaderElectionID || !holder) return false;
    if (holder !== by) seen.clear();
    by = holder;
    return seen.add(String(renewTime)).size > count;
  });
  return by;
};
