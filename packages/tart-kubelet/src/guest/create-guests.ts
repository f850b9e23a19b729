import { chmod, mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { guestNames } from '@tartan/api';
import type { Client, Live } from '@tartan/kube';
import type { Share } from '@tartan/tart';
import { undefinedIfMissing } from '../file-errors.ts';
import type { Pod } from '../pods/snapshot.ts';
import { environmentOf, type HostAddress, sourcesOf } from '../pods/spec/environment.ts';
import { type GuestFolder, guestFolderOf, isVmName, removeUntrustedFolder, replaceFile } from './guest-folder.ts';
import { readGuestResult, readRunnerMarkers } from './guest-status.ts';
import { configError, type Guests } from './guests.ts';
import {
  assertDistinctPaths,
  mountedVolumes,
  projectVolume,
  readSources,
  sourcesOfVolume,
} from './projected-volumes.ts';
import {
  renewTokens,
  requestToken,
  type TokenDeps,
  tokenKey,
  tokenPaths,
  tokenSpecsOf,
  writeToken,
  writeTokenLifetimes,
} from './tokens.ts';

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r' };

/**
 * `tuist.env`: `NAME=value`, one per line, sorted by name. Backslashes and line breaks are escaped, so values can be restored
 * exactly (INC-425). docs/guest.md explains how a shell in the guest reads it.
 */
export const formatEnvFile = (variables: ReadonlyMap<string, string>): string =>
  [...variables.keys()]
    .toSorted()
    .map((name) => {
      const value = variables.get(name) ?? '';
      if (value.includes('\0'))
        throw configError(
          `The value of the variable ${name} has a zero byte in it, which no environment can hold. Hand it over in a projected volume.`,
        );
      return `${name}=${value.replaceAll(/[\\\n\r]/g, (character) => escapes[character] ?? character)}\n`;
    })
    .join('');

/**
 * Reads all inputs of a guest for one run, in parallel, and writes nothing. Rejects with GuestConfigError if a user must change something,
 * else with a KubeError.
 */
const readGuestInputs = async (
  { client, ...deps }: TokenDeps & { readonly client: Client },
  pod: Live<Pod>,
  { hostIP }: HostAddress,
  signal: AbortSignal,
) => {
  const container = pod.spec?.containers[0];
  if (container === undefined) throw configError('The Pod has no container. Give it one.');
  const mounted = mountedVolumes(pod);
  const planned = tokenSpecsOf(pod);
  const sources = [...sourcesOf(container), ...mounted.flatMap(sourcesOfVolume)];
  const [lookup, tokens] = await Promise.all([
    readSources(client, pod.metadata.namespace ?? 'default', sources, signal),
    Promise.all(
      planned.map(async (token) => ({ planned: token, minted: await requestToken(deps, pod, token, signal) })),
    ),
  ]);

  const { variables, skipped } = environmentOf(pod, container, { hostIP, dataOf: (source) => lookup(source)?.text });
  const volumes = mounted.map((volume) => {
    const files = projectVolume(volume, { pod, hostIP, lookup });
    const ofTokens = planned.flatMap(({ in: at }) => (at?.volume === volume.name ? [at.path] : []));
    assertDistinctPaths(volume.name, [...files.keys(), ...ofTokens]);
    return { name: volume.name, files };
  });
  return { env: formatEnvFile(variables), skipped, volumes, tokens };
};

interface GuestsOptions extends TokenDeps {
  /** The parent of all VM folders. */
  readonly folder: string;
  readonly client: Client;
}

/** Writes the inputs into a folder that does not exist yet. */
const writeShares = async (
  folder: GuestFolder,
  { env, tokens, volumes }: Awaited<ReturnType<typeof readGuestInputs>>,
): Promise<readonly Share[]> => {
  const makeFolder = (path: string) => mkdir(path, { recursive: true, mode: 0o700 });
  await makeFolder(folder.env);
  await makeFolder(folder.status);
  // Any user in the guest may write. No other user on the Mac can access it: only the agent can enter the parent folder.
  await chmod(folder.status, 0o777);
  await replaceFile(folder.root, join(folder.env, guestNames.variables), env);
  for (const { name, files } of volumes) {
    await makeFolder(folder.volume(name));
    for (const [path, bytes] of files) {
      const file = join(folder.volume(name), path);
      await makeFolder(dirname(file));
      await replaceFile(folder.root, file, bytes);
    }
  }
  for (const { minted, planned } of tokens) {
    for (const path of tokenPaths(folder, planned)) await makeFolder(dirname(path));
    await writeToken(folder, planned, minted);
  }
  const lives = tokens.map(({ minted, planned }) => [tokenKey(planned), minted.lifetime] as const);
  await writeTokenLifetimes(folder, Object.fromEntries(lives));
  const { shares } = guestNames;
  return [
    { name: shares.env, path: folder.env, readOnly: true },
    { name: shares.status, path: folder.status, readOnly: false },
    ...volumes.map(({ name }) => ({ name, path: folder.volume(name), readOnly: true })),
  ];
};

const listFolders = async (folder: string): Promise<readonly string[]> => {
  const entries = (await undefinedIfMissing(readdir(folder, { withFileTypes: true }))) ?? [];
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
};

export const createGuests = (options: GuestsOptions): Guests => {
  const folderOf = (vm: string): GuestFolder => guestFolderOf(options.folder, vm);
  return {
    prepare: async (pod, vm, address, signal) => {
      const folder = folderOf(vm);
      // First of all, so that reports and inputs of an older run never count for this one, even if preparing fails.
      await removeUntrustedFolder(folder.root);
      const inputs = await readGuestInputs(options, pod, address, signal);
      signal.throwIfAborted();
      return { shares: await writeShares(folder, inputs), skipped: inputs.skipped };
    },
    renewTokens: async (pod, vm, signal) => renewTokens(options, folderOf(vm), pod, signal),
    result: async (vm) => readGuestResult(folderOf(vm).status),
    runnerMarkers: async (vm) => readRunnerMarkers(folderOf(vm).status),
    statusFolder: (vm) => folderOf(vm).status,
    remove: async (vm) => removeUntrustedFolder(folderOf(vm).root),
    list: async () => (await listFolders(options.folder)).filter(isVmName),
  };
};
