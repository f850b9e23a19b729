import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { VmRun } from '../vm-runs.ts';

const url = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);

/** An agent in its own process that follows a run until it is killed. */
export const startKillableAgent = async (
  logs: string,
  status: string,
  run: VmRun,
  process_: { readonly pid: number; readonly startedAt: number },
): Promise<{ kill(): Promise<void> }> => {
  const script = `
    const [{ createVmRuns }, { createLogFiles }, { createLogNotifier }, { createProcessTable }, { systemClock }] = await Promise.all(
      [${url('../vm-runs.ts')}, ${url('../../logs/log-files.ts')}, ${url('../../logs/log-notifier.ts')}, '@tartan/tart', '@tartan/kube/clock'].map((from) => import(from)));
    const nothing = () => {};
    const log = { debug: nothing, info: nothing, warn: nothing, error: nothing, with: () => log };
    const runs = createVmRuns({
      processes: createProcessTable(process.env), clock: systemClock, log, files: createLogFiles(${JSON.stringify(logs)}),
      changes: createLogNotifier(systemClock), statusFolder: () => ${JSON.stringify(status)}, onExit: nothing, pollMs: 5,
      maxRawBytes: 4096,
    });
    runs.watch(${JSON.stringify(run)}, ${JSON.stringify(process_)});
    console.log('ready');`;
  const agent: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: new URL('.', import.meta.url),
  });
  const exited = once(agent, 'exit').then(([code]) => Promise.reject(new Error(`the agent exited with ${code}`)));
  exited.catch(() => {});
  if (agent.stdout) await Promise.race([once(agent.stdout, 'data'), exited]);
  return {
    kill: async () => {
      const gone = once(agent, 'exit');
      agent.kill('SIGKILL');
      await gone;
    },
  };
};
