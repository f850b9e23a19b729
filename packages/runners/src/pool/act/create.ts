import { annotations } from '@tartan/api';
import { ignoreNotFound, isKubeError, isOwnedBy, type Live, pods, secrets, serviceAccounts } from '@tartan/kube';
import { accountOf, newRunnerName, podOf, secretOf } from '../pod-template.ts';
import type { Pod } from '../snapshot.ts';
import { type ActContext, leaderCallOptions } from './context.ts';
import { annotatePod } from './pod-calls.ts';

/**
 * A ServiceAccount, then a Pod of its name. A crash between the two leaves an account without a Pod, which is deleted later. A Pod whose
 * creation is unconfirmed is read live before the next one is created.
 */
export const createRunner = async (context: ActContext): Promise<void> => {
  const { deps, memory } = context;
  const { pool, mutations } = memory;
  const name = newRunnerName(pool.metadata.name, deps.randomBytes);
  await deps.client.create(serviceAccounts, accountOf(pool, name), leaderCallOptions(context));
  mutations.creating(name);
  try {
    mutations.created(await deps.client.create(pods, podOf(pool, name), leaderCallOptions(context)));
  } catch (error) {
    if (!isOutcomeUnknown(error)) mutations.notCreated(name);
    throw error;
  }
  deps.log.info('Created a runner Pod', { namespace: pool.metadata.namespace, pool: pool.metadata.name, name });
};

/** Every error except a definite rejection. */
const isOutcomeUnknown = (error: unknown): boolean =>
  isKubeError(error, 'unreachable', 'timeout', 'serverError', 'malformed', 'aborted');

/**
 * Gives a Pod its runner at GitHub.
 *
 * Flow: is there a Secret? → mint → Secret → annotation of the Pod.
 * Guarantees: may be interrupted after any of these. Without a Secret the configuration was never stored, so a runner of that name is one
 * whose response was lost: it is removed and minted again. With a Secret the ID is taken from there. So a Pod never has two runners.
 */
export const register = async (context: ActContext, pod: Live<Pod>): Promise<void> => {
  const known = await runnerInSecret(context, pod);
  const runnerID = known ?? (await mintRunner(context, pod));
  if (runnerID === undefined) return;
  const outcome = await annotatePod(context, pod, { [annotations.runnerID]: runnerID });
  if (outcome === 'gone') await context.service?.remove(Number(runnerID), { signal: context.signal });
};

/** The runner whose configuration the Pod has, read live. Undefined: it has none. */
export const runnerInSecret = async ({ deps, signal }: ActContext, pod: Live<Pod>): Promise<string | undefined> => {
  const { name, namespace = '', uid } = pod.metadata;
  const secret = await ignoreNotFound(deps.client.get(secrets, { namespace, name }, { signal }));
  if (secret === undefined) return undefined;
  if (isOwnedBy(secret, uid)) return secret.metadata.annotations?.[annotations.runnerID] ?? '0';
  throw new Error(
    `The Pod ${name} cannot be given a runner: a Secret of its name has another owner. Delete that Secret, or the Pod.`,
  );
};

const mintRunner = async (context: ActContext, pod: Live<Pod>): Promise<string | undefined> => {
  const { service, memory, deps, signal } = context;
  if (service === undefined || memory.pool.metadata.deletionTimestamp !== undefined) return undefined;
  const { name } = pod.metadata;
  const { runnerLabels, github } = memory.pool.spec;
  const registration = { name, labels: runnerLabels, group: github?.runnerGroup };
  deps.gate.pass();
  let minted = await service.mint(registration, { signal });
  if (minted.kind === 'name taken' && (await releaseName(context, name)))
    minted = await service.mint(registration, { signal });
  if (minted.kind !== 'minted') {
    deps.log.warn('Failed to register a runner', {
      name,
      why: minted.kind === 'problem' ? minted.message : 'GitHub still has a runner of this name. It is tried again.',
    });
    return undefined;
  }
  try {
    await deps.client.create(secrets, secretOf(pod, minted.id, minted.jitConfig), leaderCallOptions(context));
  } catch (error) {
    // Another process was faster. The sweep removes the runner that was minted here.
    if (isKubeError(error, 'alreadyExists')) return runnerInSecret(context, pod);
    throw error;
  }
  deps.log.info('Registered a runner', { name, runner: minted.id });
  return String(minted.id);
};

/** Whether the name is free now. A runner that has a job is not removed. */
const releaseName = async ({ service, signal }: ActContext, name: string): Promise<boolean> => {
  const found = await service?.find(name, { signal });
  if (found?.kind !== 'found') return found?.kind === 'none';
  if (found.runner.isBusy) return false;
  const removed = await service?.remove(found.runner.id, { signal });
  return removed?.kind === 'removed' || removed?.kind === 'none';
};
