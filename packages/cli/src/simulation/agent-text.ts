import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anyVersion } from '@tartan/tools-build/any-version';

/** Beside a built `tartan`. In a checkout there is none, and it is built of what lies there. */
const shipped = join(import.meta.dirname, 'files/tart-kubelet.mjs');

const build = async (): Promise<string> => {
  const { buildAgent } = await import('@tartan/tools-build');
  const folder = await mkdtemp(join(tmpdir(), 'tartan-agent-'));
  try {
    return await readFile(await buildAgent(folder, { version: anyVersion }), 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

let built: Promise<string> | undefined;

/** The agent as it is pushed to Macs, in this version. Built once by each process, since that takes half a second. */
export const agentText = async (version: string): Promise<string> => {
  built ??= existsSync(shipped) ? readFile(shipped, 'utf8') : build();
  return (await built).replaceAll(anyVersion, version);
};
