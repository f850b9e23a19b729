import { labels, podEndMeanings, podWaitMeanings, runnerBusyCondition, runnerBusyMeanings } from '@tartan/api';
import { decide, defaultGraceMs, podFacts } from '@tartan/provider/pods';
import { admit } from '@tartan/tart-kubelet/admission';
import {
  hasEnded,
  isCordoned,
  isCordonedForRoll,
  isMacNode,
  readinessOf,
  slotsOf,
  vmPods,
  waitingReasonOf,
} from '../cluster/macs.ts';
import type { Node, Pod } from '../cluster/state.ts';
import { age, ageSince } from '../output/age.ts';
import { jobOf, retiredSinceOf, runnerIDOf } from '../runners/document.ts';
import { coreConditions, definedFacts, type ExplainInput, type Explanation } from './explanation.ts';

type PodDecision = Pick<Explanation, 'decision' | 'next' | 'remedies'>;

const reported = (word: string, text: string, next: string[] = [], remedies: string[] = []): PodDecision => ({
  decision: { word, text: text.trim(), from: 'reported' },
  next,
  remedies,
});

const computed = (word: string, text: string, next: string, remedies: string[] = []): PodDecision => ({
  decision: { word, text, from: 'computed' },
  next: [next],
  remedies,
});

/** Explains a Pod: by the status that its agent reports, or by the rule for Pods whose Mac is gone. */
export const explainPod = (pod: Pod, input: ExplainInput): Explanation => {
  const { metadata, spec, status } = pod;
  const node = input.nodes.find((each) => each.metadata.name === spec?.nodeName);
  const admission = admit(pod);
  const where = spec?.nodeName ? `on the Node ${spec.nodeName}` : 'on no Node';
  const runnerMeaning = (type: string, reason: string): string | undefined =>
    type === runnerBusyCondition ? meaningOf(runnerBusyMeanings, reason) || undefined : undefined;
  return {
    where: `The Pod ${metadata.name} is ${metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? 'Pending')} ${where}, created ${ageSince(metadata.creationTimestamp, input.now)} ago.`,
    ...decisionOf(pod, node, input),
    facts: definedFacts({
      Node: nodeText(pod, node),
      image: spec?.containers?.[0]?.image ?? 'none',
      'suitable as a virtual machine': admission.kind === 'suited' ? 'yes' : `no: ${admission.message}`,
      ...runnerFacts(pod, input.now),
      Macs: spec?.nodeName ? undefined : macsText(input),
    }),
    unseen:
      node && isMacNode(node)
        ? [
            `The output of tart, and the journal and log of the agent on the Mac. Output of the guest: kubectl logs -n ${metadata.namespace ?? ''} ${metadata.name}.`,
          ]
        : [],
    conditions: coreConditions(status?.conditions, runnerMeaning),
  };
};

const decisionOf = (pod: Pod, node: Node | undefined, input: ExplainInput): PodDecision => {
  const { metadata, spec, status } = pod;
  const name = `-n ${metadata.namespace ?? ''} ${metadata.name}`;
  if (metadata.deletionTimestamp !== undefined) return terminating(pod, node, input);
  if (!spec?.nodeName) return unscheduled(pod);
  if (node === undefined && !input.unreadable.has('nodes'))
    return reported(
      'node gone',
      'Its Node does not exist.',
      ['Kubernetes deletes the Pods of a deleted Node after a while.'],
      [`If the Pod stays: kubectl delete pod ${name}; then tartan pods unstick.`],
    );
  if (node !== undefined && !isMacNode(node))
    return reported('elsewhere', 'Its Node is not a Mac: Tartan does not manage this Pod.');
  const ended = status?.containerStatuses?.[0]?.state?.terminated;
  if (hasEnded(pod))
    return reported(
      ended?.reason ?? status?.phase ?? '',
      `The Pod has ended${ended ? ` with exit code ${ended.exitCode}` : ''}. ${meaningOf(podEndMeanings, ended?.reason)} ${status?.message ?? ended?.message ?? ''}`,
    );
  const waiting = waitingReasonOf(pod);
  if (waiting !== undefined)
    return reported(
      waiting.reason,
      `${meaningOf(podWaitMeanings, waiting.reason.replace(/ \d+ %$/, ''))} ${waiting.message}`,
      ['The agent continues by itself.'],
      [`See its events: kubectl describe pod ${name}.`],
    );
  if (status?.phase === 'Running')
    return reported('running', 'Its virtual machine runs.', [
      'It runs until the guest shuts down, or the Pod is deleted.',
    ]);
  if (node !== undefined && readinessOf(node) !== 'True')
    return reported(
      'node not ready',
      'Its Node is not Ready, so no agent has started it.',
      ['The agent starts it when it is back.'],
      [`tartan explain node/${spec.nodeName}`],
    );
  return reported(
    'seen by nobody',
    'The agent has not started it yet.',
    ['The agent does so within seconds.'],
    [`If not: tartan explain node/${spec.nodeName}`],
  );
};

