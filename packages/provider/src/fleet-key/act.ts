import { annotations, labels, labelValues, secretKeys, secretNames } from '@tartan/api';
import { type KeyPair, publicKeyOf } from '@tartan/host';
import {
  type Client,
  ignoreNotFound,
  ignoreStale,
  isKubeError,
  type Logger,
  patchIfUnchanged,
  type ReconcileResult,
  type Redactor,
  requeueAfter,
  secrets,
} from '@tartan/kube';
import { ScalewayError } from '@tartan/scaleway';
import type { SecretObject } from '../controller-deps.ts';
import { redactError } from '../host-work/secrets.ts';
import { decide, type Decision, keyMaterial, type RegisteredKeys, type SecretFacts, type Snapshot } from './decide.ts';
import type { FleetKeyStore } from './controller.ts';
import type { RegisteredKeyLists } from './registered-keys.ts';

export interface ActDeps extends ObserveDeps {
  readonly client: Pick<Client, 'get' | 'create' | 'patch'>;
  readonly newKeyPair: (comment: string) => KeyPair;
  readonly store: FleetKeyStore;
  /** Every private key is added before it is used. */
  readonly redactor: Pick<Redactor, 'add'>;
  readonly log: Logger;
  /** How long a registration is assumed to last. */
  readonly verifyEveryMs: number;
  /** Called when Scaleway has confirmed that it has the key. */
  readonly verified: (fleet: string) => void;
}

/** Nothing triggers when a user repairs the Secret. */
const repairCheckMs = 60_000;
/** Another client has written the Secret: read it again. */
const conflictRequeueMs = 1000;
const requeueNow = requeueAfter(0);

/**
 * One step towards a key that is stored and registered.
 * Flow: store the key, register it, remove other keys of its name, annotate the Secret with its id. Each pass detects the steps already
 * done. So Scaleway only puts stored keys on Macs, and always has one.
 * Guarantees: an existing Secret is never changed except for its annotation. If two managers create a key at the same time, one stores it
 * and the other uses that one.
 */
export const reconcileKey = async (deps: ActDeps, fleet: string, signal: AbortSignal): Promise<ReconcileResult> => {
  const observation = await observe(deps, fleet, { signal });
  if (observation.pair) deps.redactor.add(observation.pair.privateKey);
  const decision = decide(observation.snapshot);
  if (decision.kind !== 'remove') return act(deps, fleet, decision, observation, signal);
  // A key is removed only if another one has just been listed.
  const now = await observe(deps, fleet, { signal }, true);
  return act(deps, fleet, decide(now.snapshot), now, signal);
};

const act = async (
  deps: ActDeps,
  fleet: string,
  decision: Decision,
  { secret, pair }: Observation,
  signal: AbortSignal,
): Promise<ReconcileResult> => {
  const { client, registeredKeys, store, log, verifyEveryMs } = deps;
  switch (decision.kind) {
    case 'create':
      await storeNewKey(deps, fleet, signal);
      return requeueNow;
    case 'register': {
      const { id } = await registeredKeys.create(fleet, decision.publicKey, { signal });
      log.info('Registered the SSH key of a fleet at Scaleway', { fleet, sshKeyID: id });
      return requeueNow;
    }
    case 'remove':
      for (const id of decision.ids) {
        await registeredKeys.remove(id, { signal });
        log.warn('Removed an SSH key at Scaleway that the fleet had before, or had twice', { fleet, sshKeyID: id });
      }
      return requeueNow;
    case 'annotate': {
      if (secret === undefined) return requeueNow;
      const metadata = { annotations: { [annotations.sshKeyID]: decision.keyID } };
      const written = await ignoreStale(patchIfUnchanged(client, secrets, secret, { metadata }, { signal }));
      return written ? requeueNow : requeueAfter(conflictRequeueMs);
    }
    case 'unavailable':
      store.set(fleet, { kind: 'unavailable', message: decision.why });
      return requeueAfter(repairCheckMs);
    case 'ready':
      if (pair) store.set(fleet, { kind: 'ready', ...pair });
      if (decision.verified) deps.verified(fleet);
      if (decision.foreignKeys.length > 0)
        log.warn('Left SSH keys alone that have the name of a fleet and are not known to be its own', {
          fleet,
          sshKeyIDs: decision.foreignKeys,
        });
      return requeueAfter(decision.verified ? verifyEveryMs : repairCheckMs);
  }
};

const storeNewKey = async (
  { client, newKeyPair, secretsNamespace: namespace, redactor, log }: ActDeps,
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
    // Another manager was faster: its key is used.
    if (!isKubeError(error, 'alreadyExists')) throw redactError(error, privateKey);
  }
};

interface ObserveDeps {
  readonly client: Pick<Client, 'get'>;
  readonly registeredKeys: RegisteredKeyLists;
  readonly secretsNamespace: string;
}

/** Reads the Secret from the server, then the keys of the project. Asks Scaleway only when there is a key to look for. */
const observe = async (
  { client, registeredKeys, secretsNamespace: namespace }: ObserveDeps,
  fleet: string,
  { signal }: { signal: AbortSignal },
  isFresh = false,
) => {
  const secret = await ignoreNotFound(
    client.get(secrets, { namespace, name: secretNames.fleetSSH(fleet) }, { signal }),
  );
  const read = secret && readPair(secret);
  const facts: SecretFacts =
    secret === undefined || read === undefined
      ? { kind: 'absent' }
      : 'why' in read
        ? { kind: 'malformed', why: `The Secret ${namespace}/${secret.metadata.name} ${read.why}` }
        : { kind: 'usable', publicKey: read.publicKey, keyID: secret.metadata.annotations?.[annotations.sshKeyID] };
  const registered =
    facts.kind === 'usable'
      ? await listRegisteredKeys(registeredKeys, signal, isFresh)
      : ({ kind: 'unknown', why: 'not asked' } as const);
  const pair = read === undefined || 'why' in read ? undefined : read;
  const snapshot: Snapshot = { fleet, secret: facts, registered };
  // The pair is kept out of the snapshot, which may be logged.
  return { snapshot, secret, pair };
};

type Observation = Awaited<ReturnType<typeof observe>>;

const { privateKey: privateName, publicKey: publicName } = secretKeys.fleetSSH;
const remedy = `It is left as it is. Put an unencrypted private key as ssh-keygen writes it under ${privateName}; or delete the Secret to have a new key made, with which Macs cannot be reached that know only the old one.`;

/** The reason never contains the content of the Secret. */
const readPair = ({ data = {} }: SecretObject): KeyPair | { why: string } => {
  const textOf = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
  const privateKey = textOf(privateName);
  if (privateKey.trim() === '') return { why: `has no ${privateName}. ${remedy}` };
  try {
    const derived = publicKeyOf(privateKey);
    const stored = textOf(publicName).trim();
    // A user may leave it out, but a wrong one is a mistake that would lock everyone out (INC-331).
    if (stored !== '' && keyMaterial(stored) !== derived)
      return { why: `holds two keys that do not belong together, ${privateName} and ${publicName}. ${remedy}` };
    return { privateKey, publicKey: stored || derived };
  } catch {
    return { why: `holds no private key that can be read under ${privateName}. ${remedy}` };
  }
};

const listRegisteredKeys = async (
  registeredKeys: RegisteredKeyLists,
  signal: AbortSignal,
  isFresh: boolean,
): Promise<RegisteredKeys> => {
  try {
    return { kind: 'keys', ...(await registeredKeys.list({ signal }, isFresh)) };
  } catch (error) {
    if (!(error instanceof ScalewayError)) throw error;
    return { kind: 'unknown', why: error.message };
  }
};
