import { podEndMeanings, podWaitMeanings, runnerBusyCondition, runnerBusyMeanings } from '@tartan/api';
import { decide, factsOf, usualGraceMs } from '@tartan/provider/pods';
import { suitabilityOf } from '@tartan/tart-kubelet/suitability';
import { age, ageSince } from '../show/age.ts';
import { isMacNode } from '../world/join.ts';
import { isCordoned, isCordonedForRoll, readinessOf, slotsOf, vmsAmong, waitingOf } from '../world/node-facts.ts';
import type { Node, Pod } from '../world/observe.ts';
import type { ExplainDocument, Story } from './document.ts';
import type { ExplainWorld } from './explain-world.ts';
import { runnerFacts } from './runner-facts.ts';

type Told = Pick<Story, 'decision' | 'next' | 'remedies'>;

const told = (
  word: string,
  text: string,
  next: string[] = [],
  remedies: string[] = [],
  from: 'computed' | 'reported' = 'reported',
): Told => ({
  decision: { word, text, from },
  next,
  remedies,
});

/** Why a Pod is where it is: what its agent says of it, and what is decided about it without the agent. */
export const explainPod = (pod: Pod, world: ExplainWorld): Story => {
  const { metadata, spec, status } = pod;
  const node = world.nodes.find(({ metadata: of }) => of.name === spec?.nodeName);
  const suitability = suitabilityOf(pod);
  const where = spec?.nodeName ? `on the Node ${spec.nodeName}` : 'on no Node';
  return {
    subject: { kind: 'pod', namespace: metadata.namespace ?? '', name: metadata.name },
    where: `The Pod ${metadata.name} is ${metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? 'Pending')} ${where}, made ${ageSince(metadata.creationTimestamp, world.now)} ago.`,
    ...storyOf(pod, node, world),
    facts: [
      { what: 'Node', is: nodeText(pod, node) },
      { what: 'image', is: spec?.containers?.[0]?.image ?? 'none' },
      { what: 'can be a virtual machine', is: suitability.kind === 'suited' ? 'yes' : `no: ${suitability.message}` },
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
    about: [metadata.uid],
  };
};

const storyOf = (pod: Pod, node: Node | undefined, world: ExplainWorld): Told => {
  const { metadata, spec, status } = pod;
  if (metadata.deletionTimestamp !== undefined) return leaving(pod, node, world);
  if (!spec?.nodeName) return unscheduled(pod);
  if (node === undefined && !world.unread.has('nodes'))
    return told(
      'node gone',
      'Its Node does not exist any more.',
      ['Kubernetes deletes the Pods of a Node that is gone after a while.'],
      [
        `Delete it, if it hangs: kubectl delete pod -n ${metadata.namespace ?? ''} ${metadata.name}; then tartan pods unstick.`,
      ],
    );
  if (node !== undefined && !isMacNode(node))
    return told('elsewhere', 'Its Node is no Mac: Tartan has nothing to do with it.');
  const ended = status?.containerStatuses?.[0]?.state?.terminated;
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed')
    return told(
      ended?.reason ?? status.phase,
      `It has ended${ended ? ` with ${ended.exitCode}` : ''}. ${meaningOf(podEndMeanings, ended?.reason)} ${status.message ?? ended?.message ?? ''}`.trim(),
    );
  const waiting = waitingOf(pod);
  if (waiting !== undefined)
    return told(
      waiting.reason,
      `${meaningOf(podWaitMeanings, waiting.reason.replace(/ \d+ %$/, ''))} ${waiting.message}`.trim(),
      ['Its agent goes on by itself.'],
      [`See its events: kubectl describe pod -n ${metadata.namespace ?? ''} ${metadata.name}.`],
    );
  if (status?.phase === 'Running')
    return told('running', 'Its virtual machine runs.', ['It runs until the guest ends, or somebody deletes the Pod.']);
  if (node !== undefined && readinessOf(node) !== 'True')
    return told(
      'node not ready',
      'Its Node is not Ready, so nobody has taken it up.',
      ['Its agent does when it is back.'],
      [`tartan explain node/${spec.nodeName}`],
    );
  return told(
    'seen by nobody',
    'Its agent has not taken it up yet.',
    ['It does within seconds.'],
    [`If not: tartan explain node/${spec.nodeName}`],
  );
};

/** By the rule of the manager, which looks after Pods whose Mac is gone. */
const leaving = (pod: Pod, node: Node | undefined, { now, unread }: ExplainWorld): Told => {
  const nodeName = pod.spec?.nodeName;
  const there = node !== undefined || unread.has('nodes');
  const decision = decide({
    pod: factsOf(pod),
    node: !nodeName ? { kind: 'unbound' } : there ? { kind: 'present' } : { kind: 'absent', forMs: Infinity },
    now,
    graceMs: usualGraceMs,
  });
  switch (decision.kind) {
    case 'release':
      return told(
        'release',
        'It is held for a virtual machine that nobody can remove any more: its Node is gone, or it never had one.',
        ['The manager lets it go within minutes.'],
        ['Where no manager runs: tartan pods unstick.'],
        'computed',
      );
    case 'wait':
      return told(
        'wait',
        `It should have ended less than 5 minutes ago, and its Node is gone: that may change.`,
        [`It is let go in ${age(decision.forMs)}.`],
        [],
        'computed',
      );
    case 'leave':
      if (decision.because === 'notHeld')
        return told(
          'ending',
          'It is being deleted, and no agent holds it.',
          ['It goes once others have removed their finalizers.'],
          pod.metadata.finalizers?.length ? [`It waits for: ${pod.metadata.finalizers.join(', ')}.`] : [],
          'computed',
        );
      return told(
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

const unscheduled = ({ status }: Pod): Told => {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  const text =
    scheduled?.status === 'False'
      ? `No Node takes it. ${scheduled.message ?? ''}`
      : 'No scheduler has looked at it yet.';
  return told(
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
const macs = ({ nodes, pods }: ExplainWorld): ExplainDocument['facts'] => {
  const kinds = nodes.filter(isMacNode).map((node) => {
    if (readinessOf(node) !== 'True') return 'not Ready';
    if (isCordoned(node)) return isCordonedForRoll(node) ? 'cordoned for a roll' : 'cordoned';
    const here = (pods ?? []).filter(
      ({ spec, status }) =>
        spec?.nodeName === node.metadata.name && status?.phase !== 'Succeeded' && status?.phase !== 'Failed',
    );
    return vmsAmong(here).length >= (slotsOf(node) ?? Infinity) ? 'full' : 'with room';
  });
  const counts = [...Map.groupBy(kinds, (kind) => kind)].map(([kind, all]) => `${all.length} ${kind}`).sort();
  return [{ what: 'Macs', is: counts.length === 0 ? 'none has joined' : counts.join(', ') }];
};
