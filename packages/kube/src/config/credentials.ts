import type { ClusterConfig, ConfigContext, Credentials } from './cluster-config.ts';
import { ConfigError, type ConfigLocation, readRequired } from './config-file.ts';
import { checkKeyPair } from './pem.ts';

/** Credentials, or a part of them, from one source. */
export interface CredentialSource {
  get(): Promise<Credentials>;
  /** The next `get` loads them again. A load already in progress counts. */
  invalidate(): void;
}

/** How long a file is cached. The kubelet renews tokens hours ahead of expiry. */
const rereadAfterMs = 60_000;

export const staticCredentials = (credentials: Credentials): CredentialSource => ({
  get: () => Promise.resolve(credentials),
  invalidate: () => {},
});

export const bearerToken = (location: ConfigLocation, text: string): Credentials => {
  const token = text.trim();
  if (token === '') throw new ConfigError(location, 'the token is empty.');
  // Anything else would break the Authorization header.
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new ConfigError(location, 'the token has spaces or control characters in it.');
  return { headers: { authorization: `Bearer ${token}` } };
};

/** Keeps the cached credentials while a file is being replaced. */
const fileSource = ({ clock }: ConfigContext, read: () => Promise<Credentials>): CredentialSource =>
  cached(
    async () => {
      const credentials = await read();
      const readAt = clock.monotonic();
      return { credentials, isFresh: () => clock.monotonic() - readAt < rereadAfterMs };
    },
    { keepOnFailure: true },
  );

export const tokenFile = (path: string, location: ConfigLocation, context: ConfigContext): CredentialSource =>
  fileSource(context, async () => bearerToken(location, await readRequired(context.readFile, path, location)));

/** PEM: text that does not change, or a file that may. */
export type PemSource = { location: ConfigLocation; text: string } | { location: ConfigLocation; path: string };

export const readPem = async (source: PemSource, { readFile }: ConfigContext): Promise<string> =>
  'path' in source ? readRequired(readFile, source.path, source.location) : source.text;

/**
 * A client certificate. Files are read again as token files are; while only one of the two files has been replaced, the previous pair
 * stays in use.
 */
export const clientCertificate = (cert: PemSource, key: PemSource, context: ConfigContext): CredentialSource =>
  fileSource(context, async () => {
    const pair = { cert: await readPem(cert, context), key: await readPem(key, context) };
    return { certificate: checkKeyPair(pair, { cert: cert.location, key: key.location }) };
  });

/** All parts together; the same object as before when nothing in it changed. */
export const combine = (sources: readonly CredentialSource[]): Pick<ClusterConfig, 'credentials' | 'refresh'> => {
  let last: Credentials = {};
  return {
    credentials: async () => {
      const parts = await Promise.all(sources.map((source) => source.get()));
      const next = parts.reduce((all, part) => ({ ...all, ...part }), {});
      if (!sameCredentials(last, next)) last = next;
      return last;
    },
    refresh: (rejected) => {
      if (rejected === undefined || rejected === last) for (const source of sources) source.invalidate();
    },
  };
};

const sameCredentials = (a: Credentials, b: Credentials): boolean =>
  a.headers?.['authorization'] === b.headers?.['authorization'] &&
  a.certificate?.cert === b.certificate?.cert &&
  a.certificate?.key === b.certificate?.key;

export interface LoadedCredentials {
  credentials: Credentials;
  isFresh(): boolean;
}

/** Credentials that are costly to load: kept while they are fresh, loaded once for concurrent callers. */
export const cached = (load: () => Promise<LoadedCredentials>, { keepOnFailure = false } = {}): CredentialSource => {
  let kept: LoadedCredentials | undefined;
  let loading: Promise<Credentials> | undefined;
  const renew = async (): Promise<Credentials> => {
    try {
      kept = await load();
      return kept.credentials;
    } catch (error) {
      if (kept !== undefined && keepOnFailure) return kept.credentials;
      throw error;
    } finally {
      loading = undefined;
    }
  };
  return {
    get: () => {
      if (kept?.isFresh()) return Promise.resolve(kept.credentials);
      loading ??= renew();
      return loading;
    },
    invalidate: () => {
      kept = undefined;
    },
  };
};
