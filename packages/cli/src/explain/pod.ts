import { labels, podEndMeanings, podWaitMeanings, runnerBusyCondition, runnerBusyMeanings } from '@tartan/api';
import { decide, defaultGraceMs, podFacts } from '@tartan/provider/pods';
import { admit } from '@tartan/tart-kubelet/admission';
import {
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
import type { ExplainDocument, ExplainInput, Explanation } from './explanation.ts';

type PodDecision = Pick<Explanation, 'decision' | 'next' | 'remedies'>;

const podDecision = (
  word: string,
  text: string,
  next: string[] = [],
  remedies: string[] = [],
  from: 'computed' | 'reported' = 'reported',
): PodDecision => ({
  decision: { word, text, from },
  next,
  remedies,
});

/** Why a Pod is where it is: what its agent says of it, and what is decided about it without the agent. */
export const explainPod = (pod: Pod, world: ExplainInput): Explanation => {
  const { metadata, spec, status } = pod;
  const node = world.nodes.find(({ metadata: of }) => of.name === spec?.nodeName);
  const admission = admit(pod);
  const where = spec?.nodeName ? `on the Node ${spec.nodeName}` : 'on no Node';
  return {
    subject: { kind: 'pod', namespace: metadata.namespace ?? '', name: metadata.name },
    where: `The Pod ${metadata.name} is ${metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? 'Pending')} ${where}, made ${ageSince(metadata.creationTimestamp, world.now)} ago.`,
    ...decisionOf(pod, node, world),
    facts: [
      { what: 'Node', is: nodeText(pod, node) },
      { what: 'image', is: spec?.containers?.[0]?.image ?? 'none' },
      { what: 'can be a virtual machine', is: admission.kind === 'suited' ? 'yes' : `no: ${admission.message}` },
      ...runnerFacts(pod, world.now),
      ...(spec?.nodeName ? [] : macs(world)),
    ],
    unseen:
      node && isMacNode(node)
        ? [
            `What tart says on the Mac, and the journal of its agent. Its log is the Mac's; what the guest writes: kubectl logs -n ${metadata.namespace ?? ''} ${metadata.name}.`,
          ]
        : [],
    conditions: (status?.conditions ?? []).map(
      ({ type, status: is, reason = '', message = '', lastTransitionTime = '' }) => ({
        type,
        status: is,
        reason,
        means: type === runnerBusyCondition ? meaningOf(runnerBusyMeanings, reason) || null : null,
        message,
        since: lastTransitionTime,
      }),
    ),
    relatedUIDs: [metadata.uid],
  };
};

const decisionOf = (pod: Pod, node: Node | undefined, world: ExplainInput): PodDecision => {
  const { metadata, spec, status } = pod;
  if (metadata.deletionTimestamp !== undefined) return terminating(pod, node, world);
  if (!spec?.nodeName) return unscheduled(pod);
  if (node === undefined && !world.unreadable.has('nodes'))
    return podDecision(
      'node gone',
      'Its Node does not exist any more.',
      ['Kubernetes deletes the Pods of a Node that is gone after a while.'],
      [
        `Delete it, if it hangs: kubectl delete pod -n ${metadata.namespace ?? ''} ${metadata.name}; then tartan pods unstick.`,
      ],
    );
  if (node !== undefined && !isMacNode(node))
    return podDecision('elsewhere', 'Its Node is no Mac: Tartan has nothing to do with it.');
  const ended = status?.containerStatuses?.[0]?.state?.terminated;
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed')
    return podDecision(
      ended?.reason ?? status.phase,
      `It has ended${ended ? ` with ${ended.exitCode}` : ''}. ${meaningOf(podEndMeanings, ended?.reason)} ${status.message ?? ended?.message ?? ''}`.trim(),
    );
  const waiting = waitingReasonOf(pod);
  if (waiting !== undefined)
    return podDecision(
      waiting.reason,
      `${meaningOf(podWaitMeanings, waiting.reason.replace(/ \d+ %$/, ''))} ${waiting.message}`.trim(),
      ['Its agent goes on by itself.'],
      [`See its events: kubectl describe pod -n ${metadata.namespace ?? ''} ${metadata.name}.`],
    );
  if (status?.phase === 'Running')
    return podDecision('running', 'Its virtual machine runs.', [
      'It runs until the guest ends, or somebody deletes the Pod.',
    ]);
  if (node !== undefined && readinessOf(node) !== 'True')
    return podDecision(
      'node not ready',
      'Its Node is not Ready, so nobody has taken it up.',
      ['Its agent does when it is back.'],
      [`tartan explain node/${spec.nodeName}`],
    );
  return podDecision(
    'seen by nobody',
    'Its agent has not taken it up yet.',
    ['It does within seconds.'],
    [`If not: tartan explain node/${spec.nodeName}`],
  );
};

/** By the rule of the manager, which looks after Pods whose Mac is gone. */
const terminating = (pod: Pod, node: Node | undefined, { now, unreadable }: ExplainInput): PodDecision => {
  const nodeName = pod.spec?.nodeName;
  const there = node !== undefined || unreadable.has('nodes');
  const decision = decide({
    pod: podFacts(pod),
    node: !nodeName ? { kind: 'unbound' } : there ? { kind: 'present' } : { kind: 'absent', forMs: Infinity },
    now,
    graceMs: defaultGraceMs,
  });
  switch (decision.kind) {
    case 'release':
      return podDecision(
        'release',
        'It is held for a virtual machine that nobody can remove any more: its Node is gone, or it never had one.',
        ['The manager lets it go within minutes.'],
        ['Where no manager runs: tartan pods unstick.'],
        'computed',
      );
    case 'wait':
      return podDecision(
        'wait',
        `It should have ended less than 5 minutes ago, and its Node is gone: that may change.`,
        [`It is let go in ${age(decision.forMs)}.`],
        [],
        'computed',
      );
    case 'leave':
      if (decision.because === 'notHeld')
        return podDecision(
          'ending',
          'It is being deleted, and no agent holds it.',
          ['It goes once others have removed their finalizers.'],
          pod.metadata.finalizers?.length ? [`It waits for: ${pod.metadata.finalizers.join(', ')}.`] : [],
          'computed',
        );
      return podDecision(
        'ending',
        'Its agent shuts the guest down, deletes the virtual machine and lets the Pod go.',
        ['It is gone when the grace of the Pod is over, at the latest.'],
        node && readinessOf(node) !== 'True'
          ? ['Its Node is not Ready: the virtual machine may still run. If the Mac is lost, delete its Machine.']
          : [],
        'computed',
      );
  }
};

const unscheduled = ({ status }: Pod): PodDecision => {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  const text =
    scheduled?.status === 'False'
      ? `No Node takes it. ${scheduled.message ?? ''}`
      : 'No scheduler has looked at it yet.';
  return podDecision(
    scheduled?.reason ?? 'unscheduled',
    text.trim(),
    ['It is tried again whenever a Node changes.'],
    ['Compare its node selector, tolerations and requests with the Macs above: tartan fleet.'],
  );
};

const meaningOf = (meanings: Readonly<Record<string, string>>, word: string | undefined): string =>
  word === undefined || !Object.hasOwn(meanings, word) ? '' : (meanings[word] ?? '');

const nodeText = ({ spec }: Pod, node: Node | undefined): string => {
  if (!spec?.nodeName) return 'none';
  if (node === undefined) return `${spec.nodeName}, which does not exist`;
  return `${spec.nodeName}, ${isMacNode(node) ? 'a Mac' : 'no Mac'}, ${readinessOf(node) === 'True' ? 'Ready' : 'not Ready'}`;
};

/** What each Mac would say to it, as far as that needs no scheduler. */
const macs = ({ nodes, pods }: ExplainInput): ExplainDocument['facts'] => {
  const kinds = nodes.filter(isMacNode).map((node) => {
    if (readinessOf(node) !== 'True') return 'not Ready';
    if (isCordoned(node)) return isCordonedForRoll(node) ? 'cordoned for a roll' : 'cordoned';
    const here = (pods ?? []).filter(
      ({ spec, status }) =>
        spec?.nodeName === node.metadata.name && status?.phase !== 'Succeeded' && status?.phase !== 'Failed',
    );
    return vmPods(here).length >= (slotsOf(node) ?? Infinity) ? 'full' : 'with room';
  });
  const counts = [...Map.groupBy(kinds, (kind) => kind)].map(([kind, all]) => `${all.length} ${kind}`).sort();
  return [{ what: 'Macs', is: counts.length === 0 ? 'none has joined' : counts.join(', ') }];
};

const jobTexts = {
  started: 'it has one, and nobody takes the Pod away before it has ended',
  none: 'none has begun',
  unknown: 'nobody knows, so it counts as busy',
} as const;

/** What else is known of a Pod that is a runner; nothing of others. */
const runnerFacts = (pod: Pod, now: number): ExplainDocument['facts'] => {
  const pool = pod.metadata.labels?.[labels.runnerPool];
  if (pool === undefined) return [];
  const id = runnerIDOf(pod);
  const retired = retiredSinceOf(pod);
  return [
    { what: 'runner of', is: `the pool ${pool} (tartan runners ${pool})` },
    {
      what: 'at GitHub',
      is: id === undefined ? 'not registered yet: it has no configuration, so it has no job' : `runner ${id}`,
    },
    { what: 'job', is: jobTexts[jobOf(pod)] },
    ...(retired === undefined
      ? []
      : [
          {
            what: 'retired',
            is: `${ageSince(retired, now)} ago: GitHub gives it no job any more, and it is about to end`,
          },
        ]),
  ];
};
