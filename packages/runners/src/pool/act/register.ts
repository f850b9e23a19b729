import { annotations } from '@tartan/api';
import { isKubeError, isOwnedBy, type Live, secrets } from '@tartan/kube';
import type { Pod } from '../objects.ts';
import { secretOf } from '../pod-template.ts';
import { type Act, whileLeading } from './act.ts';
import { mark } from './mark.ts';

/**
 * Gives a Pod its runner at GitHub.
 *
 * Flow: is there a Secret? → mint → Secret → annotation of the Pod.
 * Guarantees: may end after any of these. Without a Secret nobody has ever held the configuration, so a runner of that name is one whose
 * answer was lost: it is removed and minted anew. With a Secret its number is taken from there. So a Pod never has two.
 */
export const register = async (act: Act, pod: Live<Pod>): Promise<void> => {
  const known = await runnerInSecret(act, pod);
  const runnerID = known ?? (await mintFor(act, pod));
  if (runnerID === undefined) return;
  const outcome = await mark(act, pod, { [annotations.runnerID]: runnerID });
  if (outcome === 'gone') await act.service?.remove(Number(runnerID), { signal: act.signal });
};

/** The runner whose configuration the Pod was given. Undefined: it was given none. By the word of the server. */
export const runnerInSecret = async ({ world, signal }: Act, pod: Live<Pod>): Promise<string | undefined> => {
  const { name, namespace = '', uid } = pod.metadata;
  try {
    const secret = await world.client.get(secrets, { namespace, name }, { signal });
    if (isOwnedBy(secret, uid)) return secret.metadata.annotations?.[annotations.runnerID] ?? '0';
  } catch (error) {
    if (isKubeError(error, 'notFound')) return undefined;
    throw error;
  }
  throw new Error(
    `The Pod ${name} cannot be given a runner: a Secret of its name belongs to somebody else. Delete that Secret, or the Pod.`,
  );
};

const mintFor = async (act: Act, pod: Live<Pod>): Promise<string | undefined> => {
  const { service, memory, world, signal } = act;
  if (service === undefined || memory.pool.metadata.deletionTimestamp !== undefined) return undefined;
  const { name } = pod.metadata;
  const { runnerLabels, github } = memory.pool.spec;
  const registration = { name, labels: runnerLabels, group: github?.runnerGroup };
  world.gate.pass();
  let minted = await service.mint(registration, { signal });
  if (minted.kind === 'name taken' && (await freeName(act, name)))
    minted = await service.mint(registration, { signal });
  if (minted.kind !== 'minted') {
    world.log.warn('A Pod has no runner yet', {
      name,
      why: minted.kind === 'problem' ? minted.message : 'GitHub has not let go of its name yet. It is tried again.',
    });
    return undefined;
  }
  try {
    await world.client.create(secrets, secretOf(pod, minted.id, minted.jitConfig), whileLeading(act));
  } catch (error) {
    // Somebody else was faster; what was minted here is swept away.
    if (isKubeError(error, 'alreadyExists')) return runnerInSecret(act, pod);
    throw error;
  }
  world.log.info('Registered a runner', { name, runner: minted.id });
  return String(minted.id);
};

/** Whether the name can be had now. A runner that has a job is nobody's left-over. */
const freeName = async ({ service, signal }: Act, name: string): Promise<boolean> => {
  const found = await service?.find(name, { signal });
  if (found?.kind !== 'found') return found?.kind === 'none';
  if (found.runner.isBusy) return false;
  const removed = await service?.remove(found.runner.id, { signal });
  return removed?.kind === 'removed' || removed?.kind === 'none';
};
