import type { Clock } from '../clock/clock.ts';
import type { ClusterConfig, Credentials } from './cluster-config.ts';
import { ConfigError, type ConfigLocation, type ReadFile, readRequired } from './config-file.ts';
import { checkKeyPair, type KeyPair } from './pem.ts';

/** Credentials, or a part of them, from one origin. */
export interface CredentialSource {
  get(): Promise<Credentials>;
  invalidate(): void;
}

/** How long a file that may be replaced under our feet is taken for unchanged. The kubelet renews tokens hours ahead. */
const rereadAfterMs = 60_000;

export const staticCredentials = (credentials: Credentials): CredentialSource => ({
  get: () => Promise.resolve(credentials),
  invalidate: () => {},
});

export const bearerToken = (place: ConfigLocation, text: string): Credentials => {
  const token = text.trim();
  if (token === '') throw new ConfigError(place, 'the token is empty.');
  // Anything else would break the header that it goes into.
  if (!/^[\x21-\x7e]+$/.test(token)) throw new ConfigError(place, 'the token has spaces or control characters in it.');
  return { headers: { authorization: `Bearer ${token}` } };
};

interface FileOptions {
  readFile: ReadFile;
  clock: Clock;
}

const fileSource = ({ clock }: FileOptions, load: () => Promise<Credentials>): CredentialSource =>
  cached({
    load,
    isFresh: (_, loadedAt) => clock.monotonic() - loadedAt < rereadAfterMs,
    now: () => clock.monotonic(),
    keepOnFailure: true,
  });

export const tokenFile = (path: string, place: ConfigLocation, options: FileOptions): CredentialSource =>
  fileSource(options, async () => bearerToken(place, await readRequired(options.readFile, path, place)));

/** One half of a certificate and its key: text that does not change, or a file that may. */
export type PemSource = { place: ConfigLocation; text: string } | { place: ConfigLocation; path: string };

/**
 * A client certificate. Halves in files are read again as token files are; while one of them has been replaced and the other
 * not yet, the pair that belonged together stays in use.
 */
export const certificateFiles = (cert: PemSource, key: PemSource, options: FileOptions): CredentialSource => {
  const textOf = (half: PemSource): Promise<string> =>
    'path' in half ? readRequired(options.readFile, half.path, half.place) : Promise.resolve(half.text);
  let known: KeyPair | undefined;
  return fileSource(options, async () => {
    const pair = { cert: await textOf(cert), key: await textOf(key) };
    if (known === undefined || known.cert !== pair.cert || known.key !== pair.key)
      known = checkKeyPair(pair, { cert: cert.place, key: key.place });
    return { certificate: known };
  });
};

/** All parts together, as a configuration offers them; the same object as before when nothing in it changed. */
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

/** A value that is costly to get: kept while it is fresh, got once for all who ask at the same time. */
interface Cached<T> {
  get(): Promise<T>;
  /** The next `get` gets it anew. One under way is new enough. */
  invalidate(): void;
}

interface CachedOptions<T> {
  load: () => Promise<T>;
  isFresh: (value: T, loadedAt: number) => boolean;
  now: () => number;
  /** What was good a minute ago is better than nothing while a file is being replaced. Not after `invalidate`. */
  keepOnFailure?: boolean;
}

export const cached = <T>({ load, isFresh, now, keepOnFailure = false }: CachedOptions<T>): Cached<T> => {
  let kept: { value: T; loadedAt: number } | undefined;
  let underWay: Promise<T> | undefined;
  const renew = async (): Promise<T> => {
    try {
      const value = await load();
      kept = { value, loadedAt: now() };
      return value;
    } catch (error) {
      if (kept !== undefined && keepOnFailure) return kept.value;
      throw error;
    } finally {
      underWay = undefined;
    }
  };
  return {
    get: () => {
      if (kept !== undefined && isFresh(kept.value, kept.loadedAt)) return Promise.resolve(kept.value);
      underWay ??= renew();
      return underWay;
    },
    invalidate: () => {
      kept = undefined;
    },
  };
};
