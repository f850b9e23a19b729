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

/** How to log in on the Mac of a machine. Valid for one server only (tuist/tuist#11013). */
export interface MachineLogin {
  /** Empty if the Secret has none. */
  readonly serverID: string;
  readonly username: string;
  /** Undefined for an empty password, and for the text that macOS writes in place of a wrong one (INC-204, INC-207). */
  readonly password: Secret | undefined;
  /** `SHA256:…`: the host key of this install, after the first contact. */
  readonly hostFingerprint: string | undefined;
}

/** A stored login. `version` guards the next write. */
export interface MachineSecret extends MachineLogin {
  readonly version: string;
  readonly uid: string;
  /** The machine that owns it. Undefined: written before Secrets had this annotation. */
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

/** What decides whether a Secret belongs to a machine. */
export interface SecretClaimant {
  readonly uid: string;
  readonly serverID: string | undefined;
  readonly createdAt: number;
  /** Another machine has the same name, in another namespace. */
  readonly hasNamesake: boolean;
}

/**
 * Whether a Secret with the name of a machine belongs to it. Secrets of machines of all namespaces are in one namespace, so a name proves
 * nothing. A Secret without the annotation belongs to the machine if it names the machine's server, or if it was created in the machine's
 * lifetime and no other machine has that name.
 */
export const isSecretOf = (
  { machineUID, serverID, createdAt }: Pick<MachineSecret, 'machineUID' | 'serverID' | 'createdAt'>,
  claimant: SecretClaimant,
): boolean => {
  if (machineUID !== undefined) return machineUID === claimant.uid;
  if (serverID !== '' && serverID === claimant.serverID) return true;
  return !claimant.hasNamesake && createdAt >= claimant.createdAt;
};

/** A live read: users put passwords in here, and a stale host key must not be trusted. Undefined if it does not exist. */
export const readMachineSecret = async (
  client: Pick<Client, 'get'>,
  place: Omit<SecretLocation, 'uid'>,
  options: CallOptions = {},
): Promise<MachineSecret | undefined> => {
  const secret = await ignoreNotFound(client.get(secrets, nameOf(place), options));
  return secret && parseSecret(secret);
};

/**
 * Stores a login as a whole: undefined members are removed. `seen`: the Secret that the decision is based on, undefined for none. Rejects
 * with `conflict`, `alreadyExists` or `notFound` if that has changed: read it again. No error contains the password.
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
 * Idempotent. `foreign`: a Secret exists, but nothing proves that it belongs to this machine, so it was left alone. Rejects with `conflict`
 * when the Secret changes meanwhile.
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
  // Users also write these by hand, and editors add a line break.
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

const present = Buffer.from('(on the server)').toString('base64');

/**
 * A Secret for a cache: keeps the user, the server and the machine, and of all other values only whether there is one. With it a decision
 * that a Mac needs nothing can be taken; nothing can be done on a Mac.
 */
export const withoutSecretValues = ({
  apiVersion,
  kind,
  metadata,
  data = {},
}: Live<SecretObject>): Live<SecretObject> => {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const kept = [annotations.serverID, annotations.machineUID].flatMap((key) => {
    const value = metadata.annotations?.[key];
    return value === undefined ? [] : [[key, value]];
  });
  const values = Object.entries(data).flatMap(([key, value]) => {
    if (key === username) return [[key, value]];
    return passwordOf(Buffer.from(value, 'base64').toString().trim()) === undefined ? [] : [[key, present]];
  });
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      uid,
      resourceVersion,
      creationTimestamp,
      annotations: Object.fromEntries(kept),
    },
    data: Object.fromEntries(values),
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
      /** Changes with every write of the Secret, so that a new key is pushed; reveals nothing about the key. */
      readonly version: string;
    }
  /** The machine's reason is TailscaleAuthKeyUnavailable. */
  | { readonly kind: 'problem'; readonly message: string };

/**
 * Reads the key with which Macs join the tailnet, uncached: another client writes it. Without the key a Mac would leave the tailnet or
 * never join it, so a missing key is reported and nothing is pushed. Rejects with KubeError for errors that a retry may fix.
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

/** A Kubernetes error without the secret that the server may have repeated in it: errors end up in logs and events. */
export const redactError = (error: unknown, secret: string): unknown => {
  if (!isKubeError(error)) return error;
  const redactor = createRedactor();
  redactor.add(secret);
  const { reason, message, code, retryAfterMs } = error;
  const causes = error.causes.map((cause) =>
    Object.fromEntries(Object.entries(cause).map(([key, text]) => [key, text && redactor.text(text)])),
  );
  // Without the cause, which is not redacted.
  return new KubeError(reason, redactor.text(message), {
    code,
    retryAfterMs,
    causes,
  });
};
