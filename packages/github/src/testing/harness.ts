import { generateKeyPairSync } from 'node:crypto';
import { createSecret, type Secret } from '@tartan/kube';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import { createGitHub, type EmbeddedGitHub, type GitHubOptions, runFakeRunner } from '@tartan/sim-github';
import { createRunnerService, type RunnerServiceOptions } from '../create-runner-service.ts';
import type { CallReport } from '../http/exchange.ts';
import type { GitHubApp, Owner, RunnerService } from '../runner-service.ts';

/** One key for all tests: generating one takes longer than a test. */
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
/** As GitHub issues it. */
export const pkcs1 = privateKey.export({ type: 'pkcs1', format: 'pem' });
export const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'pem' });

export const organization: Owner = { kind: 'organization', organization: 'acme' };
export const repository: Owner = { kind: 'repository', repository: 'acme/app' };
export const labels = ['self-hosted', 'macOS'];

export interface Harness {
  readonly github: EmbeddedGitHub;
  readonly clock: ManualClock;
  readonly app: GitHubApp;
  readonly reports: CallReport[];
  /** Of the organisation by default. */
  service(more?: Partial<RunnerServiceOptions>): RunnerService;
  /** Registers a runner of the organisation. */
  mintRunner(name: string): Promise<{ readonly id: number; readonly jitConfig: Secret }>;
  /** Resolves when the next request is sent. */
  nextRequest(): Promise<void>;
  /** Runs a runner until the end of the test; a job that it gets never ends. */
  startRunner(jitConfig: Secret): { readonly online: Promise<void>; readonly busy: Promise<void> };
  end(): Promise<void>;
}

/** A simulated GitHub on virtual time, with its clients. */
export const createHarness = (options: Omit<GitHubOptions, 'port'> = {}): Harness => {
  const clock = manualClock();
  const github = createGitHub({ clock, app: { privateKey: pkcs1 }, ...options });
  const app = { appID: String(github.app.id), installationID: '7001', privateKey: createSecret(pkcs1) };
  const reports: CallReport[] = [];
  const over = new AbortController();
  let notify = (): void => {};
  const notifyingFetch: typeof fetch = (input, init) => {
    notify();
    return github.fetch(input, init);
  };
  const service: Harness['service'] = (more = {}) =>
    createRunnerService({
      app,
      owner: organization,
      clock,
      fetch: notifyingFetch,
      onCall: (report) => reports.push(report),
      ...more,
    });
  return {
    github,
    clock,
    app,
    reports,
    service,
    mintRunner: async (name) => {
      const made = await service().mint({ name, labels, group: undefined });
      if (made.kind !== 'minted') throw new Error(`there is no runner ${name}: ${JSON.stringify(made)}`);
      return made;
    },
    nextRequest: () =>
      new Promise((resolve) => {
        notify = resolve;
      }),
    startRunner: (jitConfig) => {
      const [online, busy] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const runnerFetch: typeof fetch = (input, init) => {
        if (typeof input === 'string' && input.endsWith('/poll')) online.resolve();
        return github.fetch(input, init);
      };
      const work = (): Promise<string> => {
        busy.resolve();
        return new Promise(() => undefined);
      };
      const as = { jit_config: jitConfig.reveal() };
      void runFakeRunner({ url: 'https://github.invalid', fetch: runnerFetch, clock, as, work, signal: over.signal });
      return { online: online.promise, busy: busy.promise };
    },
    end: async () => {
      over.abort();
      await github.stop();
    },
  };
};
