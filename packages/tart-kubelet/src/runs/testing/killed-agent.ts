import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Run } from '../runs.ts';

const url = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);

/** An agent in a process of its own that follows a run, until it is killed without a word. */
export const agentToKill = async (
  logs: string,
  status: string,
  run: Run,
  process_: { readonly pid: number; readonly startedAt: number },
): Promise<{ kill(): Promise<void> }> => {
  const script = `
    const [{ createRuns }, { createLogFiles }, { createLogChanges }, { createProcessTable }, { systemClock }] = await Promise.all(
      [${url('../create-runs.ts')}, ${url('../../logs/log-files.ts')}, ${url('../../logs/log-changes.ts')}, '@tartan/tart', '@tartan/kube/clock'].map((from) => import(from)));
    const nothing = () => {};
    const log = { debug: nothing, info: nothing, warn: nothing, error: nothing, with: () => log };
    const runs = createRuns({
      processes: createProcessTable(process.env), clock: systemClock, log, files: createLogFiles(${JSON.stringify(logs)}),
      changes: createLogChanges(systemClock), statusFolder: () => ${JSON.stringify(status)}, onExit: nothing, pollMs: 5,
      maxRawBytes: 4096,
    });
    runs.follow(${JSON.stringify(run)}, ${JSON.stringify(process_)});
    console.log('ready');`;
  const agent: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: new URL('.', import.meta.url),
  });
  if (agent.stdout) await once(agent.stdout, 'data');
  return {
    kill: async () => {
      const gone = once(agent, 'exit');
      agent.kill('SIGKILL');
      await gone;
    },
  };
};
