import type { Clock } from '../clock/clock.ts';
import { cached } from './cached.ts';
import type { Credentials } from './cluster-config.ts';
import { ConfigError, type Place } from './config-error.ts';
import { checkPair, type Pair } from './pem.ts';
import { type ReadFile, readExisting } from './read-file.ts';

/** Credentials, or a part of them, from one origin. */
export interface CredentialSource {
  get(): Promise<Credentials>;
  drop(): void;
}

/** How long a file that may be replaced under our feet is taken for unchanged. The kubelet renews tokens hours ahead. */
const rereadAfterMs = 60_000;

export const fixed = (credentials: Credentials): CredentialSource => ({
  get: () => Promise.resolve(credentials),
  drop: () => {},
});

export const bearer = (place: Place, text: string): Credentials => {
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

export const tokenFile = (path: string, place: Place, options: FileOptions): CredentialSource =>
  fileSource(options, async () => bearer(place, await readExisting(options.readFile, path, place)));

/** One half of a certificate and its key: text that does not change, or a file that may. */
export type Half = { place: Place; text: string } | { place: Place; path: string };

/**
 * A client certificate. Halves in files are read again as token files are; while one of them has been replaced and the other
 * not yet, the pair that belonged together stays in use.
 */
export const certificateFiles = (cert: Half, key: Half, options: FileOptions): CredentialSource => {
  const textOf = (half: Half): Promise<string> =>
    'path' in half ? readExisting(options.readFile, half.path, half.place) : Promise.resolve(half.text);
  let known: Pair | undefined;
  return fileSource(options, async () => {
    const pair = { cert: await textOf(cert), key: await textOf(key) };
    if (known === undefined || known.cert !== pair.cert || known.key !== pair.key)
      known = checkPair(pair, { cert: cert.place, key: key.place });
    return { certificate: known };
  });
};

/** All parts together; the same object as before when nothing in it changed. */
export const combine = (sources: readonly CredentialSource[]): CredentialSource => {
  let last: Credentials = {};
  return {
    get: async () => {
      const parts = await Promise.all(sources.map((source) => source.get()));
      const next = parts.reduce((all, part) => ({ ...all, ...part }), {});
      if (!same(last, next)) last = next;
      return last;
    },
    drop: () => {
      for (const source of sources) source.drop();
    },
  };
};

const same = (a: Credentials, b: Credentials): boolean =>
  a.headers?.['authorization'] === b.headers?.['authorization'] &&
  a.certificate?.cert === b.certificate?.cert &&
  a.certificate?.key === b.certificate?.key;
