import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dispatchAudience, guestNames } from '@tartan/api';
import { isKubeError, type Live, type Subresources } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import * as z from 'zod/mini';
import { parseJson } from '../parse-json.ts';
import type { Pod } from '../pods/snapshot.ts';
import { type GuestFolder, replaceFile } from './guest-folder.ts';
import { configError, GuestConfigError } from './guests.ts';
import { checkVolumePath, mountedVolumes, type ProjectedVolume, projectedVolumes } from './projected-volumes.ts';

/** One token that the Pod requests. */
export interface TokenSpec {
  /** Empty: the API server's audience. */
  readonly audience: string;
  readonly seconds: number;
  /** The volume and path, if the container mounts it. */
  readonly in?: { readonly volume: string; readonly path: string };
  /** Also written to `env`, for guests without support for volumes. */
  readonly alsoInEnv: boolean;
}

/** The API server's default. */
const defaultSeconds = 3600;

const tokensIn = ({ sources }: ProjectedVolume) =>
  sources.flatMap(({ serviceAccountToken: token }) =>
    token === undefined
      ? []
      : [{ audience: token.audience ?? '', seconds: token.expirationSeconds ?? defaultSeconds, path: token.path }],
  );

/**
 * The tokens of a Pod. The API server gives a Node only tokens with audiences that a projected volume of the Pod declares, so a Pod that
 * takes jobs must declare the dispatch's audience.
 */
export const tokenSpecsOf = (pod: Pod): readonly TokenSpec[] => {
  const tokens = mountedVolumes(pod).flatMap((volume) =>
    tokensIn(volume).map(({ audience, seconds, path }) => ({
      audience,
      seconds,
      in: { volume: volume.name, path: checkVolumePath(volume.name, path) },
    })),
  );
  const first = tokens.findIndex(({ audience }) => audience === dispatchAudience);
  if (first >= 0) return tokens.map((token, at) => ({ ...token, alsoInEnv: at === first }));
  const unmounted = projectedVolumes(pod)
    .flatMap(tokensIn)
    .find(({ audience }) => audience === dispatchAudience);
  return [
    ...tokens.map((token) => ({ ...token, alsoInEnv: false })),
    ...(unmounted === undefined ? [] : [{ audience: unmounted.audience, seconds: unmounted.seconds, alsoInEnv: true }]),
  ];
};

/** The files of a token. */
export const tokenPaths = (folder: GuestFolder, { in: at, alsoInEnv }: TokenSpec): readonly string[] => [
  ...(at === undefined ? [] : [join(folder.volume(at.volume), at.path)]),
  ...(alsoInEnv ? [join(folder.env, guestNames.token)] : []),
];

/** The key of its stored lifetime. */
export const tokenKey = ({ in: at }: TokenSpec): string =>
  at === undefined ? guestNames.token : `${at.volume}/${at.path}`;

/** Milliseconds since the epoch, on the Mac's clock. */
const lifetimeSchema = z.object({ mintedAt: z.number(), renewAt: z.number() });
const lifetimesSchema = z.record(z.string(), lifetimeSchema);

type TokenLifetime = z.infer<typeof lifetimeSchema>;
type TokenLifetimes = z.infer<typeof lifetimesSchema>;

/** As the kubelet: renews after this fraction of the lifetime, and after a day at the latest. */
const renewalFraction = 0.8;
const maxRenewalMs = 24 * 3600 * 1000;

/**
 * The API server may grant less than requested, and its clock may differ from ours. So the remaining time counts if it is shorter, unless
 * it is negative: then the clocks differ, and the requested lifetime is the better estimate.
 */
export const tokenLifetime = (now: number, seconds: number, expiresAt: number): TokenLifetime => {
  const asked = seconds * 1000;
  const left = expiresAt - now;
  const life = left > 0 && left < asked ? left : asked;
  return { mintedAt: now, renewAt: now + Math.min(life * renewalFraction, maxRenewalMs) };
};

/** Also due when the clock was set back before the issue time: the age is unknown then. */
export const isRenewalDue = ({ mintedAt, renewAt }: TokenLifetime, now: number): boolean =>
  now >= renewAt || now < mintedAt;

