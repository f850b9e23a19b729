import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminKubeconfig, createKubernetes, serve } from '@tartan/sim-kubernetes';
import { say, welcome } from './say.ts';

export interface UpOptions {
  port: number;
  once: boolean;
}

/** Resolves when somebody asks us to stop. A second Ctrl-C ends the process the hard way. */
const asked = (): Promise<string> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve(signal));
  });

/** Starts everything, says how to use it, and takes it all away again when asked to. Answers the exit code. */
export const up = async ({ port, once }: UpOptions): Promise<number> => {
  const started = performance.now();
  const stopAsked = asked();
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
      await stopAsked;
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
