import { generateKeyPairSync } from 'node:crypto';
import { systemClock } from '@tartan/kube/clock';
import { handleRunnerRequest } from './actions/endpoints.ts';
import { unavailable } from './api/errors.ts';
import type { ApiRequest, Reply } from './api/handler.ts';
import { createRateLimit } from './api/rate-limit.ts';
import { handleApiRequest } from './api/router.ts';
import { createTokens, publicKeyOf } from './app/authentication.ts';
import { canonicalName, type Installation } from './app/installation.ts';
import { createEventLog, type Deps } from './deps.ts';
import { type EmbeddedGitHub, type GitHubFaults, type GitHubOptions, takeFault } from './github.ts';
import { createFetch } from './http.ts';
import { createJobs } from './jobs/jobs.ts';
import { createReleases } from './runners/releases.ts';
import { defaultGroup, isBusy } from './runners/runner.ts';
import { createRunners } from './runners/runners.ts';
import { createTimers } from './timers.ts';

const noFaults = (): GitHubFaults => ({
  calls: [],
  outage: { api: undefined, actions: undefined },
  registrations: [],
  staleBusyFor: 0,
  deleteWhileStale: 'refused',
  lingersFor: 0,
  jobsAfterIdle: [],
});

const defaultInstallation: Installation = {
  id: 7001,
  account: 'acme',
  repositories: ['app'],
  permissions: {
    organization_self_hosted_runners: 'write',
    administration: 'write',
    actions: 'read',
    metadata: 'read',
  },
};

const newKey = (): string =>
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' });

/** GitHub without sockets: a function in this process answers requests. `url`: the address in its responses. */
export const createGitHub = (
  options: Omit<GitHubOptions, 'port'> = {},
  url: () => string = () => 'https://api.github.invalid',
): EmbeddedGitHub => {
  const { clock = systemClock, random = Math.random, installations = [defaultInstallation] } = options;
  // The limit of a small installation.
  const { rateLimit = 5000, runnerGroups = [] } = options;
  const { id = 4711, privateKey = newKey() } = options.app ?? {};
  const app = { id, clientID: `Iv23li${id}`, slug: 'runners', privateKey };
  const faults = noFaults();
  const history = createEventLog(clock);
  const timers = createTimers(clock);
  const requests: string[] = [];
  const groups = [defaultGroup, ...runnerGroups];

  const runners = createRunners({ timers, random, faults, history, onReady: () => jobs.assign() });
  const jobs = createJobs({ clock, timers, random, faults, history, groups, runners: () => runners });
  const deps: Deps = {
    clock,
    app: { ...app, publicKey: publicKeyOf(privateKey) },
    installations,
    groups,
    tokens: createTokens(clock, random, id),
    runners,
    jobs,
    limit: createRateLimit(clock, rateLimit),
    releases: createReleases(clock, options.runnerReleases ?? []),
    faults,
    history,
    url,
  };

  const handle = async (request: ApiRequest): Promise<Reply> => {
    const { method, path, query } = request;
    requests.push(`${method} ${path}${query.size > 0 ? `?${query.toString()}` : ''}`);
    const isRunner = path.startsWith('/_actions/');
    const outage = isRunner ? faults.outage.actions : faults.outage.api;
    if (outage === 'refused') return 'disconnect';
    if (outage !== undefined) return { send: unavailable(outage) };
    const fault = takeFault(faults.calls, `${method} ${path}`);
    if (fault === 'hang') return 'hang';
    const isStatus = typeof fault === 'object' && 'status' in fault && !('limit' in fault);
    if (isStatus && fault.done !== true) return { send: fault };
    const answer = isRunner ? await handleRunnerRequest(deps, request) : handleApiRequest(deps, request, fault);
    if (fault === 'lost') return 'disconnect';
    if (isStatus) return { send: fault };
    if (typeof fault === 'object' && 'slow' in fault) await timers.wait(fault.slow);
    return { send: answer };
  };

  return {
    app,
    faults,
    handle,
    fetch: createFetch(handle),
    queueJob: (wanted) => {
      if (!installations.some((each) => canonicalName(each, wanted.repository) !== undefined)) {
        throw new Error(`there is no repository ${wanted.repository}: name it in "installations"`);
      }
      return jobs.queue(wanted);
    },
    jobs: jobs.all,
    lostJobs: () => jobs.all().filter(({ lost }) => lost),
    runners: () =>
      runners.all().map((runner) => ({
        id: runner.id,
        name: runner.name,
        owner: runner.owner,
        labels: runner.labels.map(({ name }) => name),
        groupID: runner.groupID,
        isEphemeral: runner.isEphemeral,
        isOnline: runner.isOnline,
        isBusy: isBusy(runner),
      })),
    history: history.all,
    requests,
    expireTokens: () => deps.tokens.expire(),
    stop: async () => {
      for (const runner of runners.all()) runners.disconnect(runner);
      timers.end();
    },
  };
};
