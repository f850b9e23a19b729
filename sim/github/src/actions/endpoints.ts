import { type ApiRequest, type ApiResponse, parseBody } from '../api/handler.ts';
import type { Deps } from '../deps.ts';
import type { JobRecord } from '../jobs/jobs.ts';
import { runnerError, type RunnerRecord, secretIn } from '../runners/runner.ts';

/** The runner's side. Our own protocol, described in the README: GitHub's is not documented. */

type Fields = Readonly<Record<string, unknown>>;

const errorResponse = (status: number, message: string): ApiResponse => ({ status, body: { message } });
/** The answer to a runner whose registration is deleted: it gives up and does not retry. */
const registrationDeleted = (): ApiResponse =>
  errorResponse(401, 'The runner registration has been deleted from the server, please re-configure.');

const jobJSON = ({ id, runID, name, repository, labels }: JobRecord): unknown => ({
  job: { id, run_id: runID, name, repository, labels },
});

/** `config.sh --token … --name … [--labels …] [--no-default-labels] [--runnergroup …] [--ephemeral] [--replace]`. */
const register = (deps: Deps, fields: Fields): ApiResponse => {
  const granted = deps.tokens.runnerToken(String(fields['token']), 'register');
  if (granted === undefined) return errorResponse(404, 'Invalid configuration provided for token.');
  const { owner } = granted;
  const { os = 'macOS', architecture = 'ARM64', labels = [], group = 'Default' } = fields;
  const found = deps.groups.find(({ name }) => name === group);
  if (found === undefined || (owner.includes('/') && found.id !== 1)) {
    return errorResponse(404, `Could not find any self-hosted runner group named "${String(group)}".`);
  }
  // The default labels of every runner, which can be disabled since version 2.305.0.
  const standard = fields['no_default_labels'] === true ? [] : ['self-hosted', String(os), String(architecture)];
  const all = [...standard, ...(Array.isArray(labels) ? (labels as unknown[]) : [labels])];
  const why = runnerError({ name: fields['name'], runner_group_id: found.id, labels: all });
  if (why !== undefined) return errorResponse(422, why);
  const name = fields['name'] as string;
  const namesake = deps.runners.of(owner).find((each) => each.name === name);
  if (namesake !== undefined && (fields['replace'] !== true || namesake.job !== undefined)) {
    return errorResponse(409, `A runner exists with the same name: ${name}.`);
  }
  if (namesake !== undefined) deps.runners.remove(namesake, 'replaced');
  const runner = deps.runners.register(
    {
      owner,
      name,
      groupID: found.id,
      labels: all.map((label, index) => ({
        name: String(label),
        type: index < standard.length ? 'read-only' : 'custom',
      })),
      isEphemeral: fields['ephemeral'] === true,
      workFolder: '_work',
    },
    'by token',
  );
  return { status: 201, body: { id: runner.id, credential: runner.secret } };
};

/** `config.sh remove --token …`. */
const unregister = (deps: Deps, fields: Fields, id: string): ApiResponse => {
  const granted = deps.tokens.runnerToken(String(fields['token']), 'remove');
  const runner = deps.runners.of(granted?.owner ?? '').find((each) => String(each.id) === id);
  if (runner === undefined) return errorResponse(404, 'Not Found');
  if (runner.job !== undefined) return errorResponse(422, `Runner ${runner.name} is currently running a job.`);
  deps.runners.remove(runner, 'unregistered');
  return { status: 204 };
};

const connect = (deps: Deps, fields: Fields): ApiResponse => {
  const { jit_config: config, credential, os } = fields;
  const secret = typeof config === 'string' ? secretIn(config) : credential;
  const runner = typeof secret === 'string' ? deps.runners.withSecret(secret) : undefined;
  if (runner === undefined || runner.isRemoved) return registrationDeleted();
  const session = deps.runners.connect(runner, os === 'Linux' ? os : 'macOS');
  if (session === undefined) return errorResponse(409, 'A session for this runner already exists.');
  return { status: 201, body: { session: session.id, runner: { id: runner.id, name: runner.name } } };
};

/** Such a runner registers and connects like any other, but is refused when it asks for messages (actions/runner#4392, #4305). */
const deprecated = (version: string): ApiResponse =>
  errorResponse(403, `Runner version v${version} is deprecated and cannot receive messages.`);

const poll = async (deps: Deps, runner: RunnerRecord, request: ApiRequest): Promise<ApiResponse> => {
  const { session, job } = runner;
  if (session === undefined || runner.isRemoved) return registrationDeleted();
  // The listener sends its version with every request for messages.
  const version = parseBody(request.body)?.['runner_version'];
  if (typeof version === 'string' && job === undefined && deps.releases.isRefused(version)) {
    deps.runners.disconnect(runner);
    return deprecated(version);
  }
  // Repeats an answer that was lost.
  if (job?.status === 'queued') {
    deps.runners.heartbeat(runner);
    return { status: 200, body: jobJSON(job) };
  }
  const assigned = await deps.runners.waitForJob(runner, session, request.signal);
  if (runner.isRemoved && runner.job === undefined) return registrationDeleted();
  return assigned === 'nothing' ? { status: 204 } : { status: 200, body: jobJSON(assigned) };
};

const report = (deps: Deps, runner: RunnerRecord, id: number, verb: string, fields: Fields): ApiResponse => {
  deps.runners.heartbeat(runner);
  const { jobs } = deps;
  const isTaken =
    verb === 'started'
      ? jobs.start(runner, id)
      : verb === 'renew'
        ? jobs.renew(runner, id)
        : jobs.finish(runner, id, typeof fields['conclusion'] === 'string' ? fields['conclusion'] : 'success');
  return isTaken ? { status: 204 } : errorResponse(404, 'This job is not, or no longer, the job of this runner.');
};

/** Everything below `/_actions`. */
export const handleRunnerRequest = async (deps: Deps, request: ApiRequest): Promise<ApiResponse> => {
  const { method, path, body } = request;
  const fields = parseBody(body);
  if (fields === undefined) return errorResponse(400, 'not a JSON object');
  if (method === 'POST' && path === '/_actions/runners') return register(deps, fields);
  if (method === 'POST' && path === '/_actions/sessions') return connect(deps, fields);
  const runnerID = /^\/_actions\/runners\/(\d+)$/.exec(path)?.[1];
  if (method === 'DELETE' && runnerID !== undefined) return unregister(deps, fields, runnerID);
  const [, session = '', rest = ''] = /^\/_actions\/sessions\/([^/]+)(.*)$/.exec(path) ?? [];
  const runner = deps.runners.withSession(session);
  if (runner === undefined) return registrationDeleted();
  if (method === 'DELETE' && rest === '') {
    deps.runners.disconnect(runner);
    return { status: 204 };
  }
  if (method !== 'POST') return errorResponse(404, 'Not Found');
  if (rest === '/poll') return poll(deps, runner, request);
  const [, id = '', verb = ''] = /^\/jobs\/(\d+)\/(started|renew|finished)$/.exec(rest) ?? [];
  return verb === '' ? errorResponse(404, 'Not Found') : report(deps, runner, Number(id), verb, fields);
};
