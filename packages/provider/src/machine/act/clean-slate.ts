import { type EventReason, events, legacyNodeIdentity, secretNames } from '@tartan/api';
import {
  clusterRoleBindings,
  type DeleteOptions,
  isKubeError,
  type KubeObject,
  nodes,
  type ObjectName,
  type Resource,
  secrets,
  serviceAccounts,
} from '@tartan/kube';
import { deleteMachineSecret, isSecretOf } from '../../host-work/machine-secret.ts';
import { deleteJoinToken } from '../../identity/mint-join-token.ts';
import { providerIDOf } from '../node-facts.ts';
import { claimantOf } from '../observe.ts';
import { type Act, callOf, secretPlace, statusIn } from './context.ts';

/**
 * Deletes all that speaks for one Mac: what it joins with, how to log in, its Node. Idempotent. What gives rights goes first.
 * Cluster API deletes the Node of a Machine itself, but neither when its Cluster goes, nor when the machine only changes its Mac (G-07).
 */
export const cleanSlate = async (act: Act): Promise<void> => {
  const { joinTokenID } = statusIn(act);
  if (joinTokenID !== undefined) await deleteJoinToken(act.world.client, joinTokenID, callOf(act));
  await deleteLegacyIdentity(act);
  await deleteSecret(act);
  await deleteNode(act);
};

const deleteSecret = async (act: Act): Promise<void> => {
  const { world, record } = act;
  const place = secretPlace(act);
  const claimant = claimantOf(world, record.machine);
  if ((await deleteMachineSecret(world.client, place, claimant, callOf(act))) === 'foreign')
    sayKept(act, secretNames.machine(place.machine));
};

/** Only a Node that says that it is this very Mac: another one may have got its name. */
const deleteNode = async (act: Act): Promise<void> => {
  const { world, record } = act;
  const { name } = record.machine.metadata;
  const ours = providerIDOf(record.machine);
  try {
    const node = await world.client.get(nodes, { name }, callOf(act));
    if (ours === undefined || node.spec?.providerID !== ours) return;
    const preconditions = { uid: node.metadata.uid };
    await world.client.delete(nodes, { name }, { ...callOf(act), preconditions });
  } catch (error) {
    if (!isKubeError(error, 'notFound')) throw error;
  }
};

/**
 * Of the original system: a token that never expires, and the rights that it has. Its names are those of machines of all namespaces, and
 * the Secret is what tells whose they are: it goes last.
 */
const deleteLegacyIdentity = async (act: Act): Promise<void> => {
  const { world, record } = act;
  const { namespace, machine } = secretPlace(act);
  const token = { namespace, name: secretNames.legacyNodeToken(machine) };
  const found = await getIfThere(world.client.get(secrets, token, callOf(act)));
  if (found === undefined) return;
  const createdAt = Date.parse(found.metadata.creationTimestamp ?? '');
  const unmarked = { machineUID: undefined, serverID: '', createdAt };
  if (!isSecretOf(unmarked, claimantOf(world, record.machine))) return sayKept(act, token.name);
  const name = legacyNodeIdentity(machine);
  await deleteIfThere(act, clusterRoleBindings, { name });
  await deleteIfThere(act, serviceAccounts, { namespace, name });
  await deleteIfThere(act, secrets, token, { preconditions: { uid: found.metadata.uid } });
};

const sayKept = ({ world, record }: Act, secretName: string): void => {
  const { namespace } = secretPlace({ world, record });
  const reason: EventReason = 'SecretKept';
  const message = `The Secret ${namespace}/${secretName} has the name of this machine, and nothing proves that it is this machine's. It is left alone. Delete it if nobody needs it.`;
  world.log.warn('Left a Secret alone that may be of another machine', { namespace, secretName });
  world.events.event(record.machine, { type: events[reason][0], reason, message });
};

const getIfThere = async <T>(asked: Promise<T>): Promise<T | undefined> => {
  try {
    return await asked;
  } catch (error) {
    if (isKubeError(error, 'notFound')) return undefined;
    throw error;
  }
};

const deleteIfThere = async <T extends KubeObject>(
  act: Act,
  resource: Resource<T>,
  name: ObjectName,
  options: DeleteOptions = {},
): Promise<void> => {
  try {
    await act.world.client.delete(resource, name, { ...options, ...callOf(act) });
  } catch (error) {
    if (!isKubeError(error, 'notFound')) throw error;
  }
};
