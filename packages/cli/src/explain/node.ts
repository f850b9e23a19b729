import { labels } from '@tartan/api';
import { agentOf, isCordoned, isMacNode, joinMacs, readinessOf, vmPods } from '../cluster/macs.ts';
import type { Node } from '../cluster/state.ts';
import type { ExplainInput, Explanation } from './explanation.ts';
import { explainMachine } from './machine.ts';

/** A Node is what its machine made of its Mac: where there is one, that is the story. */
export const explainNode = (node: Node, world: ExplainInput): Explanation => {
  const { metadata, spec } = node;
  const mac = joinMacs(world).find((each) => each.node?.metadata.uid === metadata.uid);
  const ready = readinessOf(node);
  const subject = { kind: 'node' as const, namespace: null, name: metadata.name };
  const conditions = (node.status?.conditions ?? []).map((each) => ({
    type: each.type,
    status: each.status,
    reason: each.reason ?? '',
    means: null,
    message: each.message ?? '',
    since: each.lastTransitionTime ?? '',
  }));
  const word = ready === 'True' ? 'Ready' : ready === 'False' ? 'not Ready' : 'not heard of';
  const where = `The Node ${metadata.name} is ${word}${isCordoned(node) ? ' and takes no Pods' : ''}.`;
  const pods = vmPods(mac?.pods ?? []).map((pod) => `${pod.metadata.namespace ?? ''}/${pod.metadata.name}`);
  if (mac?.machine !== undefined) {
    const story = explainMachine(mac.machine, world);
    return {
      ...story,
      subject,
      where: `${where} ${story.where}`,
      conditions: [...conditions, ...story.conditions],
      relatedUIDs: [metadata.uid, ...story.relatedUIDs],
    };
  }
  const isMac = isMacNode(node);
  return {
    subject,
    where,
    decision: {
      word: isMac ? 'no machine' : 'no Mac',
      text: isMac
        ? 'It is the Node of a Mac, but no machine has it: its machine was deleted, or it belongs to another manager.'
        : `It is no Mac of Tartan: it has no label ${labels.runtime}.`,
      from: 'computed',
    },
    facts: [
      { what: 'providerID', is: spec?.providerID ?? 'none' },
      { what: 'agent', is: agentOf(node) ?? 'unknown' },
      ...(pods.length > 0 ? [{ what: 'virtual machines', is: pods.join(', ') }] : []),
    ],
    next: isMac ? ['Nobody looks after it. An agent that still runs keeps it alive.'] : [],
    remedies: isMac
      ? [`See where its Mac is (tartan fleet); if that is gone: kubectl delete node ${metadata.name}.`]
      : [],
    unseen: [],
    conditions,
    relatedUIDs: [metadata.uid],
  };
};
