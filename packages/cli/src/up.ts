import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminKubeconfig, createKubernetes, serve } from '@tartan/sim-kubernetes';
import { say, welcome } from './say.ts';

export interface UpOptions {
  port: number;
  once: boolean;
  /** Fires when somebody asks us to stop. */
  signal: AbortSignal;
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Starts everything, says how to use it, and takes it all away again when asked to. Answers the exit code. */
export const up = async ({ port, once, signal }: UpOptions): Promise<number> => {
  const started = performance.now();
  let stopped = false;
  const kubernetes = await createKubernetes();
  const folder = await mkdtemp(join(tmpdir(), 'tartan-'));
  try {
    const server = await serve({ handle: kubernetes.handle, identity: kubernetes.identity, port });
    try {
      const kubeconfig = join(folder, 'kubeconfig');
      await writeFile(kubeconfig, await adminKubeconfig(kubernetes.identity, server.url), { mode: 0o600 });
      welcome({ url: server.url, kubeconfig, seconds: (performance.now() - started) / 1000 });
      if (once) return 0;
      await aborted(signal);
      say('\nStopping.');
      stopped = true;
      return 0;
    } finally {
      await server.close();
    }
  } catch (error) {
    process.stderr.write(`tartan up: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  } finally {
    kubernetes.stop();
    await rm(folder, { recursive: true, force: true });
    if (stopped) say('Stopped. Nothing was left behind.');
  }
};
