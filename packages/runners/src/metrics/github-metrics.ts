import { runnerMetricNames } from '@tartan/api';
import type { CallReport } from '@tartan/github';
import { stateGauges } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { Counter, type Registry } from 'prom-client';

export interface GitHubMetrics {
  /** `app`: the Secret of the GitHub App as which it was asked. */
  call(app: string, report: CallReport): void;
}

/** GitHub counts anew after an hour: what is older says nothing. */
const limitWindowMs = 3_600_000;

export const createGitHubMetrics = (registry: Registry, clock: Clock, leads: () => boolean): GitHubMetrics => {
  const requests = new Counter({
    name: runnerMetricNames.githubRequests,
    help: 'Requests to GitHub. code is that of the answer, or none when there was no answer.',
    labelNames: ['method', 'route', 'code'],
    registers: [registry],
  });
  const left = new Map<string, { readonly calls: number; readonly at: number }>();
  stateGauges(registry, () => (leads() ? left : undefined))(
    runnerMetricNames.githubRateRemaining,
    'Calls that GitHub allows within this hour: app is the Secret of the GitHub App. No series when it was not asked for an hour.',
    ['app'],
    (remaining) => (known) => {
      for (const [app, { calls, at }] of known) if (clock.now() - at < limitWindowMs) remaining.set({ app }, calls);
    },
  );
  return {
    call: (app, { method, route, status, remaining }) => {
      requests.inc({ method, route, code: status ?? 'none' });
      if (remaining !== undefined) left.set(app, { calls: remaining, at: clock.now() });
    },
  };
};
