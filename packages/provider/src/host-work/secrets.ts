import { annotations, labels, labelValues, secretKeys, secretNames } from '@tartan/api';
import {
  type CallOptions,
  type Client,
  createRedactor,
  createSecret,
  ignoreNotFound,
  isKubeError,
  KubeError,
  type Live,
  type ObjectName,
  type Secret,
  secrets,
} from '@tartan/kube';
import type { SecretObject } from '../controller-deps.ts';

/** How to log in on the Mac of a machine. All of it belongs to one server: with another one none of it is true any more (tuist/tuist#11013). */
export interface MachineLogin {
  /** Empty when the Secret does not say. */
  readonly serverID: string;
  readonly username: string;
  /** Undefined for an empty one, and for what macOS writes in place of a wrong one: those are no passwords (INC-204, INC-207). */
  readonly password: Secret | undefined;
  /** `SHA256:…`: the host key of this install, once it was met. */
  readonly hostFingerprint: string | undefined;
}

/** A login as it is stored. `version` guards the next write. */
export interface MachineSecret extends MachineLogin {
  readonly version: string;
  readonly uid: string;
  /** The machine that it belongs to. Undefined: written before Secrets said so. */
  readonly machineUID: string | undefined;
  readonly createdAt: number;
}

interface SecretLocation {
  /** That of `--secrets-namespace`. */
  readonly namespace: string;
  readonly machine: string;
  /** Of the machine. */
  readonly uid: string;
}

/** A machine, as far as it must prove that a Secret is its own. */
export interface SecretClaimant {
  readonly uid: string;
  readonly serverID: string | undefined;
  readonly createdAt: number;
  /** Another machine has the same name, in another namespace. */
  readonly hasNamesake: boolean;
}

/**
 * Whether a Secret with the name of a machine is that machine's. Machines of all namespaces have their Secrets in one, so a name proves
 * nothing. A Secret without a mark is the machine's if it is of the server that the machine has, or if it was made in the machine's
 * lifetime and there is no other machine that it could have been made for.
 */
export const isSecretOf = (
  { machineUID, serverID, createdAt }: Pick<MachineSecret, 'machineUID' | 'serverID' | 'createdAt'>,
  claimant: SecretClaimant,
): boolean => {
  if (machineUID !== undefined) return machineUID === claimant.uid;
  if (serverID !== '' && serverID === claimant.serverID) return true;
  return !claimant.hasNamesake && createdAt >= claimant.createdAt;
};

/** Uncached: people put passwords in here, and a pin that is a moment old would be no pin. Undefined when there is none. */
export const readMachineSecret = async (
  client: Pick<Client, 'get'>,
  place: Omit<SecretLocation, 'uid'>,
  options: CallOptions = {},
): Promise<MachineSecret | undefined> => {
  const secret = await ignoreNotFound(client.get(secrets, nameOf(place), options));
  return secret && parseSecret(secret);
};

/**
 * Stores a login, all of it: what is undefined is removed. `seen`: what was there when this was decided, undefined for nothing.
 * Rejects with `conflict`, `alreadyExists` or `notFound` when that is not so any more: look again. No error holds the password.
 */
export const writeMachineSecret = async (
  client: Pick<Client, 'create' | 'patch'>,
  place: SecretLocation,
  login: MachineLogin,
  seen: MachineSecret | undefined,
  options: CallOptions = {},
): Promise<MachineSecret> => {
  const { name, namespace } = nameOf(place);
  const metadata = {
    labels: { [labels.managedBy]: labelValues.managedBy },
    annotations: { [annotations.serverID]: login.serverID, [annotations.machineUID]: place.uid },
  };
  const password = passwordOf(login.password?.reveal());
  const data = {
    [username]: encode(login.username),
    [sudoPassword]: encode(password),
    [hostFingerprint]: encode(login.hostFingerprint),
  };
  try {
    if (seen !== undefined) {
      const body = { metadata: { ...metadata, uid: seen.uid, resourceVersion: seen.version }, data };
      return parseSecret(await client.patch(secrets, { name, namespace }, { type: 'merge', body }, options));
    }
    const present = Object.entries(data).flatMap(([key, value]) => (value === null ? [] : [[key, value] as const]));
    const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, ...metadata } } as const;
    return parseSecret(await client.create(secrets, { ...object, data: Object.fromEntries(present) }, options));
  } catch (error) {
    throw password === undefined ? error : redactError(error, password);
  }
};

