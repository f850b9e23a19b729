import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** The heartbeats of all Nodes, from another process. */
export interface Heartbeats {
  /** Heartbeats since the last call, and the wanted number. */
  taken(): Promise<{ readonly done: number; readonly wanted: number }>;
  stop(): Promise<void>;
}

export const startHeartbeats = async (kubeconfig: string, names: readonly string[]): Promise<Heartbeats> => {
  const child: ChildProcess = fork(new URL('./heartbeats-process.ts', import.meta.url), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'close');
  child.send({ kubeconfig, names });
  await Promise.race([
    once(child, 'message'),
    ended.then(() => Promise.reject(new Error('the process of the heartbeats ended'))),
  ]);
  return {
    taken: async () => {
      child.send('count');
      const [counts] = (await once(child, 'message')) as [{ done: number; wanted: number }];
      return counts;
    },
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
};
