import {
  type CallOptions,
  type Client,
  createSecret,
  ignoreNotFound,
  isKubeError,
  KubeError,
  secrets,
} from '@tartan/kube';
import { type Clock, timestamp } from '@tartan/kube/clock';
import { redactError } from '../host-work/secrets.ts';
import { joinGroup, tokenIDPattern, tokenNamespace, tokenSecretName, tokenSecretType } from './names.ts';

export interface MintOptions extends CallOptions {
  readonly machine: { readonly name: string; readonly namespace: string; readonly uid: string };
  /** The token in the machine's status, if any: its secret half is lost, so it is deleted first. */
  readonly recorded?: string | undefined;
  /** Writes the id of the new token to the machine's status, and resolves once it is stored. */
  readonly record: (record: TokenRecord) => Promise<void>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly lifetimeMs: number;
}

/** There are some two thousand million ids, so a collision is rare; three in a row have another cause. */
const maxTries = 3;

/**
 * A token with which one Mac may request its first certificate.
 * Flow: delete the recorded token → `record` the id of the new one → create its Secret.
 * Guarantees: crash-safe: whenever a Secret exists, the machine's status names it; a token whose creation was not confirmed is deleted by
 * the next call, or with the machine. Secrets of kube-system are never read (`rights.ts`). No error contains the secret half, even if a
 * server repeats what it was sent.
 * Assumptions: one caller per machine at a time: `record` must be guarded by the resource version.
 * Caveats: if a foreign token has the drawn id and we crash before the next one is recorded, the next call deletes the foreign one.
 */
export const mintJoinToken = async (client: Client, options: MintOptions): Promise<JoinToken> => {
  const { recorded, record, clock, random, lifetimeMs, signal, deadlineMs } = options;
  const call = { signal, deadlineMs };
  if (recorded !== undefined) await deleteJoinToken(client, recorded, call);
  for (let tries = 1; ; tries += 1) {
    const token = generateToken(random, clock.now() + lifetimeMs);
    await record({ tokenID: token.tokenID, expiresAt: token.expiresAt });
    try {
      await createTokenSecret(client, token, options.machine, call);
      return token;
    } catch (error) {
      if (!isKubeError(error, 'alreadyExists') || tries === maxTries) throw withoutToken(error, token);
    }
  }
};

/**
 * Idempotent. An invalid id belongs to no token. The API server accepts a deleted token for some seconds more (seen on 1.36.3: it caches
 * authentications). Clearing the machine's status makes the token useless at once, as the approver checks that.
 */
export const deleteJoinToken = async (client: Client, tokenID: string, options: CallOptions = {}): Promise<void> => {
  if (!tokenIDPattern.test(tokenID)) return;
  // The cluster's token cleaner may have deleted it already.
  await ignoreNotFound(client.delete(secrets, { namespace: tokenNamespace, name: tokenSecretName(tokenID) }, options));
};

const createTokenSecret = async (
  client: Client,
  token: JoinToken,
  { namespace, name, uid }: MintOptions['machine'],
  call: CallOptions,
): Promise<void> => {
  await client.create(
    secrets,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: tokenNamespace, name: tokenSecretName(token.tokenID) },
      type: tokenSecretType,
      stringData: {
        'token-id': token.tokenID,
        'token-secret': secretHalf(token),
        expiration: timestamp(token.expiresAt),
        'usage-bootstrap-authentication': 'true',
        'auth-extra-groups': joinGroup,
        description: `Tartan: lets the Mac of machine ${namespace}/${name} (${uid}) join this cluster.`,
      },
    },
    call,
  );
};

const withoutToken = (error: unknown, token: JoinToken): unknown =>
  redactError(
    isKubeError(error) ? error : new KubeError('malformed', `Cannot create a join token: ${String(error)}`),
    secretHalf(token),
  );

const secretHalf = (token: JoinToken): string => token.reveal().slice(token.tokenID.length + 1);

/** That many cryptographically secure random bytes. */
export type RandomBytes = (count: number) => Uint8Array;

/** What a machine's status says of its token: enough to find, judge and delete it, but not to join with it. */
export interface TokenRecord {
  /** The public half. */
  readonly tokenID: string;
  readonly expiresAt: number;
}

/** A bootstrap token. Printing it never shows its secret half. */
export interface JoinToken extends TokenRecord {
  reveal(): string;
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';
/** The largest multiple of 36 in a byte: values above would make some characters likelier than others. */
const fairBytes = 252;

const randomText = (random: RandomBytes, length: number): string => {
  let text = '';
  while (text.length < length) {
    for (const byte of random(length - text.length)) if (byte < fairBytes) text += alphabet.charAt(byte % 36);
  }
  return text.slice(0, length);
};

export const generateToken = (random: RandomBytes, expiresAt: number): JoinToken => {
  const tokenID = randomText(random, 6);
  const secret = createSecret(randomText(random, 16));
  return { tokenID, expiresAt, reveal: () => `${tokenID}.${secret.reveal()}` };
};
