import { fieldsOf } from '../requests/body.ts';
import type { Answer, ApiRequest } from '../requests/request.ts';
import type { JobRecord } from '../jobs/job.ts';
import { secretIn } from '../runners/jit-config.ts';
import type { RunnerRecord } from '../runners/runner.ts';
import { whyNotRunner } from '../runners/why-not.ts';
import type { World } from '../world.ts';

/** The runner's side. A protocol of our own, told in the README: GitHub's is not documented. */

type Fields = Readonly<Record<string, unknown>>;

const refuse = (status: number, message: string): Answer => ({ status, body: { message } });
/** What a runner is told whose registration is no more: it gives up, and does not try again. */
const gone = (): Answer =>
  refuse(401, 'The runner registration has been deleted from the server, please re-configure.');

const jobJSON = ({ id, runID, name, repository, labels }: JobRecord): unknown => ({
  job: { id, run_id: runID, name, repository, labels },
});

/** `config.sh --token … --name … [--labels …] [--no-default-labels] [--runnergroup …] [--ephemeral] [--replace]`. */
const register = (world: World, fields: Fields): Answer => {
  const granted = world.tokens.runnerToken(String(fields['token']), 'register');
  if (granted === undefined) return refuse(404, 'Invalid configuration provided for token.');
  const { owner } = granted;
  const { os = 'macOS', architecture = 'ARM64', labels = [], group = 'Default' } = fields;
  const found = world.groups.find(({ name }) => name === group);
  if (found === undefined || (owner.includes('/') && found.id !== 1)) {
    return refuse(404, `Could not find any self-hosted runner group named "${String(group)}".`);
  }
  // What every runner has unless it says otherwise, which it can since its version 2.305.0.
  const standard = fields['no_default_labels'] === true ? [] : ['self-hosted', String(os), String(architecture)];
  const all = [...standard, ...(Array.isArray(labels) ? (labels as unknown[]) : [labels])];
  const why = whyNotRunner({ name: fields['name'], runner_group_id: found.id, labels: all });
  if (why !== undefined) return refuse(422, why);
  const name = fields['name'] as string;
  const namesake = world.runners.of(owner).find((each) => each.name === name);
  if (namesake !== undefined && (fields['replace'] !== true || namesake.job !== undefined)) {
    return refuse(409, `A runner exists with the same name: ${name}.`);
  }
  if (namesake !== undefined) world.runners.remove(namesake, 'replaced');
  const runner = world.runners.register(
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
const unregister = (world: World, fields: Fields, id: string): Answer => {
  const granted = world.tokens.runnerToken(String(fields['token']), 'remove');
  const runner = world.runners.of(granted?.owner ?? '').find((each) => String(each.id) === id);
  if (runner === undefined) return refuse(404, 'Not Found');
  if (runner.job !== undefined) return refuse(422, `Runner ${runner.name} is currently running a job.`);
  world.runners.remove(runner, 'unregistered');
  return { status: 204 };
};

const connect = (world: World, fields: Fields): Answer => {
  const { jit_config: config, credential, os } = fields;
  const secret = typeof config === 'string' ? secretIn(config) : credential;
  const runner = typeof secret === 'string' ? world.runners.withSecret(secret) : undefined;
  if (runner === undefined || runner.isRemoved) return gone();
  const session = world.runners.connect(runner, os === 'Linux' ? os : 'macOS');
  if (session === undefined) return refuse(409, 'A session for this runner already exists.');
  return { status: 201, body: { session: session.id, runner: { id: runner.id, name: runner.name } } };
};

/** A runner that registers and connects as any other, and is refused when it asks for messages (actions/runner#4392, #4305). */
const deprecated = (version: string): Answer =>
  refuse(403, `Runner version v${version} is deprecated and cannot receive messages.`);

const poll = async (world: World, runner: RunnerRecord, request: ApiRequest): Promise<Answer> => {
  const { session, job } = runner;
  if (session === undefined || runner.isRemoved) return gone();
  // The listener tells its version with every request for messages.
  const version = fieldsOf(request.body)?.['runner_version'];
  if (typeof version === 'string' && job === undefined && world.releases.isRefused(version)) {
    world.runners.disconnect(runner);
    return deprecated(version);
  }
  // An answer that was lost on its way is given again.
  if (job?.status === 'queued') {
    world.runners.hear(runner);
    return { status: 200, body: jobJSON(job) };
  }
  const told = await world.runners.ask(runner, session, request.signal);
  if (runner.isRemoved && runner.job === undefined) return gone();
  return told === 'nothing' ? { status: 204 } : { status: 200, body: jobJSON(told) };
};

const report = (world: World, runner: RunnerRecord, id: number, verb: string, fields: Fields): Answer => {
  world.runners.hear(runner);
  const { jobs } = world;
  const isTaken =
    verb === 'started'
      ? jobs.start(runner, id)
      : verb === 'renew'
        ? jobs.renew(runner, id)
        : jobs.finish(runner, id, typeof fields['conclusion'] === 'string' ? fields['conclusion'] : 'success');
  return isTaken ? { status: 204 } : refuse(404, 'This job is not, or no longer, the job of this runner.');
};

/** Everything below `/_actions`. */
export const answerRunner = async (world: World, request: ApiRequest): Promise<Answer> => {
  const { method, path, body } = request;
  const fields = fieldsOf(body);
  if (fields === undefined) return refuse(400, 'not a JSON object');
  if (method === 'POST' && path === '/_actions/runners') return register(world, fields);
  if (method === 'POST' && path === '/_actions/sessions') return connect(world, fields);
  const runnerID = /^\/_actions\/runners\/(\d+)$/.exec(path)?.[1];
  if (method === 'DELETE' && runnerID !== undefined) return unregister(world, fields, runnerID);
  const [, session = '', rest = ''] = /^\/_actions\/sessions\/([^/]+)(.*)$/.exec(path) ?? [];
  const runner = world.runners.withSession(session);
  if (runner === undefined) return gone();
  if (method === 'DELETE' && rest === '') {
    world.runners.disconnect(runner);
    return { status: 204 };
  }
  if (method !== 'POST') return refuse(404, 'Not Found');
  if (rest === '/poll') return poll(world, runner, request);
  const [, id = '', verb = ''] = /^\/jobs\/(\d+)\/(started|renew|finished)$/.exec(rest) ?? [];
  return verb === '' ? refuse(404, 'Not Found') : report(world, runner, Number(id), verb, fields);
};
