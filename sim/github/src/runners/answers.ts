import { fieldsOf } from '../requests/body.ts';
import { page } from '../requests/pages.ts';
import { invalidInput, nameTaken, notFound, problemsParsing, runsAJob } from '../requests/refusals.ts';
import type { Answer, ApiRequest } from '../requests/request.ts';
import type { World } from '../world.ts';
import { encodeJitConfig } from './jit-config.ts';
import { isBusy, type RunnerRecord } from './runner.ts';
import { whyNotRunner } from './why-not.ts';

/** What the REST API answers about self-hosted runners. `owner`: `acme` or `acme/app`. */

interface Where {
  readonly owner: string;
  readonly id: string;
}

/** Whether the API knows already. */
const isStale = ({ clock, faults }: World, { busySince }: RunnerRecord): boolean =>
  busySince !== undefined && clock.now() - busySince < faults.staleBusyFor;

const showsBusy = (world: World, runner: RunnerRecord): boolean => isBusy(runner) && !isStale(world, runner);

const runnerJSON = (world: World, runner: RunnerRecord): unknown => ({
  id: runner.id,
  name: runner.name,
  os: runner.os,
  status: runner.isOnline ? 'online' : 'offline',
  busy: showsBusy(world, runner),
  ephemeral: runner.isEphemeral,
  runner_group_id: runner.groupID,
  labels: runner.labels.map(({ name, type }, index) => ({ id: runner.id * 100 + index, name, type })),
});

const tellIdle = (world: World, shown: readonly RunnerRecord[]): void =>
  world.jobs.shownIdle(shown.filter((runner) => runner.isOnline && !showsBusy(world, runner)));

const find = (world: World, { owner, id }: Where): RunnerRecord | undefined =>
  world.runners.of(owner).find((runner) => String(runner.id) === id);

export const listRunners = (world: World, request: ApiRequest, { owner }: Where): Answer => {
  // The whole name, not a part of it.
  const name = request.query.get('name');
  const found = world.runners.of(owner).filter((runner) => name === null || runner.name === name);
  const shown: RunnerRecord[] = [];
  const answer = page(request, world.url(), 'runners', found, (runner) => {
    shown.push(runner);
    return runnerJSON(world, runner);
  });
  tellIdle(world, shown);
  return answer;
};

export const getRunner = (world: World, _request: ApiRequest, where: Where): Answer => {
  const runner = find(world, where);
  if (runner === undefined) return notFound();
  const answer: Answer = { status: 200, body: runnerJSON(world, runner) };
  tellIdle(world, [runner]);
  return answer;
};

export const deleteRunner = (world: World, _request: ApiRequest, where: Where): Answer => {
  const runner = find(world, where);
  if (runner === undefined) return notFound();
  const isBelievedIdle = isStale(world, runner) && world.faults.deleteWhileStale === 'accepted';
  if (isBusy(runner) && !isBelievedIdle) return runsAJob(runner.name);
  world.runners.remove(runner, 'deleted');
  return { status: 204 };
};

/** Its name is taken, and it is listed as offline, from this moment on (`ubicloud#692`). */
export const generateJitConfig = (world: World, { body }: ApiRequest, { owner }: Where): Answer => {
  const fields = fieldsOf(body);
  if (fields === undefined) return problemsParsing();
  const why = whyNotRunner(fields);
  if (why !== undefined) return invalidInput(why);
  const wanted = fields as { name: string; runner_group_id: number; labels: string[]; work_folder?: string };
  // Runners of a repository are in no group but the first (`cdk-github-runners`, `token-retriever.lambda.ts`).
  const groups = owner.includes('/') ? world.groups.slice(0, 1) : world.groups;
  if (!groups.some(({ id }) => id === wanted.runner_group_id)) return notFound();
  if (world.runners.of(owner).some(({ name }) => name === wanted.name)) return nameTaken(wanted.name);
  const runner = world.runners.register(
    {
      owner,
      name: wanted.name,
      groupID: wanted.runner_group_id,
      // No label comes by itself, and all are in lower case (`docs.rs/runner-manager-github`, `JitRunner`).
      labels: wanted.labels.map((name) => ({ name: name.toLowerCase(), type: 'custom' })),
      isEphemeral: true,
      workFolder: wanted.work_folder ?? '_work',
    },
    'just in time',
  );
  return {
    status: 201,
    body: { runner: runnerJSON(world, runner), encoded_jit_config: encodeJitConfig(runner, world.url()) },
  };
};

/**
 * REST API, "List runner applications for an organization": a list without pages, an entry for each system. No date is told.
 */
export const listDownloads = (world: World): Answer => {
  const version = world.releases.newest()?.version;
  const systems = [
    ['osx', 'arm64'],
    ['osx', 'x64'],
    ['linux', 'x64'],
  ] as const;
  const body = systems.map(([os, architecture]) => {
    const filename = `actions-runner-${os}-${architecture}-${version}.tar.gz`;
    const url = `https://github.com/actions/runner/releases/download/v${version}/${filename}`;
    return { os, architecture, download_url: url, filename, sha256_checksum: '0'.repeat(64) };
  });
  return { status: 200, body: version === undefined ? [] : body };
};

const runnerToken =
  (use: 'register' | 'remove') =>
  (world: World, _request: ApiRequest, { owner }: Where): Answer => {
    const { token, expiresAt } = world.tokens.forRunner(owner, use);
    return { status: 201, body: { token, expires_at: new Date(expiresAt).toISOString() } };
  };
export const createRegistrationToken = runnerToken('register');
export const createRemoveToken = runnerToken('remove');

export const listRunnerGroups = (world: World, request: ApiRequest): Answer =>
  page(request, world.url(), 'runner_groups', world.groups, ({ id, name, repositories }) => ({
    id,
    name,
    visibility: repositories === undefined ? 'all' : 'selected',
    default: id === 1,
    inherited: false,
    allows_public_repositories: true,
    restricted_to_workflows: false,
    selected_workflows: [],
  }));
