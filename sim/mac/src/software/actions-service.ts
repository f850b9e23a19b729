import { readFileSync } from 'node:fs';
import { sleep } from '@tartan/kube/clock';
import type { Machine, Subsystem, Tool, ToolResult } from '../machine.ts';

/** The URL of the simulated GitHub: in the environment of a Mac, or in this file on its disk. */
const variable = 'SIM_GITHUB_URL';
const file = '/private/etc/sim-github';

const retryMs = 5_000;
const processCheckMs = 1_000;
/** The interval of the real one (`actions/runner#3539`). */
const renewMs = 60_000;

interface Session {
  readonly id: string;
  /** Ends the whole session. */
  readonly over: AbortController;
  /** Ends the renewal of its job. */
  job: AbortController | undefined;
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/**
 * GitHub's side of the stand-in for actions/runner, in the process of the simulator, so that a Mac needs no node for it. The stand-in calls
 * `sim-actions-runner`; secrets come on standard input. The protocol is that of sim/github (its README).
 */
export const createActionsService = (machine: Machine): Subsystem => {
  const sessions = new Map<string, Session>();
  let off = new AbortController();

  const url = (): string | undefined => {
    const configured = machine.environment('user')[variable];
    if (configured) return configured;
    try {
      return readFileSync(machine.path(file), 'utf8').trim() || undefined;
    } catch {
      return undefined;
    }
  };

  const ask = async (
    path: string,
    { method = 'POST', body = {}, signal }: { method?: string; body?: object; signal: AbortSignal },
  ): Promise<{ status: number; body: Record<string, unknown> } | undefined> => {
    try {
      const response = await fetch(`${url()}/_actions${path}`, { method, body: JSON.stringify(body), signal });
      const text = await response.text();
      return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
    } catch {
      // GitHub is not listening, or does not answer.
      return undefined;
    }
  };

  /** Retries until there is a valid answer. 409: GitHub still has an earlier connection. */
  const retryUntilAnswered = async (path: string, signal: AbortSignal, body: object = {}) => {
    while (!signal.aborted) {
      const answer = await ask(path, { body, signal });
      if (answer !== undefined && answer.status < 500 && answer.status !== 409) return answer;
      await sleep(machine.clock, machine.pace(retryMs), signal);
    }
    return undefined;
  };

  const register = async (name: string, labels: string, hasDefaults: boolean, token: string): Promise<ToolResult> => {
    const wanted = {
      token,
      name,
      labels: labels.split(',').filter((label) => label !== ''),
      no_default_labels: !hasDefaults,
      replace: true,
    };
    const answer = await ask('/runners', { body: wanted, signal: off.signal });
    if (answer?.status !== 201) return { code: 1, stdout: String(answer?.status ?? 'Unreachable') };
    machine.journal.record('actions.registered', name);
    return { code: 0, stdout: `${String(answer.body['id'])} ${String(answer.body['credential'])}` };
  };

  const connect = async (credential: string): Promise<Session | 'gone' | undefined> => {
    const known = sessions.get(credential);
    if (known !== undefined) return known;
    const over = new AbortController();
    const answer = await retryUntilAnswered('/sessions', AbortSignal.any([over.signal, off.signal]), { credential });
    if (answer === undefined) return undefined;
    if (answer.status !== 201) return 'gone';
    const session: Session = { id: String(answer.body['session']), over, job: undefined };
    sessions.set(credential, session);
    return session;
  };

  /** The runner's process may be killed. Then its connection to GitHub ends too. */
  const watch = async (pid: number, credential: string, session: Session, done: AbortSignal): Promise<void> => {
    while (!done.aborted) {
      await sleep(machine.clock, Math.max(20, machine.pace(processCheckMs)), done);
      if (done.aborted || isAlive(pid)) continue;
      session.over.abort();
      sessions.delete(credential);
      return;
    }
  };

  const renew = async (path: string, signal: AbortSignal): Promise<void> => {
    await sleep(machine.clock, renewMs, signal);
    while (!signal.aborted) {
      await retryUntilAnswered(`${path}/renew`, signal);
      await sleep(machine.clock, renewMs, signal);
    }
  };

  /** Returns number and name of a job that has started. */
  const waitForJob = async (pid: number, credential: string): Promise<ToolResult> => {
    const session = await connect(credential);
    if (session === 'gone') return { code: 3 };
    if (session === undefined) return { code: 1 };
    const signal = AbortSignal.any([session.over.signal, off.signal]);
    const done = new AbortController();
    const watching = watch(pid, credential, session, AbortSignal.any([done.signal, signal]));
    try {
      for (;;) {
        const response = await retryUntilAnswered(`/sessions/${session.id}/poll`, signal);
        if (response === undefined) return { code: 1 };
        if (response.status === 204) continue;
        if (response.status !== 200) {
          sessions.delete(credential);
          return { code: 3 };
        }
        const { id, name } = response.body['job'] as { id: number; name: string };
        const path = `/sessions/${session.id}/jobs/${id}`;
        // GitHub gave the job to another runner meanwhile.
        if ((await retryUntilAnswered(`${path}/started`, signal))?.status !== 204) continue;
        session.job = new AbortController();
        void renew(path, AbortSignal.any([session.job.signal, signal]));
        machine.journal.record('actions.job', name);
        return { code: 0, stdout: `${id} ${name}\n` };
      }
    } finally {
      done.abort();
      await watching;
    }
  };

  const finished = async (id: string, conclusion: string, credential: string): Promise<ToolResult> => {
    const session = sessions.get(credential);
    if (session === undefined) return { code: 1 };
    session.job?.abort();
    session.job = undefined;
    const signal = AbortSignal.any([session.over.signal, off.signal]);
    const answer = await retryUntilAnswered(`/sessions/${session.id}/jobs/${id}/finished`, signal, { conclusion });
    return { code: answer?.status === 204 ? 0 : 1 };
  };

  const unregister = async (credential: string): Promise<ToolResult> => {
    const session = sessions.get(credential);
    if (session === undefined) return { code: 0 };
    sessions.delete(credential);
    session.over.abort();
    await ask(`/sessions/${session.id}`, { method: 'DELETE', signal: off.signal });
    return { code: 0 };
  };

  const tool: Tool = ({ args: [verb = '', first = '', second = '', third = ''], stdin }) => {
    const secret = stdin.toString('utf8').trim();
    if (url() === undefined) return { code: 1, stderr: 'this Mac knows no GitHub\n' };
    switch (verb) {
      case 'where':
        return { code: 0, stdout: `${url()}\n` };
      case 'register':
        return register(first, second, third !== 'no', secret);
      case 'wait':
        return waitForJob(Number(first), secret);
      case 'finished':
        return finished(first, second, secret);
      case 'bye':
        return unregister(secret);
      default:
        return { code: 64 };
    }
  };

  return {
    tools: { 'sim-actions-runner': tool },
    boot: async () => {
      off = new AbortController();
    },
    shutdown: async () => {
      off.abort();
      sessions.clear();
    },
  };
};
