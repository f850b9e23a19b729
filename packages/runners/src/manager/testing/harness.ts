import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { labels, labelValues } from '@tartan/api';
import {
  createLogger,
  createRedactor,
  grantPolicyRules,
  inProcessTransport,
  type ManagerResult,
  nodes,
  serviceAccounts,
  type Transport,
} from '@tartan/kube';
import { parseFlags, type RunnersOptions } from '../../flags.ts';
import { createHarness as setPoolStage, namespace } from '../../pool/testing/harness.ts';
import { runnersRBACRules } from '../../rbac.ts';
import { createRunnersManager, type RunnersManagerDeps } from '../runners-manager.ts';

export { namespace } from '../../pool/testing/harness.ts';

export const optionsWith = (...argv: readonly string[]): RunnersOptions => {
  const parsed = parseFlags(
    [
      '--metrics-bind-address=127.0.0.1:0',
      '--health-probe-bind-address=127.0.0.1:0',
      `--namespace=${namespace}`,
      '--github-api-url=https://github.invalid',
      ...argv,
    ],
    {},
  );
  if (!('options' in parsed)) throw new Error(JSON.stringify(parsed));
  return parsed.options;
};

const account = { namespace, name: 'runners-controller' };

/** The transport, what it was refused (`GET /api/v1/secrets`), and a wait until no request is in flight. */
const observeTransport = (inner: Transport) => {
  const refused: string[] = [];
  let inFlight = 0;
  const transport: Transport = {
    ...inner,
    send: async (request) => {
      inFlight += 1;
      try {
        const answer = await inner.send(request);
        if (answer.code === 403) refused.push(`${request.method} ${request.path}`);
        return answer;
      } finally {
        inFlight -= 1;
      }
    },
  };
  const settle = async (): Promise<void> => {
    for (let quiet = 0; quiet < 60; quiet += 1) {
      await setImmediate();
      if (inFlight > 0) quiet = 0;
    }
  };
  return { transport, refused, settle };
};

/** Kubernetes, GitHub and Macs on virtual time, and managers that may do what their table of rights says and nothing else. */
export const createManagerHarness = async (t: TestContext, options: Parameters<typeof setPoolStage>[0] = {}) => {
  const stage = await setPoolStage(options);
  const { clock, client, github, macs } = stage;
  for (const { name } of macs)
    await client.patch(
      nodes,
      { name },
      { type: 'merge', body: { metadata: { labels: { [labels.runtime]: labelValues.runtime } } } },
    );
  await client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
  const rights = runnersRBACRules({ namespace, leaderElection: { namespace } });
  await grantPolicyRules(client.create, account.name, { account }, rights);
  const user = { commonName: `system:serviceaccount:${namespace}:${account.name}`, organizations: [] };
  const { transport, refused, settle } = observeTransport(inProcessTransport(stage.kubernetes.handle, { user }));
  const stops: (() => Promise<unknown>)[] = [];
  t.after(async () => {
    await Promise.all(stops.map((stop) => stop()));
    await stage.end();
  });

  /** A manager that runs until it is stopped, or the test ends. */
  const start = (identity: string, change: Partial<RunnersManagerDeps> = {}) => {
    const lines: string[] = [];
    const log = createLogger({ write: (line) => lines.push(line), clock, level: 'debug', redact: createRedactor() });
    const manager = createRunnersManager({
      options: optionsWith(),
      transport,
      apiHost: 'in-process',
      fetch: github.fetch,
      clock,
      random: () => 0.5,
      randomBytes,
      log,
      identity,
      ...change,
    });
    const stopping = new AbortController();
    const ended: Promise<ManagerResult> = manager.run(stopping.signal);
    const stop = async (): Promise<ManagerResult> => {
      stopping.abort();
      const over = new AbortController();
      void ended.then(() => over.abort());
      // Some parts wait by the clock for what is left of their work.
      for (let tries = 0; tries < 200 && !over.signal.aborted; tries += 1) {
        await settle();
        clock.advance(500);
      }
      return ended;
    };
    stops.push(stop);
    return {
      manager,
      lines,
      ended,
      stop,
      leads: (): boolean => {
        try {
          return manager.gate.pass().remainingMs > 0;
        } catch {
          return false;
        }
      },
      ask: async (path: string): Promise<{ code: number; body: string }> => {
        const to = path.startsWith('/metrics') ? manager.addresses.metrics : manager.addresses.probes;
        const { port } = (await to) ?? { port: 0 };
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } });
        return { code: answer.status, body: await answer.text() };
      },
    };
  };

  const pass = async (seconds: number): Promise<void> => {
    for (let passed = 0; passed < seconds; passed += 1) {
      await settle();
      await stage.turn();
      await settle();
      clock.advance(1000);
    }
    await settle();
  };

  return {
    ...stage,
    /** What managers asked for without having the right to. */
    refused,
    start,
    /** In steps, so that what falls due on the way finds the world as it is then. */
    pass,
    /** Lets time pass until there is an answer. */
    eventually: async <T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> => {
      for (let second = 0; second < 900; second += 1) {
        const found = await look();
        if (found !== undefined) return found;
        await pass(1);
      }
      throw new Error(`it never came to this: ${what}`);
    },
  };
};