/** By the rule of the manager for Pods whose Mac is gone. */
const terminating = (pod: Pod, node: Node | undefined, { now, unreadable }: ExplainInput): PodDecision => {
  const decision = decide({
    pod: podFacts(pod),
    node: !pod.spec?.nodeName
      ? { kind: 'unbound' }
      : node !== undefined || unreadable.has('nodes')
        ? { kind: 'present' }
        : { kind: 'absent', forMs: Infinity },
    now,
    graceMs: defaultGraceMs,
  });
  switch (decision.kind) {
    case 'release':
      return computed(
        'release',
        'Stuck: a finalizer waits for a virtual machine that no agent can remove. Its Node is gone, or it never had one.',
        'The manager removes the finalizer within minutes.',
        ['Without a manager: tartan pods unstick.'],
      );
    case 'wait':
      return computed(
        'wait',
        'Its Node is gone, and its grace period ended less than 5 minutes ago: the Node may come back.',
        `The manager removes its finalizer in ${age(decision.forMs)}.`,
      );
    case 'skip':
      if (decision.reason === 'notHeld')
        return computed(
          'ending',
          'The Pod is being deleted, and no agent holds it.',
          'It is gone when other controllers have removed their finalizers.',
          pod.metadata.finalizers?.length ? [`It waits for: ${pod.metadata.finalizers.join(', ')}.`] : [],
        );
      return computed(
        'ending',
        'The agent shuts the guest down, deletes the virtual machine and removes its finalizer.',
        'The Pod is gone at the end of its grace period at the latest.',
        node && readinessOf(node) !== 'True'
          ? ['Its Node is not Ready: the virtual machine may still run. If the Mac is lost, delete its Machine.']
          : [],
      );
  }
};

const unscheduled = ({ status }: Pod): PodDecision => {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return reported(
    scheduled?.reason ?? 'unscheduled',
    scheduled?.status === 'False'
      ? `The scheduler finds no Node. ${scheduled.message ?? ''}`
      : 'The scheduler has not seen it yet.',
    ['The scheduler tries again whenever a Node changes.'],
    ['Compare its node selector, tolerations and requests with the Macs above: tartan fleet.'],
  );
};

const meaningOf = (meanings: Readonly<Record<string, string>>, word: string | undefined): string =>
  word === undefined || !Object.hasOwn(meanings, word) ? '' : (meanings[word] ?? '');

const nodeText = ({ spec }: Pod, node: Node | undefined): string => {
  if (!spec?.nodeName) return 'none';
  if (node === undefined) return `${spec.nodeName}, which does not exist`;
  return `${spec.nodeName}, ${isMacNode(node) ? 'a Mac' : 'not a Mac'}, ${readinessOf(node) === 'True' ? 'Ready' : 'not Ready'}`;
};

/** Counts Macs by why they would not take the Pod, without the rules of the scheduler. */
const macsText = ({ nodes, pods = [] }: ExplainInput): string => {
  const kinds = nodes.filter(isMacNode).map((node) => {
    if (readinessOf(node) !== 'True') return 'not Ready';
    if (isCordoned(node)) return isCordonedForRoll(node) ? 'cordoned for a rollout' : 'cordoned';
    const running = pods.filter((pod) => pod.spec?.nodeName === node.metadata.name && !hasEnded(pod));
    return vmPods(running).length >= (slotsOf(node) ?? Infinity) ? 'full' : 'with room';
  });
  const counts = [...Map.groupBy(kinds, (kind) => kind)].map(([kind, all]) => `${all.length} ${kind}`).sort();
  return counts.length === 0 ? 'none has joined' : counts.join(', ');
};

const jobTexts = {
  started: 'started; the Pod is not deleted before it ends',
  none: 'none has started',
  unknown: 'unknown, so the runner counts as busy',
} as const;

const runnerFacts = (pod: Pod, now: number): Record<string, string | undefined> => {
  const pool = pod.metadata.labels?.[labels.runnerPool];
  if (pool === undefined) return {};
  const id = runnerIDOf(pod);
  const retired = retiredSinceOf(pod);
  return {
    'runner pool': `${pool} (tartan runners ${pool})`,
    'at GitHub': id === undefined ? 'not registered yet, so it has no job' : `runner ${id}`,
    job: jobTexts[jobOf(pod)],
    retired: retired && `${ageSince(retired, now)} ago: GitHub assigns it no more jobs, and it ends soon`,
  };
};
