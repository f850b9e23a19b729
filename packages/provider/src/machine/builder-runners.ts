import type { ScalewayAppleSiliconMachine } from '@tartan/api';
import type { Owner, RunnerService } from '@tartan/github';
import {
  type CallOptions,
  type Client,
  isKubeError,
  type ObjectName,
  type Redactor,
  type Secret,
  secrets,
} from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { omitUndefined } from '../omit-undefined.ts';
import { intervals } from './requeue.ts';

type BuilderMachine = Pick<ScalewayAppleSiliconMachine, 'metadata' | 'spec'>;

export type RunnerToken =
  | { readonly kind: 'known'; readonly token: Secret }
  /** For users: why there is none, and what to do. The machine's reason is GHRunnerRegistrationTokenUnavailable. */
  | { readonly kind: 'problem'; readonly message: string };

/** The runner of a builder, as GitHub lists it. */
export type RunnerState =
  | { readonly kind: 'none' }
  | { readonly kind: 'there'; readonly id: number; readonly isBusy: boolean }
  | { readonly kind: 'unknown'; readonly message: string };

interface BuilderRunnersOptions {
  readonly client: Pick<Client, 'get'>;
  readonly clock: Clock;
  /** That of the log: every token is added. */
  readonly redactor: Pick<Redactor, 'add'>;
  /** `undefined`: github.com. */
  readonly apiURL: string | undefined;
  readonly fetch?: typeof fetch;
}

/** Builders that wait for the end of a job ask this often. */
const sharedListMs = intervals.idlePoll;

/** As GitHub compares names of runners. */
const isSameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

type Problem = Extract<RunnerToken, { kind: 'problem' }>;

/**
 * The runners of builders at GitHub, each accessed as the GitHub App that its machine names. Rejects only for an aborted signal: errors of
 * GitHub are data. A runner has the name of its Node.
 * The App's Secret is read each time: users correct it, and it is not watched. The GitHub client is loaded for the first builder that needs
 * it, so that a manager without builders does not pay for it.
 */
export const createBuilderRunners = (options: BuilderRunnersOptions) => {
  const { client, clock, redactor, apiURL, fetch } = options;

  /** Returns a text if GitHub cannot be asked: why, for users. */
  const serviceOf = async (machine: BuilderMachine, call: CallOptions): Promise<RunnerService | string> => {
    const { ghOrg = '', ghAppSecretName } = machine.spec.ghActionsRunner ?? {};
    const { namespace = '' } = machine.metadata ?? {};
    if (!ghAppSecretName) return 'spec.ghActionsRunner.ghAppSecretName names no Secret with a GitHub App. Name one.';
    const owner = ownerOf(ghOrg);
    if (owner === undefined) return `spec.ghActionsRunner.ghOrg is ${JSON.stringify(ghOrg)}: no organisation.`;
    const where = `${namespace}/${ghAppSecretName}`;
    const secret = await readSecret(client, { namespace, name: ghAppSecretName }, call);
    if (typeof secret === 'string') return `The Secret ${where} of the GitHub App ${secret}`;
    const { createRunnerService, readGitHubApp } = await import('@tartan/github');
    const app = readGitHubApp(secret);
    if ('problem' in app) return `${where}: ${app.problem}`;
    redactor.add(app.privateKey.reveal());
    return createRunnerService(omitUndefined({ app, owner, clock, apiURL, fetch }));
  };
  const ask = async <T>(
    machine: BuilderMachine,
    call: CallOptions,
    question: (service: RunnerService) => Promise<T>,
  ): Promise<T | Problem> => {
    const service = await serviceOf(machine, call);
    return typeof service === 'string' ? { kind: 'problem', message: service } : question(service);
  };

  return {
    /** The registration token for the runner of a machine. A new one each time, valid for an hour. */
    registrationToken: async (machine: BuilderMachine, call: CallOptions): Promise<RunnerToken> => {
      const answer = await ask(machine, call, (service) => service.registrationToken(call));
      if (answer.kind === 'problem') return { kind: 'problem', message: answer.message };
      redactor.add(answer.token.reveal());
      return answer;
    },
    /** Idempotent. Whether a runner is idle or gone decides about its Mac, so only a busy one is taken from the list that builders share. */
    find: async (machine: BuilderMachine, call: CallOptions): Promise<RunnerState> => {
      const name = machine.metadata?.name ?? '';
      const found = await ask(machine, call, async (service) => {
        const listed = await service.list({ ...call, maxAgeMs: sharedListMs });
        const runner = listed.kind === 'listed' && listed.runners.find((each) => isSameName(each.name, name));
        return runner && runner.isBusy ? { kind: 'found' as const, runner } : service.find(name, call);
      });
      if (found.kind === 'problem') return { kind: 'unknown', message: found.message };
      return found.kind === 'none' ? found : { kind: 'there', id: found.runner.id, isBusy: found.runner.isBusy };
    },
    /** Removes it from GitHub, unless it runs a job: then it stays, and is busy. Idempotent. */
    remove: async (machine: BuilderMachine, id: number, call: CallOptions): Promise<RunnerState> => {
      const answer = await ask(machine, call, (service) => service.remove(id, call));
      if (answer.kind === 'problem') return { kind: 'unknown', message: answer.message };
      return answer.kind === 'busy' ? { kind: 'there', id, isBusy: true } : { kind: 'none' };
    },
  };
};

export type BuilderRunners = ReturnType<typeof createBuilderRunners>;

const isRepository = (text: string): text is `${string}/${string}` => /^[\w.-]+\/[\w.-]+$/.test(text);

/** In the form of the runner's `--url`: an organisation, or one repository. */
const ownerOf = (text: string): Owner | undefined => {
  if (isRepository(text)) return { kind: 'repository', repository: text };
  return /^[\w.-]+$/.test(text) ? { kind: 'organization', organization: text } : undefined;
};

/** Returns a text if it cannot be read: why. */
const readSecret = async (
  client: Pick<Client, 'get'>,
  name: Required<ObjectName>,
  call: CallOptions,
): Promise<Readonly<Record<string, string>> | string> => {
  try {
    return (await client.get(secrets, name, call)).data ?? {};
  } catch (error) {
    if (call.signal?.aborted === true || !isKubeError(error)) throw error;
    return error.reason === 'notFound'
      ? 'is not there. Make it, with a GitHub App that manages runners.'
      : `cannot be read: ${error.message}`;
  }
};