/** Unreadable lifetimes are unknown, so the tokens are renewed at once. */
const readTokenLifetimes = async ({ tokenLifetimes }: GuestFolder): Promise<TokenLifetimes> =>
  parseJson(lifetimesSchema, await readFile(tokenLifetimes, 'utf8').catch(() => '')) ?? {};

export const writeTokenLifetimes = ({ root, tokenLifetimes }: GuestFolder, lives: TokenLifetimes): Promise<void> =>
  replaceFile(root, tokenLifetimes, JSON.stringify(lives));

export interface TokenDeps {
  readonly tokens: Pick<Subresources, 'createToken'>;
  readonly clock: Clock;
}

export interface IssuedToken {
  readonly token: string;
  readonly lifetime: TokenLifetime;
}

const audienceText = (audience: string): string => (audience === '' ? 'the API server' : audience);

/**
 * A token of the Pod's ServiceAccount, for one audience and bound to this Pod (INC-69, INC-70). Rejects with GuestConfigError if a
 * user must change something, else with a KubeError.
 */
export const requestToken = async (
  { clock, tokens }: TokenDeps,
  pod: Live<Pod>,
  { audience, seconds }: TokenSpec,
  signal: AbortSignal,
): Promise<IssuedToken> => {
  const { name, namespace = 'default', uid } = pod.metadata;
  const account = pod.spec?.serviceAccountName || 'default';
  try {
    const { token, expirationTimestamp } = await tokens.createToken(
      { namespace, name: account },
      {
        audiences: audience === '' ? [] : [audience],
        expirationSeconds: seconds,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
      },
      { signal },
    );
    return { token, lifetime: tokenLifetime(clock.now(), seconds, Date.parse(expirationTimestamp)) };
  } catch (error) {
    if (isKubeError(error, 'notFound'))
      throw configError(
        `There is no token of the ServiceAccount ${account}: it is not there, or the Pod is gone (${error.message}). Make the ServiceAccount.`,
      );
    if (isKubeError(error, 'forbidden'))
      throw new GuestConfigError(
        'TokenRefused',
        `The server gives this Node no token of the ServiceAccount ${account} for ${audienceText(audience)}: ${error.message}. A Node gets tokens only for its own Pods, and only for an audience that a projected volume of the Pod names: add a projected volume with a serviceAccountToken of that audience.`,
        error,
      );
    throw error;
  }
};

/** Limits the requests if the API server grants only very short lifetimes. */
const minRenewalMs = 60_000;

export const writeToken = async (folder: GuestFolder, planned: TokenSpec, minted: IssuedToken): Promise<void> => {
  for (const path of tokenPaths(folder, planned)) await replaceFile(folder.root, path, minted.token);
};

/**
 * Renews the tokens that are due; see `Guests.renewTokens`. A failed renewal does not stop the others. Writes the file before its
 * lifetime: a crash in between only causes another renewal.
 */
export const renewTokens = async (
  deps: TokenDeps,
  folder: GuestFolder,
  pod: Live<Pod>,
  signal: AbortSignal,
): Promise<number | undefined> => {
  const planned = tokenSpecsOf(pod);
  if (planned.length === 0) return undefined;
  const known = await readTokenLifetimes(folder);
  const now = deps.clock.now();
  const renewed = new Map<string, TokenLifetime>();
  const failures: unknown[] = [];
  await Promise.all(
    planned.map(async (token) => {
      const key = tokenKey(token);
      const life = known[key];
      if (life !== undefined && !isRenewalDue(life, now)) return;
      try {
        const minted = await requestToken(deps, pod, token, signal);
        await writeToken(folder, token, minted);
        renewed.set(key, minted.lifetime);
      } catch (error) {
        failures.push(error);
      }
    }),
  );
  const lives = { ...known, ...Object.fromEntries(renewed) };
  if (renewed.size > 0) await writeTokenLifetimes(folder, lives);
  if (failures.length > 0) throw failures[0];
  const next = Math.min(...planned.map((token) => lives[tokenKey(token)]?.renewAt ?? now));
  return Math.max(next, now + minRenewalMs);
};