/**
 * Idempotent. `foreign`: there is one, and nothing proves that it is this machine's, so it was left alone. Rejects with `conflict` when
 * somebody writes it meanwhile.
 */
export const deleteMachineSecret = async (
  client: Pick<Client, 'get' | 'delete'>,
  place: SecretLocation,
  claimant: SecretClaimant,
  options: CallOptions = {},
): Promise<'gone' | 'foreign'> => {
  const stored = await readMachineSecret(client, place, options);
  if (stored === undefined) return 'gone';
  if (!isSecretOf(stored, claimant)) return 'foreign';
  const preconditions = { uid: stored.uid, resourceVersion: stored.version };
  await ignoreNotFound(client.delete(secrets, nameOf(place), { ...options, preconditions }));
  return 'gone';
};

const { sudoPassword, username, hostFingerprint } = secretKeys.machine;

const nameOf = ({ namespace, machine }: Omit<SecretLocation, 'uid'>): ObjectName & { namespace: string } => ({
  namespace,
  name: secretNames.machine(machine),
});

const parseSecret = ({ metadata, data }: Live<SecretObject>): MachineSecret => {
  // People write these by hand too, and an editor ends a line.
  const read = (key: string): string =>
    Buffer.from(data?.[key] ?? '', 'base64')
      .toString()
      .replace(/\r?\n$/, '');
  const password = passwordOf(read(sudoPassword));
  return {
    serverID: metadata.annotations?.[annotations.serverID] ?? '',
    username: read(username),
    password: password === undefined ? undefined : createSecret(password),
    hostFingerprint: read(hostFingerprint) || undefined,
    version: metadata.resourceVersion,
    uid: metadata.uid,
    machineUID: metadata.annotations?.[annotations.machineUID] || undefined,
    createdAt: Date.parse(metadata.creationTimestamp ?? ''),
  };
};

const passwordOf = (text: string | undefined): string | undefined =>
  text === undefined || text === '' || text === '<sealed>' ? undefined : text;

/** `null` removes a key in a merge patch. */
const encode = (text: string | undefined): string | null => (text ? Buffer.from(text).toString('base64') : null);

type TailscaleKey =
  | {
      readonly kind: 'known';
      readonly key: Secret;
      /** Another one whenever the Secret was written: says nothing about the key, and a new key is pushed. */
      readonly version: string;
    }
  /** Its reason on the machine is TailscaleAuthKeyUnavailable. */
  | { readonly kind: 'problem'; readonly message: string };

/**
 * Reads what Macs join the tailnet with, uncached: somebody else writes it. A Mac without its key would leave the tailnet, or never get
 * there, so that a missing one is said and nothing is pushed. Rejects with KubeError for what another try may mend.
 */
export const readTailscaleKey = async (
  client: Pick<Client, 'get'>,
  where: { readonly namespace: string; readonly name: string },
  options: CallOptions = {},
): Promise<TailscaleKey> => {
  const { authKey } = secretKeys.tailscale;
  const advice = `Put the auth key, or the secret of an OAuth client, into its key ${authKey}.`;
  try {
    const secret = await client.get(secrets, where, options);
    const key = Buffer.from(secret.data?.[authKey] ?? '', 'base64')
      .toString()
      .trim();
    if (key === '')
      return {
        kind: 'problem',
        message: `The Secret ${where.namespace}/${where.name} holds no Tailscale key. ${advice}`,
      };
    return { kind: 'known', key: createSecret(key), version: secret.metadata.resourceVersion };
  } catch (error) {
    if (!isKubeError(error, 'notFound')) throw error;
    return {
      kind: 'problem',
      message: `There is no Secret ${where.namespace}/${where.name} with a Tailscale key. ${advice}`,
    };
  }
};

/** An error of Kubernetes as it was, but for the secret that a server may have repeated in it: errors end up in logs and events. */
export const redactError = (error: unknown, secret: string): unknown => {
  if (!isKubeError(error)) return error;
  const redactor = createRedactor();
  redactor.add(secret);
  const { reason, message, code, retryAfterMs } = error;
  const causes = error.causes.map((cause) =>
    Object.fromEntries(Object.entries(cause).map(([key, text]) => [key, text && redactor.text(text)])),
  );
  // Without the cause: whatever is in there has not been looked at.
  return new KubeError(reason, redactor.text(message), {
    code,
    retryAfterMs,
    causes,
  });
};
