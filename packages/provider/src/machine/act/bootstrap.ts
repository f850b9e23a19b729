import { summaryHash } from '@tartan/host';
import { ignoreNotFound, isKubeError, nodes, requeueAfter } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { type JoinCredentials, makeJoinCredentials } from '../../host-work/join-credentials.ts';
import { ClusterAddressError } from '../../identity/join-kubeconfig.ts';
import { deleteJoinToken } from '../../identity/join-token.ts';
import { blocked, type Decision } from '../decision.ts';
import { type AttemptResult, attemptOutcome, outcomeMessage, withAttempt } from '../last-attempt.ts';
import { planHost } from '../observe/host.ts';
import { afterBootstrap, withoutToken } from '../status/transitions.ts';
import { type ActContext, type ActionOutput, callOptions, currentStatus, requeue, requeueStale } from '../options.ts';
import { push, pushed, runnerTokenSource, withPushSlot } from './push.ts';
import { releaseUnwipedHost } from './remediation.ts';

const blockedBy = (attempt: AttemptResult): ActionOutput => ({ result: blocked, next: requeueAfter(0), attempt });

/**
 * Provisions the Mac, in one go. Creates new join credentials for each attempt: the secret half of earlier ones is lost, and it is unknown
 * how far they got.
 */
export const bootstrap = (context: ActContext): Promise<ActionOutput> =>
  withPushSlot(context, { task: 'Bootstrap' }, () => attemptBootstrap(context));

const attemptBootstrap = async (context: ActContext): Promise<ActionOutput> => {
  const { deps, patcher, observation } = context;
  const { login, snapshot } = observation;
  if (login === undefined) return requeueStale;
  const plan = await planHost(deps, patcher.machine, { login, joinVersion: '' }, callOptions(context));
  if (plan.kind === 'problem') return blockedBy({ ...plan, task: 'Bootstrap' });
  const join = await newJoinCredentials(context);
  if ('outcome' in join) return blockedBy({ ...join, task: 'Bootstrap' });

  const { joinVersion, kubeconfig } = join;
  const spec = { ...plan.spec, agent: { ...plan.spec.agent, joinVersion } };
  const hash = summaryHash(spec);
  const secrets = { ...plan.secrets, joinKubeconfig: kubeconfig };
  const runner = runnerTokenSource(context);
  // Nothing can run on a Mac that was just wiped, unless its agent joined in an earlier attempt.
  const idle = snapshot.idle !== false;
  const { onDemandSecrets } = runner;
  const outcome = await push(context, { kind: 'converge', mode: 'changed', spec, secrets, onDemandSecrets, idle });
  const noToken = runner.problem();
  // Everything is done but the runner, and a builder without one is useless: it is not ready. The Mac is not at fault, so this does not
  // count as a failure: neither a restart nor another Mac would help.
  if (outcome.kind === 'done' && noToken !== undefined)
    return blockedBy({ task: 'Bootstrap', outcome: 'GHRunnerRegistrationTokenUnavailable', message: noToken });
  await patcher.updateStatus((status) => afterBootstrap(status, outcome, { joinVersion, hash, now: deps.clock.now() }));
  return outcome.kind === 'not wiped' ? releaseUnwipedHost(context, outcome) : pushed(outcome);
};

/** New join credentials. The status names their token before it exists, so that no token is leaked. */
const newJoinCredentials = async (
  context: ActContext,
): Promise<JoinCredentials | Pick<AttemptResult, 'outcome' | 'message'>> => {
  const { deps, patcher } = context;
  const { name, namespace = '', uid } = patcher.machine.metadata;
  try {
    return await makeJoinCredentials(deps.client, {
      ...callOptions(context),
      machine: { name, namespace, uid },
      recorded: currentStatus(context).joinTokenID,
      record: ({ tokenID, expiresAt }) =>
        patcher.updateStatusGuarded((status) => ({
          ...status,
          joinTokenID: tokenID,
          joinTokenExpires: timestamp(expiresAt),
        })),
      address: deps.address,
      clock: deps.clock,
      random: deps.randomBytes,
      redactor: deps.redactor,
    });
  } catch (error) {
    if (!(error instanceof ClusterAddressError) && !isKubeError(error, 'forbidden', 'invalid')) throw error;
    return { outcome: 'NodeIdentityUnavailable', message: error.message };
  }
};

/** Deletes the token before its record: a record without a token is harmless, a token without a record would be leaked. */
export const retireToken = async (
  context: ActContext,
  certificateExpires: number | undefined,
): Promise<ActionOutput> => {
  const { joinTokenID } = currentStatus(context);
  if (joinTokenID !== undefined) await deleteJoinToken(context.deps.client, joinTokenID, callOptions(context));
  await context.patcher.updateStatus((status) => withoutToken(status, certificateExpires));
  return requeue(0);
};

/**
 * Light recovery for a Mac whose Node is gone: every step is verified and repaired, except steps that would disturb a virtual machine.
 * Creates new credentials only if those on the Mac are useless. Retried now and then, without escalation.
 */
export const reregister = (
  context: ActContext,
  { newJoin, reason }: Extract<Decision, { kind: 're-register' }>,
): Promise<ActionOutput> => {
  const message = `${reason} The manager makes the agent register again.`;
  return withPushSlot(context, { task: 'Register', message }, async () => {
    const { deps, patcher, observation } = context;
    const { plan, snapshot } = observation;
    const failed = (outcome: AttemptResult['outcome'], why: string): AttemptResult => ({
      task: 'Register',
      outcome,
      message: `${reason} The manager could not make the agent register again: ${why}`,
    });
    if (plan?.kind !== 'planned')
      return blockedBy(failed('InvalidSpec', plan?.message ?? 'It is not known what the Mac shall be.'));
    if (snapshot.node.kind === 'missing' && (await hasNode(context))) return requeueStale;
    const join = newJoin ? await newJoinCredentials(context) : undefined;
    if (join !== undefined && 'outcome' in join) return blockedBy(failed(join.outcome, join.message ?? ''));

    const joinVersion = join?.joinVersion ?? currentStatus(context).joinVersion ?? '';
    const spec = { ...plan.spec, agent: { ...plan.spec.agent, joinVersion } };
    const secrets = { ...plan.secrets, ...(join && { joinKubeconfig: join.kubeconfig }) };
    const { onDemandSecrets } = runnerTokenSource(context);
    const outcome = await push(context, {
      kind: 'converge',
      mode: 'verify',
      spec,
      secrets,
      onDemandSecrets,
      idle: false,
    });
    if (outcome.kind === 'aborted') return pushed(outcome);
    const ended = attemptOutcome(outcome);
    if (outcome.kind !== 'done') return { ...pushed(outcome), attempt: failed(ended, outcomeMessage(outcome)) };
    await patcher.updateStatus((status) => ({
      ...withAttempt(status, { task: 'Register', outcome: ended, message }, deps.clock.now()),
      joinVersion,
      hostConfigHash: outcome.summary,
    }));
    return pushed(outcome);
  });
};

const hasNode = async (context: ActContext): Promise<boolean> => {
  const { name } = context.patcher.machine.metadata;
  return (await ignoreNotFound(context.deps.client.get(nodes, { name }, callOptions(context)))) !== undefined;
};
