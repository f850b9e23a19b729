import { again, isKubeError } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { type JoinCredentials, makeJoinCredentials } from '../../host-work/join.ts';
import { ClusterAddressError } from '../../identity/cluster-address.ts';
import { deleteJoinToken } from '../../identity/mint-join-token.ts';
import { withoutToken } from '../memory.ts';
import { done, type Result } from '../result.ts';
import { type Act, type Acted, callOf, statusIn } from './context.ts';

/** New credentials to join with. The machine names their token before it exists, so that none is ever left behind. */
export const makeJoin = async (act: Act): Promise<JoinCredentials | Result> => {
  const { world, record } = act;
  const { name, namespace = '', uid } = record.machine.metadata;
  try {
    return await makeJoinCredentials(world.client, {
      ...callOf(act),
      machine: { name, namespace, uid },
      recorded: statusIn(act).joinTokenID,
      record: ({ tokenID, expiresAt }) =>
        record.writeGuarded((status) => ({
          ...status,
          joinTokenID: tokenID,
          joinTokenExpires: timestamp(expiresAt),
        })),
      address: world.address,
      clock: world.clock,
      random: world.randomBytes,
      redactor: world.redactor,
    });
  } catch (error) {
    if (!(error instanceof ClusterAddressError) && !isKubeError(error, 'forbidden', 'invalid')) throw error;
    return { kind: 'no bootstrap', reason: 'NodeIdentityUnavailable', message: error.message };
  }
};

/** The token first: a record without a token is harmless, a token without a record is nobody's. */
export const retireToken = async (act: Act, certificateExpires: number | undefined): Promise<Acted> => {
  const { joinTokenID } = statusIn(act);
  if (joinTokenID !== undefined) await deleteJoinToken(act.world.client, joinTokenID, callOf(act));
  await act.record.write((status) => withoutToken(status, certificateExpires));
  return { result: done, next: again(0) };
};
