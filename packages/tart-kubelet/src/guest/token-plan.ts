import { dispatchAudience, inTheGuest } from '@tartan/api';
import { join } from 'node:path';
import type { Pod } from '../pods/snapshot.ts';
import { pathInVolume } from './file-paths.ts';
import type { GuestFolder } from './guest-folder.ts';
import { mountedVolumes, type ProjectedVolume, projectedVolumes } from './volumes.ts';

/** One token that the Pod asks for. */
export interface PlannedToken {
  /** Empty: that of the API server. */
  readonly audience: string;
  readonly seconds: number;
  /** In which volume, if the container mounts it. */
  readonly in?: { readonly volume: string; readonly path: string };
  /** Guests that know no volumes look for this one in `env`. */
  readonly alsoInEnv: boolean;
}

/** What the server fills in when the Pod does not say. */
const usualSeconds = 3600;

const tokensIn = ({ sources }: ProjectedVolume) =>
  sources.flatMap(({ serviceAccountToken: token }) =>
    token === undefined
      ? []
      : [{ audience: token.audience ?? '', seconds: token.expirationSeconds ?? usualSeconds, path: token.path }],
  );

/**
 * The tokens of a Pod. A Node gets tokens only for audiences that a projected volume of the Pod names, so there are no others: a Pod that
 * wants a job must name the audience of the dispatch.
 */
export const plannedTokens = (pod: Pod): readonly PlannedToken[] => {
  const tokens = mountedVolumes(pod).flatMap((volume) =>
    tokensIn(volume).map(({ audience, seconds, path }) => ({
      audience,
      seconds,
      in: { volume: volume.name, path: pathInVolume(volume.name, path) },
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
export const filesOfToken = (folder: GuestFolder, { in: at, alsoInEnv }: PlannedToken): readonly string[] => [
  ...(at === undefined ? [] : [join(folder.volume(at.volume), at.path)]),
  ...(alsoInEnv ? [join(folder.env, inTheGuest.token)] : []),
];

/** Under which its life is remembered. */
export const keyOfToken = ({ in: at }: PlannedToken): string =>
  at === undefined ? inTheGuest.token : `${at.volume}/${at.path}`;
