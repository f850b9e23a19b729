import { invalidInput, nameTaken, notFound, problemsParsing, runnerBusy } from '../api/errors.ts';
import { type ApiRequest, type ApiResponse, paginate, parseBody } from '../api/handler.ts';
import type { Deps } from '../deps.ts';
import { encodeJitConfig, isBusy, runnerError, type RunnerRecord } from './runner.ts';

/** The REST API of self-hosted runners. `owner`: `acme` or `acme/app`. */

interface PathParams {
  readonly owner: string;
  readonly id: string;
}

/** Whether answers still show the old state. */
const isStale = ({ clock, faults }: Deps, { busySince }: RunnerRecord): boolean =>
  busySince !== undefined && clock.now() - busySince < faults.staleBusyFor;

const showsBusy = (deps: Deps, runner: RunnerRecord): boolean => isBusy(runner) && !isStale(deps, runner);

const runnerJSON = (deps: Deps, runner: RunnerRecord): unknown => ({
  id: runner.id,
  name: runner.name,
  os: runner.os,
  status: runner.isOnline ? 'online' : 'offline',
  busy: showsBusy(deps, runner),
  ephemeral: runner.isEphemeral,
  runner_group_id: runner.groupID,
  labels: runner.labels.map(({ name, type }, index) => ({ id: runner.id * 100 + index, name, type })),
});

const reportIdle = (deps: Deps, shown: readonly RunnerRecord[]): void =>
  deps.jobs.onShownIdle(shown.filter((runner) => runner.isOnline && !showsBusy(deps, runner)));

const find = (deps: Deps, { owner, id }: PathParams): RunnerRecord | undefined =>
  deps.runners.of(owner).find((runner) => String(runner.id) === id);

export const listRunners = (deps: Deps, request: ApiRequest, { owner }: PathParams): ApiResponse => {
  // Matches the whole name, not a part.
  const name = request.query.get('name');
  const found = deps.runners.of(owner).filter((runner) => name === null || runner.name === name);
  const shown: RunnerRecord[] = [];
  const answer = paginate(request, deps.url(), 'runners', found, (runner) => {
    shown.push(runner);
    return runnerJSON(deps, runner);
  });
  reportIdle(deps, shown);
  return answer;
};

export const getRunner = (deps: Deps, _request: ApiRequest, where: PathParams): ApiResponse => {
  const runner = find(deps, where);
  if (runner === undefined) return notFound();
  const answer: ApiResponse = { status: 200, body: runnerJSON(deps, runner) };
  reportIdle(deps, [runner]);
  return answer;
};

export const deleteRunner = (deps: Deps, _request: ApiRequest, where: PathParams): ApiResponse => {
  const runner = find(deps, where);
  if (runner === undefined) return notFound();
  const isBelievedIdle = isStale(deps, runner) && deps.faults.deleteWhileStale === 'accepted';
  if (isBusy(runner) && !isBelievedIdle) return runnerBusy(runner.name);
  deps.runners.remove(runner, 'deleted');
  return { status: 204 };
};

/** From now on the name is taken, and the runner is listed as offline (`ubicloud#692`). */
export const generateJitConfig = (deps: Deps, { body }: ApiRequest, { owner }: PathParams): ApiResponse => {
  const fields = parseBody(body);
  if (fields === undefined) return problemsParsing();
  const why = runnerError(fields);
  if (why !== undefined) return invalidInput(why);
  const wanted = fields as { name: string; runner_group_id: number; labels: string[]; work_folder?: string };
  // Runners of a repository are always in the first group (`cdk-github-runners`, `token-retriever.lambda.ts`).
  const groups = owner.includes('/') ? deps.groups.slice(0, 1) : deps.groups;
  if (!groups.some(({ id }) => id === wanted.runner_group_id)) return notFound();
  if (deps.runners.of(owner).some(({ name }) => name === wanted.name)) return nameTaken(wanted.name);
  const runner = deps.runners.register(
    {
      owner,
      name: wanted.name,
      groupID: wanted.runner_group_id,
      // There are no default labels, and all are in lower case (`docs.rs/runner-manager-github`, `JitRunner`).
      labels: wanted.labels.map((name) => ({ name: name.toLowerCase(), type: 'custom' })),
      isEphemeral: true,
      workFolder: wanted.work_folder ?? '_work',
    },
    'just in time',
  );
  return {
    status: 201,
    body: { runner: runnerJSON(deps, runner), encoded_jit_config: encodeJitConfig(runner, deps.url()) },
  };
};

/** REST API, "List runner applications for an organization": a list without pages, an entry for each system, without a date. */
export const listDownloads = (deps: Deps): ApiResponse => {
  const version = deps.releases.newest()?.version;
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
  (deps: Deps, _request: ApiRequest, { owner }: PathParams): ApiResponse => {
    const { token, expiresAt } = deps.tokens.createRunnerToken(owner, use);
    return { status: 201, body: { token, expires_at: new Date(expiresAt).toISOString() } };
  };
export const createRegistrationToken = runnerToken('register');
export const createRemoveToken = runnerToken('remove');

export const listRunnerGroups = (deps: Deps, request: ApiRequest): ApiResponse =>
  paginate(request, deps.url(), 'runner_groups', deps.groups, ({ id, name, repositories }) => ({
    id,
    name,
    visibility: repositories === undefined ? 'all' : 'selected',
    default: id === 1,
    inherited: false,
    allows_public_repositories: true,
    restricted_to_workflows: false,
    selected_workflows: [],
  }));
