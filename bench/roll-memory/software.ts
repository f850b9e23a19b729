import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { standInSoftware } from '@tartan/sim-mac';

const megabyte = 1024 * 1024;
/** Similar to the real software: 96 MB for each Mac. */
const weights = { runtime: 47, tart: 22, tailscale: 14, nodeExporter: 13 } as const;
const run = promisify(execFile);

/** The Secret with the key of the tailnet. */
export const tailnetSecret = 'tailnet';

/** Does nothing, and keeps running: see `fake-agents.ts`. By its path: `sleep` of a simulated Mac is shortened by its pace. */
const sleepingRuntime = '#!/bin/sh\nexec /bin/sleep 2147483647\n';

const put = async (file: string, text: string): Promise<{ readonly file: string }> => {
  await writeFile(file, text, { mode: 0o755 });
  return { file };
};

const flagsOf = async (folder: string, variant: 'a' | 'b', version: string) => {
  const { tart, tailscale, nodeExporter } = await standInSoftware(folder, { variant });
  const runtime = await put(join(folder, 'runtime'), sleepingRuntime);
  const release = await put(join(folder, 'release'), `// tart-kubelet ${version}\n`);
  const files = { runtime, release, tart, tailscale, nodeExporter };
  return {
    files,
    flags: [
      `--agent-runtime-path=${runtime.file}`,
      `--agent-release-path=${release.file}`,
      `--tart-tarball-path=${tart.file}`,
      `--tailscale-binaries-path=${tailscale.file}`,
      `--tailscale-auth-key-secret-name=${tailnetSecret}`,
      '--tailscale-tags=tag:mac',
      `--node-exporter-binary-path=${nodeExporter.file}`,
    ],
  };
};

/** A few bytes each, for the Macs before the roll. Returns the flags with the paths. */
export const lightSoftware = async (folder: string): Promise<readonly string[]> =>
  (await flagsOf(join(folder, 'light'), 'a', '0.1.0')).flags;

/**
 * The next version of everything, as large as the real one: after the text of each script follow incompressible bytes that no shell reads.
 */
export const heavySoftware = async (folder: string): Promise<readonly string[]> => {
  const { files, flags } = await flagsOf(join(folder, 'heavy'), 'b', '0.2.0');
  await fill(files.runtime.file, weights.runtime);
  await fill(files.nodeExporter.file, weights.nodeExporter);
  await fillTar(files.tart.file, 'tart.app/Contents/Resources/filling', weights.tart);
  await fillTar(files.tailscale.file, 'tailscaled', weights.tailscale);
  return flags;
};

const fill = async (file: string, megabytes: number): Promise<void> => {
  for (let piece = 0; piece < megabytes; piece++) await appendFile(file, randomBytes(megabyte));
};

const fillTar = async (archive: string, member: string, megabytes: number): Promise<void> => {
  const unpacked = `${archive}-unpacked`;
  await mkdir(unpacked);
  await run('tar', ['-xzf', archive, '-C', unpacked]);
  await mkdir(dirname(join(unpacked, member)), { recursive: true });
  await fill(join(unpacked, member), megabytes);
  const { stdout } = await run('ls', ['-A', unpacked]);
  await run('tar', ['-czf', archive, '-C', unpacked, ...stdout.trim().split('\n')]);
  await rm(unpacked, { recursive: true });
};
