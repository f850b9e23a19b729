import type { ScalewayAppleSiliconMachine } from '@tartan/api';
import type { Owner, RunnerService } from '@tartan/github';
import { type CallOptions, type Client, isKubeError, type Redactor, type Secret, secrets } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';

type BuilderMachine = Pick<ScalewayAppleSiliconMachine, 'metadata' | 'spec'>;

export type RunnerToken =
  | { readonly kind: 'known'; readonly token: Secret }
  /** For people: why there is none, and what to do. Its reason on the machine is GHRunnerRegistrationTokenUnavailable. */
  | { readonly kind: 'problem'; readonly message: string };

/** The runner of a builder, as GitHub lists it. */
export type RunnerState =
  | { readonly kind: 'none' }
  | { readonly kind: 'there'; readonly id: number; readonly isBusy: boolean }
  | { readonly kind: 'unknown'; readonly message: string };

/**
 * The runners of builders at GitHub, each asked for as the GitHub App that its machine names. Nothing rejects but for an aborted signal:
 * what GitHub does is data. A runner bears the name of its Node.
 */
export interface BuilderRunners {
  /** What the runner of a machine registers with. A new one each time, good for an hour. */
  registrationToken(machine: BuilderMachine, call: CallOptions): Promise<RunnerToken>;
  /** Idempotent. */
  find(machine: BuilderMachine, call: CallOptions): Promise<RunnerState>;
  /** Takes it off the list, unless it runs a job: then it is there, and busy. Idempotent. */
  remove(machine: BuilderMachine, id: number, call: CallOptions): Promise<RunnerState>;
}

interface BuilderRunnersOptions {
  readonly client: Pick<Client, 'get'>;
  readonly clock: Clock;
  /** That of the log: it gets to know every token. */
  readonly redactor: Pick<Redactor, 'add'>;
  /** `undefined`: GitHub's own. */
  readonly apiURL: string | undefined;
  readonly fetch?: typeof fetch;
}

type Problem = { readonly kind: 'problem'; readonly message: string };
type Machine = Parameters<BuilderRunners['find']>[0];

/**
 * The Secret of the App is read anew each time: people mend it, and no watch brings it. The client of GitHub is only loaded for the first
 * builder that needs it, so that a manager without builders does not pay for it.
 */
export const createBuilderRunners = (options: BuilderRunnersOptions): BuilderRunners => {
  const { client, clock, redactor, apiURL, fetch } = options;

  const serviceOf = async (machine: Machine, call: CallOptions): Promise<RunnerService | Problem> => {
    const { ghOrg = '', ghAppSecretName } = machine.spec.ghActionsRunner ?? {};
    const { namespace = '' } = machine.metadata ?? {};
    if (!ghAppSecretName)
      return problem('spec.ghActionsRunner.ghAppSecretName names no Secret with a GitHub App. Name one.');
    const owner = ownerOf(ghOrg);
    if (owner === undefined) return problem(`spec.ghActionsRunner.ghOrg is ${JSON.stringify(ghOrg)}: no organisation.`);
    const where = `${namespace}/${ghAppSecretName}`;
    const secret = await readSecret(client, { namespace, name: ghAppSecretName }, call);
    if (secret.kind === 'problem') return problem(`The Secret ${where} of the GitHub App ${secret.message}`);
    const { createRunnerService, readGitHubApp } = await import('@tartan/github');
    const app = readGitHubApp(secret.data);
    if ('problem' in app) return problem(`${where}: ${app.problem}`);
    redactor.add(app.privateKey.reveal());
    return createRunnerService({
      app,
      owner,
      clock,
      ...(apiURL !== undefined && { apiURL }),
      ...(fetch !== undefined && { fetch }),
    });
  };

  return {
    registrationToken: async (machine, call) => {
      const service = await serviceOf(machine, call);
      if ('kind' in service) return service;
      const answer = await service.registrationToken(signalOf(call));
      if (answer.kind === 'problem') return { kind: 'problem', message: answer.message };
      redactor.add(answer.token.reveal());
      return answer;
    },
    find: async (machine, call) => {
      const service = await serviceOf(machine, call);
      if ('kind' in service) return { kind: 'unknown', message: service.message };
      const found = await service.find(machine.metadata?.name ?? '', signalOf(call));
      if (found.kind === 'problem') return { kind: 'unknown', message: found.message };
      return found.kind === 'none' ? found : { kind: 'there', id: found.runner.id, isBusy: found.runner.isBusy };
    },
    remove: async (machine, id, call) => {
      const service = await serviceOf(machine, call);
      if ('kind' in service) return { kind: 'unknown', message: service.message };
      const answer = await service.remove(id, signalOf(call));
      if (answer.kind === 'problem') return { kind: 'unknown', message: answer.message };
      return answer.kind === 'busy' ? { kind: 'there', id, isBusy: true } : { kind: 'none' };
    },
  };
};

const problem = (message: string): Problem => ({ kind: 'problem', message });

const signalOf = ({ signal }: CallOptions) => (signal === undefined ? {} : { signal });

const isRepository = (text: string): text is `${string}/${string}` => /^[\w.-]+\/[\w.-]+$/.test(text);

/** As the runner's `--url` takes it: an organisation, or one repository. */
const ownerOf = (text: string): Owner | undefined => {
  if (isRepository(text)) return { kind: 'repository', repository: text };
  return /^[\w.-]+$/.test(text) ? { kind: 'organization', organization: text } : undefined;
};

const readSecret = async (
  client: Pick<Client, 'get'>,
  name: { readonly namespace: string; readonly name: string },
  call: CallOptions,
): Promise<{ readonly kind: 'read'; readonly data: Readonly<Record<string, string>> } | Problem> => {
  try {
    return { kind: 'read', data: (await client.get(secrets, name, call)).data ?? {} };
  } catch (error) {
    if (call.signal?.aborted === true || !isKubeError(error)) throw error;
    return error.reason === 'notFound'
      ? problem('is not there. Make it, with a GitHub App that manages runners.')
      : problem(`cannot be read: ${error.message}`);
  }
};
