import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { standInSoftware } from '@tartan/sim-mac';
import { agentText } from './agent-text.ts';
import { guestAtWork } from './guest-at-work.ts';

/** A release of the agent. */
export interface AgentRelease {
  readonly version: string;
  /** Makes another program of it: one that is no good. */
  readonly spoil?: (agent: string) => string;
  /** A program that runs it, instead of the stand-in for node. */
  readonly runtime?: string;
}

/**
 * What the provider puts on Macs, as flags that say where it lies: the agent itself, and small files that play what it stands on, with
 * guests that have something to tell. `builders`: also what Macs need that bake images. `guest`: what
 * guests do, if not what they do anyway.
 */
export const artifactFlags = async (
  folder: string,
  { version, spoil = (agent) => agent, runtime }: AgentRelease,
  { builders = false, guest = guestAtWork }: { readonly builders?: boolean; readonly guest?: string } = {},
): Promise<readonly string[]> => {
  const files = join(folder, 'artifacts');
  const { tart, node, actionsRunner, packer, crane, oras } = await standInSoftware(files, { guest });
  const release = await put(files, `tart-kubelet-${version}`, spoil(await agentText(version)));
  return [
    `--agent-runtime-path=${runtime === undefined ? node.file : await put(files, 'node', runtime)}`,
    `--agent-release-path=${release}`,
    `--tart-tarball-path=${tart.file}`,
    ...(builders
      ? [
          `--actions-runner-tarball-path=${actionsRunner.file}`,
          `--packer-binary-path=${packer.file}`,
          `--crane-binary-path=${crane.file}`,
          `--oras-binary-path=${oras.file}`,
        ]
      : []),
  ];
};

const put = async (folder: string, name: string, text: string): Promise<string> => {
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${name}-${createHash('sha256').update(text).digest('hex').slice(0, 8)}`);
  await writeFile(file, text);
  return file;
};
