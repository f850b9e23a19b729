import { macHost } from '@tartan/api';
import { again } from '@tartan/kube';
import { forgetHost } from '../memory.ts';
import { done } from '../result.ts';
import { waits } from '../waits.ts';
import { cleanSlate } from './clean-slate.ts';
import { type Act, type Acted, callOf } from './context.ts';

/**
 * The Mac is not this machine's (any more). What belonged to it goes, then what the machine remembers of it: the reservation last, and
 * only if the machine is as it was when the Mac was looked at. So a crash on the way leads here again.
 */
export const letGo = async (act: Act): Promise<Acted> => {
  const { record } = act;
  await cleanSlate(act);
  await dropHolder(act);
  if (record.machine.spec.providerID) await record.patchGuarded({ spec: { providerID: null } });
  await record.writeGuarded(forgetHost);
  return { result: done, next: again(waits.conflict) };
};

/** A server that is gone cannot be given back. Its MacHost goes once nobody holds it. */
export const dropHolder = async (act: Act): Promise<void> => {
  const { world, record, observation } = act;
  const { host } = observation;
  const { host: facts } = observation.snapshot;
  if (host === undefined || facts.kind !== 'present' || !facts.gone) return;
  if (host.spec.consumerRef?.uid !== record.machine.metadata.uid) return;
  const { name, uid, resourceVersion } = host.metadata;
  const body = { metadata: { uid, resourceVersion }, spec: { consumerRef: null, reboot: null } };
  await world.client.patch(macHost.resource, { name }, { type: 'merge', body }, callOf(act));
};
