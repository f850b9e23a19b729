import { annotations, labels, labelValues, secretKeys, secretNames } from '@tartan/api';
import type { KeyPair } from '@tartan/host';
import { again, type Client, isKubeError, type Logger, type Outcome, type Redactor, secrets } from '@tartan/kube';
import type { HostPool } from '@tartan/scaleway';
import { withoutSecret } from '../host-work/without-secret.ts';
import { type Decision, decide } from './decide.ts';
import type { KeyBoard } from './key-board.ts';
import { type Observation, type Observer, observe } from './observe.ts';

export interface Keeper extends Observer {
  readonly client: Pick<Client, 'get' | 'create' | 'patch'>;
  readonly pool: Pick<HostPool, 'listKeys' | 'createKey' | 'deleteKey'>;
  readonly newKeyPair: (comment: string) => KeyPair;
  readonly board: KeyBoard;
  /** Told of every private key before it goes anywhere. */
  readonly redactor: Pick<Redactor, 'add'>;
  readonly log: Logger;
  /** How long a registration is taken for granted. */
  readonly verifyEveryMs: number;
  /** Scaleway has just said that it has the key. */
  readonly verified: (fleet: string) => void;
}

/** A person may mend a Secret, and nobody tells us. */
const mendedMs = 60_000;
/** Somebody else has written the Secret: look at what it is now. */
const conflictPauseMs = 1000;
const lookAgain = again(0);

/**
 * One step on the way to a key that everybody can use.
 *
 * Flow: stored first, then registered, then those of its name that are not it removed, then its id noted; each step is found done by the
 * next look. So a key that Scaleway puts on Macs is always one that is stored (G-04), and there is no moment without one.
 * Guarantees: a Secret that is there is never written but for its annotation. Of two managers that make a key at the same time one stores
 * it, and the other uses that.
 */
export const keep = async (keeper: Keeper, fleet: string, signal: AbortSignal): Promise<Outcome> => {
  const observation = await observe(keeper, fleet, { signal });
  if (observation.pair) keeper.redactor.add(observation.pair.privateKey);
  return carryOut(keeper, fleet, decide(observation.snapshot), observation, signal);
};

const carryOut = async (
  keeper: Keeper,
  fleet: string,
  decision: Decision,
  { secret, pair }: Observation,
  signal: AbortSignal,
): Promise<Outcome> => {
  const { client, pool, board, log, verifyEveryMs } = keeper;
  switch (decision.kind) {
    case 'make':
      await store(keeper, fleet, signal);
      return lookAgain;
    case 'register': {
      const { id } = await pool.createKey(fleet, decision.publicKey, { signal });
      log.info('Registered the SSH key of a fleet at Scaleway', { fleet, sshKeyID: id });
      return lookAgain;
    }
    case 'remove':
      for (const id of decision.ids) {
        await pool.deleteKey(id, { signal });
        log.warn('Removed an SSH key at Scaleway that the fleet had before, or had twice', { fleet, sshKeyID: id });
      }
      return lookAgain;
    case 'note': {
      if (secret === undefined) return lookAgain;
      const { namespace = '', name, uid, resourceVersion } = secret.metadata;
      const metadata = { uid, resourceVersion, annotations: { [annotations.sshKeyID]: decision.keyID } };
      try {
        await client.patch(secrets, { namespace, name }, { type: 'merge', body: { metadata } }, { signal });
      } catch (error) {
        if (!isKubeError(error, 'conflict', 'notFound')) throw error;
        return again(conflictPauseMs);
      }
      return lookAgain;
    }
    case 'unavailable':
      board.hang(fleet, { kind: 'unavailable', message: decision.why });
      return again(mendedMs);
    case 'ready':
      if (pair) board.hang(fleet, { kind: 'ready', ...pair });
      if (decision.verified) keeper.verified(fleet);
      if (decision.strangers.length > 0)
        log.warn('Left SSH keys alone that have the name of a fleet and are not known to be its own', {
          fleet,
          sshKeyIDs: decision.strangers,
        });
      return again(decision.verified ? verifyEveryMs : mendedMs);
  }
};

const store = async (
  { client, newKeyPair, secretsNamespace: namespace, redactor, log }: Keeper,
  fleet: string,
  signal: AbortSignal,
): Promise<void> => {
  const { privateKey, publicKey } = newKeyPair(`tuist-capi-${fleet}`);
  redactor.add(privateKey);
  const name = secretNames.fleetSSH(fleet);
  const metadata = { namespace, name, labels: { [labels.managedBy]: labelValues.managedBy } };
  const stringData = { [secretKeys.fleetSSH.privateKey]: privateKey, [secretKeys.fleetSSH.publicKey]: publicKey };
  try {
    await client.create(
      secrets,
      { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', stringData },
      { signal },
    );
    log.info('Made an SSH key for a fleet', { fleet, secretName: `${namespace}/${name}` });
  } catch (error) {
    // Somebody was faster: theirs is the key.
    if (!isKubeError(error, 'alreadyExists')) throw withoutSecret(error, privateKey);
  }
};
