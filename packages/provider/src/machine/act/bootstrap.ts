import { summaryHash } from '@tartan/host';
import { ignoreNotFound, isKubeError, nodes, requeueAfter } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { WorkOutcome } from '../../host-work/host-work.ts';
import { type JoinCredentials, makeJoinCredentials } from '../../host-work/join-credentials.ts';
import { ClusterAddressError } from '../../identity/join-kubeconfig.ts';
import { deleteJoinToken } from '../../identity/join-token.ts';
import { type ActionResult, succeeded } from '../decision.ts';
import { planHost } from '../observe/host-plan.ts';
import { intervals } from '../requeue.ts';
import { afterBootstrap, waitsForIdle, withoutToken } from '../status/transitions.ts';
import { type ActContext, type ActionOutput, callOptions, currentStatus, requeueStale } from './context.ts';
import { push, runnerTokenSource, withPushSlot } from './push.ts';
import { releaseUnwipedHost } from './remediation.ts';

const bootstrapFailed = (result: ActionResult): ActionOutput => ({
  result,
  next: requeueAfter(intervals.otherController),
});

/**
 * Makes the Mac ready, all of it in one go. Join credentials are made anew for each try: the secret half of those before is forgotten, and
 * nobody knows how far they got.
 */
export const bootstrap = (context: ActContext): Promise<ActionOutput> =>
  withPushSlot(context, () => attemptBootstrap(context));

const attemptBootstrap = async (context: ActContext): Promise<ActionOutput> => {
  const { deps, patcher, observation } = context;
  const { login, snapshot } = observation;
  if (login === undefined) return requeueStale;
  const plan = await planHost(deps, patcher.machine, { login, joinVersion: '' }, callOptions(context));
  if (plan.kind === 'problem') return bootstrapFailed({ ...plan, kind: 'bootstrap blocked' });
  const join = await newJoinCredentials(context);
  if ('kind' in join) return bootstrapFailed(join);

  const { joinVersion, kubeconfig } = join;
  const spec = { ...plan.spec, agent: { ...plan.spec.agent, joinVersion } };
  const hash = summaryHash(spec);
  const secrets = { ...plan.secrets, joinKubeconfig: kubeconfig };
  const runner = runnerTokenSource(context);
  // Unless its agent joined in an earlier try, nothing can run on a Mac that was just wiped.
  const idle = snapshot.idle !== false;
  const { onDemandSecrets } = runner;
  const outcome = await push(context, { kind: 'converge', mode: 'changed', spec, secrets, onDemandSecrets, idle });
  const noToken = runner.problem();
  if (outcome.kind === 'done' && noToken !== undefined) return runnerTokenMissing(context, noToken);
  await patcher.updateStatus((status) => afterBootstrap(status, outcome, { joinVersion, hash, now: deps.clock.now() }));
  const result: ActionResult = { kind: 'pushed', outcome };
  if (outcome.kind === 'not wiped') return releaseUnwipedHost(context, outcome);
  return { result, next: requeueAfter(requeueAfterMs(outcome)) };
};

/**
 * All is done but the runner, and a builder without one bakes nothing: it is not ready. Nothing of that is the Mac's fault, so that it
 * counts as no failure: no restart helps, nor another Mac.
 */
const runnerTokenMissing = (context: ActContext, message: string): ActionOutput => {
  context.deps.backoffs.set(context.patcher.machine.metadata.uid, intervals.manualFix);
  const result: ActionResult = { kind: 'bootstrap blocked', reason: 'GHRunnerRegistrationTokenUnavailable', message };
  return { result, next: requeueAfter(intervals.manualFix) };
};

const requeueAfterMs = (outcome: WorkOutcome): number => {
  if (outcome.kind === 'aborted') return intervals.conflict;
  return outcome.kind === 'done' && !waitsForIdle(outcome) ? 0 : intervals.afterFailure;
};

/** New credentials to join with. The machine names their token before it exists, so that none is ever left behind. */
const newJoinCredentials = async (context: ActContext): Promise<JoinCredentials | ActionResult> => {
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
    return { kind: 'bootstrap blocked', reason: 'NodeIdentityUnavailable', message: error.message };
  }
};

/** The token first: a record without a token is harmless, a token without a record is nobody's. */
export const retireToken = async (
  context: ActContext,
  certificateExpires: number | undefined,
): Promise<ActionOutput> => {
  const { joinTokenID } = currentStatus(context);
  if (joinTokenID !== undefined) await deleteJoinToken(context.deps.client, joinTokenID, callOptions(context));
  await context.patcher.updateStatus((status) => withoutToken(status, certificateExpires));
  return { result: succeeded, next: requeueAfter(0) };
};

/**
 * The light way back for a Mac whose Node is gone: every step is looked at again and mended, none that would disturb a virtual machine.
 * New credentials only when those on the Mac are of no use any more. It is tried every now and then, and never leads further.
 */
export const reregister = (context: ActContext, newJoin: boolean): Promise<ActionOutput> =>
  withPushSlot(context, async () => {
    const { patcher, observation } = context;
    const { plan, snapshot } = observation;
    if (plan?.kind !== 'planned') return reregisterFailed(context, noPlanResult(plan?.message));
    if (snapshot.node.kind === 'missing' && (await hasNode(context))) return requeueStale;
    const join = newJoin ? await newJoinCredentials(context) : undefined;
    if (join !== undefined && 'kind' in join) return reregisterFailed(context, join);

    const joinVersion = join?.joinVersion ?? currentStatus(context).joinVersion ?? '';
    const spec = { ...plan.spec, agent: { ...plan.spec.agent, joinVersion } };
    const secrets = { ...plan.secrets, ...kubeconfigOf(join) };
    const { onDemandSecrets } = runnerTokenSource(context);
    const outcome = await push(context, {
      kind: 'converge',
      mode: 'verify',
      spec,
      secrets,
      onDemandSecrets,
      idle: false,
    });
    const result: ActionResult = { kind: 'pushed', outcome };
    if (outcome.kind === 'aborted') return { result, next: requeueAfter(intervals.conflict) };
    if (outcome.kind !== 'done') return reregisterFailed(context, result);
    await patcher.updateStatus((status) => ({ ...status, joinVersion, hostConfigHash: outcome.summary }));
    return { result, next: requeueAfter(backOff(context, intervals.nodeMissing)) };
  });

const kubeconfigOf = (join: JoinCredentials | undefined) =>
  join === undefined ? {} : { joinKubeconfig: join.kubeconfig };

const backOff = (context: ActContext, milliseconds: number): number => {
  context.deps.backoffs.set(context.patcher.machine.metadata.uid, milliseconds);
  return milliseconds;
};

const reregisterFailed = (context: ActContext, result: ActionResult): ActionOutput => ({
  result,
  next: requeueAfter(backOff(context, intervals.unreachable)),
});

const noPlanResult = (message = 'It is not known what the Mac shall be.'): ActionResult => ({
  kind: 'bootstrap blocked',
  reason: 'NodeMissing',
  message,
});

const hasNode = async (context: ActContext): Promise<boolean> => {
  const { name } = context.patcher.machine.metadata;
  return (await ignoreNotFound(context.deps.client.get(nodes, { name }, callOptions(context)))) !== undefined;
};
