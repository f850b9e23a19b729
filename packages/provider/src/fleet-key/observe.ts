import { annotations, secretKeys, secretNames } from '@tartan/api';
import { type KeyPair, publicKeyOf } from '@tartan/host';
import { type Client, ignoreNotFound, type Live, secrets } from '@tartan/kube';
import { type HostPool, ScalewayError } from '@tartan/scaleway';
import type { SecretObject } from '../controller-deps.ts';
import { keyMaterial, type RegisteredKeys, type SecretFacts, type Snapshot } from './decide.ts';

export interface ObserveDeps {
  readonly client: Pick<Client, 'get'>;
  readonly pool: Pick<HostPool, 'listKeys'>;
  readonly secretsNamespace: string;
}

export interface Observation {
  readonly snapshot: Snapshot;
  /** As it is stored, for whoever writes it. */
  readonly secret: Live<SecretObject> | undefined;
  /** Kept out of the snapshot, which may be written down. */
  readonly pair: KeyPair | undefined;
}

/** The Secret from the server, then the keys of the project. Scaleway is asked only when there is a key to look for. */
export const observe = async (
  { client, pool, secretsNamespace: namespace }: ObserveDeps,
  fleet: string,
  { signal }: { signal: AbortSignal },
): Promise<Observation> => {
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
    facts.kind === 'usable' ? await listRegisteredKeys(pool, signal) : ({ kind: 'unknown', why: 'not asked' } as const);
  const pair = read === undefined || 'why' in read ? undefined : read;
  return { snapshot: { fleet, secret: facts, registered }, secret, pair };
};

const { privateKey: privateName, publicKey: publicName } = secretKeys.fleetSSH;
const remedy = `It is left as it is. Put an unencrypted private key as ssh-keygen writes it under ${privateName}; or delete the Secret to have a new key made, with which Macs cannot be reached that know only the old one.`;

/** Why not never says what is in there. */
const readPair = ({ data = {} }: SecretObject): KeyPair | { why: string } => {
  const textOf = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
  const privateKey = textOf(privateName);
  if (privateKey.trim() === '') return { why: `has no ${privateName}. ${remedy}` };
  try {
    const derived = publicKeyOf(privateKey);
    const stored = textOf(publicName).trim();
    // A person may leave it out, but a wrong one is a mistake that would lock everybody out (INC-331).
    if (stored !== '' && keyMaterial(stored) !== derived)
      return { why: `holds two keys that do not belong together, ${privateName} and ${publicName}. ${remedy}` };
    return { privateKey, publicKey: stored || derived };
  } catch {
    return { why: `holds no private key that can be read under ${privateName}. ${remedy}` };
  }
};

const listRegisteredKeys = async (pool: Pick<HostPool, 'listKeys'>, signal: AbortSignal): Promise<RegisteredKeys> => {
  try {
    return { kind: 'keys', keys: await pool.listKeys({ signal }) };
  } catch (error) {
    if (!(error instanceof ScalewayError)) throw error;
    return { kind: 'unknown', why: error.message };
  }
};
