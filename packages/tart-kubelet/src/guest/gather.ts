import type { Client, Live } from '@tartan/kube';
import { environmentOf, sourcesOf } from '../pods/environment.ts';
import type { NodeAddress } from '../pods/field-ref.ts';
import type { Pod } from '../pods/snapshot.ts';
import { envFile } from './env-file.ts';
import { assertApart } from './file-paths.ts';
import { type Mint, type MintedToken, mintToken } from './mint-token.ts';
import { filesOfVolume, sourcesOfVolume } from './project-volume.ts';
import { readSources } from './read-sources.ts';
import { configProblem } from './refused.ts';
import { type PlannedToken, plannedTokens } from './token-plan.ts';
import { mountedVolumes } from './volumes.ts';

/** All that a guest is given for one run. */
export interface Gathered {
  /** The content of `tuist.env`. */
  readonly env: string;
  readonly skipped: readonly string[];
  readonly volumes: readonly { readonly name: string; readonly files: ReadonlyMap<string, Uint8Array> }[];
  readonly tokens: readonly { readonly planned: PlannedToken; readonly minted: MintedToken }[];
}

/**
 * Asks the server for everything at once, and writes nothing. Rejects with HandoverRefused for what somebody has to change, else with a
 * KubeError.
 */
export const gather = async (
  { client, ...mint }: Mint & { readonly client: Client },
  pod: Live<Pod>,
  { hostIP }: NodeAddress,
  signal: AbortSignal,
): Promise<Gathered> => {
  const container = pod.spec?.containers[0];
  if (container === undefined) throw configProblem('The Pod has no container. Give it one.');
  const mounted = mountedVolumes(pod);
  const planned = plannedTokens(pod);
  const wanted = [...sourcesOf(container), ...mounted.flatMap(sourcesOfVolume)];
  const [read, tokens] = await Promise.all([
    readSources(client, pod.metadata.namespace ?? 'default', wanted, signal),
    Promise.all(planned.map(async (token) => ({ planned: token, minted: await mintToken(mint, pod, token, signal) }))),
  ]);

  const environment = environmentOf(pod, container, { hostIP, dataOf: (source) => read(source)?.text });
  if (environment.kind === 'problem') throw configProblem(environment.message);
  const volumes = mounted.map((volume) => {
    const files = filesOfVolume(volume, { pod, hostIP, read });
    const ofTokens = planned.flatMap(({ in: at }) => (at?.volume === volume.name ? [at.path] : []));
    assertApart(volume.name, [...files.keys(), ...ofTokens]);
    return { name: volume.name, files };
  });
  return { env: envFile(environment.variables), skipped: environment.skipped, volumes, tokens };
};
