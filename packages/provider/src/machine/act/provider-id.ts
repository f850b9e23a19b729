import { formatProviderID } from '@tartan/api';
import { again } from '@tartan/kube';
import { done } from '../result.ts';
import { type Act, type Acted, lookAgain, statusIn } from './context.ts';

/** Once, and never again: guarded by the version of the machine that had none (invariant 7). */
export const setProviderID = async (act: Act): Promise<Acted> => {
  const { record, observation } = act;
  const { serverID } = statusIn(act);
  if (observation.host === undefined || !serverID || record.machine.spec.providerID) return lookAgain;
  const providerID = formatProviderID({ zone: observation.host.spec.zone, serverID });
  await record.patchGuarded({ spec: { providerID } });
  return { result: done, next: again(0) };
};
