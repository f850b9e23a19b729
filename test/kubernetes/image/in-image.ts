import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { imageUser } from '@tartan/tools-build';
import {
  type ContainerSpec,
  type RunningContainer,
  startContainer,
} from '../../../sim/linux-node/src/container/start-container.ts';

interface InImage {
  readonly kill: RunningContainer['kill'];
  /** Its output so far. */
  said(): Promise<string>;
  /** Exit code and output. */
  readonly ended: Promise<{ readonly code: number; readonly said: string }>;
}

/** A program in the file system of an image, as the chart runs it: as user nobody, on a read-only file system. */
export const startInImage = async (
  t: TestContext,
  image: string,
  command: readonly string[],
  { env = {}, mounts = [] }: Partial<Pick<ContainerSpec, 'env' | 'mounts'>> = {},
): Promise<InImage> => {
  const folder = await mkdtemp(join(tmpdir(), 'tartan-in-image-'));
  const log = join(folder, 'log');
  const scratch = join(folder, 'scratch');
  const { kill, exited } = await startContainer({
    image,
    scratch,
    log,
    command,
    env,
    mounts,
    user: imageUser,
    readOnlyRoot: true,
  });
  // The file appears after the start.
  const said = (): Promise<string> => readFile(log, 'utf8').catch(() => '');
  const ended = exited.then(async ({ code }) => ({ code, said: await said() }));
  t.after(async () => {
    kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true, force: true });
  });
  return { kill, said, ended };
};
