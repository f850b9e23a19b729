import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dispatchAudience, guestNames } from '@tartan/api';
import { isKubeError, type Live, type Subresources } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { z } from 'zod';
import { parseJson } from '../parse-json.ts';
import type { Pod } from '../pods/snapshot.ts';
import { type GuestFolder, replaceFile } from './guest-folder.ts';
import { configError, GuestConfigError } from './guests.ts';
import { checkVolumePath, mountedVolumes, type ProjectedVolume, projectedVolumes } from './projected-volumes.ts';

/** One token that the Pod asks for. */
export interface TokenSpec {
  /** Empty: that of the API server. */
  readonly audience: string;
  readonly seconds: number;
  /** In which volume, if the container mounts it. */
  readonly in?: { readonly volume: string; readonly path: string };
  /** Guests that know no volumes look for this one in `env`. */
  readonly alsoInEnv: boolean;
}

/** What the server fills in when the Pod does not say. */
const defaultSeconds = 3600;

const tokensIn = ({ sources }: ProjectedVolume) =>
  sources.flatMap(({ serviceAccountToken: token }) =>
    token === undefined
      ? []
      : [{ audience: token.audience ?? '', seconds: token.expirationSeconds ?? defaultSeconds, path: token.path }],
  );

/**
 * The tokens of a Pod. A Node gets tokens only for audiences that a projected volume of the Pod names, so there are no others: a Pod that
 * wants a job must name the audience of the dispatch.
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

/** Where it is written to. */
export const tokenPaths = (folder: GuestFolder, { in: at, alsoInEnv }: TokenSpec): readonly string[] => [
  ...(at === undefined ? [] : [join(folder.volume(at.volume), at.path)]),
  ...(alsoInEnv ? [join(folder.env, guestNames.token)] : []),
];

/** Under which its life is remembered. */
export const tokenKey = ({ in: at }: TokenSpec): string =>
  at === undefined ? guestNames.token : `${at.volume}/${at.path}`;

/** In milliseconds since the epoch, on the Mac's clock. */
const lifetimeSchema = z.object({ mintedAt: z.number(), renewAt: z.number() });
const lifetimesSchema = z.record(z.string(), lifetimeSchema);

type TokenLifetime = z.infer<typeof lifetimeSchema>;
type TokenLifetimes = z.infer<typeof lifetimesSchema>;

/** A kubelet renews after so much of a token's life, and after a day in any case. */
const renewalFraction = 0.8;
const maxRenewalMs = 24 * 3600 * 1000;

/**
 * The server may give less than was asked for, and its clock may not be ours. So the time that is left counts where it is shorter, unless
 * it says that the new token is over already: then it is the clocks that differ, and what was asked for is the better guess.
 */
export const tokenLifetime = (now: number, seconds: number, expiresAt: number): TokenLifetime => {
  const asked = seconds * 1000;
  const left = expiresAt - now;
  const life = left > 0 && left < asked ? left : asked;
  return { mintedAt: now, renewAt: now + Math.min(life * renewalFraction, maxRenewalMs) };
};

/** Also when the clock was set back behind its beginning: nobody knows how old it is then. */
export const isRenewalDue = ({ mintedAt, renewAt }: TokenLifetime, now: number): boolean =>
  now >= renewAt || now < mintedAt;

/** Whatever cannot be read is not known, and so renewed at once. */
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
 * A token for the Pod's ServiceAccount, good for one audience and as long as this very Pod is there (INC-69, INC-70). Rejects with
 * GuestConfigError when somebody has to change something, else with a KubeError.
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

/** A server that gives tokens for a moment only is not asked all the time. */
const minRenewalMs = 60_000;

export const writeToken = async (folder: GuestFolder, planned: TokenSpec, minted: IssuedToken): Promise<void> => {
  for (const path of tokenPaths(folder, planned)) await replaceFile(folder.root, path, minted.token);
};

/**
 * Replaces the tokens that are due; see `Guests.renewTokens`. One that cannot be had keeps no other from being renewed. The file comes
 * before the record of its life: a crash between the two renews it once more.
 */
export const renewTokens = async (
  mint: TokenDeps,
  folder: GuestFolder,
  pod: Live<Pod>,
  signal: AbortSignal,
): Promise<number | undefined> => {
  const planned = tokenSpecsOf(pod);
  if (planned.length === 0) return undefined;
  const known = await readTokenLifetimes(folder);
  const now = mint.clock.now();
  const renewed = new Map<string, TokenLifetime>();
  const failures: unknown[] = [];
  await Promise.all(
    planned.map(async (token) => {
      const key = tokenKey(token);
      const life = known[key];
      if (life !== undefined && !isRenewalDue(life, now)) return;
      try {
        const minted = await requestToken(mint, pod, token, signal);
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
