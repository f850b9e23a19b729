import { inTheGuest } from '@tartan/api';
import type { Client, Live } from '@tartan/kube';
import type { Share } from '@tartan/tart';
import { chmod, mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { NodeAddress } from '../pods/field-ref.ts';
import type { Pod } from '../pods/snapshot.ts';
import { gather, type Gathered } from './gather.ts';
import { type GuestFolder, guestFolder, isVmName } from './guest-folder.ts';
import type { Guests } from './guests.ts';
import type { Mint } from './mint-token.ts';
import { readMarkers } from './markers.ts';
import { placeFile } from './place-file.ts';
import { HandoverRefused } from './refused.ts';
import { removeFolder } from './remove-folder.ts';
import { placeToken, renewTokens } from './renew-tokens.ts';
import { readReport } from './report.ts';
import { writeLives } from './token-life.ts';
import { filesOfToken, keyOfToken } from './token-plan.ts';

export interface GuestsOptions extends Mint {
  /** Of all virtual machines; each has a folder in it. */
  readonly folder: string;
  readonly client: Client;
}

/** Writes down what was gathered, into a folder that is not there yet. */
const layOut = async (folder: GuestFolder, { env, tokens, volumes }: Gathered): Promise<readonly Share[]> => {
  const makeFolder = (path: string) => mkdir(path, { recursive: true, mode: 0o700 });
  await makeFolder(folder.env);
  await makeFolder(folder.status);
  // Whoever the guest is in there may write. Nobody else on the Mac gets this far: the folder above is the agent's alone.
  await chmod(folder.status, 0o777);
  await placeFile(folder.root, join(folder.env, inTheGuest.variables), env);
  for (const { name, files } of volumes) {
    await makeFolder(folder.volume(name));
    for (const [path, bytes] of files) {
      const file = join(folder.volume(name), path);
      await makeFolder(dirname(file));
      await placeFile(folder.root, file, bytes);
    }
  }
  for (const { minted, planned } of tokens) {
    for (const path of filesOfToken(folder, planned)) await makeFolder(dirname(path));
    await placeToken(folder, planned, minted);
  }
  const lives = tokens.map(({ minted, planned }) => [keyOfToken(planned), minted.life] as const);
  await writeLives(folder, Object.fromEntries(lives));
  const { shares } = inTheGuest;
  return [
    { name: shares.env, path: folder.env, readOnly: true },
    { name: shares.status, path: folder.status, readOnly: false },
    ...volumes.map(({ name }) => ({ name, path: folder.volume(name), readOnly: true })),
  ];
};

const namesIn = async (folder: string): Promise<readonly string[]> => {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
};

export const createGuests = (options: GuestsOptions): Guests => {
  const folderOf = (vm: string): GuestFolder => guestFolder(options.folder, vm);
  const prepare = async (pod: Live<Pod>, vm: string, address: NodeAddress, signal: AbortSignal) => {
    const folder = folderOf(vm);
    // Before anything else: what an older run reported or was given must not pass for this one's, whatever comes of it.
    await removeFolder(folder.root);
    const gathered = await gather(options, pod, address, signal);
    signal.throwIfAborted();
    return { kind: 'ready', shares: await layOut(folder, gathered), skipped: gathered.skipped } as const;
  };
  return {
    prepare: async (pod, vm, address, signal) => {
      try {
        return await prepare(pod, vm, address, signal);
      } catch (error) {
        if (error instanceof HandoverRefused) return error.problem;
        throw error;
      }
    },
    renewTokens: async (pod, vm, signal) => renewTokens(options, folderOf(vm), pod, signal),
    report: async (vm) => readReport(folderOf(vm).status),
    markers: async (vm) => readMarkers(folderOf(vm).status),
    statusFolder: (vm) => folderOf(vm).status,
    remove: async (vm) => removeFolder(folderOf(vm).root),
    list: async () => (await namesIn(options.folder)).filter(isVmName),
  };
};
