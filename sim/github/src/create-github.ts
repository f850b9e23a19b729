import { generateKeyPairSync } from 'node:crypto';
import { systemClock } from '@tartan/kube/clock';
import { answerRunner } from './actions/answers.ts';
import { publicKeyOf } from './app/check-assertion.ts';
import { type Installation, reached } from './app/installation.ts';
import { createTokens } from './app/tokens.ts';
import type { EmbeddedGitHub, GitHubFaults, GitHubOptions } from './github.ts';
import { createHistory } from './history.ts';
import { answerFetch } from './http/answer-fetch.ts';
import { createJobs } from './jobs/jobs.ts';
import { answerCall } from './requests/answer-call.ts';
import { createRateLimit } from './requests/rate-limit.ts';
import type { ApiRequest, Reply } from './requests/request.ts';
import { unavailable } from './requests/refusals.ts';
import { takeFault } from './http/take-fault.ts';
import { defaultGroup, isBusy } from './runners/runner.ts';
import { createReleases } from './runners/releases.ts';
import { createRunners } from './runners/runners.ts';
import { createTimers } from './timers.ts';
import type { World } from './world.ts';

const noFaults = (): GitHubFaults => ({
  calls: [],
  outage: { api: undefined, actions: undefined },
  registrations: [],
  staleBusyFor: 0,
  deleteWhileStale: 'refused',
  lingersFor: 0,
  jobsAfterIdle: [],
});

const usualInstallation: Installation = {
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

/** GitHub without sockets: requests are answered by a function, in this very process. `url`: what it says its address is. */
export const createGitHub = (
  options: Omit<GitHubOptions, 'port'> = {},
  url: () => string = () => 'https://api.github.invalid',
): EmbeddedGitHub => {
  const { clock = systemClock, random = Math.random, installations = [usualInstallation] } = options;
  // The limit of an installation that is not large.
  const { rateLimit = 5000, runnerGroups = [] } = options;
  const { id = 4711, privateKey = newKey() } = options.app ?? {};
  const app = { id, clientID: `Iv23li${id}`, slug: 'runners', privateKey };
  const faults = noFaults();
  const history = createHistory(clock);
  const timers = createTimers(clock);
  const requests: string[] = [];
  const groups = [defaultGroup, ...runnerGroups];

  const runners = createRunners({ timers, random, faults, history, ready: () => jobs.assign() });
  const jobs = createJobs({ clock, timers, random, faults, history, groups, runners: () => runners });
  const world: World = {
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
    if (outage === 'refused') return 'cut the connection';
    if (outage !== undefined) return { send: unavailable(outage) };
    const fault = takeFault(faults.calls, `${method} ${path}`);
    if (fault === 'hang') return 'never answer';
    const isStatus = typeof fault === 'object' && 'status' in fault && !('limit' in fault);
    if (isStatus && fault.done !== true) return { send: fault };
    const answer = isRunner ? await answerRunner(world, request) : answerCall(world, request, fault);
    if (fault === 'lost') return 'cut the connection';
    if (isStatus) return { send: fault };
    if (typeof fault === 'object' && 'slow' in fault) await timers.wait(fault.slow);
    return { send: answer };
  };

  return {
    app,
    faults,
    handle,
    fetch: answerFetch(handle),
    queueJob: (wanted) => {
      if (!installations.some((each) => reached(each, wanted.repository) !== undefined)) {
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
    expireTokens: () => world.tokens.expire(),
    stop: async () => {
      for (const runner of runners.all()) runners.disconnect(runner);
      timers.end();
    },
  };
};
