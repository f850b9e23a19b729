import { legacyNodeIdentity, secretNames } from '@tartan/api';
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
import { deleteMachineSecret } from '../../host-work/machine-secret.ts';
import { deleteJoinToken } from '../../identity/mint-join-token.ts';
import { providerIDOf } from '../node-facts.ts';
import { type Act, callOf, secretPlace, statusIn } from './context.ts';

/**
 * Deletes all that speaks for one Mac: what it joins with, how to log in, its Node. Idempotent. What gives rights goes first.
 * Cluster API deletes the Node of a Machine itself, but neither when its Cluster goes, nor when the machine only changes its Mac (G-07).
 */
export const cleanSlate = async (act: Act): Promise<void> => {
  const { joinTokenID } = statusIn(act);
  if (joinTokenID !== undefined) await deleteJoinToken(act.world.client, joinTokenID, callOf(act));
  await deleteLegacyIdentity(act);
  await deleteMachineSecret(act.world.client, secretPlace(act), callOf(act));
  await deleteNode(act);
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

/** Of the original system: a token that never expires, and the rights that it has. */
const deleteLegacyIdentity = async (act: Act): Promise<void> => {
  const { namespace, machine } = secretPlace(act);
  const name = legacyNodeIdentity(machine);
  await deleteIfThere(act, clusterRoleBindings, { name });
  await deleteIfThere(act, secrets, { namespace, name: secretNames.legacyNodeToken(machine) });
  await deleteIfThere(act, serviceAccounts, { namespace, name });
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
